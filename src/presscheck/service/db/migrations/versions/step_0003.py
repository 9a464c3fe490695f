"""Unique names of sites. A site that loses its name is still reachable by its id."""

import re

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_SLUG = re.compile(r"[a-z0-9_]+(?:[-.][a-z0-9_]+)*")


def upgrade() -> None:
    """Create the table of site names and fill it. A site whose name is taken or invalid loses the name."""
    names = op.create_table(
        "site_names",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("site_id", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], ondelete="CASCADE", initially="DEFERRED", deferrable=True),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index(op.f("ix_site_names_site_id"), "site_names", ["site_id"], unique=False)
    connection = op.get_bind()
    # in the order in which URLs were resolved: ids before names, and the oldest published site among equal names
    sites = connection.execute(
        sa.text("SELECT id, basename, created_at FROM sites ORDER BY published DESC, created_at, id")
    ).all()
    taken = {site.id for site in sites}
    for site in sites:
        name = site.basename
        if name is None:
            continue
        is_free = name not in taken and name not in (".", "..") and not re.search(r"[/\x00-\x20]", name)
        if is_free:
            taken.add(name)
            connection.execute(names.insert(), {"name": name, "site_id": site.id, "created_at": site.created_at})
        if not is_free or not _SLUG.fullmatch(name):  # a name that worked in URLs is kept as a redirect
            connection.execute(sa.text("UPDATE sites SET basename = NULL WHERE id = :id"), {"id": site.id})
