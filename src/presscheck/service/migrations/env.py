"""What the migration library runs: the steps that are missing, on the connection that it was handed."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
context.run_migrations()
