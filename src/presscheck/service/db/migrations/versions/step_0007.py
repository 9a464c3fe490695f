"""The number of renewals of a lease instead of its end, so that setting a clock has no effect."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Replace the end of a lease by the number of its renewals in the table of jobs."""
    op.add_column("jobs", sa.Column("renewals", sa.Integer(), server_default="0", nullable=False))
    op.drop_column("jobs", "leased_until")
