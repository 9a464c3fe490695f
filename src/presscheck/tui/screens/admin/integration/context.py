"""The parts of the screen of an integration that its tabs use, as protocols."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Literal, Protocol

from presscheck.tui.ui.screen_context import ScreenContext
from presscheck.tui.ui.tabbed_lists import ListTab

if TYPE_CHECKING:
    from presscheck.api.integrations import IntegrationEvent
    from presscheck.api.operation import Operation
    from presscheck.errors import PresscheckError
    from presscheck.tui.screens.admin.integration.model import IntegrationModel
    from presscheck.tui.widgets.row_list import RowList

Needs = Literal["installer", "owner", "either"]
"""Who may do something: admins of the organization here, of that which owns the integration, or both."""


class IntegrationContext(ScreenContext, Protocol):
    """The screen of an integration as its tabs see it."""

    @property
    def model(self) -> IntegrationModel:
        """What is known of the integration."""
        ...

    @property
    def rows(self) -> RowList:
        """The rows of the tab."""
        ...

    @property
    def columns(self) -> int:
        """The cells of a row."""
        ...

    def redraw(self) -> None:
        """Draw the tab again."""
        ...

    def change_reason(self, operation: type[Operation[Any]], needs: Needs) -> str | None:
        """Why nothing can be changed here now; None if it can."""
        ...

    def show_events(self, installation_id: str) -> None:
        """Show the events of one installation."""
        ...

    def show_event(self, event: IntegrationEvent) -> None:
        """Show an event with its log."""
        ...

    def open_web(self, url: str) -> None:
        """Open a web address in the browser."""
        ...

    def know_installation(self, installation_id: str) -> None:
        """Show an installation that the service does not list for the user."""
        ...


class Tab(ListTab, Protocol):
    """One of the tabs, and what can be done with its rows."""

    @property
    def error(self) -> PresscheckError | None:
        """Why its rows could not be loaded."""
        ...

    def filter(self, text: str) -> None:
        """Show only the rows with a text; all without a text."""
        ...

    def reason(self, command: str) -> str | None:
        """Why a command cannot run in this tab now."""
        ...

    def run(self, command: str) -> Awaitable[None] | None:
        """Run a command on the tab."""
        ...
