"""Pictures in the terminal: the protocol, the size in cells, and the output for each row of a picture.

In a page, a picture is text: lines of half blocks (`▀`, with a color for each half). Each cell is marked with the
number of the picture and the row. With an image protocol, the painter replaces each completely visible row of marked
cells by the output in this table. Where a dialog covers a part of a row, the half blocks are visible. So pictures
scroll and are covered like text. Other code cannot draw images, because image sequences do not pass the filter of
control characters.

Kitty draws an image at its placeholder characters; the image itself is sent once. A sixel image covers cells, so each
row of cells is a separate image.
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
"""Maximum bytes of the cached pictures; the least recently used are dropped."""
SPAN_SIZE = 200
"""Estimated bytes of a span of a line."""
MOST_COLUMNS = 180
"""Maximum width of a picture, in cells."""
MOST_ROWS = 60
"""Maximum height of a picture, in cells."""
MOST_PIXELS = 24_000_000
"""Maximum pixels of a decoded image, which briefly takes 100 MB; a 5K screenshot has 15 million."""
TOO_LARGE = f"more than {MOST_PIXELS:,} pixels"
CHUNK = 4096
"""Maximum characters of image data per sequence of Kitty's protocol."""
PLACEHOLDER = "\U0010eeee"
"""The placeholder character of Kitty's protocol: Kitty draws an image over it."""
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
"""The combining characters that encode rows and columns in Kitty's protocol, from 0."""
_is_base64 = re.compile(r"[A-Za-z0-9+/]+={0,2}").fullmatch
_is_sixel = re.compile(r"\x1bP[0-9;]*q[!-~]*\x1b\\").fullmatch


class CellSize(NamedTuple):
    """The size of a cell in pixels."""

    width: int = 10
    height: int = 20


@dataclass(frozen=True)
class DrawnPicture:
    """A picture that is ready to be sent to the terminal.

    Attributes:
        columns: the width in cells.
        lines: the rows as half blocks; the style of each span marks the picture and the row.
        sequences: for Kitty a single image as base64, for sixel an image per row, for blocks none.
    """

    columns: int
    lines: Sequence[Line]
    sequences: Sequence[str] = ()

    @property
    def size(self) -> int:
        """The estimated size in bytes."""
        return SPAN_SIZE * sum(map(len, self.lines)) + sum(map(len, self.sequences))


class PictureRow(NamedTuple):
    """A row of a picture in a line of the screen, and the output for the row.

    Attributes:
        start: the first cell in the line.
        end: the cell after the last.
        before: output before the cells, which sends the image if the terminal does not have it.
        cells: text that replaces the cells; empty to send the cells unchanged.
        color: the SGR parameters of the color of `cells`.
        over: output over the cells, starting at the first cell.
    """

    start: int
    end: int
    before: str = ""
    cells: str = ""
    color: str = "39"
    over: str = ""


def fitted(width: int, height: int, cell: CellSize, columns: int, rows: int) -> tuple[int, int]:
    """Return the columns and rows of a picture in its original size, or scaled down to fit.

    Args:
        width: the width of the image, in pixels.
        height: the height of the image, in pixels.
        cell: the size of a cell in pixels.
        columns: the maximum width, in cells.
        rows: the maximum height, in cells.
    """
    across, down = max(1, width) / cell.width, max(1, height) / cell.height
    scale = min(1.0, max(1, min(columns, MOST_COLUMNS)) / across, max(1, min(rows, MOST_ROWS)) / down)
    return max(1, round(across * scale)), max(1, round(down * scale))


def picture_style(number: int, row: int) -> str:
    """Return the style word that marks the cells of a row of a picture."""
    return f"{PICTURE}-{number}-{row}"


