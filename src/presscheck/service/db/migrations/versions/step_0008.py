"""The spaces and sites in which an integration is installed, with the settings of each."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the settings in spaces and in sites to the table of installations."""
    for name in ("spaces", "sites"):
        column = sa.Column(name, sa.JSON(none_as_null=True), server_default="{}", nullable=False)
        op.add_column("installations", column)
