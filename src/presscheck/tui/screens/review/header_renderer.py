"""The two lines above a review: its state in numbers, and whether it can merge; the least matter is left out first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from presscheck.desk.standing import person
from presscheck.documents.display_text import display_text
from presscheck.documents.moments import since
from presscheck.documents.spans import Line, Span, cut, pad, width

if TYPE_CHECKING:
    from datetime import datetime

    from presscheck.api.change_requests import ChangeRequest, Review
    from presscheck.desk.review.model import Progress
    from presscheck.desk.standing import Check, Reviewer, Standing

_GAP = Span("   ")
_STATUS = {"open": "strong added", "draft": "strong waiting", "merged": "strong accent", "archived": "strong quiet"}
_CERTAINTIES = {
    "yes": ("✓ yes", "added"),
    "no": ("✗ no", "removed"),
    "care": ("⚠ with care", "waiting"),
    "unknown": ("the service decides", "quiet"),
}
_VERDICTS = (("approved", "✓", "added"), ("changes-requested", "✗", "removed"), ("asked", "◷", "waiting"))


def state_line(
    request: ChangeRequest,
    reviewers: Sequence[Reviewer] | None,
    progress: Progress | None,
    open_threads: int,
    columns: int,
    collected: int | None = None,
) -> Line:
    """`open ✓1 ✗1 ◷1   37/37 changes · 29 viewed   4 open comments   ◷ main has moved on`, as far as there is room."""
    status = Span(display_text(request.status), _STATUS.get(request.status, "strong"))
    parts: list[Line] = [(status, *verdicts(reviewers or ()))]
    if collected is not None:
        parts.append((Span(f"✎ {collected} in your review", "accent"),))
    parts.append(_progress(progress))
    if open_threads:
        parts.append((Span(f"{open_threads} open comment{'s' if open_threads != 1 else ''}", "waiting"),))
    if request.outdated:
        parts.append((Span("◷ main has moved on", "waiting"),))
    return _fitted([part for part in parts if part], columns)


def by_line(request: ChangeRequest, me: str, now: datetime) -> Line:
    """Who began it and when, or who ended it: `by mia · 2 h ago`, `merged by jon 1 d ago`."""
    if request.status == "merged":
        who = f" by {person(request.merged_by, me)}" if request.merged_by else ""
        when = f" {since(request.merged_at, now)}" if request.merged_at else ""
        return (Span(f"merged{who}{when}", "quiet"),)
    author = person(request.created_by, me)
    return (Span(f"by {author} · {since(request.created_at, now)}", "quiet"),)


def compared_line(review: Review | None, now: datetime) -> Line:
    """`since your review 2 h ago`, where that is what the newest revision is compared with."""
    return (Span(f"since your review {since(review.created_at, now)}", "accent"),) if review else ()


def verdicts(reviewers: Sequence[Reviewer]) -> Line:
    """` ✓1 ✗1 ◷1 ✓1 stale`: how many approved, asked for changes, have not spoken; approved an older revision."""
    spans: list[Span] = []
    stale = [one for one in reviewers if one.said == "approved" and one.stale]
    for said, glyph, style in _VERDICTS:
        number = sum(one.said == said and one not in stale for one in reviewers)
        if number:
            spans.append(Span(f" {glyph}{number}", style))
    if stale:
        spans.append(Span(f" ✓{len(stale)} stale", "waiting"))
    return tuple(spans)


def merge_line(standing: Standing, columns: int) -> Line:
    """`Can merge?  no: ada asked for changes, 4 open comments`."""
    why = ", ".join(standing.reasons)
    word, style = _CERTAINTIES[standing.certainty]
    spans = [Span("Can merge? ", "quiet"), Span(word, style)]
    if why:
        spans += [Span(": ", "quiet"), Span(why)]
    return cut(tuple(spans), columns)


def check_lines(checks: Iterable[Check]) -> list[Line]:
    """Each thing that a merge depends on: the sign, what it is, how it stands; below it, who can put it right."""
    lines: list[Line] = []
    for one in checks:
        word, style = _CERTAINTIES[one.certainty]
        sign = word[0] if one.certainty != "unknown" else "?"
        lines.append((Span(f" {sign} ", style), *pad((Span(one.what, "quiet"),), 13), Span(one.says)))
        if one.who and one.certainty != "yes":
            lines.append((Span(" " * 16), Span(f"put right by {one.who}", "quiet")))
    return lines


def _progress(progress: Progress | None) -> Line:
    if progress is None:
        return (Span("changes not known yet", "quiet"),)
    if progress.total == 0:
        return (Span("no changes yet", "quiet"),)
    whole = progress.known == progress.total
    spans = [Span(f"{progress.known:,}/{progress.total:,} changes", "" if whole else "waiting")]
    if not whole:
        spans.append(Span(" incomplete", "waiting"))
    if progress.viewed:
        spans.append(Span(f" · {progress.viewed:,} viewed", "quiet"))
    return tuple(spans)


def _fitted(parts: Sequence[Line], columns: int) -> Line:
    """The parts with gaps between, less as many of the last as it takes; even the first is cut where it must be."""
    for number in range(len(parts), 0, -1):
        line: list[Span] = []
        for part in parts[:number]:
            line += [_GAP, *part] if line else part
        if width(tuple(line)) <= columns:
            return tuple(line)
    return cut(parts[0], columns)
