"""The files of a space: images and downloads with type, size and the number of pages that use them."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.api.content import RevisionFile
from presscheck.api.links import ContentLocation
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count, size_of
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.page.editor import stays_locked
from presscheck.tui.screens.space_content.content_list import ContentList
from presscheck.tui.screens.space_content.file_actions import FileActions
from presscheck.tui.screens.space_content.link_rows import markdown_of
from presscheck.tui.screens.space_content.session import pages_by_title
from presscheck.tui.ui.ask import choose
from presscheck.tui.ui.list import Column
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.tui.screens.space_content.session import SpaceContent

TYPE_COLUMNS, SIZE_COLUMNS, USED_COLUMNS, PIXEL_COLUMNS = 18, 9, 12, 13
WIDE = 90
"""Minimum width in cells of a list with the size of images in pixels."""


class FileList(ContentList[RevisionFile]):
    """The list of files.

    Args:
        session: the content of the space.
    """

    name, nouns = "Files", "files"
    footer = ("open", "add", "find_replace", "web", "copy", "find_here", "close")
    no_address = "this file has no address"

    def __init__(self, session: SpaceContent) -> None:
        self._actions = FileActions(session)
        super().__init__(
            session,
            (
                Column("name", lambda file: (Span(_name_of(file), "strong"),)),
                Column("type", lambda file: (Span(sanitize(file.content_type), "quiet"),), TYPE_COLUMNS),
                Column("size", lambda file: f"{size_of(file.size):>7}", SIZE_COLUMNS),
                Column("pixels", _pixels, PIXEL_COLUMNS, from_width=WIDE),
                Column("used on", self._used, USED_COLUMNS),
            ),
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[RevisionFile]]:
        return self.session.revision.map(lambda revision: revision.files)

    @override
    def summary(self) -> Line:
        session = self.session
        if not session.files:
            return ()
        unused = sum(not session.pages_with_file(file) for file in session.files)
        size = f"{count(len(session.files), 'file')}, {size_of(sum(file.size for file in session.files))}"
        return (Span(size), Span(f"   {unused:,} on no page" if session.linked and unused else "", "waiting"))

    @override
    def empty(self) -> Message:
        return Message("No files yet.", f"{key_for('add')} uploads one, in a change request.")

    def _used(self, file: RevisionFile) -> Line:
        return self.session.used_on(len(self.session.pages_with_file(file)))

    @override
    def address(self, item: RevisionFile) -> str:
        return item.download_url

    @override
    def text(self, item: RevisionFile) -> str:
        return markdown_of(item)

    def reason_add(self) -> str | None:
        """Return why no file can be uploaded: the space or the change request cannot be edited now."""
        return self.session.edit_reason()

    def command_add(self) -> Awaitable[None]:
        """Upload a file."""
        return self._actions.upload()

    def reason_find_replace(self) -> str | None:
        """Return why the file cannot be replaced: there is none, or nothing can be edited now."""
        return self.reason_open() or self.session.edit_reason()

    async def command_find_replace(self) -> None:
        """Ask for a local file, and open the screen where it replaces the file on chosen pages."""
        # 40 ms of imports, only when it is first opened
        from presscheck.tui.screens.replace.screen import ReplaceScreen
        from presscheck.tui.screens.space_content.file_task import FileTask, ask_file

        file, session = self.current, self.session
        if file is None:
            return
        if session.space is None:
            raise PresscheckError("The space is not loaded yet: try again")
        if await stays_locked(session.screen, session.space_id):
            return
        files = session.files
        query = await ask_file(session.screen, session.space_id, file, files)
        if query:
            task = FileTask(session.space_id, query, files)
            screen = ReplaceScreen(session.space, session.request, task, session.show_created)
            session.screen.app_context.push_screen(screen)

    async def command_open(self) -> None:
        """Choose an action on the file."""
        file, session = self.current, self.session
        if file is None:
            return
        screen, reason = session.screen, self.reason_find_replace()
        offline = "" if screen.engine.status.online else "you are offline"
        choices = [
            Choice("open", "Open", offline or "in the program for its type"),
            Choice("save", "Save as …", offline),
            Choice("copy", "Copy address"),
            Choice("insert", "Copy Markdown", sanitize(markdown_of(file))[:40]),
            Choice("replace", "Replace …", reason or "by a local file, on all pages"),
            Choice("used", "Where used", count(len(session.pages_with_file(file)), "page")),
        ]
        choice = await choose(screen, _name_of(file), choices, ranked=True)
        match choice:
            case "open":
                await self._actions.open(file)
            case "save":
                await self._actions.save(file)
            case "replace" if reason:
                screen.notify(reason)
            case "replace":
                await self.command_find_replace()
            case "used":
                pages = pages_by_title(await session.all_pages_with_file(file))
                await session.show_uses(sanitize(file.name), pages, ContentLocation(kind="file", file=file))
            case "copy":
                screen.app_context.copy_to_clipboard(sanitize(file.download_url))
                screen.notify("copied the address")
            case "insert":
                screen.app_context.copy_to_clipboard(markdown_of(file))
                screen.notify("copied: paste it into a page")
            case _:
                pass


def _name_of(file: RevisionFile) -> str:
    return sanitize(file.name) or "(no name)"


def _pixels(file: RevisionFile) -> Line:
    size = file.dimensions
    return (Span(f"{size.width:g} × {size.height:g}" if size else "", "quiet"),)
