"""The screen of an integration in five tabs: about it, its installations, their spaces and sites, its events."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.api.integrations import (
    GetInstallation,
    GetIntegration,
    GetIntegrationEvent,
    ListIntegrationEvents,
    ListIntegrationInstallations,
    ListIntegrationSites,
    ListIntegrationSpaces,
    SetDevelopmentMode,
)
from presscheck.engine.shared_calls import ALL
from presscheck.errors import Forbidden, NotSignedIn, NotSupported, PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.external_programs import open_address
from presscheck.tui.screens.admin.integration.about_tab import AboutTab
from presscheck.tui.screens.admin.integration.actions import IntegrationActions
from presscheck.tui.screens.admin.integration.events_tab import NEWEST, EventsTab, event_lines
from presscheck.tui.screens.admin.integration.installations_tab import InstallationsTab, PlacesTab
from presscheck.tui.screens.admin.integration.model import IntegrationModel, Listed, event_type
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.row_filter import filter_tab
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.ui.tabbed_lists import TabbedLists
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.integrations import Installation, Integration, IntegrationEvent, TracedEvent
    from presscheck.api.operation import Operation, Page
    from presscheck.api.organizations import Organization
    from presscheck.engine.results import Result
    from presscheck.tui.screens.admin.integration.context import Needs, Tab

POLL_SECONDS = 3.0
"""Between two requests for new events, while they are shown."""


class IntegrationScreen(BaseScreen):
    """An integration.

    Args:
        organization: the organization in which it is installed from here.
        integration: the integration as the catalog lists it.
    """

    SCOPE = "admin"

    def __init__(self, organization: Organization, integration: Integration) -> None:
        super().__init__()
        self.model = IntegrationModel(organization, integration)
        actions = self._actions = IntegrationActions(self)
        self._installations_tab = InstallationsTab(self, actions)
        self._events_tab = EventsTab(self)
        places = (PlacesTab(self, actions, "space"), PlacesTab(self, actions, "site"))
        tabs: tuple[Tab, ...] = (AboutTab(self, actions), self._installations_tab, *places, self._events_tab)
        self.lists = TabbedLists(self, tabs, self._show_empty, has_mark_column=False)
        self._event: tuple[TextScreen, IntegrationEvent] | None = None
        """The event that is open, and its screen."""
        self._traced: TracedEvent | None = None
        self._is_polling = False

    @override
    def title_line(self) -> Line:
        return (Span(" Administration › Integrations › ", "quiet"), Span(self.model.title, "title"))

    @override
    def body(self) -> ComposeResult:
        yield self.lists

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self.lists)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        path = self.model.path
        self.subscribe(self.engine.watch(GetIntegration(**path)), self._take_integration, group="integration")
        self._watch_page(ListIntegrationInstallations(**path, limit=ALL), self.model.installations, "installations")
        self._watch_page(ListIntegrationSpaces(**path, extended=True, limit=ALL), self.model.spaces, "spaces")
        self._watch_page(ListIntegrationSites(**path, extended=True, limit=ALL), self.model.sites, "sites")
        self._watch_page(self._newest, self.model.events, "events")
        self.set_interval(POLL_SECONDS, self._poll)
        self.lists.draw()

    @property
    def _newest(self) -> ListIntegrationEvents:
        return ListIntegrationEvents(**self.model.path, limit=NEWEST)

    def _watch_page(self, call: Operation[Page[Any]], listed: Listed[Any], group: str) -> None:
        def take(result: Result[Page[Any] | None]) -> None:
            listed.take(result)
            if listed is self.model.installations and _is_forbidden(listed.error):
                self._watch_known()
            self.redraw()

        self.subscribe(self.engine.watch(call), take, group=group, shows_errors=False)

    def _take_integration(self, result: Result[Integration | None]) -> None:
        if result.value:
            self.model.integration = result.value
        self.redraw()

    @property
    def _known_key(self) -> str:
        return f"installation {self.model.organization.id} {self.model.integration.name}"

    def know_installation(self, installation_id: str) -> None:
        """Show an installation that the service does not list for the user; an empty id forgets it."""
        self.engine.outbox.remember(self._known_key, installation_id or None)
        if _is_forbidden(self.model.installations.error):
            if not installation_id:
                self.unsubscribe("known installation")
                self.model.installations.items = None
                self.redraw()
            else:
                self._watch_known()

    def _watch_known(self) -> None:
        """Watch the installation that was made from here, or whose id was entered."""
        identity = self.engine.outbox.recall(self._known_key)
        if not identity:
            return

        def take(result: Result[Installation | None]) -> None:
            if result.value is not None:
                self.model.installations.items = (result.value,)
            self.redraw()

        call = GetInstallation(**self.model.path, installation_id=identity)
        self.subscribe(self.engine.watch(call), take, group="known installation", shows_errors=False)

    def _poll(self) -> None:
        """Ask for new events while they are shown, and for the log of the open one."""
        if self._is_polling or not self.engine.status.online:  # a slow answer is waited for
            return
        call: Operation[Any] | None = None
        if self._event and self._event[0].is_mounted and self._event[0].is_shown:
            call = GetIntegrationEvent(**self.model.path, event_id=self._event[1].id)
        elif self.is_shown and self.lists.tab is self._events_tab and not _is_forbidden(self.model.events.error):
            call = self._newest
        if call is not None:
            self._is_polling = True
            self.run(partial(self._poll_quietly, call), group="poll")

    async def _poll_quietly(self, call: Operation[Any]) -> None:
        try:
            await self.engine.poll(call)
        except PresscheckError:
            return  # what is shown has its own error, and it is tried again
        finally:
            self._is_polling = False

    @property
    def rows(self) -> RowList:
        """The rows of the tab."""
        return self.lists.rows

    @property
    def columns(self) -> int:
        """The cells of a row."""
        return max(20, self.size.width - 3)

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        return self.lists.tab.footer

    @override
    def redraw(self) -> None:
        self.lists.redraw()

    def _show_empty(self, empty: EmptyState) -> None:
        tab, error = self.lists.tab, self.lists.tab.error
        owner = self.model.integration.owner
        publisher = sanitize(owner.title) if owner else "its publisher"
        if tab.total is not None:
            title, hint = ("No row has this text.", "") if tab.total and not tab.count else tab.empty()
            empty.show_empty(title, hint)
        elif _is_forbidden(error):
            hint = (
                f"a installs it in {sanitize(self.model.organization.title)}." if tab is self._installations_tab else ""
            )
            empty.show_empty(f"The service lists the {tab.noun} for admins of {publisher} only.", hint)
        elif isinstance(error, NotSupported):
            empty.show_empty(f"{error.message}.")
        elif not self.engine.status.online:
            empty.show_offline(f"The {tab.noun} of this integration are not in the cache.")
        elif error:
            empty.show_failed(f"Could not load the {tab.noun}", error.message)
        else:
            empty.show_loading(f"Loading the {tab.noun} …")

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Show the keys of another row."""
        self.refresh_status_bars()

    def change_reason(self, operation: type[Operation[Any]], needs: Needs) -> str | None:
        """Why nothing can be changed here now; None if it can."""
        if reason := self.engine.write_reason(operation, at_once=True):
            return reason
        model = self.model
        permissions, owner = model.organization.permissions, model.integration.owner
        is_installer = permissions.admin or permissions.install_integration
        is_owner = model.integration.permissions.admin
        if (needs == "installer" and is_installer) or (needs == "owner" and is_owner):
            return None
        if needs == "either" and (is_installer or is_owner):
            return None
        where = owner if needs == "owner" and owner else model.organization
        return f"you need the role admin in {sanitize(where.title)}"

    def open_web(self, url: str) -> None:
        """Open a web address in the browser."""
        open_address(self.app_context, url)

    def show_events(self, installation_id: str) -> None:
        """Show the events of one installation."""
        self._events_tab.installation = installation_id
        self.lists.show_tab(self._events_tab)

    def show_event(self, event: IntegrationEvent) -> None:
        """Show an event with its log, which is read again while it is open."""
        self._traced = None
        page = TextScreen(f"{self.model.title} › {event_type(event)}", self._lines_of(event, ""))
        self._event = (page, event)
        self.app_context.push_screen(page)
        self.run(partial(self._read_event, page, event), group="event", exclusive=True)

    async def _read_event(self, page: TextScreen, event: IntegrationEvent) -> None:
        call = GetIntegrationEvent(**self.model.path, event_id=event.id)
        async for result in self.engine.watch(call):
            if page.is_leaving:
                return
            self._traced = result.value or self._traced
            problem = sanitize(result.error.message) if result.error and not self._traced else ""
            page.show(self._lines_of(event, problem))

    def _lines_of(self, event: IntegrationEvent, problem: str) -> list[Line]:
        return event_lines(event, self._traced, self.model, self.size.width, problem)

    async def command_find_here(self) -> None:
        """Filter the rows by a text."""
        await filter_tab(self.find, self.lists.tab, self.rows, self.redraw)

    def command_back(self) -> None:
        """Show the events of all installations again; else close."""
        if self.lists.tab is self._events_tab and self._events_tab.installation:
            self._events_tab.installation = ""
            self.redraw()
        else:
            self.app_context.pop_screen()

    def reason_development_mode(self) -> str | None:
        """Only for those who own the integration."""
        return self.change_reason(SetDevelopmentMode, "owner")

    def command_development_mode(self) -> Awaitable[None]:
        """Send the events of the integration to a tunnel, or stop that."""
        return self._actions.development_mode()

    def reason_open(self) -> str | None:
        """As the tab says."""
        return self.lists.tab.reason("open")

    def command_open(self) -> Awaitable[None] | None:
        """Open what is under the cursor: a block, an installation, a space, a site, an event."""
        return self.lists.tab.run("open")

    def reason_add(self) -> str | None:
        """As the tab says."""
        return self.lists.tab.reason("add")

    def command_add(self) -> Awaitable[None] | None:
        """Install the integration."""
        return self.lists.tab.run("add")

    def reason_rename(self) -> str | None:
        """As the tab says."""
        return self.lists.tab.reason("rename")

    def command_rename(self) -> Awaitable[None] | None:
        """Change the settings of the installation, its spaces or sites; publish a new version of the integration."""
        return self.lists.tab.run("rename")

    def reason_delete(self) -> str | None:
        """As the tab says."""
        return self.lists.tab.reason("delete")

    def command_delete(self) -> Awaitable[None] | None:
        """Uninstall the integration, or delete it for all organizations."""
        return self.lists.tab.run("delete")

    def reason_web(self) -> str | None:
        """As the tab says."""
        return self.lists.tab.reason("web")

    def command_web(self) -> Awaitable[None] | None:
        """Open the integration or the installation in the browser."""
        return self.lists.tab.run("web")

    def reason_copy(self) -> str | None:
        """As the tab says."""
        return self.lists.tab.reason("copy")

    def command_copy(self) -> Awaitable[None] | None:
        """Copy the id of what is under the cursor."""
        return self.lists.tab.run("copy")


def _is_forbidden(error: PresscheckError | None) -> bool:
    """Whether the service keeps a listing for the owners of the integration; elsewhere it wants a token of its own."""
    return isinstance(error, Forbidden | NotSignedIn)
