"""Feedback of readers on published pages, and the repository from which a space was imported."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table of feedback with its index, and add the URL of the repository to spaces."""
    columns = ("site_id", "page_id", "reader", "day", "network", "url", "rating", "comment", "created_at", "id")
    op.create_table(
        "page_feedback",
        *(sa.Column(name, TEXT, nullable=False) for name in columns),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], ondelete="CASCADE", deferrable=True, initially="DEFERRED"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("site_id", "page_id", "reader", "day"),
    )
    op.create_index("page_feedback_by_time", "page_feedback", ["site_id", "created_at", "id"], unique=False)
    op.add_column("spaces", sa.Column("repository_url", TEXT, nullable=True))
