"""The screen of the content of a space in three tabs: its links with their states, its files, its reusable content."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.api.change_requests import CreateChangeRequest
from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.engine.shared_calls import changed_page, live_page
from presscheck.errors import NotSupported, PresscheckError
from presscheck.text.phrases import count, long_ago
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.page.editor import stays_locked
from presscheck.tui.screens.page.uses import choose_use
from presscheck.tui.screens.space_content.file_actions import FileActions
from presscheck.tui.screens.space_content.files_tab import FilesTab
from presscheck.tui.screens.space_content.links_tab import LinksTab
from presscheck.tui.screens.space_content.loader import ContentLoader
from presscheck.tui.screens.space_content.model import SpaceContent, addresses_elsewhere
from presscheck.tui.screens.space_content.reusable_tab import ReusableTab
from presscheck.tui.screens.undo import undo_last_sent
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.ui.tabbed_lists import TabbedLists
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.content import RevisionFile, RevisionPage
    from presscheck.api.links import ContentLocation
    from presscheck.engine.writes.descriptions import Place
    from presscheck.tui.screens.space_content.context import Tab
    from presscheck.tui.ui.content_place import ContentPlace


class SpaceContentScreen(BaseScreen):
    """Links, files and reusable content of a space, on main or in a change request.

    Args:
        place: the space.
    """

    def __init__(self, place: ContentPlace) -> None:
        super().__init__()
        self._place = place
        self.model = SpaceContent(place.space_id, place.change_request_id)
        self.loader = ContentLoader(self, self.model, self.redraw)
        self.files = FileActions(self)
        self.links_tab = LinksTab(self)
        self.files_tab = FilesTab(self, self.files)
        self.reusable_tab = ReusableTab(self)
        tabs: tuple[Tab, ...] = (self.links_tab, self.files_tab, self.reusable_tab)
        self.lists = TabbedLists(self, tabs, self._show_empty, notes=self._notes, has_mark_column=False)

    @override
    def title_line(self) -> Line:
        request = self.model.request_name
        head = (Span(f" {request} ", "accent strong"), Span("›", "quiet")) if request else ()
        age = f"   as it was {long_ago(self.model.age)}" if self.model.age is not None else ""
        title = (Span(f" {self.model.space_title}", "title"), Span(" › Links and files", "quiet"))
        return (*head, *title, Span(age, "quiet"))

    @override
    def body(self) -> ComposeResult:
        yield self.lists

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self.lists)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.loader.start()
        self.lists.draw()

    @property
    def columns(self) -> int:
        """The width of a text on this screen."""
        return max(20, self.size.width)

    @property
    def tab(self) -> Tab:
        """The tab that is shown."""
        return self.lists.tab

    @property
    def rows(self) -> RowList:
        """Its rows."""
        return self.lists.rows

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        return self.tab.footer

    @override
    @property
    def footer_titles(self) -> Mapping[str, str]:
        return {"find_replace": "replace the file"} if self.tab is self.files_tab else {}

    @override
    def redraw(self) -> None:
        self.lists.redraw()

    def _notes(self) -> Line:
        """What is missing in the list of links, and what is being read."""
        linked = self.model.linked
        if self.loader.progress:
            return (Span(self.loader.progress, "quiet"),)
        if linked and linked.problem:
            return (Span("incomplete: the service repeats its pages", "waiting"),)
        unread = f"without {count(linked.unread, 'page')} not in the cache" if linked and linked.unread else ""
        return (Span(unread, "waiting"),) if unread else ()

    def _show_empty(self, empty: EmptyState) -> None:
        """Why there are no rows: they are loaded, cannot be, or there are none."""
        tab, model = self.tab, self.model
        error = (model.links_error or model.error) if tab is self.links_tab else model.error
        if tab.total is not None:
            title, hint = tab.empty()
            empty.show_empty(title, hint)
        elif isinstance(error, NotSupported):
            hint = "" if model.change_request_id else "O chooses a change request, where they can be listed."
            empty.show_empty(f"{error.message}.", hint)
        elif not self.engine.status.online:
            empty.show_offline(f"The {tab.noun} of this space are not in the cache.")
        elif error:
            empty.show_failed(f"Could not load the {tab.noun}", error.message)
        else:
            empty.show_loading(self.loader.progress or f"Loading the {tab.noun} …")

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Show the keys of another row."""
        self.refresh_status_bars()

    def _no_row(self) -> str | None:
        return None if self.tab.count else f"no {self.tab.noun} here"

    reason_open = reason_copy = reason_web = _no_row

    def command_open(self) -> Awaitable[None] | None:
        """Browse the page of a link; choose what to do with a file; list the pages with reusable content."""
        return self.tab.open(self.rows.cursor) if self.tab.count else None

    def reason_edit_view(self) -> str | None:
        """Only links are filtered."""
        return None if self.tab is self.links_tab else "only links can be filtered: 1 shows them"

    def command_edit_view(self) -> Awaitable[None]:
        """Choose the state of the links that are shown."""
        return self.links_tab.choose_filter()

    def reason_edit(self) -> str | None:
        """Only the page of a link is edited: the API has no operation that edits reusable content."""
        if self.tab is self.reusable_tab:
            return "the API cannot edit reusable content: o opens the space in the app"
        if self.tab is self.files_tab:
            return "1 shows the links: e edits the page of one"
        return self.edit_reason() or self.links_tab.edit_reason(self.rows.cursor)

    def command_edit(self) -> Awaitable[None]:
        """Edit the page of the link."""
        return self.links_tab.edit(self.rows.cursor)

    reason_edit_other = reason_edit

    def command_edit_other(self) -> Awaitable[None]:
        """Edit the page of the link in the editor that is not the usual one."""
        return self.links_tab.edit(self.rows.cursor, uses_other_editor=True)

    def command_web(self) -> None:
        """Open the address of the link or the file; for reusable content, the space in the app."""
        self.tab.open_web(self.rows.cursor)

    def command_copy(self) -> None:
        """Copy the address of the link or the file."""
        self._copy(self.tab.address(self.rows.cursor), "copied the address", "it has no web address: Y copies its text")

    reason_copy_text = _no_row

    def command_copy_text(self) -> None:
        """Copy the target of the link, or the Markdown that shows the file."""
        self._copy(self.tab.text(self.rows.cursor), "copied", "nothing to copy")

    def _copy(self, text: str, done: str, nothing: str) -> None:
        if text:
            self.app_context.copy_to_clipboard(sanitize(text))
        self.notify(done if text else nothing)

    def reason_add(self) -> str | None:
        """Files are added in the tab of files."""
        return self.edit_reason() if self.tab is self.files_tab else "2 shows the files: a uploads one"

    def command_add(self) -> Awaitable[None]:
        """Upload a file."""
        return self.files.upload()

    def reason_find_replace(self) -> str | None:
        """Files are replaced in the tab of files."""
        if self.tab is not self.files_tab:
            return "2 shows the files: . f replaces one by a local file"
        return self._no_row() or self.edit_reason()

    def command_find_replace(self) -> Awaitable[None]:
        """Replace the file by a local one, on all pages that show it."""
        return self.replace_file(self.files_tab.files[self.rows.cursor])

    async def replace_file(self, file: RevisionFile) -> None:
        """Ask for the local file, and list the places that show the former one."""
        # 40 ms of imports, only when it is first opened
        from presscheck.tui.screens.replace.screen import ReplaceScreen
        from presscheck.tui.screens.space_content.file_task import FileTask, ask_file

        if self.model.space is None:
            raise PresscheckError("The space is not loaded yet: try again")
        space, files = self.model.space_id, self.model.files
        if await stays_locked(self, space):
            return
        query = await ask_file(self, space, file, files)
        if query:
            task = FileTask(space, query, files)
            self.app_context.push_screen(ReplaceScreen(self.model.space, self.model.request, task, self._show_created))

    def _show_created(self, request: ChangeRequest) -> None:
        """Show the space in a change request that was created or edited, here and where this screen was opened."""
        if request.id != self.model.change_request_id and self._place.show_request:
            self._place.show_request(request)
        self._show_request(request.id)

    def edit_reason(self) -> str | None:
        """Why nothing can be changed here now; None if it can."""
        if reason := self.engine.write_reason(EditChangeRequestContent, "edits"):
            return reason
        request = self.model.request
        return f"the change request is {sanitize(request.status)}" if request and _is_closed(request.status) else None

    def reason_new_request(self) -> str | None:
        """In a review, its change request stays."""
        if self._place.choose_request is None:
            return "opened from a review: its change request is shown"
        return self.engine.write_reason(CreateChangeRequest, "edits")

    async def command_new_request(self) -> None:
        """Choose the change request in which the space is shown."""
        if self._place.choose_request:
            self._show_request(await self._place.choose_request())

    async def request_path(self) -> dict[str, Any] | None:
        """The arguments that name the change request to edit in; asks for one on main.

        None if none was chosen, or if the space is locked and stays so.
        """
        if await stays_locked(self, self.model.space_id):
            return None
        if self.model.change_request_id is None and self._place.choose_request:
            self._show_request(await self._place.choose_request())
        request = self.model.change_request_id
        return {"space_id": self.model.space_id, "change_request_id": request} if request else None

    def _show_request(self, request_id: str | None) -> None:
        """Show the content of another change request, or of main."""
        if request_id == self.model.change_request_id:
            return
        for group in ("request", "content"):
            self.unsubscribe(group)
        space = self.model.space
        self.model = SpaceContent(self.model.space_id, request_id)
        self.model.space = space
        self.loader = ContentLoader(self, self.model, self.redraw)
        self.loader.start()
        self.lists.draw()

    def command_unsend(self) -> Awaitable[None]:
        """Offer to undo the last sent change of the space."""
        space, request = self.model.space_id, self.model.change_request_id

        def is_here(place: Place) -> bool:
            return place.space == space and (request is None or place.request == request)

        return undo_last_sent(self, is_here)

    async def open_page(self, page: RevisionPage, target: ContentLocation | None) -> None:
        """Browse a page, at its first link to a target."""
        link, model = "", self.model
        if target:
            space, request = model.space_id, model.change_request_id
            call = changed_page(space, request, page.id) if request else live_page(space, page.id)
            try:
                link = model.written_target((await self.engine.read(call)).markdown or "", page.id, target)
            except PresscheckError:
                link = ""  # the page itself shows the error
        await self.app_context.open_page(model.space_id, page.id, model.change_request_id, link)

    async def show_uses(self, name: str, pages: list[RevisionPage], target: ContentLocation) -> None:
        """List the pages that name a target, also those of other spaces that are cached, and open one."""
        others = await self.engine.uses_elsewhere(self.model.space_id, addresses_elsewhere(self.model.space_id, target))
        unread = self.model.linked.unread if self.model.linked else 0
        chosen = await choose_use(self, name, others, pages, unread=unread)
        if chosen and chosen.space:
            await self.app_context.open_page(chosen.space, chosen.page)
        elif chosen:
            await self.open_page(next(page for page in pages if page.id == chosen.page), target)

    async def choose_page(self, title: str, pages: list[RevisionPage]) -> RevisionPage | None:
        """Ask for one of some pages."""
        unread = self.model.linked.unread if self.model.linked else 0
        note = f" · {count(unread, 'page')} of this space not in the cache" if unread else ""
        if not pages:
            self.notify("this space has no pages with a text")
            return None
        choices = [Choice(page.id, sanitize(page.title) or "(no title)", sanitize(page.path or "")) for page in pages]
        choice = await self.ask(Picker(f"{title}{note}", choices))
        return next((page for page in pages if choice and page.id == choice[0]), None)


def _is_closed(status: str) -> bool:
    return status in ("merged", "archived")
