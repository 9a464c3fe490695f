"""Alembic environment: runs the missing migrations on the given connection."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
context.run_migrations()
