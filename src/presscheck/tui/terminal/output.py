"""Output to the terminal: only safe characters and links, and only cells that changed.

The filter of control characters is a second line of defense, because untrusted text has passed `sanitize` before. The
filter preserves cell widths.

Textual repaints whole regions at each layout. The painter compares each line with the last version that it sent. Colors
and attributes are sent only when they change, and not for blanks that look the same. Texts of the same color are sent
together, and on slow connections the terminal scrolls moved lines, if that takes fewer bytes. For a list that scrolls
beside another pane, that pane is blank until it is sent with a later update. A line with joined
characters is sent completely, because terminals disagree on their widths. For cells that are marked as a row of a
picture, the painter sends the sequences of the picture table. No other image sequences are sent.

Textual renders all visible lines of all widgets for each update, so moving a cursor would cost as much as a full
repaint. `LineCompositor` renders only the lines of the update.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from rich.cells import get_character_cell_size, split_text
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, Compositor, CompositorUpdate, LayoutUpdate
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region
from textual.strip import Strip
from typing_extensions import override

from presscheck.text.ascii_text import ascii_cells
from presscheck.text.sanitize import COLORED, JOINER, NON_JOINER, is_safe_url
from presscheck.tui.terminal.bandwidth import Bandwidth
from presscheck.tui.terminal.pictures import PictureRow, PictureTable

_ATTRIBUTES = (("bold", "1"), ("dim", "2"), ("italic", "3"), ("underline", "4"), ("reverse", "7"), ("strike", "9"))
_ENDS = {"1": "22", "2": "22", "3": "23", "4": "24", "7": "27", "9": "29"}
"""The SGR parameter that ends each attribute; bold and dim have the same."""
_JOINERS = frozenset((NON_JOINER, JOINER))
_WIDE_JOINERS = ("Apple_Terminal", "extraterm")
"""Values of TERM_PROGRAM for terminals that show each joiner as a cell."""
_EMOJI_JOINERS = ("WezTerm", "contour", "ghostty", "iTerm.app", "mintty", "rio")
"""Values of TERM_PROGRAM for terminals that show a joined emoji in two cells.

Source of both lists: the measurements of ucs-detect, as in the tables of wcwidth.
"""
_VISIBLE_ON_BLANKS = frozenset("479")
_ERASING = (
    "alacritty",
    "contour",
    "foot",
    "ghostty",
    "kitty",
    "konsole",
    "linux",
    "rxvt",
    "st",
    "vte",
    "wezterm",
    "xterm",
)
"""Prefixes of TERM for terminals that fill erased cells with the background color (terminfo: `bce` and `ech`)."""
MOST_AT_ONCE = 380
"""Maximum number of characters that are sent at once after a key press; with what Textual adds, 400 bytes."""
_RESERVED = 100
"""Number of these characters that later updates may use only in the focused widget, such as for the votes of a row."""
PLAIN = {"─": "-", "│": "|"}
"""ASCII replacements for slow terminals: the line characters take three bytes each."""
_SHORTEST_SCROLL = 2
"""Minimum number of moved lines for which the terminal scrolls."""
_FARTHEST_SCROLL = 3
"""Maximum distance of a scroll, in lines."""
_SHORTEST_BLANKED = MOST_AT_ONCE // 2
"""Minimum number of characters of an update for which the cells beside a pane are blanked, so that the pane scrolls."""
_SHORT_GAP = 4
"""Maximum number of unchanged cells between two changes that are sent, because skipping them takes as many bytes."""
_SHORT_BLANKS = 8
"""Maximum number of blanks that are sent as text, because erasing them takes as many bytes."""
_SHORT_END = 3
"""The same for blanks at the end of the line, after which the cursor need not be moved."""


@lru_cache(4096)
def _split_segment(segment: Segment, cut: int) -> tuple[Segment, Segment]:
    """Split a segment after a number of cells."""
    text, style, control = segment
    left, right = split_text(text, cut) if cut < segment.cell_length else (text, "")
    return Segment(left, style, control), Segment(right, style, control)


# Rich splits joined emoji into parts whose widths do not add up, which would shift borders of panes and dialogs
Segment._split_cells = staticmethod(_split_segment)  # pyrefly: ignore[bad-assignment]


class LineCompositor(Compositor):
    """A compositor that renders only the lines of an update."""

    @override
    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        if crop is None:
            yield from super()._get_renders(crop)
            return
        lines = Region(0, crop.y, self.size.width, crop.height)
        for widget, (region, clip) in self.visible_widgets.items():
            shown = region.intersection(clip).intersection(lines)
            if shown and shown.overlaps(crop):
                yield region, shown, widget.render_lines(shown.translate((-region.x, -region.y)))


def joiners_of(environment: Mapping[str, str]) -> str:
    """Return the joiners that take no cell in this terminal, for `show_joiners`. Uses environment variables.

    Inside tmux and screen the outer terminal is unknown, so emoji are not joined.
    """
    terminal, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if program in _WIDE_JOINERS or terminal.startswith("mlterm"):
        return ""
    if environment.get("TMUX") or environment.get("STY") or terminal.startswith(("tmux", "screen")):
        return NON_JOINER
    is_known = program in _EMOJI_JOINERS or terminal.startswith(("foot", "contour", "xterm-kitty", "xterm-ghostty"))
    joins = is_known or "KITTY_WINDOW_ID" in environment or "KONSOLE_VERSION" in environment
    if not joins:
        return NON_JOINER
    # WezTerm shows sequences that begin with a narrow emoji in a single cell
    return NON_JOINER + JOINER + ("" if program == "WezTerm" else COLORED)


def erases_in_color(environment: Mapping[str, str]) -> bool:
    """Return whether the terminal fills erased cells with the background color. Uses environment variables.

    Screen does not, though programs inside it may have the TERM of the outer terminal.
    """
    return environment.get("TERM", "").startswith(_ERASING) and not environment.get("STY")


class ControlCharFilter(LineFilter):
    """A Textual line filter that replaces control characters and removes unsafe links."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the safe segments; the same list if nothing had to change."""
        for text, style, _ in segments:  # a loop, because every painted line passes here
            if not text.isprintable() or (style is not None and style.link is not None):
                return [_safe(segment) for segment in segments]
        return segments


