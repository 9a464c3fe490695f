"""Rendering of the rows, column headings, group headings and tabs of the inbox.

Columns are as wide as their cells need, so that facts stay close to the subject on a wide screen. If there is not
enough room, subjects are cut to `LONG_SUBJECT` columns, then spaces and authors are cut, then subjects again, and at
last the columns in `LEFT_OUT` are omitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from rich.cells import cell_len

from presscheck.api.change_requests import ChangeRequest
from presscheck.engine.inbox.views import RowDetails, View, name_of
from presscheck.text.phrases import ago
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, width

WIDE = 100
"""Minimum columns for words instead of signs in cells and, by default, for column headings."""
NAMES = 160
"""Minimum columns for the names of reviewers."""
MAX_NAMES = 40
"""Maximum columns of the names of reviewers."""
LONG_SUBJECT = 40
"""Subjects are cut to these columns before spaces and authors are cut."""
MIN_SUBJECT, MIN_SPACE, MIN_AUTHOR = 24, 8, 6
"""Minimum columns of subject, space and author. Subjects get narrower only if no column is left to omit."""
TITLES = {
    "space": ("Space", "Space"),
    "author": ("Author", "Author"),
    "age": ("Updated", "Age"),
    "viewed": ("Viewed", "Pages"),
    "comments": ("Comments", "Open"),
    "reviews": ("Reviews", "Reviews"),
    "own": ("You", "You"),
    "main": ("Merge", ""),
    "held": ("Pending", "✎"),
}
"""The headings of the columns after the subject, in order: for a wide screen, and for a narrow screen."""
LEFT_OUT = ("viewed", "author", "comments", "reviews")
"""The columns that are omitted, in this order, when the subject has too little room. The preview shows them too."""
NO_SIGN = Span(" ")
GAP, NARROW_GAP = "   ", "  "
"""The gap between tabs: if all fit, and if not."""


@dataclass(frozen=True)
class NaturalWidths:
    """The minimum widths of the columns at which no text of the measured rows is cut."""

    number: int = 3
    subject: int = 8
    space: int = 5
    author: int = 6
    age: int = 4
    comments: int = 6
    viewed: int = 4
    reviews: int = 5
    names: int = 8
    own: int = 3
    held: int = 0

    def including(self, request: ChangeRequest, space: str, moment: datetime, held: int = 0) -> NaturalWidths:
        """Return these widths, extended for a row.

        Args:
            request: the change request of the row.
            space: the title of its space.
            moment: the current time.
            held: the number of its drafts and held comments.
        """
        author = request.created_by.display_name if request.created_by else ""
        return self._widened(
            number=len(f"#{request.number}"),
            subject=cell_len(sanitize(request.subject)),
            space=cell_len(space),
            author=cell_len(sanitize(author.partition(" ")[0])),
            age=len(ago(request.updated_at, moment)),
            comments=len(f"{request.comments} open"),
            held=len(held_text(held)),
        )

    def with_details(self, known: RowDetails) -> NaturalWidths:
        """Return these widths, extended for the details of a row."""
        return self._widened(
            viewed=len(viewed_text(known)),
            reviews=width(reviews_cell(known, has_names=False)),
            names=width(reviews_cell(known, has_names=True)),
            own=len("✓ stale") if known.is_own_stale else 3,
        )

    def _widened(self, **cells: int) -> NaturalWidths:
        wider = {name: size for name, size in cells.items() if size > getattr(self, name)}
        return NaturalWidths(**{**vars(self), **wider}) if wider else self


@dataclass(frozen=True)
class Columns:
    """The widths of the columns of the list.

    `sizes` are the widths of the columns after the subject; 0 for an omitted column.
    """

    total: int
    gap: int
    number: int
    subject: int
    sizes: tuple[int, ...]
    has_headings: bool

    @property
    def is_wide(self) -> bool:
        """Whether cells have words instead of signs."""
        return self.total >= WIDE - 2

    @property
    def has_names(self) -> bool:
        """Whether reviewers are shown by name."""
        return self.total >= NAMES - 2


@lru_cache(maxsize=64)
def columns_for(total: int, natural: NaturalWidths, *, has_headings: bool) -> Columns:
    """Distribute a total width over the columns. `natural` are the widths at which no text is cut."""
    is_wide, has_names = total >= WIDE - 2, total >= NAMES - 2
    gap = 2 if is_wide else 1
    sizes = {
        "space": natural.space,
        "author": natural.author,
        "age": natural.age,
        "viewed": natural.viewed + (len(" viewed") if is_wide and not has_headings else 0),
        "comments": natural.comments,
        "reviews": min(natural.names, MAX_NAMES) if has_names else natural.reviews,
        "own": 11 if has_names else natural.own if is_wide else 1,
        "main": 8 if is_wide else 1,
        "held": natural.held,
    }
    if has_headings:
        titles = {name: titles[0 if is_wide else 1] for name, titles in TITLES.items()}
        sizes = {name: max(size, len(titles[name])) if size else 0 for name, size in sizes.items()}

    def room() -> int:
        """Return the columns left for the subject, after the sign, the number and a blank."""
        return total - 2 - natural.number - sum(size + gap for size in sizes.values() if size)

    for name, least in (("space", MIN_SPACE), ("author", MIN_AUTHOR)):
        missing = max(0, min(natural.subject, LONG_SUBJECT) - room())
        sizes[name] = max(min(sizes[name], least), sizes[name] - missing)
    for name in LEFT_OUT:
        if room() < min(natural.subject, MIN_SUBJECT):
            sizes[name] = 0
    subject = max(1, min(natural.subject, room()))
    return Columns(total, gap, natural.number, subject, tuple(sizes.values()), has_headings)


def heading_line(columns: Columns) -> Line:
    """Render the column headings."""
    number = Span(" " + "#".rjust(columns.number) + " ", "quiet")
    cells: list[tuple[Span, ...]] = [
        (Span(titles[0 if columns.is_wide else 1], "quiet"),) for titles in TITLES.values()
    ]
    return row_line(columns, (number,), (Span("Change request", "quiet"),), cells)


def row_line(columns: Columns, head: Line, subject: Line, cells: list[Line]) -> Line:
    """Render a row.

    Args:
        columns: the widths.
        head: the sign and number before the subject.
        subject: the subject.
        cells: the cells after the subject, in column order.
    """
    gap = Span(" " * columns.gap)
    spans = [*head, *pad(subject, columns.subject)]
    for cell, size in zip(cells, columns.sizes, strict=True):
        if size:
            spans += (gap, *pad(cell, size))
    return cut(tuple(spans), columns.total)


def viewed_text(known: RowDetails) -> str:
    """Return the number of viewed pages and of all changed pages, such as `2/5`; a dash if unknown."""
    return "–" if known.pages is None else f"{known.viewed}/{known.pages}"


def held_text(held: int) -> str:
    """Return the sign of drafts and held comments with their number, such as `✎2`; empty for none."""
    return f"✎{held}" if held else ""


def reviews_cell(known: RowDetails, *, has_names: bool) -> Line:
    """Render the approvals, requested changes and stale approvals, with numbers or with the names of reviewers."""
    groups = (
        ("✓", known.approved, "added", ""),
        ("✗", known.refused, "removed", ""),
        ("✓", known.stale, "waiting", " stale"),
    )
    parts: list[Span] = []
    for glyph, names, style, more in groups:
        if names:
            text = " " + ", ".join(sanitize(name) for name in names) if has_names else f"{len(names)}"
            gap = "" if not parts else "  " if has_names else " "
            parts.append(Span(f"{gap}{glyph}{text}{more}", style))
    return tuple(parts)


def request_row(
    request: ChangeRequest,
    known: RowDetails,
    space: str,
    columns: Columns,
    moment: datetime,
    *,
    sign: Span = NO_SIGN,
    held: int = 0,
) -> Line:
    """Render a change request in a row.

    Args:
        request: the change request.
        known: its details.
        space: the title of its space.
        columns: the widths.
        moment: the current time.
        sign: the sign before its number, one column wide.
        held: the number of its drafts and held comments.
    """
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
        (Span(held_text(held), "accent"),),
    ]
    number = Span(f"#{request.number}".rjust(columns.number) + " ", "quiet")
    return row_line(columns, (sign, number), (Span(sanitize(request.subject) or "(no subject)"),), cells)


def tabs(views: Sequence[View], chosen: View, totals: Sequence[str], columns: int) -> Line:
    """Render the tabs of the views with their counts.

    Tabs that do not fit are omitted at the end and, if the current tab would not fit, at the start. `‹` and `›` stand
    for them. The click target of each tab is its index.
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
    before: Line = (Span("‹ ", "quiet", str(first - 1)) if first else Span(" "),)
    last = len(parts)
    while last > len(needed) and width(before) + sum(map(width, parts[first:last])) > columns:
        last -= 1
    after = (Span("›", "quiet", str(last)),) if last < len(parts) else ()
    return (*before, *(span for part in parts[first:last] for span in part), *after)


