"""The permissions of a place or a person while their screen is open. Every change reloads all permissions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from presscheck.errors import PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.ui.ask import choose_several
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.organizations import Organization, OrganizationMember
    from presscheck.api.teams import Team
    from presscheck.engine.access import Access, Container
    from presscheck.engine.writes.descriptions import Place
    from presscheck.tui.ui.tabs import TabScreen


class AccessSession(ABC):
    """The permissions that a screen shows, with the reads and writes that its tabs share.

    Args:
        screen: the screen.
        organization: the organization.

    Attributes:
        access: the roles, default levels and team levels; None until they are loaded.
        error: the error of the latest read; None if the read succeeded.
        is_stale: whether the user opened another screen that may have changed permissions.
    """

    def __init__(self, screen: TabScreen, organization: Organization) -> None:
        self.screen, self.organization = screen, organization
        self.access: Access | None = None
        self.error: PresscheckError | None = None
        self.is_stale = False

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the place or person, as display text."""

    @abstractmethod
    def summary(self) -> Line:
        """Return the line above the rows, the same in all tabs."""

    @abstractmethod
    def is_here(self, place: Place) -> bool:
        """Return whether a sent change at `place` can be undone on this screen."""

    @abstractmethod
    async def read(self) -> None:
        """Read all permissions.

        Raises:
            PresscheckError: a read failed.
        """

    def reload(self) -> None:
        """Read all permissions again and redraw."""

        async def read() -> None:
            try:
                await self.read()
                self.error = None
            except PresscheckError as error:
                self.error = error
            self.screen.redraw()

        self.is_stale = False
        self.screen.run(read, group="access", exclusive=True)

    def open(self, thing: Container | OrganizationMember) -> None:
        """Show the permissions of another place or person."""
        self.is_stale = True
        self.screen.app_context.open_permissions(self.organization, thing)

    async def choose_teams(self, title: str, teams: Sequence[Team]) -> Sequence[str]:
        """Ask for teams. Returns their ids; empty if the user canceled."""
        choices = [Choice(team.id, sanitize(team.title) or team.id, count(team.members, "member")) for team in teams]
        return await choose_several(self.screen, title, choices) or ()

    async def send(self, call: Operation[Any], done: str) -> None:
        """Send a change, notify the user, and reload."""
        await send(self.screen, call)
        self.screen.notify(f"{done} ({key_for('unsend')} undoes it)")
        self.reload()

    async def send_for_teams(self, calls: Sequence[Operation[Any]], role: str) -> None:
        """Send one change per team, notify the user, and reload. A failure does not stop the other changes."""
        failures: list[str] = []
        for call in calls:
            try:
                await send(self.screen, call)
            except PresscheckError as error:
                failures.append(error.message)
        done = f"{count(len(calls) - len(failures), 'team')}: {role} ({key_for('unsend')} undoes the last)"
        self.screen.notify(f"{done}; {len(failures)} failed: {sanitize(failures[0])}" if failures else done)
        self.reload()


def strong(text: str) -> Line:
    """Format a text of the first column, which stands out."""
    return (Span(sanitize(text), "strong"),)


def quiet(text: str) -> Line:
    """Format a text of a column other than the first."""
    return (Span(sanitize(text), "quiet"),)
