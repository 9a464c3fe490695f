"""The parts of the screen of permissions that its subjects use, as protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from presscheck.tui.ui.screen_context import ScreenContext

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from presscheck.api.organizations import Organization, OrganizationMember
    from presscheck.engine.access import Container
    from presscheck.engine.writes.descriptions import Place
    from presscheck.text.styled_text import Line
    from presscheck.tui.screens.access.rows import AccessTab


class AccessContext(ScreenContext, Protocol):
    """The screen of permissions as its subjects see it."""

    @property
    def organization(self) -> Organization:
        """The organization."""
        ...

    @property
    def tab(self) -> AccessTab:
        """The tab that is shown."""
        ...

    @property
    def cursor(self) -> int:
        """The number of the row under the cursor."""
        ...

    def open_access(self, thing: Container | OrganizationMember) -> None:
        """Show the permissions of a place, or of a person."""
        ...

    def reload(self) -> None:
        """Read everything again, such as after a change."""
        ...


class Subject(Protocol):
    """What the screen shows the permissions of: a place, or a person."""

    @property
    def tabs(self) -> tuple[AccessTab, ...]:
        """The tabs."""
        ...

    @property
    def title(self) -> str:
        """What it is called, as display text."""
        ...

    def summary(self) -> Line:
        """The line above the rows."""
        ...

    async def load(self) -> None:
        """Read everything.

        Raises:
            PresscheckError: it cannot be read.
        """
        ...

    def is_here(self, place: Place) -> bool:
        """Whether a sent change belongs to it."""
        ...

    def reason(self, command: str) -> str | None:
        """Why a command cannot run now; None if it can."""
        ...

    def run(self, command: str) -> Awaitable[None] | None:
        """Run a command."""
        ...