class AsciiFilter(LineFilter):
    """A Textual line filter that replaces non-ASCII characters by ASCII characters of the same width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments in ASCII; the same list if nothing had to change."""
        if all(segment.text.isascii() for segment in segments):
            return segments
        return [Segment(ascii_cells(text), style) for text, style, _ in segments]


def _safe(segment: Segment) -> Segment:
    text, style, _ = segment
    if not text.isprintable():
        text = "".join([sign if sign.isprintable() or sign in _JOINERS else _blank(sign) for sign in text])
    if style is not None and style.link is not None and not is_safe_url(style.link):
        style = style.update_link(None)
    return Segment(text, style)


def _blank(character: str) -> str:
    return (" " if character.isspace() else "?") * max(0, get_character_cell_size(character))


class SgrState(NamedTuple):
    """The graphic state of the terminal: attributes, color and background as SGR parameters."""

    attributes: tuple[str, ...] = ()
    color: str = "39"
    background: str = "49"


Cell = tuple[str, SgrState]
"""A character and its graphic state. The second cell of a wide character has an empty text."""


class DiffPainter:
    """A painter that remembers the lines on the terminal and sends only differences.

    Args:
        pictures: the pictures that may be on the screen.
        bandwidth: whether to send few bytes: 256 colors, and lines of ASCII characters.
        erases: whether the terminal fills erased cells with the background.
    """

    def __init__(
        self, pictures: PictureTable | None = None, bandwidth: Bandwidth | None = None, *, erases: bool = False
    ) -> None:
        self._pictures, self._bandwidth, self._erases = pictures, bandwidth or Bandwidth("off"), erases
        self._width = 0
        """The width of the terminal, from the lines received so far."""
        self._rows: dict[int, Strip] = {}
        """The lines on the terminal."""
        self._wanted: dict[int, Strip] = {}
        """The new lines that are not sent yet."""
        self._sent = 0
        self._parts: list[tuple[int, int, Strip]] = []
        """Parts of lines whose other cells are unknown, each with its column and line."""

    def restart(self) -> None:
        """Reset the count of sent characters, see `update`."""
        self._sent = 0

    @property
    def has_more(self) -> bool:
        """Whether differences are not sent yet."""
        return bool(self._wanted)

    def reset(self) -> None:
        """Forget all lines, because the content of the terminal is unknown."""
        self._width = 0
        self._rows.clear()
        self._wanted.clear()
        self._parts.clear()

    def update(self, update: CompositorUpdate | None = None, first: Region | None = None) -> CompositorUpdate:
        """Take an update of Textual. Return an update that renders only the differences.

        Args:
            update: the update, if any.
            first: if more than `MOST_AT_ONCE` characters would be sent since the last `restart`, only the differences
                in this region are sent; the others are sent with a later update.
        """
        if update:
            self.take(update)
        return _DiffUpdate(self, first)

    def take(self, update: CompositorUpdate) -> None:
        """Take an update of Textual without sending it."""
        for x, y, strip in _lines(update):
            size, row = strip.cell_length, self._wanted.get(y) or self._rows.get(y)
            self._width = max(self._width, x + size)
            if row is not None and row.cell_length >= x + size:
                self._wanted[y] = _joined(row, x, strip)
            elif x == 0:
                self._rows.pop(y, None)
                self._wanted[y] = strip
            else:
                self._parts.append((x, y, strip))

    def output(self, system: ColorSystem, first: Region | None = None) -> str:
        """Return the output for the differences, see `update`."""
        parts, rows, wanted = self._parts, self._rows.copy(), self._wanted.copy()
        self._parts = []
        text = self._shortest(system, parts, first)
        most = MOST_AT_ONCE - _RESERVED if self._sent else MOST_AT_ONCE
        if first and self._sent + len(text) > most and not (self._pictures and self._pictures.is_used):
            self._rows, self._wanted = rows, wanted
            text = self._shortest(system, parts, first, is_part=True)
        self._sent += len(text)
        return text

    def _shortest(
        self,
        system: ColorSystem,
        parts: Sequence[tuple[int, int, Strip]],
        pane: Region | None,
        *,
        is_part: bool = False,
    ) -> str:
        """Return the output for the differences. On slow connections, scroll if that is shorter.

        Args:
            system: the colors of the terminal.
            parts: parts of lines whose other cells are unknown.
            pane: the region that the terminal may scroll, besides whole lines.
            is_part: whether to return only the differences in `pane`.
        """
        rows, wanted = self._rows.copy(), self._wanted.copy()
        within = pane if is_part else None
        text = self._output(system, parts, within)
        if not self._bandwidth.is_low:
            return text
        if within is None or within.width == self._width:
            lines = range(within.y, within.bottom) if within else range(max(rows, default=0) + 1)
            for shift in self._shifts(rows, wanted, lines, pane):
                shortest = self._rows, self._wanted
                self._rows, self._wanted = rows.copy(), wanted.copy()
                scrolled = self._scroll(shift) + self._output(system, parts, within)
                if len(scrolled) < len(text):
                    text = scrolled
                else:
                    self._rows, self._wanted = shortest
        if pane and pane.width < self._width and not parts:
            text = self._shortest_beside(system, pane, rows, wanted, text)
        return text

    def _shortest_beside(
        self, system: ColorSystem, pane: Region, rows: dict[int, Strip], wanted: dict[int, Strip], text: str
    ) -> str:
        """Return `text`, or a shorter output that scrolls a pane at the left edge of the terminal.

        Terminals scroll whole lines. So the cells on the right of the pane are blanked first. They are sent again with
        a later update, like all differences outside the pane. Columns that look the same in all lines, such as a
        border, are not blanked. If `text` is short, nothing is blanked.
        """
        lines = range(pane.y, pane.bottom)
        if not all(y in rows for y in lines):
            return text
        writer = self._writer(system)
        left = [writer.cells_of(rows[y].crop(0, pane.x)) for y in lines]
        right = [writer.cells_of(rows[y].crop(pane.right)) for y in lines]
        end = pane.right + _same_columns(right)
        if _same_columns(left) < pane.x or (end < self._width and len(text) < _SHORTEST_BLANKED):
            return text
        ends = [rows[y].crop(end) for y in lines]
        blank = self._blank(ends)
        blanked = {y: Strip.join((rows[y].crop(0, end), blank)).simplify() for y in lines}
        new = {y: _joined(blanked[y], pane.x, wanted.get(y, rows[y]).crop(pane.x, pane.right)) for y in lines}
        for y, cells in zip(lines, ends, strict=True):
            if writer.cells_of(cells) != writer.cells_of(blank):
                writer.erase(end, y, blank)
        blanking, shortest = writer.text(), (self._rows, self._wanted)
        whole = Region(0, pane.y, self._width, pane.height)
        for shift in self._shifts(blanked, new, lines, pane):
            self._rows, self._wanted = rows | blanked, new.copy()
            scrolled = blanking + self._scroll(shift) + self._output(system, (), whole)
            if len(scrolled) < len(text):
                text = scrolled
                shortest = self._rows, wanted | {y: wanted.get(y, rows[y]) for y in lines}
        self._rows, self._wanted = shortest
        return text

    def _blank(self, ends: Sequence[Strip]) -> Strip:
        """Return the blanks that replace the ends of lines.

        Their background is the one that most of the lines end with. If the terminal cannot erase in a color, it is the
        default background.
        """
        size = min(end.cell_length for end in ends)
        backgrounds = [style.bgcolor if style else None for end in ends for _, style, _ in end.crop(size - 1)]
        background = max(backgrounds, key=backgrounds.count, default=None)
        style = Style(bgcolor=background) if background and self._erases else None
        return Strip([Segment(" " * size, style)] if size else [])

    def _shifts(
        self, rows: Mapping[int, Strip], wanted: Mapping[int, Strip], lines: range, pane: Region | None
    ) -> list[tuple[int, int, int]]:
        """Return possible scrolls that turn most old lines into new ones: first line, last line, and distance upwards.

        The distance is negative to scroll down. The second option includes the line next to the moved lines: in a list,
        it is the line of the cursor, which moved and changed its colors. The third option is the whole pane, because
        lines may also change as they move, such as the time in them. Returns nothing if fewer than `_SHORTEST_SCROLL`
        lines moved, if a line is not known completely, or if there are pictures.
        """
        is_whole = all(row.cell_length == self._width for lines in (rows, wanted) for row in lines.values())
        if not is_whole or (self._pictures and self._pictures.is_used):
            return []
        best: list[int] = []
        by = 0
        for distance in range(-_FARTHEST_SCROLL, _FARTHEST_SCROLL + 1):
            moved = [y for y in lines if distance and rows.get(y + distance) == wanted.get(y) != rows.get(y)]
            if len(moved) > len(best):
                best, by = moved, distance
        if len(best) < _SHORTEST_SCROLL:
            return []
        first, last = min(best), max(best)
        ways = [(first, last + by, by), (first, last + by + 1, by)]
        if by < 0:
            ways = [(first + by, last, by), (first + by - 1, last, by)]
        if pane and all(y in pane.line_range for y in best):
            ways.append((pane.y, pane.bottom - 1, by))
        return [way for way in ways if all(y in rows and y in lines for y in range(way[0], way[1] + 1))]

    def _scroll(self, shift: tuple[int, int, int]) -> str:
        """Return the output that scrolls lines, and update the known lines accordingly."""
        first, last, by = shift
        lines = range(first, last + 1)
        self._wanted = {y: self._rows[y] for y in lines} | self._wanted
        before = {y: self._rows.pop(y) for y in lines}
        blank = Strip.blank(self._width)  # no color is set, so terminals fill new lines with the default background
        self._rows |= {y: before.get(y + by, blank) for y in lines}
        at, step = (last, "\x1bD") if by > 0 else (first, "\x1bM")
        return f"\x1b[{first + 1};{last + 1}r\x1b[{at + 1}H{step * abs(by)}\x1b[r"

    def _output(self, system: ColorSystem, parts: Iterable[tuple[int, int, Strip]], within: Region | None) -> str:
        writer = self._writer(system)
        for x, y, strip in parts:
            self._write(writer, x, y, strip, 0, strip.cell_length)
        for y, wanted in sorted(self._wanted.items()):
            row, new = self._rows.get(y), wanted
            if within and not within.y <= y < within.bottom:
                continue
            if row is None:
                self._write(writer, 0, y, new, 0, new.cell_length)
            else:
                if within and _is_simple(row) and _is_simple(new):
                    new = _joined(row, within.x, new.crop(within.x, within.right))
                self._replace(writer, y, row, new)
            self._rows[y] = new
            if new == wanted:
                del self._wanted[y]
        return writer.text()

    def _writer(self, system: ColorSystem) -> _Writer:
        is_low = self._bandwidth.is_low
        system = ColorSystem.EIGHT_BIT if is_low and system is ColorSystem.TRUECOLOR else system
        return _Writer(system, self._width, erases=self._erases, is_short=is_low)

    def _replace(self, writer: _Writer, y: int, row: Strip, new: Strip) -> None:
        """Write the differences between two versions of a line."""
        is_simple = _is_simple(row) and _is_simple(new)
        if is_simple and not (self._pictures and (self._pictures.is_in(row) or self._pictures.is_in(new))):
            before, after = writer.cells_of(row), writer.cells_of(new)
            # all cells from here on look like the last one
            end = next((at for at in range(len(after), 0, -1) if after[at - 1] != after[-1]), 0)
            for first, last in changed_ranges(before, after):
                writer.write_cells(first, y, after[first:last], is_end=last > end and len(after) == self._width)
            return
        first, last = changed_cells(row, new)
        if first < last:
            self._write(writer, 0, y, new, *((first, last) if is_simple else (0, new.cell_length)))

    def _write(self, writer: _Writer, x: int, y: int, strip: Strip, first: int, last: int) -> None:
        """Write the cells `first` to `last` of a strip at column `x`, extended to whole rows of pictures."""
        all_rows = self._pictures.rows_in(strip) if self._pictures else []
        rows = [row for row in all_rows if row.start < last and row.end > first]
        if rows:
            last = max(last, rows[-1].end)
            first = min(first, rows[0].start)
        at = first
        for row in rows:
            if row.cells:
                writer.write(x + at, y, strip.crop(at, row.start))
                writer.write_picture(x + row.start, y, row)
                at = row.end
        writer.write(x + at, y, strip.crop(at, last))
        for row in rows:
            if row.over:
                writer.write_picture(x + row.start, y, row)


