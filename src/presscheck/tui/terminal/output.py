"""Output to the terminal: only safe characters and links, and only cells that changed.

The filter of control characters is a second line of defense: text from the wire has passed `sanitize` before. The
filter preserves cell widths.

Textual paints whole regions again at each layout; the painter compares each line with the line that it sent last.
Colors and attributes are sent only when they change, and not for blanks that look the same. A line with a character
that does not take exactly one cell is sent whole, so that no character is cut in two. For cells that are marked as a
row of a picture, the painter sends the sequences of the picture table; no other image sequence is ever sent.

For each update, Textual renders every visible line of every widget before it drops unchanged lines, so that a moved
cursor would cost as much as a full repaint. The compositor renders only the lines of the update.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
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

from presscheck.text.sanitize import COLORED, JOINER, NON_JOINER, is_safe_url
from presscheck.tui.terminal.pictures import PictureRow, PictureTable

_ATTRIBUTES = (("bold", "1"), ("dim", "2"), ("italic", "3"), ("underline", "4"), ("reverse", "7"), ("strike", "9"))
_JOINERS = frozenset((NON_JOINER, JOINER))
_WIDE_JOINERS = ("Apple_Terminal", "extraterm")
"""Values of TERM_PROGRAM of terminals that give a cell to each joiner."""
_EMOJI_JOINERS = ("WezTerm", "contour", "ghostty", "iTerm.app", "mintty", "rio")
"""Values of TERM_PROGRAM of terminals that show a joined emoji in two cells.

Source of both lists: the measurements of ucs-detect, as in the tables of wcwidth.
"""
_VISIBLE_ON_BLANKS = frozenset("479")


@lru_cache(4096)
def _split_segment(segment: Segment, cut: int) -> tuple[Segment, Segment]:
    """Split a segment after a number of cells."""
    text, style, control = segment
    left, right = split_text(text, cut) if cut < segment.cell_length else (text, "")
    return Segment(left, style, control), Segment(right, style, control)


# Rich splits joined emoji into parts whose widths do not add up; borders of panes and dialogs would move
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
    """Return the joiners that the terminal shows without a cell, for `show_joiners`, judged by environment variables.

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


class ControlCharFilter(LineFilter):
    """A Textual line filter that replaces control characters and removes unsafe links."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the safe segments; the same list if nothing had to change."""
        for text, style, _ in segments:  # a loop, because every painted line passes here
            if not text.isprintable() or (style is not None and style.link is not None):
                return [_safe(segment) for segment in segments]
        return segments


def _safe(segment: Segment) -> Segment:
    text, style, _ = segment
    if not text.isprintable():
        text = "".join([one if one.isprintable() or one in _JOINERS else _blank(one) for one in text])
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


class DiffPainter:
    """A painter that remembers the lines on the terminal and sends only differences.

    Args:
        pictures: the pictures that may be on the screen.
    """

    def __init__(self, pictures: PictureTable | None = None) -> None:
        self._pictures = pictures
        self._rows: dict[int, Strip] = {}

    def reset(self) -> None:
        """Forget all lines, because the content of the terminal is unknown."""
        self._rows.clear()

    def update(self, update: CompositorUpdate) -> CompositorUpdate:
        """Wrap an update to send only differences; the result must be rendered exactly once, when it is sent."""
        return _DiffUpdate(self, update)

    def differences(self, update: CompositorUpdate, system: ColorSystem) -> str | None:
        """Return the output for an update, or None for an unknown kind of update."""
        writer = _Writer(system)
        if isinstance(update, LayoutUpdate):
            for y, line in enumerate(update.strips, update.region.y):
                self._paint(writer, update.region.x, y, Strip.join(line))
        elif isinstance(update, ChopsUpdate):
            for y, start, end in update.spans:
                for (x, strip), stop in zip(update.chops[y].items(), update.chop_ends[y], strict=False):
                    if strip is not None and x < end and stop > start:
                        self._paint(writer, x, y, strip.crop(0, min(stop, end) - x))
        else:
            self.reset()
            return None
        return writer.text()

    def _paint(self, writer: _Writer, x: int, y: int, strip: Strip) -> None:
        strip = strip.simplify()
        size, row = strip.cell_length, self._rows.get(y)
        if row is None or row.cell_length < x + size:
            self._write(writer, x, y, strip, 0, size)
            if x == 0 and (row is None or row.cell_length <= size):
                self._rows[y] = strip
            return
        new = Strip.join((row.crop(0, x), strip, row.crop(x + size))).simplify()
        first, last = changed_cells(row, new)
        if first < last:
            self._rows[y] = new
            is_single_width = _is_single_width(row) and _is_single_width(new)
            self._write(writer, 0, y, new, *((first, last) if is_single_width else (0, new.cell_length)))

    def _write(self, writer: _Writer, x: int, y: int, strip: Strip, first: int, last: int) -> None:
        """Write the cells `first` to `last` of a strip at column `x`, extended to whole rows of pictures."""
        found = self._pictures.rows_in(strip) if self._pictures else []
        rows = [row for row in found if row.start < last and row.end > first]
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


