"""Renders Markdown blocks as terminal lines: headings, lists with hanging indents, quotations, dividers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from presscheck.documents.markdown.emoji import emoji_by_name, icon_text
from presscheck.documents.markdown.inline_runs import InlineRuns
from presscheck.documents.markdown.parser import outermost, parse, take_alert, take_task
from presscheck.documents.markdown.table import read_table
from presscheck.documents.merge.conflict_blocks import ConflictBlock, conflict_number, conflict_numbers, side_name
from presscheck.documents.terminal.code import CodeLook, code_lines, room_of_code, widest_line
from presscheck.documents.terminal.controls import Controls, Mark, conflict_mark, picture_mark, target
from presscheck.documents.terminal.custom_tags import hint_lines, tag_lines
from presscheck.documents.terminal.formulas import formula_text, subscript, superscript
from presscheck.documents.terminal.html import html_lines
from presscheck.documents.terminal.references import NO_REFERENCES, References
from presscheck.documents.terminal.symbols import Symbols
from presscheck.documents.terminal.tables import table_lines
from presscheck.text.phrases import count as counted
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, remaining_cells, with_prefix, wrap

if TYPE_CHECKING:
    from markdown_it.token import Token

    from presscheck.documents.markdown.parser import Environment

    Blocks = Sequence[tuple[Token, Sequence[Token]]]
    """Blocks, each with the tokens inside it, as `outermost` returns them."""

HEADING_STYLES = ("title strong", "heading strong", "strong", "strong emphasis", "emphasis", "emphasis")
"""The styles of headings, by level."""

MAX_INCLUDES = 5
"""Maximum nesting depth of reusable content."""
MOST_INCLUDES = 50
"""Maximum number of pieces of reusable content in one block, including nested ones."""
IN_ITSELF = "It includes itself: its text is shown once."
TOO_MANY = "Too much reusable content in reusable content: its text is not shown here."

MAX_PICTURES = 20
"""Maximum number of pictures of a paragraph that are drawn; further pictures have only a caption."""


class TerminalWords:
    """The terminal form of inline formulas, emoji, icons, variables and indices.

    Args:
        symbols: the symbols for drawing the page.
        references: the content that the page refers to.
    """

    def __init__(self, symbols: Symbols, references: References) -> None:
        self._symbols, self._references = symbols, references
        self.target = references.target

    @property
    def broken(self) -> str:
        """The sign after a broken link."""
        return self._symbols.broken

    def formula(self, source: str) -> str:
        """Return a formula as one line of Unicode, or as written on an ASCII terminal."""
        return " ".join(source.split()) if self._symbols.is_ascii else formula_text(source)

    def emoji(self, name: str) -> str:
        """Return the emoji with a name, or its name on an ASCII terminal."""
        return f":{name}:" if self._symbols.is_ascii else emoji_by_name(name)

    def icon(self, name: str) -> str:
        """Return the character of an icon, or its name in brackets."""
        return f"[{name}]" if self._symbols.is_ascii else icon_text(name)

    def variable(self, expression: str) -> str | None:
        """Return the value of an expression, or None if it is unknown."""
        return self._references.variable(expression)

    def index(self, tag: str, text: str) -> str:
        """Return superscript or subscript text."""
        if self._symbols.is_ascii:
            return f"{'^' if tag == 'sup' else '_'}({text})"
        return superscript(text) if tag == "sup" else subscript(text)


class BlockRenderer:
    """Renders the blocks of one page, which share link definitions.

    Args:
        symbols: the symbols for drawing the page.
        references: the content that the page refers to.
        controls: the state of folds, tabs and scrolling; None if everything is open.
        conflicts: the conflicts that were replaced by placeholders; both sides of each are rendered.

    Attributes:
        codes: the texts of the code blocks with controls, by key.
        cuts_html: whether a conflict starts or ends within HTML of the last block, so that it cannot be rendered.
    """

    def __init__(
        self,
        symbols: Symbols,
        references: References = NO_REFERENCES,
        controls: Controls | None = None,
        conflicts: Sequence[ConflictBlock] = (),
    ) -> None:
        self.symbols, self.references, self.controls = symbols, references, controls
        self._conflicts = conflicts
        self.inline_words = TerminalWords(symbols, references)
        self.codes: dict[str, str] = {}
        self.cuts_html = False
        self._environment: Environment = {}
        self._depth = 0
        self._prefix = ""
        self._numbers: dict[int, int] = {}
        self._included: list[str] = []
        self._includes = 0

    def parse(self, text: str) -> list[Token]:
        """Parse a block and remember its link definitions."""
        return parse(text, self._environment)

    def lines(self, text: str, columns: int, number: int = 0) -> list[Line]:
        """Render a block; `number` is its number in the page."""
        self.cuts_html = False
        self._depth, self._included, self._includes = 0, [], 0
        try:
            return self._numbered(text, columns, str(number))
        except RecursionError:
            # too deeply nested to parse; source code is better than nothing
            return self.source(text, columns)

    def _numbered(self, text: str, columns: int, prefix: str) -> list[Line]:
        tokens = self.parse(text)
        blocks = outermost(tokens)
        before = self._prefix, self._numbers
        self._prefix = prefix
        # keys use token numbers, which depend neither on folds nor on the width
        self._numbers = {id(token): number for number, token in enumerate(tokens)} if self.controls else {}
        try:
            return self._flow(blocks, columns)
        finally:
            self._prefix, self._numbers = before

    def key(self, token: Token) -> str:
        """Return the key of the controls of a block."""
        return f"{self._prefix}.{self._numbers.get(id(token), 0)}"

    def include(self, address: str, token: Token, columns: int) -> list[Line]:
        """Render reusable content, or the reason why it is not shown; nothing if the content is unknown."""
        content = self.references.included(address)
        if content is None or content.markdown is None:
            return self.words(content.note, "waiting", columns) if content and content.note else []
        key = content.key or address
        if key in self._included:
            return self.words(IN_ITSELF, "quiet", columns)
        if len(self._included) > MAX_INCLUDES or self._includes >= MOST_INCLUDES:
            return self.words(TOO_MANY, "waiting", columns)
        self._included.append(key)
        self._includes += 1
        try:
            return self._numbered(content.markdown, columns, self.key(token))
        finally:
            self._included.pop()

    def code_block(
        self, text: str, columns: int, look: CodeLook, key: str, *, collapsed: int | None = None
    ) -> list[Line]:
        """Render code. With controls, the code can be unfolded, wrapped or scrolled, and copied.

        Args:
            text: the code.
            columns: the width.
            look: the appearance; with controls, the user decides about wrapping, which is on by default.
            key: the key of its controls.
            collapsed: number of lines that are shown while it is folded, or None if it cannot be folded.
        """
        controls = self.controls
        if controls is None:
            return code_lines(text, columns, self.symbols, look._replace(is_wrapped=True))
        self.codes[key] = text
        offset = most = 0
        is_wrapped = controls.shows_all or bool(controls.value(f"{key}w", 1))
        if not is_wrapped:
            most = max(0, widest_line(text) - room_of_code(text, columns, is_numbered=look.is_numbered))
            offset = min(controls.value(key), most)
        mark = Mark("code", key, offset, most).span
        look = look._replace(is_wrapped=is_wrapped, offset=offset, mark=mark)
        count = text.rstrip("\n").count("\n") + 1
        if collapsed is None or count <= collapsed or controls.shows_all:
            return code_lines(text, columns, self.symbols, look)
        is_open = bool(controls.value(f"{key}f"))
        controls.hides = controls.hides or not is_open
        lines = code_lines(text, columns, self.symbols, look if is_open else look._replace(most_lines=collapsed))
        sign = self.symbols.opened if is_open else self.symbols.closed
        words = "show fewer lines" if is_open else counted(count - collapsed, "more line")
        toggle = Span(f"{sign} {words}", "accent", target(f"{key}f", 0 if is_open else 1))
        return [*lines, (Mark("fold", f"{key}f", int(is_open), 1).span, *cut((toggle,), columns))]

    def source(self, text: str, columns: int) -> list[Line]:
        """Render Markdown as source code."""
        return code_lines(text, columns, self.symbols)

    def words(self, text: str, style: str, columns: int) -> list[Line]:
        """Render plain text."""
        return wrap([Span(sanitize(text), style)], columns)

    def title(self, text: str, columns: int) -> list[Line]:
        """Render the title of a page, above a hairline."""
        return [*self.words(text, HEADING_STYLES[0], columns), (Span(self.symbols.hairline * columns, "quiet"),)]

    def heading_runs(self, text: str) -> tuple[int, list[Span]]:
        """Return the level and the runs of a heading."""
        tokens = self.parse(text)
        if len(tokens) < 2 or tokens[0].type != "heading_open":
            return 1, [Span(sanitize(text))]
        return int(tokens[0].tag[1]), self.runs(tokens[1])

    def flow(self, tokens: Sequence[Token], columns: int) -> list[Line]:
        """Render a sequence of blocks, separated by blank lines."""
        return self._flow(outermost(tokens), columns)

    def _flow(self, blocks: Blocks, columns: int, *, is_compact: bool = False) -> list[Line]:
        lines: list[Line] = []
        for token, inner in blocks:
            block_lines = self.block(token, inner, columns)
            if block_lines:
                if lines and not is_compact:
                    lines.append(())
                lines.extend(block_lines)
        return lines

    def block(self, token: Token, inner: Sequence[Token], columns: int) -> list[Line]:
        """Render one block."""
        draw = _RENDERERS.get(token.type)
        return draw(self, token, inner, columns) if draw else []

    def runs(self, token: Token, style: str = "") -> list[Span]:
        """Return the runs of inline text."""
        return self._inline(token, style).spans

    def _inline(self, token: Token, style: str = "") -> InlineRuns:
        runs = InlineRuns(self.symbols.image, style, self.inline_words)
        runs.tokens(token.children or [])
        return runs

    def paragraph(self, token: Token, inner: Sequence[Token], columns: int) -> list[Line]:
        """Render a paragraph. Images that stand alone are drawn above their captions; a conflict shows both sides."""
        if not inner:
            return []
        number = conflict_number(inner[0].content) if self._conflicts else None
        if number is not None and number < len(self._conflicts):
            return self._conflict(number, columns)
        runs = self._inline(inner[0])
        return self.pictured(runs.lone_images, runs.spans, columns) if runs.images else wrap(runs.spans, columns)

    def _conflict(self, number: int, columns: int) -> list[Line]:
        """Render both sides of a conflict, one below the other."""
        block = self._conflicts[number]
        room = remaining_cells(columns, 2) or columns
        bar = Span(f"{self.symbols.hint} ", "removed") if room < columns else Span("")
        lines = wrap([Span(self.conflict_title(number), "removed strong")], room)
        for label, name, side in (("ours", block.our_name, block.ours), ("theirs", block.their_name, block.theirs)):
            lines += wrap([Span(sanitize(side_name(name)) or label, "strong")], room)
            shown = self._numbered("\n".join(side), room, f"{self._prefix}.{label}{number}")
            lines += shown or wrap([Span("(no text)", "quiet")], room)
        return [(conflict_mark(number), bar, *lines[0]), *((bar, *line) for line in lines[1:])]

    def conflict_title(self, number: int) -> str:
        """Return the title of a conflict, given its number."""
        return f"Conflict {number + 1} of {len(self._conflicts)}: both sides changed this text"

    def pictured(self, sources: Sequence[str], caption: Sequence[Span], columns: int) -> list[Line]:
        """Render the available pictures above their caption, which has the reasons why other pictures are missing."""
        loaded = [self.references.picture(source, columns) for source in sources[:MAX_PICTURES]]
        pictures = [picture for picture in loaded if picture]
        notes = [Span(f" · {note}", "quiet") for note in dict.fromkeys(picture.note for picture in pictures) if note]
        lines = [line for picture in pictures for line in picture.lines]
        lines.extend(wrap([*caption, *notes], columns))
        marks = [picture_mark(picture.wanted) for picture in pictures if picture.wanted]
        return [(*marks, *lines[0]), *lines[1:]] if lines and marks else lines

    def heading(self, token: Token, inner: Sequence[Token], columns: int) -> list[Line]:
        """Render a heading; a first-level heading gets a hairline."""
        level = int(token.tag[1])
        lines = wrap(self.runs(inner[0], HEADING_STYLES[level - 1]), columns)
        return [*lines, self.rule(token, (), columns)[0]] if level == 1 and lines else lines

    def rule(self, token: Token, inner: Sequence[Token], columns: int) -> list[Line]:
        """Render a hairline."""
        return [(Span(self.symbols.hairline * columns, "quiet"),)]

    def code(self, token: Token, inner: Sequence[Token], columns: int) -> list[Line]:
        """Render a code block."""
        words = token.info.split()
        look = CodeLook(language=words[0] if words else "")
        return self.code_block(token.content, columns, look, self.key(token))

    def quote(self, token: Token, inner: Sequence[Token], columns: int) -> list[Line]:
        """Render a quotation or an alert."""
        kind = take_alert(inner)
        narrow = remaining_cells(columns, 2)
        lines = self.flow(inner, narrow or columns)
        if not narrow:
            return lines
        if kind:
            return hint_lines(self, kind, lines, narrow)
        bar = Span(f"{self.symbols.quote} ", "quiet")
        return with_prefix(lines, (bar,), (bar,))

    def list_block(self, token: Token, inner: Sequence[Token], columns: int) -> list[Line]:
        """Render a list with hanging markers.

        Blank lines separate the items if an item contains more than text and lists. Blank lines in the Markdown do not
        matter, because document nodes have none.
        """
        parts = outermost(inner)
        items = [outermost(within) for _, within in parts]
        others = {child.type for blocks in items for child, _ in blocks[1:]} - {*_LISTS}
        is_compact = not others & _RENDERERS.keys()
        first = int(token.attrs.get("start", 1)) if token.type == "ordered_list_open" else None
        bullet = self.symbols.bullets[self._depth % len(self.symbols.bullets)]
        size = len(str(first + len(items) - 1)) + 2 if first is not None else 2
        lines: list[Line] = []
        self._depth += 1
        for number, (blocks, (_, within)) in enumerate(zip(items, parts, strict=True)):
            mark = f"{first + number}.".rjust(size - 1) if first is not None else bullet
            task = take_task(within)
            if task:
                mark = self.symbols.checked if task in "xX" else self.symbols.unchecked
            item = self._item(mark, blocks, columns, is_compact=is_compact)
            lines.extend(item if is_compact or not lines else [(), *item])
        self._depth -= 1
        return lines

    def _item(self, mark: str, blocks: Blocks, columns: int, *, is_compact: bool) -> list[Line]:
        size = len(mark) + 1
        narrow = remaining_cells(columns, size)
        lines = self._flow(blocks, narrow or columns, is_compact=is_compact) or [()]
        if not narrow:
            return [*self.words(mark.strip(), "quiet", columns), *lines]
        return with_prefix(lines, (Span(f"{mark} ", "quiet"),), (Span(" " * size),))

    def table(self, token: Token, inner: Sequence[Token], columns: int) -> list[Line]:
        """Render a table."""
        return table_lines(read_table(inner, self.runs), columns, self.symbols, self.controls, self.key(token))

    def html(self, token: Token, inner: Sequence[Token], columns: int) -> list[Line]:
        """Render HTML."""
        self.cuts_html = self.cuts_html or bool(self._conflicts and conflict_numbers(token.content))
        return html_lines(self, token.content, columns, self.key(token))

    def tag(self, token: Token, inner: Sequence[Token], columns: int) -> list[Line]:
        """Render a block tag of the platform."""
        return tag_lines(self, token, inner, columns)

    def footnote(self, token: Token, inner: Sequence[Token], columns: int) -> list[Line]:
        """Render a footnote after its label."""
        mark = f"[{sanitize(str(token.meta['label']))}] "
        size = cell_len(mark)
        narrow = remaining_cells(columns, size)
        lines = self.flow(inner, narrow or columns)
        if not narrow:
            return [*self.words(mark, "accent", columns), *lines]
        return with_prefix(lines, (Span(mark, "accent"),), (Span(" " * size),))


_LISTS = ("bullet_list_open", "ordered_list_open")

_RENDERERS: dict[str, Callable[[BlockRenderer, Token, Sequence[Token], int], list[Line]]] = {
    "paragraph_open": BlockRenderer.paragraph,
    "heading_open": BlockRenderer.heading,
    "bullet_list_open": BlockRenderer.list_block,
    "ordered_list_open": BlockRenderer.list_block,
    "blockquote_open": BlockRenderer.quote,
    "fence": BlockRenderer.code,
    "code_block": BlockRenderer.code,
    "hr": BlockRenderer.rule,
    "table_open": BlockRenderer.table,
    "html_block": BlockRenderer.html,
    "tag_open": BlockRenderer.tag,
    "tag": BlockRenderer.tag,
    "footnote_reference_open": BlockRenderer.footnote,
}