def _joined(row: Strip, x: int, strip: Strip) -> Strip:
    """Replace the cells of a line from column `x` on by the cells of a strip."""
    return Strip.join((row.crop(0, x), strip, row.crop(x + strip.cell_length))).simplify()


def _lines(update: CompositorUpdate) -> Iterator[tuple[int, int, Strip]]:
    """Yield column, line and cells of each part of an update."""
    if isinstance(update, LayoutUpdate):
        for y, line in enumerate(update.strips, update.region.y):
            yield update.region.x, y, Strip.join(line).simplify()
    elif isinstance(update, ChopsUpdate):
        for y, start, end in update.spans:
            for (x, strip), stop in zip(update.chops[y].items(), update.chop_ends[y], strict=False):
                if strip is not None and x < end and stop > start:
                    yield x, y, strip.crop(0, min(stop, end) - x).simplify()


class _DiffUpdate(CompositorUpdate):
    def __init__(self, painter: DiffPainter, first: Region | None) -> None:
        self._painter, self._first = painter, first

    @override
    def render_segments(self, console: Console) -> str:
        return self._painter.output(console._color_system or ColorSystem.TRUECOLOR, self._first)  # as Textual does


class _Run(NamedTuple):
    """A text to write at a position. With `y` -1, it is written at the cursor.

    Attributes:
        end: the column of the cursor after the text; -1 if unknown.
        state: the graphic state; None for any.
        is_blank: whether the text is blank, so that only the background is visible.
    """

    x: int
    y: int
    text: str
    end: int
    state: SgrState | None
    is_blank: bool = False