class _DiffUpdate(CompositorUpdate):
    def __init__(self, painter: DiffPainter, update: CompositorUpdate) -> None:
        self._painter, self._update = painter, update

    @override
    def render_segments(self, console: Console) -> str:
        system = console._color_system or ColorSystem.TRUECOLOR  # as Textual does
        text = self._painter.differences(self._update, system)
        return self._update.render_segments(console) if text is None else text


class _Writer:
    """A collector of output that tracks the graphic state of the terminal."""

    def __init__(self, system: ColorSystem) -> None:
        self._system, self._state = system, SgrState()
        self._parts: list[str] = []

    def write(self, x: int, y: int, strip: Strip) -> None:
        """Write the cells of a strip at a position."""
        if not strip.cell_length:
            return
        self._parts.append(f"\x1b[{y + 1};{x + 1}H")
        for text, style, _ in strip:
            state = sgr_state(style, self._system)
            if not (text.isspace() and _same_on_blanks(state, self._state)):
                self._parts.append(sgr_sequence(self._state, state))
                self._state = state
            # a doubled joiner makes Rich count the letter after it, see `sanitize`
            self._parts.append(text.replace(2 * JOINER, JOINER))

    def write_picture(self, x: int, y: int, row: PictureRow) -> None:
        """Write a row of a picture at a position."""
        self._parts += (row.before, f"\x1b[{y + 1};{x + 1}H")
        if row.cells:
            state = SgrState((), row.color, "49")
            self._parts += (sgr_sequence(self._state, state), row.cells)
            self._state = state
        self._parts.append(row.over)

    def text(self) -> str:
        """Return the whole output, with a final reset if attributes are set."""
        return "".join(self._parts) + ("\x1b[0m" if self._state != SgrState() else "")


def _is_single_width(strip: Strip) -> bool:
    """Return whether every character takes exactly one cell."""
    text = strip.text
    return text.isascii() or all(get_character_cell_size(character) == 1 for character in text)


def changed_cells(old: Strip, new: Strip) -> tuple[int, int]:
    """Return the range (start, end) of cells that differ in two strips of the same length; (0, 0) for equal strips."""
    before, after = [*old], [*new]
    if before == after:
        return 0, 0
    first = _equal_cells(before, after, from_end=False)
    last = new.cell_length - _equal_cells(before[::-1], after[::-1], from_end=True)
    return (first, last) if first < last else (0, new.cell_length)


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
    if before.attributes != after.attributes:
        before = SgrState()
        codes = ["0", *after.attributes]
    else:
        codes = []
    if before.color != after.color:
        codes.append(after.color)
    if before.background != after.background:
        codes.append(after.background)
    return f"\x1b[{';'.join(codes)}m" if codes else ""


def _same_on_blanks(one: SgrState, other: SgrState) -> bool:
    has_visible_attribute = _VISIBLE_ON_BLANKS.intersection((*one.attributes, *other.attributes))
    return one.background == other.background and not has_visible_attribute


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
        (at for at, (one, two) in enumerate(zip(text, other, strict=False)) if one != two), min(len(text), len(other))
    )
