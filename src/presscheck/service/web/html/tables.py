"""Rendering of raw HTML tables, without hidden columns, and of card tables as cards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape, unescape
from typing import TYPE_CHECKING

from presscheck.documents.markdown.inline_runs import HtmlEvent, html_events

if TYPE_CHECKING:
    from presscheck.service.web.html.inlines import InlineContext

_name = re.compile(r"[\w:-]+").fullmatch
_address = re.compile(r"<(?:a|img)\b[^<>]*?\b(?:href|src)=\"([^\"]*)\"")
_mark = re.compile(r"<[^<>]*>")
_align = re.compile(r"text-align:\s*(left|right|center)").search
_width = re.compile(r"\d{1,4}(?:\.\d{1,4})?(%|px)?").fullmatch
_CHECKS = {"true": "☑", "false": "☐"}


@dataclass
class Cell:
    """A cell: the attributes of its tag and the parts of its raw HTML."""

    values: dict[str, str]
    is_head: bool
    parts: list[str] = field(default_factory=list[str])

    @property
    def html(self) -> str:
        """The raw HTML of the cell."""
        return "".join(self.parts).strip()


Row = list[Cell]


def html_block(text: str, page: InlineContext) -> str:
    """Render an HTML block, sanitized and with its tables laid out."""
    if "<table" not in text.lower():
        return page.clean(text)
    parts: list[str] = []
    outside: list[str] = []
    reader: _Reader | None = None
    for event in html_events(text):
        if reader:
            reader.take(event)
            if reader.is_done:
                parts += (page.clean("".join(outside)), reader.html(page))
                reader, outside = None, []
        elif event[:2] == ("open", "table"):
            reader = _Reader(event[2])
        else:
            outside.append(format_event(event))
    if reader:
        parts += (page.clean("".join(outside)), reader.html(page))
        outside = []
    return "".join((*parts, page.clean("".join(outside))))


def format_event(event: HtmlEvent) -> str:
    """Format an event as HTML."""
    kind, name, values = event
    if kind == "text":
        return escape(name)
    if kind == "close":
        return f"</{name}>"
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in values.items() if _name(key))
    return f"<{name}{attributes}>"


class _Reader:
    """A reader of one table; a nested table remains part of its cell."""

    def __init__(self, values: dict[str, str]) -> None:
        self.values = values
        self.rows: list[Row] = []
        self.depth = 1
        self.cell: Cell | None = None

    @property
    def is_done(self) -> bool:
        """Whether the table has ended."""
        return self.depth == 0

    def take(self, event: HtmlEvent) -> None:
        kind, name, values = event
        if name == "table" and kind != "text":
            self.depth += 1 if kind == "open" else -1
            if self.is_done:
                return
        if self.depth == 1 and name in ("tr", "td", "th") and kind != "text":
            self.cell = None
            if kind == "open" and (name == "tr" or not self.rows):
                self.rows.append([])
            if kind == "open" and name != "tr":
                self.cell = Cell(values, name == "th")
                self.rows[-1].append(self.cell)
        elif self.cell:
            self.cell.parts.append(format_event(event))

    def html(self, page: InlineContext) -> str:
        """Return the HTML of the table or its cards."""
        rows = [row for row in self.rows if row]
        is_headed = bool(rows) and all(cell.is_head for cell in rows[0])
        head = rows[0] if is_headed else []
        body = rows[1:] if is_headed else rows
        if self.values.get("data-view") == "cards":
            cards = "".join(_card(head, row, page) for row in body)
            return f'<ul class="cards">{cards}</ul>'
        shown_head = "".join(_cell(head, n, cell, page) for n, cell in enumerate(head))
        has_head = any(cell.html for cell in head)
        lines = [f"<tr>{''.join(_cell(head, n, cell, page) for n, cell in enumerate(row))}</tr>" for row in body]
        top = f"<thead><tr>{shown_head}</tr></thead>" if has_head else ""
        return f'<div class="table" tabindex="0"><table>{top}<tbody>{"".join(lines)}</tbody></table></div>'


def _of_column(head: Row, number: int, name: str) -> str | None:
    """Return an attribute of the head cell of a column."""
    return head[number].values.get(name) if number < len(head) else None


def _is_hidden(head: Row, number: int) -> bool:
    return _of_column(head, number, "data-hidden") is not None


def _cell(head: Row, number: int, cell: Cell, page: InlineContext) -> str:
    if _is_hidden(head, number):
        return ""
    align = _align(cell.values.get("style", "")) or _align(f"text-align:{cell.values.get('align', '')}")
    content = _content(head, number, cell, page)
    name, attributes = ("th", ' scope="col"') if cell.is_head and content else ("td", "")
    attributes += f' class="{align[1]}"' if align else ""
    for span in ("colspan", "rowspan"):
        if cell.values.get(span, "").isdecimal():
            attributes += f' {span}="{cell.values[span][:4]}"'
    if cell.is_head and (width := _width(cell.values.get("width", ""))):
        attributes += f' style="width:{width[0] if width[1] else width[0] + "px"}"'
    return f"<{name}{attributes}>{content}</{name}>"


def _content(head: Row, number: int, cell: Cell, page: InlineContext) -> str:
    if not cell.is_head and _of_column(head, number, "data-type") == "checkbox":
        return _CHECKS.get(cell.html.lower(), escape(cell.html))
    return page.clean(cell.html)


def _card(head: Row, row: Row, page: InlineContext) -> str:
    target, cover = _link_with_role(head, row, "data-card-target"), _link_with_role(head, row, "data-card-cover")
    visible_cells = [(number, cell) for number, cell in enumerate(row) if not _is_hidden(head, number) and cell.html]
    inside = "".join(f"<div>{_content(head, number, cell, page)}</div>" for number, cell in visible_cells)
    image = page.leads(cover) if cover else None
    picture = f'<img class="cover" src="{escape(image.url)}" alt="" loading="lazy">' if image else ""
    address = page.leads(target) if target else None
    if address is None:
        return f'<li class="card">{picture}{inside}</li>'
    title = unescape(_mark.sub("", visible_cells[0][1].html)) if visible_cells else address.title
    link = f'<a class="over" href="{escape(address.url)}" aria-label="{escape(title or address.url)}"></a>'
    return f'<li class="card">{picture}{inside}{link}</li>'


def _link_with_role(head: Row, row: Row, name: str) -> str:
    """Return the link in the column whose head cell has the attribute `name`, or an empty string."""
    return next(_addresses(head, row, name), "")


def _addresses(head: Row, row: Row, name: str) -> Iterator[str]:
    for number, cell in enumerate(row):
        if _of_column(head, number, name) is not None and (match := _address.search(cell.html)):
            yield unescape(match[1])
