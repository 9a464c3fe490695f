"""The parts of the screen of adaptive content that its tabs use, as protocols."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Protocol

from presscheck.tui.ui.screen_context import ScreenContext
from presscheck.tui.ui.tabbed_lists import ListTab

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.tui.screens.sites.adaptive.model import AdaptiveModel
    from presscheck.tui.widgets.row_list import RowList


class AdaptiveContext(ScreenContext, Protocol):
    """The screen of adaptive content as its tabs see it."""

    @property
    def model(self) -> AdaptiveModel:
        """The site, its schema, conditions and audiences."""
        ...

    @property
    def rows(self) -> RowList:
        """The rows of the tab."""
        ...

    def redraw(self) -> None:
        """Draw the tab again."""
        ...

    def read_audiences(self) -> None:
        """Read the saved audiences again, and draw the tab."""
        ...

    def change_reason(self, operation: type[Operation[Any]], role: str = "create") -> str | None:
        """Why nothing can be changed here now; None if it can."""
        ...


class Tab(ListTab, Protocol):
    """One of the tabs, and what can be done with its rows."""

    def filter(self, text: str) -> None:
        """Show only the rows with a text; all without a text."""
        ...

    def reason(self, command: str) -> str | None:
        """Why a command cannot run in this tab now."""
        ...

    def run(self, command: str) -> Awaitable[None] | None:
        """Run a command on the tab."""
        ...