class _Writer:
    """A collector of output for one update.

    Args:
        system: the colors of the terminal.
        width: the columns of the terminal.
        erases: whether the terminal fills erased cells with the background.
        is_short: whether to write line characters as ASCII.
    """

    def __init__(self, system: ColorSystem, width: int, *, erases: bool, is_short: bool) -> None:
        self._system, self._width, self._erases = system, width, erases
        self._characters = PLAIN if is_short else {}
        self._runs: list[_Run] = []

    def cells_of(self, strip: Strip) -> list[Cell]:
        """Return the cells of a strip that has no joined characters. Blanks that look the same are equal."""
        cells: list[Cell] = []
        for text, style, _ in strip:
            state = sgr_state(style, self._system)
            blank = (" ", _on_blanks(state))
            if text.isascii():
                cells += [blank if character == " " else (character, state) for character in text]
                continue
            for character in text:
                cells.append(blank if character == " " else (character, state))
                if get_character_cell_size(character) > 1:
                    cells.append(("", state))
        return cells

    def write_cells(self, x: int, y: int, cells: Sequence[Cell], *, is_end: bool = False) -> None:
        """Write cells at a position. Long blanks are erased if the terminal supports it.

        With `is_end`, the rest of the line looks like the last cell.
        """
        at, end = x, x + len(cells)
        is_end = is_end or end == self._width
        for (character, state), group in groupby(cells):
            count = sum(1 for _ in group)
            is_blank, is_last = character == " " and not state.attributes, is_end and at + count == end
            if is_blank and self._erases and count > (_SHORT_END if is_last else _SHORT_BLANKS):
                self._runs.append(_Run(at, y, "\x1b[K" if is_last else f"\x1b[{count}X", at, state, is_blank=True))
            else:
                text = self._characters.get(character, character) * count
                self._add(_Run(at, y, text, at + count, state, is_blank))
            at += count

    def erase(self, x: int, y: int, blank: Strip) -> None:
        """Erase a line from a column on, in the background of `blank`."""
        for _, style, _ in blank:
            self._runs.append(_Run(x, y, "\x1b[K", x, sgr_state(style, self._system), is_blank=True))

    def _add(self, run: _Run) -> None:
        """Add a run, or extend the last run if this one continues it and looks the same."""
        last = self._runs[-1] if self._runs else None
        if last and last.state and run.state and (last.end, last.y) == (run.x, run.y):
            is_same = last.state == run.state
            if is_same or ((last.is_blank or run.is_blank) and _same_on_blanks(last.state, run.state)):
                state = run.state if last.is_blank else last.state
                is_blank = last.is_blank and run.is_blank
                self._runs[-1] = _Run(last.x, last.y, last.text + run.text, run.end, state, is_blank)
                return
        self._runs.append(run)

    def write(self, x: int, y: int, strip: Strip) -> None:
        """Write the cells of a strip at a position."""
        if not strip.cell_length:
            return
        if _is_simple(strip):
            self.write_cells(x, y, self.cells_of(strip))
            return
        for text, style, _ in strip:
            state = sgr_state(style, self._system)
            # a doubled joiner makes Rich count the letter after it, see `sanitize`
            text = text.replace(2 * JOINER, JOINER)
            # terminals differ in the widths of joined characters
            self._runs.append(_Run(x, y, text, -1, state, text.isspace() and not state.attributes))
            y = -1

    def write_picture(self, x: int, y: int, row: PictureRow) -> None:
        """Write a row of a picture at a position."""
        self._runs += (
            _Run(-1, -1, row.before, -1, None),
            _Run(x, y, row.cells, -1, SgrState((), row.color, "49") if row.cells else None),
            _Run(-1, -1, row.over, -1, None),
        )

    def text(self) -> str:
        """Return the whole output, with a final reset if attributes are set."""
        text = _encoded(self._runs, self._width)
        if all(run.y >= 0 for run in self._runs):
            # changing the color often takes more bytes than moving the cursor
            text = min(text, _encoded(_by_state(self._runs), self._width), key=len)
        return text


