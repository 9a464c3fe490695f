"""Draws the rows of a search: pages, hits with the words around them, and pages that were not searched."""

from __future__ import annotations

from rich.cells import cell_len

from presscheck.documents.pages.replacement import Hit, surroundings
from presscheck.engine.replacement.space_search import PageHits
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import ELLIPSIS, Line, Span, cut, pad, width
from presscheck.tui.screens.replace.hit_list import HitList, Row

CHECKBOX = "choose"
"""The target of a click on a checkbox."""
LABEL = 6
"""Cells of the number of a line, or of the name of the field."""
LONGEST = 200
"""Characters of a hit that are drawn."""
_KINDS = {"title": "title", "description": "descr."}
_NOTES = {"code": "code", "front matter": "front matter", "link target": "in a link target"}


def draw_row(hits: HitList, row: Row, columns: int) -> Line:
    """A row in so many cells."""
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
    sign = "✓" if chosen == total else "–" if chosen else " "
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
    head: Line = (Span("  "), _checkbox("✓" if is_chosen else " "), Span(f"{label:>{LABEL}}  ", "quiet"))
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
    """A text on one line; line ends are visible."""
    text = text.replace("\r\n", "\n").replace("\n", "⏎")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}{ELLIPSIS}"


def _end(text: str, columns: int) -> str:
    """The end of a text in at most so many cells."""
    if cell_len(text) <= columns:
        return text
    used, at = cell_len(ELLIPSIS), len(text)
    while at and used + cell_len(text[at - 1]) <= columns:
        at -= 1
        used += cell_len(text[at])
    return ELLIPSIS + text[at:]
