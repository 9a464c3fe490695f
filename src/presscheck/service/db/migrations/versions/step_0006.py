"""An index that covers the count of open comments, which every list of change requests contains."""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the index of open comments by change request."""
    op.create_index(
        "open_comments_of_change_request", "comments", ["change_request_id", "resolved_at", "review_id"], unique=False
    )