def _by_state(runs: Sequence[_Run]) -> list[_Run]:
    """Sort runs by background and state; runs with the same state keep their order."""
    states: dict[str, dict[SgrState, int]] = {}
    keys: list[tuple[int, int]] = []
    last: dict[str, SgrState] = {}
    for run in runs:
        state = run.state or SgrState()
        before = last.get(state.background)
        if run.is_blank and before and _same_on_blanks(state, before):
            state = before
        last[state.background] = state
        places = states.setdefault(state.background, {})
        keys.append(([*states].index(state.background), places.setdefault(state, len(places))))
    return [run for _, run in sorted(zip(keys, runs, strict=True), key=lambda pair: pair[0])]


def _encoded(runs: Iterable[_Run], width: int) -> str:
    """Return the output that writes runs in order."""
    parts: list[str] = []
    state, cursor = SgrState(), (-1, -1)
    for run in runs:
        if run.y >= 0:
            parts.append(_movement(cursor, (run.x, run.y), width))
        if run.state:
            wanted = run.state
            if run.is_blank and not _VISIBLE_ON_BLANKS.intersection(state.attributes):
                wanted = state._replace(background=wanted.background)
            parts.append(sgr_sequence(state, wanted))
            state = wanted
        parts.append(run.text)
        cursor = (run.end, run.y) if run.end >= 0 else (-1, -1)
    return "".join(parts) + ("\x1b[0m" if state != SgrState() else "")


