"""HTML blocks as markup for a typesetter: tables, cards, figures, lists, preformatted text; other tags are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from presscheck.documents.rendering.html import TableReader
from presscheck.documents.rendering.inlines import Event, html_events
from presscheck.documents.rendering.tables import Table
from presscheck.documents.spans import Span, plain
from presscheck.documents.typesetting_inlines import PICTURE, Words, link, only_pictures, string

if TYPE_CHECKING:
    from presscheck.documents.typesetting import Typesetter

_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BLOCKS = _HEADINGS | {"p", "div", "li", "ul", "ol", "dl", "dt", "dd", "blockquote", "section", "summary", "details"}
_MOST_COLUMNS = 40


def html_markup(page: Typesetter, text: str) -> str:
    """An HTML block."""
    reader = _Reader(page)
    for event in html_events(text):
        reader.take(event)
    return reader.finish()


def table_markup(page: Typesetter, table: Table) -> str:
    """A table, or its cards."""
    if table.cards:
        return _cards(page, table)
    rows = [_visible(table, row)[:_MOST_COLUMNS] for row in (table.head, *table.rows)]
    count = max(map(len, rows), default=0)
    if not count:
        return ""
    aligns = [align if align in {"left", "right", "center"} else "left" for align in table.aligns]
    aligns = (aligns + ["left"] * count)[:count]
    head, *body = ([_cell(page, cell) for cell in [*row, *[()] * (count - len(row))]] for row in rows)
    header = f"({', '.join(head)},)" if any(rows[0]) else "()"
    written = "".join(f", ({', '.join(row)},)" for row in body)
    return f"#records(({', '.join(aligns)},), {header}{written});\n"


def _visible(table: Table, row: Sequence[Sequence[Span]]) -> list[Sequence[Span]]:
    return [cell for number, cell in enumerate(row) if number not in table.hidden]


def _cell(page: Typesetter, cell: Sequence[Span]) -> str:
    how = "cell-picture" if only_pictures(cell) else "small-picture"
    return f"[{page.inline(cell, picture=how)}]"


def _cards(page: Typesetter, table: Table) -> str:
    """Each row as a card; what is hidden in it says where it leads, or is its cover."""
    cards: list[str] = []
    for row in table.rows:
        hidden = [span for number, cell in enumerate(row) if number in table.hidden for span in cell if span.link]
        leads = [page.resolve(span.link or "") for span in hidden]
        covers = [f"cell-picture({string(one.picture)}, {string('')})" for one in leads if one.picture][:1]
        target = next((one for one in leads if (one.label or one.url) and not one.picture), None)
        cells = [cell for cell in _visible(table, row) if cell and plain(tuple(cell)).strip()]
        lines = [_cell(page, cell) for cell in cells]
        if target and lines:
            lines[0] = f"[{link(target, lines[0][1:-1])}]"
        if covers or lines:
            cards.append(f"({', '.join([*covers, *lines])},)")
    return f"#cards({', '.join(cards)});\n" if cards else ""


class _Reader:
    """Reads an HTML block, event by event."""

    def __init__(self, page: Typesetter) -> None:
        self.page = page
        self.parts: list[str] = []
        self.runs = Words()
        self.marker = ""
        self.numbers: list[int] = []
        self.table: TableReader | None = None
        self.code: list[str] | None = None
        self.heading = 0
        self.in_figure = False

    def take(self, event: Event) -> None:
        """Read one thing more."""
        kind, name, values = event
        if self.table:
            self.table.take(event)
            if self.table.is_done:
                self._end_table()
        elif self.code is not None:
            self._in_code(self.code, event)
        elif kind == "text":
            self.runs.html(event)
        elif kind == "open":
            self._open(name, values, event)
        else:
            self._close(name, event)

    def finish(self) -> str:
        """What was read, as markup."""
        if self.table:
            self._end_table()
        if self.code is not None:
            self._in_code(self.code, ("close", "pre", {}))
        self._end_figure()
        self._end_paragraph()
        return "\n".join(self.parts)

    def _open(self, name: str, values: dict[str, str], event: Event) -> None:
        if name in _BLOCKS or name in {"table", "pre", "hr", "figure"}:
            self._end_paragraph()
        if name == "table":
            self.table = TableReader("•", Words, cards=values.get("data-view") == "cards")
        elif name == "pre":
            self.code = []
        elif name == "hr":
            self.parts.append("#rule();\n")
        elif name == "figure":
            self.in_figure = True
        elif name in {"ul", "ol"}:
            self.numbers.append(0 if name == "ol" else -1)
        elif name == "li":
            self._item()
        elif name in _HEADINGS:
            self.heading = int(name[1])
        else:
            self.runs.html(event)

    def _close(self, name: str, event: Event) -> None:
        if name in {"ul", "ol"} and self.numbers:
            self._end_paragraph()
            self.numbers.pop()
        elif name == "figure":
            self._end_figure()
        elif name in _BLOCKS and not self.in_figure:
            self._end_paragraph()
        else:
            self.runs.html(event)

    def _item(self) -> None:
        if self.numbers and self.numbers[-1] >= 0:
            self.numbers[-1] += 1
            self.marker = f"{self.numbers[-1]}."
        else:
            self.marker = "•"

    def _in_code(self, code: list[str], event: Event) -> None:
        kind, name, _ = event
        if kind == "text":
            code.append(name)
        elif name == "br":
            code.append("\n")
        elif kind == "close" and name == "pre":
            self.parts.append(f"#code({string(''.join(code).strip(chr(10)), lines=True)});\n")
            self.code = None

    def _end_table(self) -> None:
        table, self.table = self.table, None
        if table:
            self.parts.append(table_markup(self.page, table.table))
            self.runs.spans.extend(table.stray.spans)
            self._end_paragraph()

    def _end_figure(self) -> None:
        if not self.in_figure:
            return
        self.in_figure = False
        runs, self.runs = self.runs, Words()
        pictures = [span for span in runs.spans if span.style == PICTURE]
        said = [span for span in runs.spans if span.style != PICTURE]
        caption = f"[{self.page.inline(said)}]" if plain(tuple(said)).strip() else "none"
        for number, span in enumerate(pictures, 1):
            own = caption if number == len(pictures) else "none"
            self.parts.append(self.page.picture(span.link or "", span.text, own))
        if not pictures and said:
            self.parts.append(f"{self.page.inline(said)}\n")

    def _end_paragraph(self) -> None:
        if self.in_figure:
            return
        runs, self.runs = self.runs, Words()
        marker, self.marker = self.marker, ""
        heading, self.heading = self.heading, 0
        text = plain(tuple(runs.spans)).strip()
        spots = self.page.spots(runs.anchors)
        if pictures := only_pictures(runs.spans):
            self.parts += [self.page.picture(span.link or "", span.text) for span in pictures]
        elif text or spots:
            markup = spots + self.page.inline(runs.spans)
            if heading:
                markup = self.page.titled(heading, text, markup)
            elif marker:
                markup = f"#item({max(0, len(self.numbers) - 1)}, {string(marker)}, [{markup}]);"
            self.parts.append(f"{markup}\n")
