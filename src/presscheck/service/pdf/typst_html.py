"""Rendering of HTML blocks and tables as Typst markup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from typing_extensions import override

from presscheck.documents.markdown.anchors import DEEPEST, AnchorNames
from presscheck.documents.markdown.html_blocks import HEADINGS, HtmlBlockReader
from presscheck.documents.markdown.inline_runs import HtmlEvent
from presscheck.documents.markdown.table import Table
from presscheck.service.pdf.typst_inlines import PICTURE, Resolve, TypstRuns, link, only_pictures, typst_string
from presscheck.text.styled_text import Span, plain

_MAX_COLUMNS = 40


class PageContext(Protocol):
    """The parts of the page renderer that HTML uses."""

    @property
    def resolve(self) -> Resolve:
        """The resolver of addresses in the page."""
        ...

    def inline(self, spans: Sequence[Span], *, picture: str = "small-picture") -> str:
        """Render inline text."""
        ...

    def picture(self, address: str, shows: str, caption: str = "none") -> str:
        """Render an image as a block."""
        ...

    def spots(self, anchors: Sequence[str]) -> str:
        """Render anchors, to which links can point."""
        ...

    @property
    def names(self) -> AnchorNames:
        """The anchors of the headings of the page."""
        ...

    def titled(self, rank: int, anchors: Sequence[str], markup: str) -> str:
        """Render a heading, given its rank, anchors and markup."""
        ...


def html_markup(page: PageContext, text: str) -> str:
    """Render an HTML block."""
    reader = _Reader(page)
    reader.read(text)
    return "\n".join(reader.parts)


def table_markup(page: PageContext, table: Table) -> str:
    """Render a table or its cards."""
    if table.cards:
        return _cards(page, table)
    rows = [table.visible(row)[:_MAX_COLUMNS] for row in (table.head, *table.rows)]
    count = max(map(len, rows), default=0)
    if not count:
        return ""
    aligns = [align if align in {"left", "right", "center"} else "left" for align in table.aligns]
    aligns = (aligns + ["left"] * count)[:count]
    head, *body = ([_cell(page, cell) for cell in [*row, *[()] * (count - len(row))]] for row in rows)
    header = f"({', '.join(head)},)" if any(rows[0]) else "()"
    written = "".join(f", ({', '.join(row)},)" for row in body)
    return f"#records(({', '.join(aligns)},), {header}{written});\n"


def _cell(page: PageContext, cell: Sequence[Span]) -> str:
    how = "cell-picture" if only_pictures(cell) else "small-picture"
    return f"[{page.inline(cell, picture=how)}]"


def _cards(page: PageContext, table: Table) -> str:
    """Render each row as a card. The link and the cover of a card come from the hidden cells of the row."""
    cards: list[str] = []
    for row in table.rows:
        hidden = [span for number, cell in enumerate(row) if number in table.hidden for span in cell if span.link]
        leads = [page.resolve(span.link or "") for span in hidden]
        covers = [
            f"cell-picture({typst_string(target.picture)}, {typst_string('')})" for target in leads if target.picture
        ][:1]
        target = next((target for target in leads if (target.label or target.url) and not target.picture), None)
        cells = [cell for cell in table.visible(row) if cell and plain(tuple(cell)).strip()]
        lines = [_cell(page, cell) for cell in cells]
        if target and lines:
            lines[0] = f"[{link(target, lines[0][1:-1])}]"
        if covers or lines:
            cards.append(f"({', '.join([*covers, *lines])},)")
    return f"#cards({', '.join(cards)});\n" if cards else ""


class _Reader(HtmlBlockReader[TypstRuns]):
    """A reader that renders each part of an HTML block."""

    def __init__(self, page: PageContext) -> None:
        self.page = page
        self.parts: list[str] = []
        self.heading = 0
        super().__init__("•")

    def new_runs(self) -> TypstRuns:
        return TypstRuns()

    def rule(self) -> None:
        self.parts.append("#rule();\n")

    def code(self, text: str) -> None:
        self.parts.append(f"#code({typst_string(text, lines=True)});\n")

    def table(self, table: Table) -> None:
        self.parts.append(table_markup(self.page, table))

    @override
    def tag(self, event: HtmlEvent) -> None:
        if event[1] in HEADINGS:
            self.heading = int(event[1][1])
            self.runs.anchors += [event[2]["id"]] if event[2].get("id") else []
        else:
            self.runs.html(event)

    def figure(self, runs: TypstRuns) -> None:
        pictures = [span for span in runs.spans if span.style == PICTURE]
        caption_spans = [span for span in runs.spans if span.style != PICTURE]
        caption = f"[{self.page.inline(caption_spans)}]" if plain(tuple(caption_spans)).strip() else "none"
        for number, span in enumerate(pictures, 1):
            picture_caption = caption if number == len(pictures) else "none"
            self.parts.append(self.page.picture(span.link or "", span.text, picture_caption))
        if not pictures and caption_spans:
            self.parts.append(f"{self.page.inline(caption_spans)}\n")

    def paragraph(self, runs: TypstRuns) -> bool:
        heading, self.heading = self.heading, 0
        text = plain(tuple(runs.spans)).strip()
        if pictures := only_pictures(runs.spans):
            self.parts += [self.page.picture(span.link or "", span.text) for span in pictures]
            return True
        if not text and not runs.anchors:
            return False
        if heading:
            anchor = self.page.names.name(text, next(iter(runs.anchors), "")) if heading <= DEEPEST else ""
            self.parts.append(f"{self.page.titled(heading, [anchor, *runs.anchors], self.page.inline(runs.spans))}\n")
            return True
        markup = self.page.spots(runs.anchors) + self.page.inline(runs.spans)
        if self.marker:
            markup = f"#item({max(0, len(self.numbers) - 1)}, {typst_string(self.marker)}, [{markup}]);"
        self.parts.append(f"{markup}\n")
        return True