def protocol_of(environment: Mapping[str, str]) -> Protocol:
    """Return the image protocol of the terminal, derived from environment variables without a query.

    Inside tmux and screen, which may not forward image sequences, pictures are blocks.
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
    """Return the size of a terminal cell as reported by the kernel, or None."""
    for stream in (sys.__stderr__, sys.__stdout__, sys.__stdin__):
        with suppress(OSError, ValueError, AttributeError):
            answer = fcntl.ioctl(cast("int", stream.fileno()), termios.TIOCGWINSZ, bytes(8))  # type: ignore[union-attr]
            rows, columns, width, height = struct.unpack("HHHH", answer)
            if rows and columns and width >= columns and height >= rows:
                return CellSize(width // columns, height // rows)
    return None


class PictureTable:
    """The recent pictures by number, with the output that draws them.

    The terminal is examined, and libraries are loaded, only at the first image.

    Args:
        setting: returns the name of a protocol, or `auto` or `off`; called at the first image.
        environment: the environment variables; by default of this process.
        measure: returns the size of a cell, or None.
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
        self._has_modules: bool | None = None
        self._next = secrets.randbelow(1 << 22) + (1 << 20)
        """The last picture number; starts at random, because programs in the same terminal share the numbers."""
        self._sent: set[int] = set()
        """The numbers of the images that were sent to the terminal."""
        self._dropped: list[int] = []

    @property
    def is_on(self) -> bool:
        """Whether pictures are drawn: the setting allows it, and the optional modules for images are installed."""
        if self._has_modules is None:
            self._has_modules = next(missing_modules("images"), None) is None
        return self._has_modules and self._setting() != "off"

    @property
    def is_used(self) -> bool:
        """Whether the terminal may hold images from this process."""
        return bool(self._sent or self._dropped)

    @property
    def protocol(self) -> Protocol:
        """The protocol that draws pictures.

        Without a known cell size, blocks replace sixel, except in Windows Terminal.
        """
        if self._protocol is None:
            setting = self._setting()
            wanted = protocol_of(self._environment) if setting == "auto" else cast("Protocol", setting)
            measured = self._measure()
            if measured is None and wanted == "sixel" and "WT_SESSION" not in self._environment:
                # each image must be exactly as high as a cell; Windows Terminal scales images to cells of 10 × 20
                wanted = "blocks"
            self._protocol, self._cell = wanted, measured or CellSize()
        return self._protocol

    @property
    def cell(self) -> CellSize:
        """The size of a cell in pixels, or a common size if the terminal reports none."""
        return self._cell if self.protocol else CellSize()

    def measure_again(self) -> None:
        """Measure the size of a cell again, such as after a resize."""
        self._protocol = None

    def new_number(self) -> int:
        """Return an unused number for a picture."""
        self._next += 1
        return self._next

    def add(self, number: int, picture: DrawnPicture) -> None:
        """Add a picture, and drop the least recently used pictures above `MOST_KEPT`.

        Raises:
            PresscheckError: a sequence contains anything but an image.
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
        """Return whether a picture is still in the table, and mark it as recently used."""
        if number in self._pictures:
            self._pictures.move_to_end(number)
            return True
        return False

    def forget_terminal(self) -> None:
        """Forget which images were sent: the terminal may have lost them, so they are sent again when drawn."""
        self._sent.clear()

    def deletion(self) -> str:
        """Return the sequence that deletes all sent images from the terminal; empty without images."""
        numbers, self._sent, self._dropped = [*self._dropped, *sorted(self._sent)], set(), []
        return "".join(map(_deletion, numbers))

    def is_in(self, strip: Strip) -> bool:
        """Return whether a line of the screen has a row of a picture. Unlike `rows_in`, this marks no image as sent."""
        return bool(self._pictures) and any(True for _ in _marked(strip))

    def rows_in(self, strip: Strip) -> list[PictureRow]:
        """Return the completely visible rows of pictures in a line of the screen, from left to right."""
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
        """Return the sequences for Kitty that delete dropped images and send an image.

        `q=2` suppresses answers of the terminal.
        """
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
    """Return the placeholders of a row of an image; each encodes its row and column."""
    return "".join(f"{PLACEHOLDER}{DIACRITICS[row]}{DIACRITICS[column]}" for column in range(columns))


@lru_cache(16_384)
def _mark(style: Style | None) -> tuple[int, int] | None:
    return cast("tuple[int, int] | None", style.meta.get(PICTURE)) if style else None


def _marked(strip: Strip) -> Iterator[tuple[tuple[int, int], int, int]]:
    """Yield the marks of pictures in a line, each with its first cell and the cell after its last cell."""
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
