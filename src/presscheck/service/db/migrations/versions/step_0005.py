"""The type of a site that the plan applies, if it differs from the chosen type."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the applied type to the table of sites."""
    op.add_column("sites", sa.Column("applied_type", TEXT, nullable=True))
