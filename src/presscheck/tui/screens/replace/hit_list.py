"""The rows of a search, and the chosen hits. Rows are pages, hits with surrounding text, and unchanged places."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

from rich.cells import cell_len

from presscheck.documents.pages.replacement import CAREFUL_KINDS, Hit, PageText, surroundings
from presscheck.engine.replacement.file_search import KeptPlace
from presscheck.engine.replacement.space_search import PageHits, SpaceHits
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import ELLIPSIS, Line, Span, cut, pad, width

AROUND = 60
"""Number of characters around a hit that identify it in an edited page."""
CHECKBOX = "choose"
"""The link target of checkboxes."""
LABEL = 6
"""Columns of the line number or field name."""
LONGEST = 200
"""Maximum number of characters of a hit that are drawn."""
_KINDS = {"title": "title", "description": "descr."}
_NOTES = {"code": "code", "front matter": "front matter", "link target": "in a link target"}


class Row(NamedTuple):
    """A row: a page, a hit, a place that is not changed, or a heading above unchanged places."""

    page: PageHits | None = None
    hit: Hit | None = None
    kept: KeptPlace | None = None
    heading: str = ""

    @property
    def key(self) -> Hashable:
        """The identity of the row, which is the same after another search."""
        if self.page:
            return (self.page.page.id, *(self.hit[:3] if self.hit else ()))
        return ("kept", self.kept.id if self.kept else self.heading)


class HitList:
    """The hits of a search, and which of them are chosen."""

    def __init__(self) -> None:
        self.hits: SpaceHits | None = None
        self.rows: tuple[Row, ...] = ()
        self._left_out: set[tuple[str, Hit]] = set()
        """The hits that are not chosen, with the ids of their pages."""

    def show(self, hits: SpaceHits) -> None:
        """Show the hits of a search. All are chosen except new hits of `CAREFUL_KINDS` and hits left out before."""
        before = {_trace(page, hit) for page in self._pages for hit in page.hits}
        left_out = {_trace(page, hit) for page in self._pages for hit in page.hits if not self.is_chosen(page, hit)}
        self.hits = hits
        self._left_out = set()
        for page in hits.pages:
            for hit in page.hits:
                trace = _trace(page, hit)
                if trace in left_out or (hit.kind in CAREFUL_KINDS and trace not in before):
                    self._left_out.add((page.page.id, hit))
        rows = [Row(page, hit) for page in hits.pages for hit in (None, *page.hits)]
        unread = [KeptPlace(page.page.id, page.page.title, page.reason) for page in hits.unread]
        for places, heading in (
            (hits.kept, f"{count(len(hits.kept), 'place')} not changed"),
            (unread, f"{count(len(unread), 'page')} not searched"),
        ):
            rows += [Row(heading=heading), *(Row(kept=place) for place in places)] if places else []
        self.rows = tuple(rows)

    def clear(self) -> None:
        """Remove all hits."""
        self.hits, self.rows, self._left_out = None, (), set()

    @property
    def _pages(self) -> tuple[PageHits, ...]:
        return self.hits.pages if self.hits else ()

    def is_chosen(self, page: PageHits, hit: Hit) -> bool:
        """Return whether a hit is chosen."""
        return (page.page.id, hit) not in self._left_out

    def chosen_of(self, page: PageHits) -> list[Hit]:
        """Return the chosen hits of a page."""
        return [hit for hit in page.hits if self.is_chosen(page, hit)]

    def chosen(self) -> dict[str, list[Hit]]:
        """Return the chosen hits by id of the page."""
        return {page.page.id: hits for page in self._pages if (hits := self.chosen_of(page))}

    def toggle(self, rows: Iterable[int]) -> None:
        """Choose all hits in these rows or, if all are chosen, leave them out. The row of a page includes its hits."""
        hits: set[tuple[str, Hit]] = set()
        for number in rows:
            row = self.rows[number]
            if row.page:
                hits |= {(row.page.page.id, hit) for hit in ((row.hit,) if row.hit else row.page.hits)}
        if hits & self._left_out:
            self._left_out -= hits
        else:
            self._left_out |= hits


def _trace(page: PageHits, hit: Hit) -> tuple[Hashable, ...]:
    """Return the identity of a hit, which stays the same when other parts of its page are edited."""
    text: PageText = page.text
    return (page.page.id, hit.field, hit.old, hit.new, *surroundings(text, hit, AROUND))


def draw_row(hits: HitList, row: Row, columns: int) -> Line:
    """Render a row for a number of columns."""
    if row.page and row.hit:
        return _hit(row.page, row.hit, columns, is_chosen=hits.is_chosen(row.page, row.hit))
    if row.page:
        return _page(row.page, len(hits.chosen_of(row.page)), columns)
    if row.kept:
        title = Span(sanitize(row.kept.title) or "(no title)")
        return cut((Span("    "), title, Span(f"   {sanitize(row.kept.reason)}", "quiet")), columns)
    return (Span(row.heading, "waiting"),)


def _checkbox(sign: str) -> Span:
    return Span(f"[{sign}] ", "quiet" if sign == " " else "accent", CHECKBOX)


def _page(page: PageHits, chosen: int, columns: int) -> Line:
    total = len(page.hits)
    sign = "x" if chosen == total else "–" if chosen else " "
    title = Span(sanitize(page.page.title) or "(no title)", "strong")
    path = Span(f"   {sanitize(page.page.path or '')}", "quiet")
    edited = Span("   edited in the meantime: check again", "waiting" if page.is_edited else "")
    number: Line = (Span(f" {chosen} of {total}" if chosen != total else f" {count(total, 'hit')}", "quiet"),)
    left = (_checkbox(sign), title, *((edited,) if page.is_edited else ()), path)
    room = columns - width(number)
    return (*pad(cut(left, room), room), *number)


def _hit(page: PageHits, hit: Hit, columns: int, *, is_chosen: bool) -> Line:
    label = _KINDS.get(hit.kind, f"{hit.line}")
    note: Line = (Span(f" {_NOTES[hit.kind]}", "quiet"),) if hit.kind in _NOTES else ()
    head: Line = (Span("  "), _checkbox("x" if is_chosen else " "), Span(f"{label:>{LABEL}}  ", "quiet"))
    room = max(0, columns - width(head) - width(note))
    text = surroundings(page.text, hit)
    before, after = (sanitize(part) for part in text)
    old, new = (sanitize(_short(part)) for part in (hit.old, hit.new))
    needed = cell_len(old) + cell_len(new) + min(cell_len(after), room // 4)
    before = _end(before.lstrip(), max(room // 4, room - needed))
    changed = (Span(old, "removed strike"), Span(new, "added underline")) if is_chosen else (Span(old, "mark"),)
    quiet = "" if is_chosen else "quiet"
    return (*head, *pad(cut((Span(before, quiet), *changed, Span(after, quiet)), room), room), *note)


def _short(text: str) -> str:
    """Return the start of a text in a single line, with visible line ends."""
    text = text.replace("\r\n", "\n").replace("\n", "⏎")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}{ELLIPSIS}"


def _end(text: str, columns: int) -> str:
    """Return a text, or an ellipsis and the end of the text if it does not fit into a number of columns."""
    if cell_len(text) <= columns:
        return text
    used, at = cell_len(ELLIPSIS), len(text)
    while at and used + cell_len(text[at - 1]) <= columns:
        at -= 1
        used += cell_len(text[at])
    return ELLIPSIS + text[at:]
