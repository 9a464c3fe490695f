"""Pictures in the terminal: which protocol draws them, how large they are, and what is sent for each row of one.

A picture is a part of the page like any text: lines of half blocks (`▀`, with one colour above and one below), each
cell marked with the number of the picture and its row. With a protocol the painter replaces each row of marked cells
that is completely visible by what this table has for it; where a dialog covers a part of a row, its blocks are seen.
So pictures scroll, and are covered, as text is, and nothing but this table ever puts an image sequence on the screen:
the characters of the protocols do not pass the filter of control characters.

Kitty draws an image where its placeholder characters stand; the image itself is sent once. A sixel image covers cells,
so each row of cells is an image of its own.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import struct
import sys
import termios
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, cast

from rich.style import Style
from textual.strip import Strip

from presscheck.errors import PresscheckError
from presscheck.extras import missing_modules
from presscheck.text.styled_text import Line
from presscheck.tui.theme import PICTURE

Protocol = Literal["blocks", "kitty", "sixel"]
MOST_KEPT = 64 << 20
"""Bytes of the pictures that are kept, the ones used last."""
SPAN_SIZE = 200
"""Bytes that a span of a line takes, roughly."""
MOST_COLUMNS = 180
"""The widest picture, in cells."""
MOST_ROWS = 60
"""The highest picture, in cells: there are no more placeholders than diacritics."""
MOST_PIXELS = 24_000_000
"""Pixels of an image that is decoded, which then takes 100 MB for a moment; a screenshot of 5K has 15 million."""
TOO_LARGE = f"more than {MOST_PIXELS:,} pixels"
CHUNK = 4096
"""Characters of an image in one sequence of Kitty's protocol."""
PLACEHOLDER = "\U0010eeee"
"""The character in whose cells Kitty draws an image."""
_DIACRITICS = (
    "0305 030d 030e 0310 0312 033d 033e 033f 0346 034a 034b 034c 0350 0351 0352 0357 035b 0363 0364 0365 0366 0367 "
    "0368 0369 036a 036b 036c 036d 036e 036f 0483 0484 0485 0486 0487 0592 0593 0594 0595 0597 0598 0599 059c 059d "
    "059e 059f 05a0 05a1 05a8 05a9 05ab 05ac 05af 05c4 0610 0611 0612 0613 0614 0615 0616 0617 0657 0658 0659 065a "
    "065b 065d 065e 06d6 06d7 06d8 06d9 06da 06db 06dc 06df 06e0 06e1 06e2 06e4 06e7 06e8 06eb 06ec 0730 0732 0733 "
    "0735 0736 073a 073d 073f 0740 0741 0743 0745 0747 0749 074a 07eb 07ec 07ed 07ee 07ef 07f0 07f1 07f3 0816 0817 "
    "0818 0819 081b 081c 081d 081e 081f 0820 0821 0822 0823 0825 0826 0827 0829 082a 082b 082c 082d 0951 0953 0954 "
    "0f82 0f83 0f86 0f87 135d 135e 135f 17dd 193a 1a17 1a75 1a76 1a77 1a78 1a79 1a7a 1a7b 1a7c 1b6b 1b6d 1b6e 1b6f "
    "1b70 1b71 1b72 1b73 1cd0 1cd1 1cd2 1cda 1cdb 1ce0 1dc0 1dc1 1dc3 1dc4 1dc5 1dc6 1dc7 1dc8 1dc9 1dcb 1dcc 1dd1 "
    "1dd2 1dd3 1dd4 1dd5 1dd6 1dd7 1dd8 1dd9 "
)
DIACRITICS = [chr(int(code, 16)) for code in _DIACRITICS.split()]
"""The characters by which Kitty's protocol counts rows and columns, from 0."""
_is_base64 = re.compile(r"[A-Za-z0-9+/]+={0,2}").fullmatch
_is_sixel = re.compile(r"\x1bP[0-9;]*q[!-~]*\x1b\\").fullmatch


class CellSize(NamedTuple):
    """The size of a cell in pixels."""

    width: int = 10
    height: int = 20


@dataclass(frozen=True)
class DrawnPicture:
    """A picture as it is sent to the terminal.

    Attributes:
        columns: its width in cells.
        lines: its rows as half blocks; the style of each span marks the picture and the row.
        sequences: for Kitty the image as base64, alone; for sixel an image for each row; none for blocks.
    """

    columns: int
    lines: Sequence[Line]
    sequences: Sequence[str] = ()

    @property
    def size(self) -> int:
        """The bytes that it takes, roughly."""
        return SPAN_SIZE * sum(map(len, self.lines)) + sum(map(len, self.sequences))


