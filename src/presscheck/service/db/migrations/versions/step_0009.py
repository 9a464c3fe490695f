"""Roles of users and teams in collections, spaces and sites, instead of roles of teams in collections only."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table of grants, and move the roles of teams in collections into it."""
    op.create_table(
        "grants",
        sa.Column("place_id", TEXT, nullable=False),
        sa.Column("holder_id", TEXT, nullable=False),
        sa.Column("role", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("place_id", "holder_id"),
    )
    op.create_index(op.f("ix_grants_holder_id"), "grants", ["holder_id"], unique=False)
    op.execute("INSERT INTO grants SELECT collection_id, team_id, role FROM collection_teams")
    op.drop_table("collection_teams")