def _movement(cursor: tuple[int, int], place: tuple[int, int], width: int) -> str:
    """Return the shortest output that moves the cursor to a place; both are column and line."""
    (column, line), (x, y) = cursor, place
    if cursor == place:
        return ""
    ways = [f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1}H"]
    if 0 <= line <= y:
        down = "\x1bD" * (y - line)  # not a line feed, because the terminal driver converts it
        ways.append(down + (f"\x1b[{x + 1}G" if x else "\r"))
        if x >= column:
            ways.append(down + _to_the_right(x - column))
        elif column < width:  # after writing the last column, the cursor position differs between terminals
            ways.append(down + "\b" * (column - x))
    return min(ways, key=len)


def _to_the_right(count: int) -> str:
    return f"\x1b[{count if count > 1 else ''}C" if count else ""


def _is_simple(strip: Strip) -> bool:
    """Return whether a strip has no joined characters, so that all terminals use the same cells."""
    text = strip.text
    return text.isascii() or all(map(get_character_cell_size, text))


def changed_cells(old: Strip, new: Strip) -> tuple[int, int]:
    """Return the range (start, end) of cells that differ in two strips of the same length; (0, 0) for equal strips."""
    before, after = [*old], [*new]
    if before == after:
        return 0, 0
    first = _equal_cells(before, after, from_end=False)
    last = new.cell_length - _equal_cells(before[::-1], after[::-1], from_end=True)
    return (first, last) if first < last else (0, new.cell_length)


