"""The screen of an integration in five tabs: description, installations, spaces, sites and events."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.api.integrations import GetIntegrationEvent, SetDevelopmentMode
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.admin.integration.about import AboutIntegration
from presscheck.tui.screens.admin.integration.actions import IntegrationActions
from presscheck.tui.screens.admin.integration.events import EventList, event_lines
from presscheck.tui.screens.admin.integration.installations import InstallationList, PlaceList
from presscheck.tui.screens.admin.integration.session import IntegrationSession, event_type
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.tabs import Tabs, TabScreen

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from presscheck.api.integrations import Installation, Integration, IntegrationEvent, TracedEvent
    from presscheck.api.organizations import Organization

POLL_SECONDS = 3.0
"""Interval of requests for new events while they are visible."""


class IntegrationScreen(TabScreen):
    """The screen of an integration.

    Args:
        organization: the organization where the screen installs the integration.
        integration: the integration from the catalog.
    """

    SCOPE = "admin"

    def __init__(self, organization: Organization, integration: Integration) -> None:
        super().__init__()
        session = self.session = IntegrationSession(self, organization, integration)
        actions = self._actions = IntegrationActions(session)
        self._events = EventList(session, self._show_event)
        installations = InstallationList(session, actions, self._show_events_of)
        places = (PlaceList(session, actions, "space"), PlaceList(session, actions, "site"))
        self.lists = Tabs(self, (AboutIntegration(session, actions), installations, *places, self._events))
        self._event: tuple[TextScreen, IntegrationEvent] | None = None
        """The open event with its screen."""
        self._traced: TracedEvent | None = None

    @override
    def title_line(self) -> Line:
        return (Span(" Administration › Integrations › ", "quiet"), Span(self.session.title, "title"))

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.session.load()
        self.set_interval(POLL_SECONDS, self._poll)
        self.lists.draw()

    def _poll(self) -> None:
        """Request new events while the events are visible, or the log of the open event."""
        if self._event and self._event[0].is_mounted and self._event[0].is_shown:
            self.session.poll(GetIntegrationEvent(**self.session.path, event_id=self._event[1].id))
        elif self.is_shown and self.lists.tab is self._events and not self._events.is_forbidden:
            self.session.poll(self.session.newest_events)

    def _show_events_of(self, installation: Installation) -> None:
        self._events.installation = installation.id
        self.lists.show_tab(self._events)

    def _show_event(self, event: IntegrationEvent) -> None:
        """Show an event with its log. The log is polled while the event is open."""
        self._traced = None
        page = TextScreen(f"{self.session.title} › {event_type(event)}", self._lines_of(event, ""))
        self._event = (page, event)
        self.app_context.push_screen(page)
        self.run(partial(self._read_event, page, event), group="event", exclusive=True)

    async def _read_event(self, page: TextScreen, event: IntegrationEvent) -> None:
        call = GetIntegrationEvent(**self.session.path, event_id=event.id)
        async for result in self.engine.watch(call):
            if page.is_leaving:
                return
            self._traced = result.value or self._traced
            problem = sanitize(result.error.message) if result.error and not self._traced else ""
            page.show(self._lines_of(event, problem))

    def _lines_of(self, event: IntegrationEvent, problem: str) -> list[Line]:
        return event_lines(event, self._traced, self.session, self.size.width, problem)

    def command_back(self) -> None:
        """Show the events of all installations again; if they are shown already, close the screen."""
        if self.lists.tab is self._events and self._events.installation:
            self._events.installation = ""
            self.redraw()
        else:
            self.app_context.pop_screen()

    def reason_development_mode(self) -> str | None:
        """Return why development mode cannot be changed: writes are not possible now, or the user is not an owner."""
        return self.session.change_reason(SetDevelopmentMode, "owner")

    def command_development_mode(self) -> Awaitable[None]:
        """Send the events of the integration to a tunnel instead of its published script, or stop doing so."""
        return self._actions.development_mode()
