"""The tab of files: images and downloads with type, size and the pages that name them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from presscheck.api.links import ContentLocation
from presscheck.text.phrases import count, size_of
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.external_programs import open_address
from presscheck.tui.screens.space_content.loader import pages_by_title, pages_with_file
from presscheck.tui.screens.space_content.model import markdown_of
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.api.content import RevisionFile
    from presscheck.tui.screens.space_content.context import SpaceContentContext
    from presscheck.tui.screens.space_content.file_actions import FileActions

TYPE_COLUMNS, SIZE_COLUMNS, USED_COLUMNS, PIXEL_COLUMNS = 18, 9, 12, 13
WIDE = 90
"""From this width on, the size of images in pixels has a column."""


class FilesTab:
    """The files.

    Args:
        screen: the screen of links and files.
        actions: downloads and uploads.
    """

    name, noun = "Files", "files"
    footer = ("open", "add", "find_replace", "web", "copy", "find_here", "close")

    def __init__(self, screen: SpaceContentContext, actions: FileActions) -> None:
        self._screen, self._actions = screen, actions

    @property
    def files(self) -> tuple[RevisionFile, ...]:
        """The files."""
        return self._screen.model.files

    @property
    def total(self) -> int | None:
        """How many there are."""
        return len(self.files) if self._screen.model.revision else None

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.files)

    def key(self, index: int) -> Hashable | None:
        """What identifies a row."""
        return self.files[index].id if index < self.count else None

    def summary(self) -> Line:
        """Their size, and how many are not used."""
        if not self.files:
            return ()
        unused = sum(not self._screen.model.pages_with_file(file) for file in self.files)
        known = self._screen.model.linked is not None
        size = f"{count(self.count, 'file')}, {size_of(sum(file.size for file in self.files))}"
        return (Span(size), Span(f"   {unused:,} on no page" if known and unused else "", "waiting"))

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        names = ("name", "type", "size", "pixels", "used on")
        line = self._columns(*((Span(name, "quiet"),) for name in names), columns=columns)
        return tuple(span._replace(style="quiet") for span in line)

    def row(self, index: int, columns: int) -> Line:
        """Name, type, size and use of a file."""
        file = self.files[index]
        model = self._screen.model
        users = len(model.pages_with_file(file))
        used = (Span(count(users, "page")) if users else Span("no page", "waiting"),) if model.linked else ()
        pixels = f"{file.dimensions.width:g} × {file.dimensions.height:g}" if file.dimensions else ""
        return self._columns(
            (Span(sanitize(file.name) or "(no name)", "strong"),),
            (Span(sanitize(file.content_type), "quiet"),),
            (Span(f"{size_of(file.size):>7}"),),
            (Span(pixels, "quiet"),),
            used,
            columns=columns,
        )

    def _columns(self, name: Line, kind: Line, size: Line, pixels: Line, used: Line, *, columns: int) -> Line:
        pixel_columns = PIXEL_COLUMNS if columns >= WIDE else 0
        room = max(8, columns - TYPE_COLUMNS - SIZE_COLUMNS - USED_COLUMNS - pixel_columns)
        return (
            *pad(cut(name, room - 1), room),
            *pad(cut(kind, TYPE_COLUMNS - 1), TYPE_COLUMNS),
            *pad(size, SIZE_COLUMNS),
            *(pad(cut(pixels, PIXEL_COLUMNS - 1), PIXEL_COLUMNS) if pixel_columns else ()),
            *cut(used, USED_COLUMNS),
        )

    def empty(self) -> tuple[str, str]:
        """What to do without files."""
        return "No files yet.", "a uploads one, in a change request."

    def address(self, index: int) -> str:
        """The address from which a file is downloaded."""
        return self.files[index].download_url if index < self.count else ""

    def text(self, index: int) -> str:
        """The Markdown that shows a file in a page."""
        return markdown_of(self.files[index]) if index < self.count else ""

    async def open(self, index: int) -> None:
        """Choose what to do with a file."""
        file = self.files[index]
        offline = "" if self._screen.engine.status.online else "you are offline"
        choices = [
            Choice("open", "Open", offline or "in the program for its type"),
            Choice("save", "Save as …", offline),
            Choice("copy", "Copy address"),
            Choice("insert", "Copy Markdown", sanitize(markdown_of(file))[:40]),
            Choice("replace", "Replace …", self._screen.edit_reason() or "by a local file, on all pages"),
            Choice("used", "Where used", count(len(self._screen.model.pages_with_file(file)), "page")),
        ]
        name = sanitize(file.name) or "(no name)"
        choice = await self._screen.ask(Picker(name, choices))
        if choice is None:
            return
        if choice[0] == "open":
            await self._actions.open(file)
        elif choice[0] == "save":
            await self._actions.save(file)
        elif choice[0] == "replace":
            if reason := self._screen.edit_reason():
                self._screen.notify(reason)
                return
            await self._screen.replace_file(file)
        elif choice[0] == "used":
            await self._show_users(file)
        else:
            is_address = choice[0] == "copy"
            self._screen.app_context.copy_to_clipboard(sanitize(file.download_url) if is_address else markdown_of(file))
            self._screen.notify("copied the address" if is_address else "copied: paste it into a page")

    def open_web(self, index: int) -> None:
        """Open a file in the browser."""
        if address := self.address(index):
            open_address(self._screen.app_context, address)
        else:
            self._screen.notify("this file has no address")

    async def _show_users(self, file: RevisionFile) -> None:
        pages = pages_by_title(await pages_with_file(self._screen.engine, self._screen.model, file))
        await self._screen.show_uses(sanitize(file.name), pages, ContentLocation(kind="file", file=file))