def changed_ranges(old: Sequence[Cell], new: Sequence[Cell]) -> list[tuple[int, int]]:
    """Return the ranges (start, end) of cells that differ in two lines of the same length; short gaps are included."""
    ranges: list[tuple[int, int]] = []
    for at, (before, after) in enumerate(zip(old, new, strict=True)):
        if before != after:
            end = at + 2 if new[at + 1 : at + 2] and not new[at + 1][0] else at + 1
            if ranges and at - ranges[-1][1] <= _SHORT_GAP:
                ranges[-1] = (ranges[-1][0], end)
            else:
                ranges.append((at, end))
    return ranges


def _same_columns(lines: Sequence[Sequence[Cell]]) -> int:
    """Return how many of the first columns have the same cell in every line."""
    columns = [*zip(*lines, strict=False)]
    return next((at for at, column in enumerate(columns) if len(set(column)) > 1), len(columns))


@lru_cache(4096)
def sgr_state(style: Style | None, system: ColorSystem) -> SgrState:
    """Return the graphic state for a style."""
    if style is None:
        return SgrState()
    color, background = style.color, style.bgcolor
    return SgrState(
        tuple(code for name, code in _ATTRIBUTES if getattr(style, name)),
        ";".join(color.downgrade(system).get_ansi_codes(foreground=True)) if color else "39",
        ";".join(background.downgrade(system).get_ansi_codes(foreground=False)) if background else "49",
    )


@lru_cache(4096)
def sgr_sequence(before: SgrState, after: SgrState) -> str:
    """Return the escape sequence that changes a state into another; empty if they are equal."""
    ended = [code for code in before.attributes if code not in after.attributes]
    ends = [*dict.fromkeys(_ENDS[code] for code in ended)]
    codes = ends + [code for code in after.attributes if code not in before.attributes or _ENDS[code] in ends]
    if before.color != after.color:
        codes.append(after.color)
    if before.background != after.background:
        codes.append(after.background)
    return f"\x1b[{';'.join(codes)}m" if codes else ""


@lru_cache(4096)
def _on_blanks(state: SgrState) -> SgrState:
    """Return the state reduced to what is visible on blanks."""
    return state if _VISIBLE_ON_BLANKS.intersection(state.attributes) else SgrState((), "39", state.background)


def _same_on_blanks(first: SgrState, second: SgrState) -> bool:
    has_visible_attribute = _VISIBLE_ON_BLANKS.intersection((*first.attributes, *second.attributes))
    return first.background == second.background and not has_visible_attribute


def _equal_cells(before: Iterable[Segment], after: Iterable[Segment], *, from_end: bool) -> int:
    """Return the number of equal characters at the start of both lists; `from_end` is for segments in reverse order."""
    cells = 0
    for (text, style, _), (other, other_style, _) in zip(before, after, strict=False):
        if style != other_style:
            break
        if text != other:
            cells += _equal_characters(text[::-1], other[::-1]) if from_end else _equal_characters(text, other)
            break
        cells += len(text)
    return cells


def _equal_characters(text: str, other: str) -> int:
    return next(
        (at for at, (left, right) in enumerate(zip(text, other, strict=False)) if left != right),
        min(len(text), len(other)),
    )
