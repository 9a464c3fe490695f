"""The preview of a change request in the inbox: description, changed items and open threads, all from the cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from presscheck.engine.review.changes import ChangedItem, changed_items
from presscheck.engine.review.comment_state import is_open_comment
from presscheck.engine.shared_calls import changes_in, comments_on

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.comments import Comment
    from presscheck.engine.inbox.views import RowReader


@dataclass(frozen=True)
class Preview:
    """The cached contents of a change request. A field is None if its data is not cached or not available."""

    description: str = ""
    """The text of the description, not sanitized."""
    items: tuple[ChangedItem, ...] | None = None
    viewed: Mapping[str, str] | None = None
    """The revision at which each page was viewed, by page id."""
    threads: tuple[Comment, ...] | None = None
    """The open threads, latest activity first."""


def read_preview(engine: RowReader, request: ChangeRequest) -> Preview:
    """Return the preview of a change request from its cached contents."""
    changes, comments = engine.known(changes_in(request)), engine.known(comments_on(request))
    # a service that cannot list the changes lists all pages
    is_known = changes is not None and all(change.type != "page_listed" for change in changes.value.changes)
    threads = list(filter(is_open_comment, comments.value.items)) if comments else []
    return Preview(
        _description(request),
        changed_items(changes.value.changes) if changes and is_known else None,
        engine.viewed(request.id),
        tuple(sorted(threads, key=last_activity, reverse=True)) if comments else None,
    )


def last_activity(thread: Comment) -> str:
    """Return the time of the latest message of a thread."""
    return max((thread.posted_at, *(replier.updated_at or "" for replier in thread.repliers)))


def _description(request: ChangeRequest) -> str:
    if not request.description:
        return ""
    from presscheck.documents.nodes.comment_targets import document_text  # 3 ms, only for a description

    return document_text(request.description)
