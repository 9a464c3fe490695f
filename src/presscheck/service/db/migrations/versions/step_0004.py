"""Participants and counts of change requests, so that no listing reads more rows than it returns."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from presscheck.service.db.migrations.change_request_triggers import keep_change_requests

revision = "0004"
down_revision = "0003"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")
LATE: dict[str, Any] = {"initially": "DEFERRED", "deferrable": True}


def upgrade() -> None:
    """Create the tables of participants and counts, fill them, and create the triggers that maintain them."""
    op.create_table(
        "change_request_people",
        sa.Column("change_request_id", TEXT, nullable=False),
        sa.Column("user_id", TEXT, nullable=False),
        sa.Column("role", TEXT, nullable=False),
        sa.Column("space_id", TEXT, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["change_request_id"], ["change_requests.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("change_request_id", "user_id", "role"),
    )
    op.create_index(
        "change_requests_of_person",
        "change_request_people",
        ["user_id", "role", "space_id", "status", "updated_at", "change_request_id"],
        unique=False,
    )
    op.create_table(
        "change_request_counts",
        sa.Column("space_id", TEXT, nullable=False),
        sa.Column("role", TEXT, nullable=False),
        sa.Column("user_id", TEXT, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("space_id", "role", "user_id", "status"),
    )
    op.drop_index("comments_of_space", "comments")
    op.create_index("comments_of_space", "comments", ["space_id", "change_request_id", "posted_at", "id"], unique=False)
    is_open = sa.text("change_request_id IS NULL AND resolved_at IS NULL")
    op.create_index(
        "open_comments_of_space",
        "comments",
        ["space_id"],
        unique=False,
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
    keep_change_requests(op.get_bind())
