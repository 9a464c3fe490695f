"""Rendering of the events of a change request, each as one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from presscheck.engine.review.merge_readiness import join_names
from presscheck.engine.review.threads import markdown_of_body
from presscheck.text.phrases import ago, count, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.comments.rows import one_line, pending_words
from presscheck.tui.screens.revision_lines import REVISION_KINDS, change_name

if TYPE_CHECKING:
    from datetime import datetime

    from presscheck.api.change_requests import Review
    from presscheck.engine.review.revision_history import Step
    from presscheck.engine.review.threads import Thread
    from presscheck.engine.review.timeline import Event

VERDICT_SIGNS = {"approved": ("✓", "added"), "changes-requested": ("✗", "removed"), "asked": ("◷", "waiting")}
"""The sign and style of each review status."""
_VERDICTS = {"approved": "approved", "changes-requested": "requested changes"}


def event_line(event: Event, now: datetime, titles: Mapping[str, str]) -> Line:
    """Render an event. `titles` are the titles of the changed pages, by id."""
    if event.steps:
        return _edit(event, now)
    if event.review:
        return _review(event.review, event.who, now)
    if event.thread:
        return _comment(event.thread, titles, now)
    words = {"opened": "opened it", "merged": "merged it", "request": "requested a review"}[event.kind]
    sign = Span("◷ ", "waiting") if event.reviewers else Span("· ", "quiet")
    reviewers = f" from {join_names(event.reviewers)}" if event.reviewers else ""
    return (sign, Span(event.who, "strong"), Span(f" {words}{reviewers}"), _when(event.at, now))


def _edit(event: Event, now: datetime) -> Line:
    steps = event.steps
    kind = steps[-1].revision.type
    words = REVISION_KINDS.get(kind, sanitize(kind)) + (f" {len(steps)} times, last" if len(steps) > 1 else "")
    names = "" if kind == "update" else ", ".join(_names(steps))
    author = (Span(" by "), Span(event.who, "strong")) if event.who else ()
    return (Span("~ ", "waiting"), Span(words), _when(event.at, now), *author, Span(f"  {names}", "quiet"))


def _names(steps: Iterable[Step]) -> Iterable[str]:
    """Return the names of the pages and other items that the revisions changed, without duplicates."""
    return dict.fromkeys(change_name(change) for step in steps for change in step.changes.changes)


def _review(review: Review, who: str, now: datetime) -> Line:
    sign, style = VERDICT_SIGNS.get(review.status, ("·", "quiet"))
    text = markdown_of_body(review.comment.body) if review.comment else ""
    return (
        Span(f"{sign} ", style),
        Span(who, "strong"),
        Span(f" {_VERDICTS.get(review.status, 'reviewed')}", style),
        _when(review.created_at, now),
        Span("  replaced by a newer review" if review.outdated else "", "quiet"),
        Span(f"  {sanitize(' '.join(text.split()))}" if text else ""),
    )


def _comment(thread: Thread, titles: Mapping[str, str], now: datetime) -> Line:
    """Render a thread: its author, page and first words, and its state."""
    first, page = thread.first, titles.get(thread.page or "", "")
    state = "" if thread.state in ("open", "review") else thread.state
    replies = count(thread.reply_count, "reply", "replies") if thread.reply_count else ""
    facts = " · ".join(filter(None, (pending_words(first.pending or thread.pending_status), state, replies)))
    return (
        Span("┃ ", "quiet" if thread.resolved else "waiting"),
        Span(first.author, "you strong" if first.author == "you" else "strong"),
        Span("" if first.pending else f" {ago(first.posted_at, now)}", "quiet"),
        Span(" new" if thread.has_new else "", "accent strong"),
        Span(f" on {page}" if page else "", "link"),
        Span(f"  {facts}" if facts else "", "quiet"),
        Span("  "),
        *one_line(first),
    )


def _when(at: str, now: datetime) -> Span:
    return Span(f" {since(at, now)}" if at else "", "quiet")
