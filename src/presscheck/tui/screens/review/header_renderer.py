"""Renders the header of a review (its state, whether it can be merged) and the rows of its list of pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from presscheck.engine.review.changes import NOT_COMPARED, change_sizes
from presscheck.engine.review.merge_readiness import person
from presscheck.text.phrases import count, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, width

if TYPE_CHECKING:
    from datetime import datetime

    from presscheck.api.change_requests import ChangeRequest, Review
    from presscheck.engine.review.changes import ChangedItem, WordCount
    from presscheck.engine.review.merge_readiness import MergeCheck, MergeReadiness, Reviewer
    from presscheck.engine.review.model import Progress

_GAP = Span("   ")
_STATUS = {"open": "strong added", "draft": "strong waiting", "merged": "strong accent", "archived": "strong quiet"}
_CERTAINTIES = {
    "yes": ("✓ yes", "added"),
    "no": ("✗ no", "removed"),
    "blocked": ("✗ no", "removed"),
    "care": ("⚠ with warnings", "waiting"),
    "unknown": ("the service decides", "quiet"),
}
VERDICT_SIGNS = {"approved": ("✓", "added"), "changes-requested": ("✗", "removed"), "asked": ("◷", "waiting")}
"""The sign of a review by its status, and its style."""
_THREAD_COLUMNS = 4
_TITLE_COLUMNS = 16
"""The columns of a title that no size takes away, with the mark before it."""
_NARROW_LIST = 22
"""Below this number of columns only the title is shown."""
_KIND_STYLES = {
    "added": "added",
    "deleted": "removed",
    "edited": "",
    "moved": "link",
    "renamed": "link",
    "details": "quiet",
    NOT_COMPARED: "quiet",
}
_NOUNS = {"file": "file ", "content": "reusable ", "tag": "tag ", "variables": ""}


def state_line(
    request: ChangeRequest,
    reviewers: Sequence[Reviewer] | None,
    progress: Progress | None,
    open_threads: int,
    columns: int,
    collected: int | None = None,
    new_threads: int = 0,
    notifications: str = "",
) -> Line:
    """`open ✓1 ✗1 ◷1   37 changes · 29 viewed   4 open comments · 1 new   ◷ main has new changes`, cut."""
    status = Span(sanitize(request.status), _STATUS.get(request.status, "strong"))
    parts: list[Line] = [(status, *verdicts(reviewers or ()))]
    if collected is not None:
        parts.append((Span(f"✎ {collected} in your review", "accent"),))
    parts.append(_progress(progress))
    news = (Span(f"{new_threads:,} new", "accent strong"),) if new_threads else ()
    if open_threads:
        gap = (Span(" · ", "quiet"),) if news else ()
        parts.append((Span(count(open_threads, "open comment"), "waiting"), *gap, *news))
    elif news:
        parts.append(news)
    if request.outdated:
        parts.append((Span("◷ main has new changes", "waiting"),))
    if notifications:
        parts.append((Span(notifications, "quiet"),))
    return _join_fitting([part for part in parts if part], columns)


def by_line(request: ChangeRequest, me: str, now: datetime) -> Line:
    """The author, or who merged it: `by mia · 2 h ago`, `merged by jon 1 d ago`."""
    if request.status == "merged":
        author = f" by {person(request.merged_by, me)}" if request.merged_by else ""
        when = f" {since(request.merged_at, now)}" if request.merged_at else ""
        return (Span(f"merged{author}{when}", "quiet"),)
    author = person(request.created_by, me)
    return (Span(f"by {author} · {since(request.created_at, now)}", "quiet"),)


def compared_line(review: Review | None, now: datetime, note: str = "") -> Line:
    """`since your review 2 h ago`, or a note on how the changes were found out; empty if all changes are shown."""
    if review is None:
        return (Span(sanitize(note), "waiting"),) if note else ()
    return (Span(f"since your review {since(review.created_at, now)}", "accent"),)


def verdicts(reviewers: Sequence[Reviewer]) -> Line:
    """` ✓1 ✗1 ◷1 ✓1 stale`: approvals, requested changes, pending reviewers, approvals of an older revision."""
    spans: list[Span] = []
    stale = [reviewer for reviewer in reviewers if reviewer.status == "approved" and reviewer.stale]
    for verdict, (glyph, style) in VERDICT_SIGNS.items():
        number = sum(reviewer.status == verdict and reviewer not in stale for reviewer in reviewers)
        if number:
            spans.append(Span(f" {glyph}{number}", style))
    if stale:
        spans.append(Span(f" ✓{len(stale)} stale", "waiting"))
    return tuple(spans)


def merge_line(readiness: MergeReadiness, columns: int) -> Line:
    """`Can merge?  no: ada requested changes, 4 open comments`."""
    reasons = ", ".join(readiness.reasons)
    word, style = _CERTAINTIES[readiness.certainty]
    spans = [Span("Can merge? ", "quiet"), Span(word, style)]
    if reasons:
        spans += [Span(": ", "quiet"), Span(reasons)]
    return cut(tuple(spans), columns)


def undo_line(*, can_revert: bool) -> Line:
    """How a merge can be undone; a service without edits of pages cannot revert one."""
    words = "To undo a merge: Z in the merged change request reverts it in a new one."
    return (Span(words, "quiet") if can_revert else Span("This cannot be undone.", "waiting"),)


def check_line(check: MergeCheck) -> Line:
    """A merge requirement: its sign, its name and its status."""
    word, style = _CERTAINTIES[check.certainty]
    sign = word[0] if check.certainty != "unknown" else "?"
    return (Span(f" {sign} ", style), *pad((Span(check.subject, "quiet"),), 13), Span(check.message))


def fix_line(check: MergeCheck) -> Line:
    """Who can fix what is missing."""
    return (Span(" " * 16), Span(f"can be fixed by {check.fixed_by}", "quiet"))


def _progress(progress: Progress | None) -> Line:
    if progress is None:
        return (Span("changes not known yet", "quiet"),)
    if progress.total == 0:
        return (Span("no changes yet", "quiet"),)
    spans = [Span(count(progress.total, "change"))]
    if progress.known < progress.total:
        spans = [Span(f"changes: {progress.known:,} of {progress.total:,} loaded", "waiting")]
    if progress.viewed:
        spans.append(Span(f" · {progress.viewed:,} viewed", "quiet"))
    return tuple(spans)


def _join_fitting(parts: Sequence[Line], columns: int) -> Line:
    """Joins as many parts as fit, with gaps; always shows the first, cut if necessary."""
    for number in range(len(parts), 0, -1):
        line: list[Span] = []
        for part in parts[:number]:
            line += [_GAP, *part] if line else part
        if width(tuple(line)) <= columns:
            return tuple(line)
    return cut(parts[0], columns)


def item_line(
    item: ChangedItem,
    columns: int,
    *,
    viewed: bool,
    words: WordCount | None = None,
    open_threads: int = 0,
    has_conflict: bool = False,
    has_new: bool = False,
    marked: bool = False,
) -> Line:
    """A row of the list: `✓ Overview   +12 −3 words  ┃2`; the size is shortened, then the title is cut."""
    mark = Span("• ", "accent") if marked else Span("✓ ", "added") if viewed else Span("  ")
    style = "quiet" if viewed else "removed strike" if item.kinds[0] == "deleted" else ""
    title = (mark, Span(_NOUNS.get(item.noun, ""), "quiet"), Span(item.title, style))
    room = columns - _THREAD_COLUMNS - 1 - min(width(title), _TITLE_COLUMNS)
    size = (Span("conflict", "removed"),) if has_conflict else _size(item, words, room, viewed=viewed)
    return _row(title, size, open_threads, columns, has_new=has_new)


def conversation_line(columns: int, open_threads: int, *, has_new: bool = False) -> Line:
    """The first row of the list: the conversation about the whole change request."""
    return _row((Span("  "), Span("Conversation", "strong")), (), open_threads, columns, has_new=has_new)


def _row(title: Line, size: Line, open_threads: int, columns: int, *, has_new: bool) -> Line:
    if columns < _NARROW_LIST:
        return pad(cut(title, columns), columns)
    sign, style = ("●", "accent strong") if has_new else ("┃", "waiting")
    threads = (Span(f"{sign}{min(open_threads, 99)}", style),) if open_threads or has_new else ()
    right = (*size, *pad((Span(" "), *threads), _THREAD_COLUMNS))
    room = columns - width(right) - 1
    return (*pad(cut(title, room), room), Span(" "), *right)


def _size(item: ChangedItem, words: WordCount | None, room: int, *, viewed: bool) -> Line:
    """The longest form of the size that fits."""
    style = "quiet" if viewed else _KIND_STYLES[item.kinds[0]]
    sizes = change_sizes(item, words)
    return (Span(next((size for size in sizes if len(size) <= room), sizes[-1]), style),)