class PictureRow(NamedTuple):
    """A row of a picture among the cells of a line of the screen, and what is sent for it.

    Attributes:
        start: its first cell in the line.
        end: the cell behind its last one.
        before: what is sent before its cells: an image that the terminal does not have yet.
        cells: what is sent instead of its cells; empty if they are sent as they are.
        color: the SGR parameters of the colour of these cells.
        over: what is sent over its cells, from the first one on.
    """

    start: int
    end: int
    before: str = ""
    cells: str = ""
    color: str = "39"
    over: str = ""


def fitted(width: int, height: int, cell: CellSize, columns: int, rows: int) -> tuple[int, int]:
    """The columns and rows of a picture in its own size, reduced to fit.

    Args:
        width: of the image, in pixels.
        height: of the image, in pixels.
        cell: the size of a cell in pixels.
        columns: the widest that it may be, in cells.
        rows: the highest that it may be, in cells.
    """
    across, down = max(1, width) / cell.width, max(1, height) / cell.height
    scale = min(1.0, max(1, min(columns, MOST_COLUMNS)) / across, max(1, min(rows, MOST_ROWS)) / down)
    return max(1, round(across * scale)), max(1, round(down * scale))


def picture_style(number: int, row: int) -> str:
    """The style word that marks the cells of a row of a picture."""
    return f"{PICTURE}-{number}-{row}"


def protocol_of(environment: Mapping[str, str]) -> Protocol:
    """The protocol that a terminal draws images by, as far as its environment variables tell; nothing is asked of it.

    Inside of tmux and screen, which would have to pass sequences on, pictures are blocks.
    """
    terminal, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    program = program or {"iTerm2": "iTerm.app"}.get(environment.get("LC_TERMINAL", ""), "")
    if environment.get("TMUX") or environment.get("STY") or terminal.startswith(("tmux", "screen", "dumb", "linux")):
        return "blocks"
    if "KITTY_WINDOW_ID" in environment or terminal in ("xterm-kitty", "xterm-ghostty") or program == "ghostty":
        return "kitty"
    if program in ("iTerm.app", "WezTerm", "mintty", "contour") or terminal.startswith(("foot", "mlterm", "contour")):
        return "sixel"
    return "sixel" if "WT_SESSION" in environment or "KONSOLE_VERSION" in environment else "blocks"


