"""Has an index with all that counting the open comments of change requests reads, which is in every list of them."""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Run the migration."""
    op.create_index(
        "open_comments_of_change_request", "comments", ["change_request_id", "resolved_at", "review_id"], unique=False
    )
