"""Audit events: who changed what in an organization."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table of audit events and its index."""
    columns = ("organization_id", "occurred_at", "action", "actor_type", "actor_id", "target_type", "target_id")
    op.create_table(
        "audit_events",
        sa.Column("id", TEXT, nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in columns),
        sa.Column("payload", sa.JSON(none_as_null=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("audit_events_by_time", "audit_events", ["organization_id", "occurred_at", "id"], unique=False)
