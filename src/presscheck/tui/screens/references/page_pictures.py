"""The pictures of pages: read when they come near the visible lines, decoded in a thread, then drawn.

Only files of the space are read, from addresses that the service provides. Pictures on other hosts stay captions,
because otherwise the owner of the host would learn who reads the page. While a picture is loading, its lines are
reserved if its size is known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from presscheck.documents.terminal.references import Picture
from presscheck.errors import NetworkError, PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.references.file_contents import FilePlace, file_content
from presscheck.tui.terminal.pictures import MOST_PIXELS, TOO_LARGE, CellSize, fitted

if TYPE_CHECKING:
    from presscheck.api.content import RevisionFile
    from presscheck.tui.terminal.pictures import DrawnPicture, PictureTable
    from presscheck.tui.ui.screen import BaseScreen

MOST_BYTES = 10 << 20
"""Maximum size, in bytes, of a file that is read."""
LEAST_ROWS = 6
MARGIN = 2
"""Lines of the page that stay visible next to the highest picture."""
TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/x-ms-bmp")
"""The media types that can be drawn."""
AT_ONCE = 2
"""Maximum number of files that are read in parallel."""
REMEMBERED = 500
ELSEWHERE = "not loaded: it is on another host"
OFFLINE = "not loaded: you are offline"


class Wanted(NamedTuple):
    """A picture to draw: the place and id of its file, its maximum size in columns and rows, and the size of a cell."""

    place: FilePlace
    file: str
    columns: int
    rows: int
    cell: CellSize

    @property
    def name(self) -> str:
        """The identifier of the picture in the page view."""
        return f"{'/'.join(self.place)}/{self.file}/{self.columns}/{self.rows}/{self.cell.width}/{self.cell.height}"


class PagePictures:
    """The pictures of a page, which are loaded and drawn on request.

    Args:
        screen: the screen of the page.
        height: returns the number of visible lines.
        on_change: called when a picture was drawn or has failed.
    """

    def __init__(self, screen: BaseScreen, height: Callable[[], int], on_change: Callable[[], None]) -> None:
        self.screen, self._height, self.on_change = screen, height, on_change
        self._wanted: dict[str, Wanted] = {}
        self._running: set[str] = set()
        self._drawn: dict[str, tuple[int, Picture]] = {}
        """For each picture, its number in the app's table, and its lines."""
        self._failed: dict[str, str] = {}
        """The reasons why pictures could not be drawn."""
        self._turns = asyncio.Semaphore(AT_ONCE)

    @property
    def _table(self) -> PictureTable:
        return self.screen.app_context.pictures

    def picture(self, place: FilePlace, file: RevisionFile | None, address: str, columns: int) -> Picture | None:
        """Return the picture for an image of a page, or a note why it is not drawn; None if only the caption is shown.

        Args:
            place: the place of the page.
            file: the file of the space at the address; None if there is none, or the files are not loaded.
            address: the address of the image, as written.
            columns: the width of the text.
        """
        table = self._table
        if not table.is_on:
            return None
        if file is None:
            is_elsewhere = address.startswith(("http:", "https:", "//"))
            return Picture(note=ELSEWHERE) if is_elsewhere else None
        if note := _objection(file):
            return Picture(note=note)
        rows = max(LEAST_ROWS, self._height() - MARGIN)
        size = file.dimensions
        if size is None or size.width < 1 or size.height < 1:
            return self._known(Wanted(place, file.id, columns, rows, table.cell), 0)
        columns, rows = fitted(int(size.width), int(size.height), table.cell, columns, rows)
        return self._known(Wanted(place, file.id, columns, rows, table.cell), rows)

    def _known(self, wanted: Wanted, reserved: int) -> Picture:
        """Return the drawn picture, a note why it was not drawn, or `reserved` blank lines until it is loaded."""
        name = wanted.name
        number, picture = self._drawn.get(name, (0, Picture()))
        if number and self._table.has(number):
            return picture
        note = self._failed.get(name, "")
        if note and not (note == OFFLINE and self.screen.engine.status.online):
            return Picture(note=note)
        self._wanted[name] = wanted
        while len(self._wanted) > REMEMBERED:
            self._wanted.pop(next(iter(self._wanted)))
        return Picture([()] * reserved, wanted=name)

    def load(self, names: Iterable[str]) -> None:
        """Load pictures by name, unless they are drawn or being loaded."""
        for name in names:
            wanted = self._wanted.pop(name, None)
            if wanted and name not in self._running and not self._table.has(self._drawn.get(name, (0, None))[0]):
                self._running.add(name)
                self.screen.run(self._load(wanted), group="pictures")

    async def _load(self, wanted: Wanted) -> None:
        name = wanted.name
        try:
            async with self._turns:
                number, picture = await self._draw(wanted)
            self._drawn.pop(name, None)
            self._drawn[name] = number, picture
            self._failed.pop(name, None)
        except PresscheckError as error:
            message = sanitize(error.message)
            told = message if message.startswith("not drawn") else f"not loaded: {message}"
            is_offline = isinstance(error, NetworkError) and not self.screen.engine.status.online
            self._failed[name] = OFFLINE if is_offline else told
        finally:
            self._running.discard(name)
        for kept in (self._drawn, self._failed):
            while len(kept) > REMEMBERED:
                kept.pop(next(iter(kept)))
        self.on_change()

    async def _draw(self, wanted: Wanted) -> tuple[int, Picture]:
        content = await file_content(self.screen.engine, wanted.place, wanted.file, MOST_BYTES)
        table = self._table
        number, protocol, style_for = table.new_number(), table.protocol, self.screen.app_context.style_for

        def drawn() -> DrawnPicture:
            try:
                # 120 ms: it loads Pillow, which no first screen needs
                from presscheck.tui.terminal.picture_decoder import draw
            except ImportError as error:
                raise PresscheckError(f"not drawn: {error}") from error
            picture = draw(content, number, protocol, wanted.cell, wanted.columns, wanted.rows)
            for style in {span.style for line in picture.lines for span in line}:
                style_for(style)  # creates the style here, so that the first paint only looks it up
            return picture

        picture = await asyncio.to_thread(drawn)
        table.add(number, picture)
        return number, Picture(picture.lines)


def _objection(file: RevisionFile) -> str:
    """Return why a file cannot be drawn, judging by its metadata; empty if it may be drawn."""
    kind = file.content_type.partition(";")[0].strip().lower()
    if kind == "image/svg+xml" or file.name.lower().endswith(".svg"):
        return "not drawn: SVG"
    if kind.startswith("image/") and kind not in TYPES:
        return f"not drawn: {sanitize(kind)}"
    if file.size > MOST_BYTES:
        return f"not loaded: more than {MOST_BYTES >> 20} MB"
    size = file.dimensions
    return f"not drawn: {TOO_LARGE}" if size and size.width * size.height > MOST_PIXELS else ""