def cell_size() -> CellSize | None:
    """The size of a cell, as the kernel knows it from the terminal; None if it does not."""
    for stream in (sys.__stderr__, sys.__stdout__, sys.__stdin__):
        with suppress(OSError, ValueError, AttributeError):
            answer = fcntl.ioctl(cast("int", stream.fileno()), termios.TIOCGWINSZ, bytes(8))  # type: ignore[union-attr]
            rows, columns, width, height = struct.unpack("HHHH", answer)
            if rows and columns and width >= columns and height >= rows:
                return CellSize(width // columns, height // rows)
    return None


class PictureTable:
    """The pictures that are on the screen or were lately, by their numbers, and what the terminal needs for them.

    Nothing is found out, and no library loaded, before the first image is asked for.

    Args:
        setting: returns the protocol, `auto` or `off`; called at the first image.
        environment: the environment variables; those of this process by default.
        measure: returns the size of a cell; None if it is not known.
    """

    def __init__(
        self,
        setting: Callable[[], str] = lambda: "auto",
        environment: Mapping[str, str] | None = None,
        measure: Callable[[], CellSize | None] = cell_size,
    ) -> None:
        self._setting, self._measure = setting, measure
        self._environment = os.environ if environment is None else environment
        self._pictures: OrderedDict[int, DrawnPicture] = OrderedDict()
        self._size = 0
        self._protocol: Protocol | None = None
        self._cell = CellSize()
        self._is_usable: bool | None = None
        self._next = secrets.randbelow(1 << 22) + (1 << 20)
        """The number of the next picture: other programs number theirs in the same terminal."""
        self._sent: set[int] = set()
        """The numbers of the images that the terminal has."""
        self._dropped: list[int] = []

    @property
    def is_on(self) -> bool:
        """Whether pictures are drawn: the setting allows it, and the extra is installed."""
        if self._is_usable is None:
            self._is_usable = self._setting() != "off" and next(missing_modules("images"), None) is None
        return self._is_usable

    @property
    def is_used(self) -> bool:
        """Whether the terminal may have images."""
        return bool(self._sent or self._dropped)

    @property
    def protocol(self) -> Protocol:
        """The protocol that pictures are drawn by."""
        if self._protocol is None:
            setting = self._setting()
            wanted = protocol_of(self._environment) if setting == "auto" else cast("Protocol", setting)
            measured = self._measure()
            if measured is None and wanted == "sixel" and "WT_SESSION" not in self._environment:
                # each row must be as high as a cell; Windows Terminal scales images to cells of 10 × 20
                wanted = "blocks"
            self._protocol, self._cell = wanted, measured or CellSize()
        return self._protocol

    @property
    def cell(self) -> CellSize:
        """The size of a cell in pixels, or a usual one."""
        return self._cell if self.protocol else CellSize()

    def measure_again(self) -> None:
        """Find out the size of a cell again, after a resize."""
        self._protocol = None

    def new_number(self) -> int:
        """A number for a picture; it is never used again."""
        self._next += 1
        return self._next

    def add(self, number: int, picture: DrawnPicture) -> None:
        """Keep a picture; one that was not used for long is dropped.

        Raises:
            PresscheckError: it has anything but an image.
        """
        is_image = _is_base64 if self.protocol == "kitty" else _is_sixel
        if not all(is_image(sequence) for sequence in picture.sequences):
            raise PresscheckError("not drawn: it could not be encoded")
        self._pictures[number] = picture
        self._size += picture.size
        while self._size > MOST_KEPT and len(self._pictures) > 1:
            dropped, old = self._pictures.popitem(last=False)
            self._size -= old.size
            if dropped in self._sent:
                self._sent.discard(dropped)
                self._dropped.append(dropped)

    def has(self, number: int) -> bool:
        """Whether a picture is still kept, which it now is longer."""
        if number in self._pictures:
            self._pictures.move_to_end(number)
            return True
        return False

    def forget_terminal(self) -> None:
        """Send images again, because it is unknown what the terminal has."""
        self._sent.clear()

    def deletion(self) -> str:
        """The sequence that deletes the images that the terminal has; empty if there are none."""
        numbers, self._sent, self._dropped = [*self._dropped, *sorted(self._sent)], set(), []
        return "".join(map(_deletion, numbers))

    def rows_in(self, strip: Strip) -> list[PictureRow]:
        """The rows of pictures that are completely visible in a line of the screen, from left to right."""
        rows: list[PictureRow] = []
        if self._pictures:
            for mark, start, end in _marked(strip):
                row = self._row(*mark, start, end)
                if row:
                    rows.append(row)
        return rows

    def _row(self, number: int, row: int, start: int, end: int) -> PictureRow | None:
        picture = self._pictures.get(number)
        if picture is None or not picture.sequences or end - start != picture.columns or row >= len(picture.lines):
            return None
        if self.protocol == "sixel":
            return PictureRow(start, end, over=picture.sequences[row])
        before = "" if number in self._sent else self._transmission(number, picture)
        color = f"38;2;{number >> 16 & 255};{number >> 8 & 255};{number & 255}"
        return PictureRow(start, end, before, _placeholders(row, picture.columns), color)

    def _transmission(self, number: int, picture: DrawnPicture) -> str:
        """The sequences that give Kitty an image, to be drawn where its placeholders are; `q=2`: without an answer."""
        self._sent.add(number)
        deleted = "".join(map(_deletion, self._dropped))
        self._dropped.clear()
        data = picture.sequences[0]
        chunks = [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)]
        first = f"a=T,U=1,f=100,i={number},c={picture.columns},r={len(picture.lines)},"
        heads = [first, *([""] * (len(chunks) - 1))]
        more = [1] * (len(chunks) - 1) + [0]
        sent = zip(heads, more, chunks, strict=True)
        return deleted + "".join(f"\x1b_G{head}q=2,m={follows};{chunk}\x1b\\" for head, follows, chunk in sent)


def _deletion(number: int) -> str:
    return f"\x1b_Ga=d,d=I,i={number},q=2;\x1b\\"


@lru_cache(MOST_ROWS * 2)
def _placeholders(row: int, columns: int) -> str:
    """The cells of a row of an image; each says its row and its column."""
    return "".join(f"{PLACEHOLDER}{DIACRITICS[row]}{DIACRITICS[column]}" for column in range(columns))


@lru_cache(16_384)
def _mark(style: Style | None) -> tuple[int, int] | None:
    return cast("tuple[int, int] | None", style.meta.get(PICTURE)) if style else None


def _marked(strip: Strip) -> Iterator[tuple[tuple[int, int], int, int]]:
    """The marks in a line, each with its first cell and the one behind its last."""
    current: tuple[int, int] | None = None
    start = cell = 0
    for segment in strip:
        mark = _mark(segment.style)
        if mark != current:
            if current is not None:
                yield current, start, cell
            current, start = mark, cell
        cell += segment.cell_length
    if current is not None:
        yield current, start, cell
