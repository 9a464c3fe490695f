"""What the terminal shows, cell by cell: of every picture only the cells that differ are sent, in as few bytes as do.

Textual paints whole regions, again at each layout; here each line is held against what was sent for it before. Colours
and attributes are sent where they change, and not for blanks that would look the same. A line in which any character
takes more or fewer cells than one is sent whole, so that none is ever cut in two.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from rich.cells import get_character_cell_size
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.strip import Strip

_ATTRIBUTES = (("bold", "1"), ("dim", "2"), ("italic", "3"), ("underline", "4"), ("reverse", "7"), ("strike", "9"))
_VISIBLE_ON_BLANKS = frozenset("479")


class SgrState(NamedTuple):
    """How the terminal writes: attributes, colour and ground, as parameters of the sequence that sets them."""

    attributes: tuple[str, ...] = ()
    color: str = "39"
    ground: str = "49"


class DiffPainter:
    """The lines that the terminal shows, as far as they are known."""

    def __init__(self) -> None:
        self._rows: dict[int, Strip] = {}

    def forget(self) -> None:
        """Nothing is known of what the terminal shows."""
        self._rows.clear()

    def update(self, update: CompositorUpdate) -> CompositorUpdate:
        """The same update, sending only what differs; it must be rendered once, when it is sent."""
        return _Differing(self, update)

    def differences(self, update: CompositorUpdate, system: ColorSystem) -> str | None:
        """What to send for an update; None for a kind that is not known here."""
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
            self.forget()
            return None
        return writer.text()

    def _paint(self, writer: _Writer, x: int, y: int, strip: Strip) -> None:
        strip = strip.simplify()
        size, row = strip.cell_length, self._rows.get(y)
        if row is None or row.cell_length < x + size:
            writer.write(x, y, strip)
            if x == 0 and (row is None or row.cell_length <= size):
                self._rows[y] = strip
            return
        new = Strip.join((row.crop(0, x), strip, row.crop(x + size))).simplify()
        first, last = differing(row, new)
        if first < last:
            self._rows[y] = new
            is_even = _is_even(row) and _is_even(new)
            writer.write(*((first, y, new.crop(first, last)) if is_even else (0, y, new)))


class _Differing(CompositorUpdate):
    def __init__(self, canvas: DiffPainter, update: CompositorUpdate) -> None:
        self._canvas, self._update = canvas, update

    def render_segments(self, console: Console) -> str:
        system = console._color_system or ColorSystem.TRUECOLOR  # pyright: ignore[reportPrivateUsage]  # as Textual does
        text = self._canvas.differences(self._update, system)
        return self._update.render_segments(console) if text is None else text


class _Writer:
    """Collects what is sent, and knows how the terminal writes meanwhile."""

    def __init__(self, system: ColorSystem) -> None:
        self._system, self._pen = system, SgrState()
        self._parts: list[str] = []

    def write(self, x: int, y: int, strip: Strip) -> None:
        """Put these cells there."""
        self._parts.append(f"\x1b[{y + 1};{x + 1}H")
        for text, style, _ in strip:
            pen = pen_of(style, self._system)
            if not (text.isspace() and _same_on_blanks(pen, self._pen)):
                self._parts.append(change(self._pen, pen))
                self._pen = pen
            self._parts.append(text)

    def text(self) -> str:
        """All of it, with the terminal writing plainly again."""
        return "".join(self._parts) + ("\x1b[0m" if self._pen != SgrState() else "")


def _is_even(strip: Strip) -> bool:
    """Whether every character takes one cell."""
    text = strip.text
    return text.isascii() or all(get_character_cell_size(character) == 1 for character in text)


def differing(old: Strip, new: Strip) -> tuple[int, int]:
    """The cells, from the first to behind the last, that differ between two strips of one length."""
    before, after = [*old], [*new]
    if before == after:
        return 0, 0
    first = _same_at(before, after, from_end=False)
    last = new.cell_length - _same_at(before[::-1], after[::-1], from_end=True)
    return (first, last) if first < last else (0, new.cell_length)


@lru_cache(4096)
def pen_of(style: Style | None, system: ColorSystem) -> SgrState:
    """How the terminal must write for a style."""
    if style is None:
        return SgrState()
    color, ground = style.color, style.bgcolor
    return SgrState(
        tuple(code for name, code in _ATTRIBUTES if getattr(style, name)),
        ";".join(color.downgrade(system).get_ansi_codes(foreground=True)) if color else "39",
        ";".join(ground.downgrade(system).get_ansi_codes(foreground=False)) if ground else "49",
    )


@lru_cache(4096)
def change(before: SgrState, after: SgrState) -> str:
    """The sequence that makes the terminal write otherwise; empty where nothing changes."""
    if before.attributes != after.attributes:
        before = SgrState()
        codes = ["0", *after.attributes]
    else:
        codes = []
    if before.color != after.color:
        codes.append(after.color)
    if before.ground != after.ground:
        codes.append(after.ground)
    return f"\x1b[{';'.join(codes)}m" if codes else ""


def _same_on_blanks(one: SgrState, other: SgrState) -> bool:
    drawn = _VISIBLE_ON_BLANKS.intersection(one.attributes) or _VISIBLE_ON_BLANKS.intersection(other.attributes)
    return one.ground == other.ground and not drawn


def _same_at(before: Iterable[Segment], after: Iterable[Segment], *, from_end: bool) -> int:
    """How many characters are the same at one end."""
    cells = 0
    for (text, style, _), (other, other_style, _) in zip(before, after, strict=False):
        if style != other_style:
            break
        if text != other:
            cells += _same_characters(text[::-1], other[::-1]) if from_end else _same_characters(text, other)
            break
        cells += len(text)
    return cells


def _same_characters(text: str, other: str) -> int:
    return next(
        (at for at, (one, two) in enumerate(zip(text, other, strict=False)) if one != two), min(len(text), len(other))
    )
