"""The text area of the editor: Textual's text area with Markdown colors, search, and fast wrapping of long pages.

Colors are computed line by line, so that each key press is fast on pages of any length.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple, cast

from rich.text import Text
from textual import events
from textual._wrap import compute_wrap_offsets
from textual.expand_tabs import get_tab_widths
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Document, DocumentNavigator, Selection, WrappedDocument
from typing_extensions import override

from presscheck.tui.screens.markdown_editor.blocks import CURSOR
from presscheck.tui.screens.markdown_editor.tab_key import tab_edit
from presscheck.tui.theme import StyleLookup
from presscheck.tui.widgets.line_view import Match, style_of

LONGEST = 4000
"""Length, in characters, above which lines have no colors."""
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})")
_WHOLE = (
    (re.compile(r"^ {0,3}#{1,6}(?:[ \t].*)?$"), "heading accent"),
    (re.compile(r"^[ \t]*(?:<<<<<<<|=======|>>>>>>>)(?: .*)?$"), "removed"),
    (re.compile(r"^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,})$"), "quiet"),
)
_PARTS = re.compile(
    r"(?P<quiet>^[ \t]*(?:>[ \t]?)+|^[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t])(?:[ \t]+\[[ xX]\](?=[ \t]))?)"
    r"|(?P<string>`[^`\n]+`)"
    r"|(?P<keyword>\{%[^%\n]{0,400}%\}|</?[A-Za-z][^<>\n]{0,400}>)"
    r"|(?P<link>!?\[[^\[\]\n]{0,400}\]\([^()\n]{0,400}\)|https?://[^\s<>()]+)"
    r"|(?P<strong>\*\*[^*\n]{1,400}\*\*)"
    r"|(?P<emphasis>\*[^*\s][^*\n]{0,400}\*|\b_[^_\s][^_\n]{0,400}_\b)"
    r"|(?P<strike>~~[^~\n]{1,400}~~)"
    r"|(?P<number>\$\$[^$\n]{0,400}\$\$|^\$\$$)"
)


class Coloured(NamedTuple):
    """A part of a line, and its style."""

    start: int
    end: int
    style: str


def fence_below(fence: str, line: str) -> str:
    """Return the fence of the code block that is open below a line, or an empty string.

    Args:
        fence: the opening fence of the code block that contains the line; empty outside of code blocks.
        line: the line.
    """
    match = _FENCE.match(line) if "`" in line or "~" in line else None
    if match and not fence:
        return match[1]
    is_end = match and match[1].startswith(fence) and not line[match.end() :].strip()
    return "" if is_end else fence


def coloured(line: str, fence: str) -> Iterator[Coloured]:
    """Yield the colored parts of a line. `fence` is the opening fence of its code block; empty outside of code."""
    if not line or len(line) > LONGEST:
        return
    if fence or _FENCE.match(line):
        yield Coloured(0, len(line), "string")
        return
    for pattern, style in _WHOLE:
        if pattern.match(line):
            yield Coloured(0, len(line), style)
            return
    for match in _PARTS.finditer(line):
        yield Coloured(*match.span(), match.lastgroup or "")


class WrappedText(WrappedDocument):
    """A wrapped document with cheap edits on long pages.

    Textual's own class adds up the heights of all lines for each drawn line, and measures every word of a line.
    """

    @override
    @property
    def height(self) -> int:
        return len(self._offset_to_line_info)

    def fence_at(self, row: int) -> str:
        """Return the opening fence of the code block that contains a line; empty outside of code blocks."""
        lines, fences = self.document.lines, self._fences
        for number in range(len(fences) - 1, min(row, len(lines) - 1)):
            fences.append(fence_below(fences[number], lines[number]))
        return fences[row] if row < len(fences) else ""

    def part_at(self, y: int) -> tuple[int, int] | None:
        """Return the number of the line in row `y`, and the index of its wrapped part; None below the text."""
        return self._offset_to_line_info[y] if y < len(self._offset_to_line_info) else None

    @override
    def wrap(self, width: int, tab_width: int | None = None) -> None:
        self._width = width
        self._tab_width = tab_width or self._tab_width
        lines = self.document.lines
        self._fences = [""]
        """For each line checked so far, the opening fence of its code block; empty outside of code blocks."""
        self._wrap_offsets, self._tab_width_cache = self._breaks(lines), self._tabs(lines)
        self._count()

    @override
    def wrap_range(self, start: tuple[int, int], old_end: tuple[int, int], new_end: tuple[int, int]) -> None:
        last = len(self._wrap_offsets) - 1
        top, bottom = sorted((min(start[0], last), min(old_end[0], last)))
        del self._fences[top + 1 :]
        lines = self.document.lines[top : max(start[0], new_end[0]) + 1]
        before, after = self._wrap_offsets[top : bottom + 1], self._breaks(lines)
        self._wrap_offsets[top : bottom + 1] = after
        self._tab_width_cache[top : bottom + 1] = self._tabs(lines)
        if [len(breaks) for breaks in before] != [len(breaks) for breaks in after]:
            self._count()

    @override
    def get_sections(self, line_index: int) -> list[str]:
        line, breaks = self.document[line_index], self._wrap_offsets[line_index]
        return [line[start:end] for start, end in zip([0, *breaks], [*breaks, len(line)], strict=True)]

    def _breaks(self, lines: Sequence[str]) -> list[list[int]]:
        width, tabs = self._width, self._tab_width
        return [_breaks(line, width, tabs) if width and len(line) * 2 > width else [] for line in lines]

    def _tabs(self, lines: Sequence[str]) -> list[list[int]]:
        tabs = self._tab_width
        return [[columns for _, columns in get_tab_widths(line, tabs)] if "\t" in line else [0] for line in lines]

    def _count(self) -> None:
        """Rebuild the index of wrapped lines."""
        heights = [len(breaks) + 1 for breaks in self._wrap_offsets]
        self._offset_to_line_info = [(line, part) for line, height in enumerate(heights) for part in range(height)]
        starts = [0, *accumulate(heights)]
        self._line_index_to_offsets = [
            list(range(at, at + height)) for at, height in zip(starts, heights, strict=False)
        ]


def _breaks(line: str, width: int, tab_width: int) -> list[int]:
    """Return the offsets at which a line is wrapped.

    An ASCII line without tabs is as wide as it is long, so its words are not measured.
    """
    if not line.isascii() or "\t" in line:
        if len(line) > LONGEST:
            return list(range(width // 2, len(line), max(1, width // 2)))  # no character is wider than 2
        return compute_wrap_offsets(line, width, tab_width)
    breaks: list[int] = []
    start = 0
    while len(line) - start > width:
        end = start + width
        if not line[end].isspace() and not line[end - 1].isspace():
            blank = max(line.rfind(" ", start, end), start - 1)
            end = blank + 1 if blank >= start else end
        # one blank more than the width fits: the column of the cursor is empty at the end of a line
        while end < len(line) and line[end].isspace() and end - start <= width:
            end += 1
        breaks.append(end)
        start = end
    return breaks


class MarkdownArea(TextArea):
    """The Markdown of a page.

    Args:
        text: the initial text.
        press: handles keys that insert no text; returns whether it handled the key.
    """

    takes_text = True

    @cached_property
    def style_for(self) -> StyleLookup:
        """The lookup of styles for this widget."""
        return style_of(self)

    def __init__(self, text: str, press: Callable[[events.Key], bool]) -> None:
        self._press = press
        self.search_text = ""
        self._searched: Selection | None = None
        """The selection after the last search."""
        super().__init__(text, soft_wrap=True, show_line_numbers=False, compact=True, tab_behavior="indent")
        self.indent_width = 2
        self.match_cursor_bracket = False
        self.cursor_blink = False

    @staticmethod
    def can_hold(text: str) -> bool:
        """Return whether the text area keeps all line ends of a text."""
        plain = text.replace("\r\n", "\n")
        return len((plain + "x").splitlines()) == plain.count("\n") + 1 and (
            "\r\n" not in text or plain.count("\n") == text.count("\r\n")
        )

    @override
    def _set_document(self, text: str, language: str | None) -> None:
        super()._set_document("", language)
        self.document = Document(text)
        self.wrapped_document = WrappedText(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self._build_highlight_map()
        self._rewrap_and_refresh_virtual_size()

    @override
    def find_matching_bracket(self, bracket: str, search_from: tuple[int, int]) -> tuple[int, int] | None:
        """Return None: Textual would search the whole text on each move of the cursor."""
        return None

    @override
    async def _on_key(self, event: events.Key) -> None:
        ends = {"ctrl+home": self.document.start, "ctrl+end": self.document.end}
        if event.key in ends:
            self.move_cursor(ends[event.key])
        if event.key in ends or self._press(event) or (event.key in ("tab", "shift+tab") and self._tab(event.key)):
            event.stop()
            event.prevent_default()
            return
        await super()._on_key(event)

    def _tab(self, key: str) -> bool:
        """Go to another cell of a table, or indent an item or selected lines. Return False if the key does neither."""
        anchor, cursor = self.selection
        is_in_code = bool(self.fence_at(cursor[0]))
        if is_in_code and anchor[0] == cursor[0]:
            return False
        edit = tab_edit(self.document.lines, anchor, cursor, back=key == "shift+tab")
        if edit is None:
            return False
        self.history.checkpoint()
        if edit.lines and edit.first == edit.end:
            end = (edit.end - 1, len(self.document.get_line(edit.end - 1)))
            self.replace("\n" + "\n".join(edit.lines), end, end, maintain_selection_offset=False)
        elif edit.lines:
            end = (edit.end - 1, len(self.document.get_line(edit.end - 1)))
            self.replace("\n".join(edit.lines), (edit.first, 0), end, maintain_selection_offset=False)
        self.selection = Selection(edit.anchor, edit.cursor)
        return True

    def fence_at(self, row: int) -> str:
        """Return the opening fence of the code block that contains a line; empty outside of code blocks."""
        return cast("WrappedText", self.wrapped_document).fence_at(row)

    @override
    def get_line(self, line_index: int) -> Text:
        line = self.document.get_line(line_index)
        text = Text(line, end="", no_wrap=True)
        for part in coloured(line, self.fence_at(line_index)):
            text.stylize(self.style_for(part.style), part.start, part.end)
        if self.search_text and len(line) <= LONGEST:
            folded = line.lower()
            at = folded.find(self.search_text) if len(folded) == len(line) else -1
            while at >= 0:
                text.stylize(self.style_for("mark"), at, at + len(self.search_text))
                at = folded.find(self.search_text, at + len(self.search_text))
        return text

    @override
    def _render_line(self, y: int) -> Strip:
        """Render a line. For a very long line, only the visible part is processed."""
        place = cast("WrappedText", self.wrapped_document).part_at(y + self.scroll_offset.y)
        if place is None or len(self.document.get_line(place[0])) <= LONGEST:
            return super()._render_line(y)
        row, part = place
        breaks = [0, *self.wrapped_document.get_offsets(row)]
        start, end = breaks[part], breaks[part + 1] if part + 1 < len(breaks) else None
        text = Text(self.document.get_line(row)[start:end].replace("\t", " ") + " ", end="", no_wrap=True)
        top, bottom = sorted(self.selection)
        first = top[1] if top[0] == row else 0 if top[0] < row else len(text) + start
        last = bottom[1] if bottom[0] == row else len(text) + start if bottom[0] > row else 0
        text.stylize(self.style_for("mark"), max(0, first - start), max(0, last - start))
        cursor_row, cursor = self.selection.end
        if cursor_row == row and start <= cursor < start + len(text) and self._draw_cursor:
            text.stylize(self.style_for("accent mark"), cursor - start, cursor - start + 1)
        segments = list(text.render(self.app.console))
        return (
            Strip(segments).adjust_cell_length(self.scrollable_content_region.size.width).apply_style(self.rich_style)
        )

    # the interface of a searchable pane

    @property
    def count(self) -> int:
        """The number of lines."""
        return self.document.line_count

    @property
    def is_searching(self) -> bool:
        """Whether a text is highlighted, and the cursor has not moved since the search."""
        return bool(self.search_text) and self.selection == self._searched

    def highlight(self, text: str) -> None:
        """Highlight all matches of a text; an empty text removes the highlights."""
        self.search_text = text.lower()
        self.notify_style_update()  # redraws all lines
        self.refresh()

    async def find_items(self, text: str) -> list[tuple[int, int]]:
        """Return the positions of all matches of a text."""
        text = text.lower()
        places: list[tuple[int, int]] = []
        for row, line in enumerate(self.document.lines if text else ()):
            folded = line.lower()
            at = folded.find(text)
            while at >= 0:
                places.append((row, at))
                at = folded.find(text, at + len(text))
        return places

    async def search(self, text: str, *, step: int = 1) -> Match | None:
        """Highlight a text, and select the next match, or the previous match if `step` is -1. Wraps at the end."""
        self.highlight(text)
        places = await self.find_items(text)
        if not places:
            self.selection = Selection.cursor(self.cursor_location)  # typing must not replace the previous match
            self._searched = self.selection
            return None
        here = min(self.selection) if step < 0 else max(self.selection)
        is_selected = self.selected_text.lower() == text.lower()
        ahead = [
            place
            for place in places
            if (place < here if step < 0 else place > here or (place == here and not is_selected))
        ]
        target = (ahead or places)[0 if step > 0 else -1]
        self.selection = self._searched = Selection(target, (target[0], target[1] + len(text)))
        self.scroll_cursor_visible(center=True)
        return Match(bisect_right(places, target), len(places))

    # insertion

    def complete(self, start: int, text: str) -> None:
        """Replace the text from a column of the current line to the cursor."""
        row, column = self.cursor_location
        self._replace_with_cursor(text, (row, start), (row, column), "")

    def insert_block(self, text: str) -> None:
        """Insert a block below the current line. Selected text is moved into the block."""
        selected, (top, bottom) = self.selected_text, sorted(self.selection)
        line = self.document.get_line(top[0])
        if selected:
            start, end = top, bottom
            text = ("\n\n" if line[: top[1]].strip() else "") + text
        else:
            start = end = (top[0], len(line)) if line.strip() else (top[0], 0)
            end = (top[0], len(line))
            text = ("\n\n" if line.strip() else "") + text
        if self.document.get_line(end[0])[end[1] :].strip():
            text += "\n\n"
        elif end[0] + 1 < self.document.line_count and self.document.get_line(end[0] + 1).strip():
            text += "\n"
        self._replace_with_cursor(text, start, end, selected)

    def _replace_with_cursor(self, text: str, start: tuple[int, int], end: tuple[int, int], selected: str) -> None:
        head, mark, tail = text.partition(CURSOR)
        head += selected if mark else ""
        self.history.checkpoint()
        self.replace(head + tail, start, end, maintain_selection_offset=False)
        rows = head.split("\n")
        column = len(rows[-1]) + (start[1] if len(rows) == 1 else 0)
        self.move_cursor((start[0] + len(rows) - 1, column))

    def replace_all(self, text: str) -> None:
        """Replace the whole text in a single undo step; the cursor stays on its line."""
        row, column = self.cursor_location
        self.history.checkpoint()
        self.replace(text, self.document.start, self.document.end, maintain_selection_offset=False)
        row = min(row, self.document.line_count - 1)
        self.move_cursor((row, min(column, len(self.document.get_line(row)))), center=True)
