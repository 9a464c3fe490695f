"""Change requests, threads and messages as phrases without symbols."""

from __future__ import annotations

from collections.abc import Sequence

from presscheck.api.change_requests import ChangeRequest
from presscheck.documents.pages.comment_text import split_quote
from presscheck.engine.drafts import Draft, drafts
from presscheck.engine.engine import Engine
from presscheck.engine.inbox.views import RowDetails
from presscheck.engine.review.merge_readiness import MergeCheck, Reviewer, join_names, person
from presscheck.engine.review.threads import Message, Thread
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import sanitize

EXCERPT = 60
"""Maximum number of characters of a text in a list."""
_REVIEWS = {"approved": "approved", "changes-requested": "requested changes"}
_CERTAINTIES = {"yes": "met", "no": "not met", "blocked": "conflict", "care": "warning", "unknown": "unknown"}
_FIX_VERBS = {"main": " (verb: update)"}
"""The verb that fixes an unmet merge requirement, by its subject."""


def request_name(request: ChangeRequest) -> str:
    """Return the number and the subject of a change request."""
    return f"#{request.number} {sanitize(request.subject).strip() or '(no subject)'}"


def request_row(request: ChangeRequest, space: str, details: RowDetails, me: str) -> str:
    """Return a change request as a line of a list."""
    parts = [f"in {sanitize(space) or 'an unknown space'}", f"by {person(request.created_by, me)}"]
    parts.append(f"updated {since(request.updated_at, now())}")
    for names, word in (
        (details.approved, "approved by"),
        (details.refused, "changes requested by"),
        (details.asked, "waiting for"),
    ):
        if names:
            parts.append(f"{word} {join_names(names)}")
    if details.open_comments:
        parts.append(count(details.open_comments, "open comment"))
    return f"{request_name(request)}: {', '.join(parts)}"


def review_line(reviewers: Sequence[Reviewer]) -> str:
    """Return all reviews on one line, or an empty text without reviewers."""
    asked = [reviewer.name for reviewer in reviewers if reviewer.status == "asked"]
    done = [
        f"{reviewer.name} {_REVIEWS[reviewer.status]}{' (an older revision)' if reviewer.stale else ''}"
        for reviewer in reviewers
        if reviewer.status != "asked"
    ]
    return "; ".join([*done, *([f"waiting for {join_names(asked)}"] if asked else [])])


def check_line(check: MergeCheck) -> str:
    """Return a merge requirement with who can fix it, and with which verb."""
    verb = _FIX_VERBS.get(check.subject, "")
    fixed_by = f", can be fixed by {check.fixed_by}{verb}" if check.fixed_by and check.certainty != "yes" else ""
    return f"  {_CERTAINTIES[check.certainty]}: {check.message}{fixed_by}"


def excerpt(text: str) -> str:
    """Return the beginning of a text, on one line."""
    flat = " ".join(sanitize(text).split())
    return flat if len(flat) <= EXCERPT else f"{flat[:EXCERPT].rsplit(' ', 1)[0]} …"


def thread_row(thread: Thread, page: str = "") -> str:
    """Return a thread as a line of a list; `page` is the title of its page, if the list has several."""
    replies = f", {count(thread.reply_count, 'reply', 'replies')}" if thread.reply_count else ""
    where = f" on {page}" if page else ""
    new = ", new" if thread.has_new else ""
    text = excerpt(_own_words(thread, thread.first))
    return f"{state_words(thread)}{new}, by {thread.first.author}{where}{replies}: {text}"


def state_words(thread: Thread) -> str:
    """Return the state of a thread."""
    if thread.first.pending:
        return "held in your review" if thread.first.pending.state == "collected" else "not sent yet"
    if thread.state == "review":
        return f"review, {_REVIEWS.get(thread.verdict, 'comment')}"
    if thread.resolved and thread.resolved_by:
        return f"resolved by {thread.resolved_by}"
    return thread.state


def message_lines(thread: Thread, message: Message) -> list[str]:
    """Return a message of a thread with its author and its time."""
    edited = ", edited" if message.edited else ""
    error = f" Not sent: {sanitize(message.pending.error)}" if message.pending and message.pending.error else ""
    heading = f"{message.author}, {since(message.posted_at, now())}{edited}:{error}"
    return [heading, *(f"  {line}" for line in sanitize(_own_words(thread, message).strip(), lines=True).split("\n"))]


def _own_words(thread: Thread, message: Message) -> str:
    """Return the text of a message. A comment on a text of a page starts with a quote, which is left out."""
    return split_quote(message.text)[1] if thread.about and message is thread.first else message.text


def drafts_of(engine: Engine, request_id: str = "") -> tuple[Draft, ...]:
    """Return the drafts of texts in change requests; `request_id` limits them to one."""
    return tuple(draft for draft in drafts(engine.outbox.drafts()) if draft.path and request_id in ("", draft.request))
