"""Style guides of sites: spaces with a type, and the style guide of each site."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the columns."""
    op.add_column("spaces", sa.Column("type", TEXT))
    op.add_column("sites", sa.Column("styleguide_id", TEXT))