def heading_row(title: str, count: int, columns: int) -> Line:
    """Render the heading above the rows of a space."""
    return cut((Span("  "), Span(title, "title"), Span(f"  {count}", "quiet")), columns)


def _viewed(known: RowDetails, columns: Columns) -> str:
    needs_word = known.viewed and columns.is_wide and not columns.has_headings
    return viewed_text(known) + (" viewed" if needs_word else "")


def _main(request: ChangeRequest, known: RowDetails, columns: Columns) -> Line:
    """Render whether the change request is outdated or has conflicts."""
    if known.has_conflict:
        return (Span("conflict" if columns.is_wide else "!", "removed"),)  # not a cross: the reviews have crosses
    if not request.outdated:
        return ()
    return (Span("outdated" if columns.is_wide else "↓", "waiting"),)


def _own_review(known: RowDetails, columns: Columns) -> Line:
    """Render the review of the signed-in user: requested, approved, changes requested, or stale."""
    if known.is_asked:
        return (Span("◷ requested" if columns.has_names else "◷", "waiting"),)
    if not known.own:
        return ()
    glyph, style, word = ("✓", "added", "approved") if known.own == "approved" else ("✗", "removed", "changes")
    if known.is_own_stale:
        return (Span(f"{glyph} stale" if columns.is_wide else "↻", "waiting"),)
    return (Span(f"{glyph} {word}" if columns.has_names else glyph, style),)
