"""Renders change requests in the inbox: a row with columns, the tabs, and the preview."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from presscheck.api.change_requests import ChangeRequest
from presscheck.documents.pages.quotes import split_quote
from presscheck.engine.inbox.views import RowDetails, View, name_of
from presscheck.text.phrases import ago, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, width

WIDE = 100
"""The width from which the wide columns are used, in cells."""
SIZES = (14, 8, 7, 12, 8, 11, 9)
NARROW_SIZES = (8, 6, 6, 5, 6, 8, 1)
"""The widths of the columns: space, author, age, viewed pages, comments, reviews, outdated."""
NO_SIGN = Span(" ")


def request_row(
    request: ChangeRequest, known: RowDetails, space: str, columns: int, moment: datetime, *, sign: Span = NO_SIGN
) -> Line:
    """A change request in one row of that many columns; `sign`, one cell wide, is shown before its number."""
    author = name_of("", request.created_by.display_name, "-") if request.created_by else ""
    is_wide = columns >= WIDE - 1
    comments = Span(f"{request.comments} open", "") if request.comments else Span("–", "quiet")
    parts: list[Line] = [
        (Span(space, "quiet"),),
        (Span(sanitize(author)),),
        (Span(ago(request.updated_at, moment), "quiet"),),
        (Span(_viewed(known, is_wide), "quiet"),),
        (comments,),
        _verdicts(known),
        _main(request, known, is_wide),
    ]
    gap, sizes = (2, SIZES) if is_wide else (1, NARROW_SIZES)
    tail = [pad(part, size) for part, size in zip(parts, sizes, strict=True)]
    used = 6 + sum(gap + size for size in sizes)
    subject = sanitize(request.subject) or "(no subject)"
    head = (sign, Span(f"{request.number:>4} ", "quiet"), *pad((Span(subject),), max(8, columns - used)))
    return cut((*head, *(span for part in tail for span in (Span(" " * gap), *part))), columns)


def tabs(views: Sequence[View], chosen: View, totals: Sequence[str], columns: int) -> Line:
    """The views with their counts as text; the first ones are left out if the chosen one would not fit."""
    parts: list[Line] = []
    for view, total in zip(views, totals, strict=True):
        style = "accent strong" if view is chosen else "quiet"
        parts.append((Span(sanitize(view.title), style), Span(f" {total}" if total else "", style), Span("   ")))
    needed = parts[: 1 + next(number for number, view in enumerate(views) if view is chosen)]
    first = 0
    while first < len(needed) - 1 and sum(map(width, needed[first:])) > columns:
        first += 1
    return (Span("‹ " if first else " ", "quiet" if first else ""), *(span for part in parts[first:] for span in part))


def heading_row(title: str, count: int, columns: int) -> Line:
    """The heading above the rows of a space."""
    return cut((Span("  "), Span(title, "title"), Span(f"  {count}", "quiet")), columns)


def preview(request: ChangeRequest, known: RowDetails, columns: int, moment: datetime) -> list[Line]:
    """The preview of a change request."""
    author = sanitize(request.created_by.display_name) if request.created_by else "somebody"
    facts = f"{request.status} · by {author} · {since(request.updated_at, moment)}"
    title = (Span(f" {request.number} ", "quiet"), Span(sanitize(request.subject) or "(no subject)", "title"))
    first = (*pad(title, max(10, columns - len(facts) - 2)), Span(facts, "quiet"))
    lines: list[Line] = [first, _reviewers(known), _changes(known)]
    if known.latest:
        body = sanitize(" ".join(split_quote(known.latest.body.markdown or "")[1].split()))
        name = sanitize(known.latest.posted_by.display_name.partition(" ")[0])
        lines.append((Span(" Latest     ", "quiet"), Span(name, "strong"), Span(f": “{body}”")))
    return [cut(line, max(1, columns - 1)) for line in lines]


def _viewed(known: RowDetails, is_wide: bool) -> str:
    if known.pages is None:
        return "–"
    return f"{known.viewed}/{known.pages}" + (" viewed" if is_wide and known.viewed else "")


def _main(request: ChangeRequest, known: RowDetails, is_wide: bool) -> Line:
    """Whether main has changed since, and whether there are conflicts with it or unresolved ones."""
    if known.has_conflict:
        return (Span("conflict" if is_wide else "✗", "removed"),)
    if not request.outdated:
        return ()
    return (Span("outdated" if is_wide else "◷", "waiting"),)


def _verdicts(known: RowDetails) -> Line:
    parts: list[Span] = []
    if known.approved:
        parts.append(Span(f"✓{len(known.approved)} ", "added"))
    if known.refused:
        parts.append(Span(f"✗{len(known.refused)} ", "removed"))
    if known.stale:
        parts.append(Span(f"✓{len(known.stale)} stale", "waiting"))
    return tuple(parts)


def _reviewers(known: RowDetails) -> Line:
    if known.approved is None and known.asked is None:
        return (Span(" Reviewers  …", "quiet"),)
    parts = [Span(" Reviewers  ", "quiet")]
    parts += [Span(f"✓ {sanitize(name)}   ", "added") for name in known.approved or ()]
    parts += [Span(f"✗ {sanitize(name)}   ", "removed") for name in known.refused or ()]
    parts += [Span(f"✓ {sanitize(name)} (older revision)   ", "waiting") for name in known.stale]
    parts += [Span(f"◷ {sanitize(name)}   ", "waiting") for name in known.asked or ()]
    return tuple(parts) if len(parts) > 1 else (parts[0], Span("none requested", "quiet"))


def _changes(known: RowDetails) -> Line:
    if known.changes is None:
        return (Span(" Pages      …", "quiet"),)
    words = [
        f"{count} {word}"
        for count, word in zip(known.changes, ("added", "edited", "moved", "deleted"), strict=True)
        if count
    ]
    return (Span(" Pages      ", "quiet"), Span(", ".join(words) or "no changes yet", "" if words else "quiet"))
