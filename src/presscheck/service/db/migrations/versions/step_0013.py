"""The statuses that people set for findings of sites."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table of statuses."""
    op.create_table(
        "site_findings",
        *(sa.Column(name, TEXT, nullable=False) for name in ("site_id", "finding_id", "status", "updated_at")),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], ondelete="CASCADE", deferrable=True, initially="DEFERRED"),
        sa.PrimaryKeyConstraint("site_id", "finding_id"),
    )
