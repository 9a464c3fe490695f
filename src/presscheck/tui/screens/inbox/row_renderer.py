"""Renders the rows of the inbox, the headings of its groups, and its tabs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len

from presscheck.api.change_requests import ChangeRequest
from presscheck.engine.inbox.views import RowDetails, View, name_of
from presscheck.text.phrases import ago
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, width
from presscheck.tui.screens.inbox.columns import Columns, reviews_cell, row_line, viewed_text

NO_SIGN = Span(" ")
GAP, NARROW_GAP = "   ", "  "
"""What stands between two tabs: if all fit, and if not."""


def request_row(
    request: ChangeRequest, known: RowDetails, space: str, columns: Columns, moment: datetime, *, sign: Span = NO_SIGN
) -> Line:
    """A change request in one row; `sign`, one cell wide, is shown before its number."""
    author = name_of("", request.created_by.display_name, "-") if request.created_by else ""
    number = request.comments if known.open_comments is None else known.open_comments
    comments = Span(f"{number} open") if number else Span("–", "quiet")
    cells: list[Line] = [
        (Span(space, "quiet"),),
        (Span(sanitize(author)),),
        (Span(ago(request.updated_at, moment), "quiet"),),
        (Span(_viewed(known, columns), "quiet"),),
        (comments,),
        reviews_cell(known, has_names=columns.has_names),
        _own_review(known, columns),
        _main(request, known, columns),
    ]
    number = Span(f"#{request.number}".rjust(columns.number) + " ", "quiet")
    return row_line(columns, (sign, number), (Span(sanitize(request.subject) or "(no subject)"),), cells)


def tabs(views: Sequence[View], chosen: View, totals: Sequence[str], columns: int) -> Line:
    """The views with their counts as text; the first ones are left out if the chosen one would not fit.

    The target of each, for a click, is its index.
    """
    texts = [sanitize(view.title) + (f" {total}" if total else "") for view, total in zip(views, totals, strict=True)]
    fits = sum(cell_len(text) + len(GAP) for text in texts) < columns
    gap = Span(GAP if fits else NARROW_GAP)
    parts: list[Line] = [
        (Span(text, "accent strong" if view is chosen else "quiet", str(at)), gap)
        for at, (view, text) in enumerate(zip(views, texts, strict=True))
    ]
    needed = parts[: 1 + next(number for number, view in enumerate(views) if view is chosen)]
    first = 0
    while first < len(needed) - 1 and sum(map(width, needed[first:])) > columns:
        first += 1
    before = Span("‹ ", "quiet", str(first - 1)) if first else Span(" ")
    return (before, *(span for part in parts[first:] for span in part))


def heading_row(title: str, count: int, columns: int) -> Line:
    """The heading above the rows of a space."""
    return cut((Span("  "), Span(title, "title"), Span(f"  {count}", "quiet")), columns)


def _viewed(known: RowDetails, columns: Columns) -> str:
    needs_word = known.viewed and columns.is_wide and not columns.has_headings
    return viewed_text(known) + (" viewed" if needs_word else "")


def _main(request: ChangeRequest, known: RowDetails, columns: Columns) -> Line:
    """Whether main has changed since, and whether there are conflicts with it or unresolved ones."""
    if known.has_conflict:
        return (Span("conflict" if columns.is_wide else "!", "removed"),)  # the review column has crosses
    if not request.outdated:
        return ()
    return (Span("outdated" if columns.is_wide else "↓", "waiting"),)


def _own_review(known: RowDetails, columns: Columns) -> Line:
    """The review of the signed-in user: requested, approved, changes requested, or of an older revision."""
    if known.is_asked:
        return (Span("◷ requested" if columns.has_names else "◷", "waiting"),)
    if not known.own:
        return ()
    glyph, style, word = ("✓", "added", "approved") if known.own == "approved" else ("✗", "removed", "changes")
    if known.is_own_stale:
        return (Span(f"{glyph} stale" if columns.is_wide else "↻", "waiting"),)
    return (Span(f"{glyph} {word}" if columns.has_names else glyph, style),)
