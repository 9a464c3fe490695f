"""The screen of permissions: people and teams of a collection, space or site, or places and teams of a person."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.api.organizations import OrganizationMember
from presscheck.errors import Forbidden, NotSupported, PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.access.person import PersonAccess
from presscheck.tui.screens.access.place import PlaceAccess
from presscheck.tui.screens.undo import undo_last_sent
from presscheck.tui.ui.row_filter import filter_tab
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.ui.tabbed_lists import TabbedLists
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.organizations import Organization
    from presscheck.engine.access import Container
    from presscheck.tui.screens.access.context import Subject
    from presscheck.tui.screens.access.rows import AccessTab


class AccessScreen(BaseScreen):
    """Who has which level, and why.

    Args:
        organization: the organization.
        thing: the collection, space or site, or the person.
    """

    SCOPE = "admin"

    def __init__(self, organization: Organization, thing: Container | OrganizationMember) -> None:
        super().__init__()
        self.organization = organization
        self.subject: Subject = (
            PersonAccess(self, thing) if isinstance(thing, OrganizationMember) else PlaceAccess(self, thing)
        )
        self._error: PresscheckError | None = None
        self._is_stale = False
        """Whether another screen was opened, which may have changed something."""
        self.lists = TabbedLists(self, self.subject.tabs, self._show_empty, notes=self._notes, has_mark_column=False)

    @override
    def title_line(self) -> Line:
        title = sanitize(self.organization.title)
        return (Span(f" {title} › Permissions › ", "quiet"), Span(self.subject.title, "title"))

    @override
    def body(self) -> ComposeResult:
        yield self.lists

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self.lists)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.lists.draw()
        self.reload()

    @override
    def on_screen_resume(self) -> None:
        """Read everything again, if another screen may have changed it."""
        super().on_screen_resume()
        if self._is_stale:
            self._is_stale = False
            self.reload()

    @property
    def tab(self) -> AccessTab:
        """The tab that is shown."""
        return self.lists.tab

    @property
    def cursor(self) -> int:
        """The number of the row under the cursor."""
        return self.lists.rows.cursor

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        return self.tab.footer

    def reload(self) -> None:
        """Read everything again, such as after a change."""
        self.run(self._load, group="access", exclusive=True)

    async def _load(self) -> None:
        try:
            await self.subject.load()
            self._error = None
        except PresscheckError as error:
            self._error = error
        self.lists.redraw()

    def _notes(self) -> Line:
        if self._error and self.tab.total is not None:
            return (Span(f"not up to date: {sanitize(self._error.message)}", "waiting"),)
        return ()

    def _show_empty(self, empty: EmptyState) -> None:
        """Why there are no rows: they are loaded, cannot be, or there are none."""
        error, noun = self._error, self.tab.noun
        if self.tab.total is not None:
            empty.show_empty(*self.tab.empty())
        elif isinstance(error, Forbidden):
            empty.show_empty("You are not permitted to see who has access.", error.message)
        elif isinstance(error, NotSupported):
            empty.show_empty(f"{error.message}.")
        elif error and not self.engine.status.online:
            empty.show_offline(f"The {noun} are not in the cache.")
        elif error:
            empty.show_failed(f"Could not load the {noun}", error.message)
        else:
            empty.show_loading(f"Loading the {noun} …")

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Show the keys of another row."""
        self.refresh_status_bars()

    def open_access(self, thing: Container | OrganizationMember) -> None:
        """Show the permissions of a place, or of a person."""
        self._is_stale = True
        self.app_context.push_screen(AccessScreen(self.organization, thing))

    async def command_find_here(self) -> None:
        """Filter the rows by a text."""
        await filter_tab(self.find, self.tab, self.lists.rows, self.lists.redraw)

    @override
    def command_refresh(self) -> None:
        super().command_refresh()
        self.reload()

    async def command_unsend(self) -> None:
        """Undo the last change here; asks first."""
        await undo_last_sent(self, self.subject.is_here)
        self.reload()

    def reason_open(self) -> str | None:
        """Disabled without a row."""
        return self.subject.reason("open")

    def command_open(self) -> Awaitable[None] | None:
        """Show every path of a level; open the place, or list the members of the team."""
        return self.subject.run("open")

    def reason_add(self) -> str | None:
        """As the place or person allows."""
        return self.subject.reason("add")

    def command_add(self) -> Awaitable[None] | None:
        """Give teams a level; add a person to teams."""
        return self.subject.run("add")

    def reason_rename(self) -> str | None:
        """As the place or person allows."""
        return self.subject.reason("rename")

    def command_rename(self) -> Awaitable[None] | None:
        """Change the level of a team, or the role in it."""
        return self.subject.run("rename")

    def reason_delete(self) -> str | None:
        """As the place or person allows."""
        return self.subject.reason("delete")

    def command_delete(self) -> Awaitable[None] | None:
        """Remove a team from the place, or the person from a team (asks first)."""
        return self.subject.run("delete")

    def reason_settings(self) -> str | None:
        """As the place allows."""
        return self.subject.reason("settings")

    def command_settings(self) -> Awaitable[None] | None:
        """Change the default level."""
        return self.subject.run("settings")
