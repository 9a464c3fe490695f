"""Tables of content and reviews: immutable revisions and documents, change requests, comments and reviews."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from presscheck.service.models.table import KEPT, Table, refers

_IS_OPEN = text("change_request_id IS NULL AND resolved_at IS NULL")
"""Condition for open comments on live spaces."""


class RevisionRow(Table):
    """The content of a space at one time. Immutable: it is never updated.

    `tree` contains the pages as in the API, without paths and bodies; `files` the files without URLs.
    """

    __tablename__ = "revisions"

    id: Mapped[str] = mapped_column(primary_key=True)
    space_id: Mapped[str] = mapped_column(refers("spaces.id", ondelete="CASCADE"), index=True)
    type: Mapped[str] = mapped_column(default="edits")
    parents: Mapped[list[str]] = mapped_column(default=list)
    created_at: Mapped[str]
    created_by: Mapped[str | None] = mapped_column(refers("users.id"))
    tree: Mapped[list[dict[str, Any]]] = mapped_column(default=list)
    files: Mapped[list[dict[str, Any]]] = mapped_column(default=list)
    reusable_contents: Mapped[list[dict[str, Any]]] = mapped_column(default=list)
    variables: Mapped[dict[str, Any] | None]
    merged_from: Mapped[str | None] = mapped_column(refers("change_requests.id"))


class DocumentRow(Table):
    """The Markdown of a page or of reusable content. The id is a hash of the text, so equal texts share one row."""

    __tablename__ = "documents"

    id: Mapped[str] = mapped_column(primary_key=True)
    markdown: Mapped[str]


class ChangeRequestRow(Table):
    """A branch of a space. `revision_merged_ancestor` is the newest live revision that it contains."""

    __tablename__ = "change_requests"
    __table_args__ = (
        UniqueConstraint("space_id", "number"),
        Index("change_requests_by_update", "space_id", "status", "updated_at", "id"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    space_id: Mapped[str] = mapped_column(refers("spaces.id", ondelete="CASCADE"))
    number: Mapped[int]
    status: Mapped[str] = mapped_column(default="draft")
    subject: Mapped[str] = mapped_column(default="")
    description: Mapped[dict[str, Any] | None]
    created_by: Mapped[str] = mapped_column(refers("users.id"))
    created_at: Mapped[str]
    updated_at: Mapped[str]
    merged_by: Mapped[str | None] = mapped_column(refers("users.id"))
    merged_at: Mapped[str | None]
    revision: Mapped[str]
    revision_initial: Mapped[str]
    revision_merged_ancestor: Mapped[str | None]
    revision_merged: Mapped[str | None]


class CommentRow(Table):
    """A comment on a change request, or on the live space if `change_request_id` is null."""

    __tablename__ = "comments"
    __table_args__ = (
        Index("comments_of_change_request", "change_request_id", "posted_at", "id"),
        Index("open_comments_of_change_request", "change_request_id", "resolved_at", "review_id"),
        Index("comments_of_space", "space_id", "change_request_id", "posted_at", "id"),
        Index("open_comments_of_space", "space_id", sqlite_where=_IS_OPEN, postgresql_where=_IS_OPEN),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    space_id: Mapped[str] = mapped_column(refers("spaces.id", ondelete="CASCADE"))
    change_request_id: Mapped[str | None] = mapped_column(refers("change_requests.id", ondelete="CASCADE"))
    review_id: Mapped[str | None] = mapped_column(refers("reviews.id", ondelete="CASCADE"), index=True)
    revision: Mapped[str]
    page_id: Mapped[str | None]
    node_id: Mapped[str | None]
    table_cell: Mapped[dict[str, Any] | None]
    body: Mapped[dict[str, Any]]
    posted_by: Mapped[str] = mapped_column(refers("users.id"))
    posted_at: Mapped[str]
    edited_at: Mapped[str | None]
    resolved_by: Mapped[str | None] = mapped_column(refers("users.id"))
    resolved_at: Mapped[str | None]


class ReplyRow(Table):
    """A reply to a comment."""

    __tablename__ = "replies"
    __table_args__ = (Index("replies_of_comment", "comment_id", "posted_at", "id"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    comment_id: Mapped[str] = mapped_column(refers("comments.id", ondelete="CASCADE"))
    body: Mapped[dict[str, Any]]
    posted_by: Mapped[str] = mapped_column(refers("users.id"))
    posted_at: Mapped[str]
    edited_at: Mapped[str | None]


class ReactionRow(Table):
    """An emoji reaction of one user; `target_id` is the id of a comment or a reply."""

    __tablename__ = "reactions"

    target_id: Mapped[str] = mapped_column(primary_key=True)
    emoji: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(refers("users.id"), primary_key=True)
    reacted_at: Mapped[str]


class RequestedReviewerRow(Table):
    """A request for a review by one user. `revision` is the newest revision at the time of the request."""

    __tablename__ = "requested_reviewers"

    change_request_id: Mapped[str] = mapped_column(refers("change_requests.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[str] = mapped_column(refers("users.id"), primary_key=True, index=True)
    requested_by: Mapped[str] = mapped_column(refers("users.id"))
    revision: Mapped[str]
    created_at: Mapped[str]


class ReviewRow(Table):
    """A review. `outdated` is true if the same user has submitted a newer review."""

    __tablename__ = "reviews"

    id: Mapped[str] = mapped_column(primary_key=True)
    change_request_id: Mapped[str] = mapped_column(refers("change_requests.id", ondelete="CASCADE"), index=True)
    reviewer: Mapped[str] = mapped_column(refers("users.id"))
    requested_by: Mapped[str | None] = mapped_column(refers("users.id"))
    revision: Mapped[str]
    status: Mapped[str]
    outdated: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[str]


class ContributorRow(Table):
    """The number of edits (or of comments, by `action`) of a user in a change request, and the time of the last one."""

    __tablename__ = "contributors"

    change_request_id: Mapped[str] = mapped_column(refers("change_requests.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[str] = mapped_column(refers("users.id"), primary_key=True, index=True)
    action: Mapped[str] = mapped_column(primary_key=True)
    count: Mapped[int] = mapped_column(default=0)
    updated_at: Mapped[str]


class ChangeRequestPersonRow(Table):
    """A participant of a change request: author, reviewer or contributor.

    Maintained by triggers, see `change_request_triggers`. It repeats the columns that lists filter and sort by.
    """

    __tablename__ = "change_request_people"
    __table_args__ = (
        Index("change_requests_of_person", "user_id", "role", "space_id", "status", "updated_at", "change_request_id"),
        {"info": KEPT},
    )

    change_request_id: Mapped[str] = mapped_column(refers("change_requests.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[str] = mapped_column(primary_key=True)
    role: Mapped[str] = mapped_column(primary_key=True)
    space_id: Mapped[str]
    status: Mapped[str]
    updated_at: Mapped[str]


class ChangeRequestCountRow(Table):
    """The number of change requests of a space by status, in total or for a participant in a role.

    Maintained by triggers, see `change_request_triggers`. `role` and `user_id` are empty in the rows with totals.
    """

    __tablename__ = "change_request_counts"
    __table_args__ = ({"info": KEPT},)

    space_id: Mapped[str] = mapped_column(refers("spaces.id", ondelete="CASCADE"), primary_key=True)
    role: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(default=0)
