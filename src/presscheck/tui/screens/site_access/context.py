"""The parts of the screen of access that its tabs use, as protocols."""

from __future__ import annotations

from collections.abc import Awaitable, Hashable
from typing import TYPE_CHECKING, Any, Protocol

from presscheck.tui.screens.screen_context import ScreenContext

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.text.styled_text import Line
    from presscheck.tui.screens.site_access.model import SiteAccess
    from presscheck.tui.widgets.row_list import RowList


class AccessContext(ScreenContext, Protocol):
    """The screen of access as its tabs see it."""

    @property
    def model(self) -> SiteAccess:
        """The site, its redirects, share links and sign-in."""
        ...

    @property
    def rows(self) -> RowList:
        """The rows of the tab."""
        ...

    def redraw(self) -> None:
        """Draw the tab again."""
        ...

    def pause_redirects(self) -> None:
        """Stop reading the redirects again after each write."""
        ...

    def watch_redirects(self) -> None:
        """Read the redirects now, and after each write."""
        ...

    def change_reason(self, operation: type[Operation[Any]], role: str = "create") -> str | None:
        """Why nothing can be changed here now; None if it can."""
        ...


class Tab(Protocol):
    """One of the tabs: its rows and what can be done with them."""

    @property
    def name(self) -> str:
        """Its title."""
        ...

    @property
    def noun(self) -> str:
        """What it lists, in the plural."""
        ...

    @property
    def footer(self) -> tuple[str, ...]:
        """The commands of the footer."""
        ...

    @property
    def total(self) -> int | None:
        """How many there are in all; None while that is not known."""
        ...

    @property
    def count(self) -> int:
        """The number of its rows."""
        ...

    def key(self, index: int) -> Hashable | None:
        """What identifies a row; None if there is none."""
        ...

    def row(self, index: int, columns: int) -> Line:
        """A row."""
        ...

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        ...

    def summary(self) -> Line:
        """The line above the rows."""
        ...

    def empty(self) -> tuple[str, str]:
        """A sentence and a hint for a list without rows that is loaded."""
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
