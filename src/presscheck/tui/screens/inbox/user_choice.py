"""Who the user is, for a service that does not tell: chosen once by name, and saved in the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.api.users import GetCurrentUser
from presscheck.config.settings_file import save_setting
from presscheck.errors import NotSupported, PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.tui.screens.inbox.context import InboxContext

ASKED = "asked who the user is"
"""The key under which it is stored that the app has asked."""


class UserChoice:
    """Asks who the user is, and handles the command for it.

    Args:
        screen: the inbox.
    """

    def __init__(self, screen: InboxContext) -> None:
        self._screen = screen
        self.error: PresscheckError | None = None
        """Why the user is unknown; None if the user is known, or not read yet."""

    @property
    def is_unknown(self) -> bool:
        """Whether the service does not tell who the user is, and the settings do not either."""
        return isinstance(self.error, NotSupported)

    def line(self) -> Line:
        """Why all views show the change requests of everyone; empty if the user is known."""
        if not self.is_unknown:
            return ()
        if self._screen.app_context.profile.user:
            return (Span(f" {sanitize(self.error.message if self.error else '')} · all are shown", "waiting"),)
        return (Span(" This service does not tell who you are: all are shown. M u: your name", "waiting"),)

    def reason_choose_user(self) -> str | None:
        """Disabled if the service tells who the user is."""
        is_missing = self._screen.engine.missing_reason(GetCurrentUser) is not None
        return None if is_missing else "the service tells who you are"

    async def ask_once(self) -> None:
        """Ask who the user is, unless the app did so before."""
        outbox = self._screen.engine.outbox
        if outbox.recall(ASKED) is None and not self._screen.app_context.profile.user:
            outbox.remember(ASKED, "1")
            await self.command_choose_user()

    async def command_choose_user(self) -> None:
        """Choose who you are among the people that the service lists, and save it in the settings."""
        people = await self._screen.engine.people(self._screen.model.organization)
        if not people:
            self._screen.notify("the service lists no user: set `user` in the settings")
            return
        choices = [
            Choice(person.id, sanitize(person.display_name) or sanitize(person.id), sanitize(person.email or ""))
            for person in people
        ]
        title = "This service does not tell who you are: choose your name"
        chosen = await self._screen.ask(Picker(title, choices))
        if not chosen:
            return
        file = self._screen.app_context.settings_file
        if file:
            save_setting(file, self._screen.app_context.profile.name, "user", chosen[0])
        self._screen.engine.set_user(chosen[0])
        name = next(choice.label for choice in choices if choice.key == chosen[0])
        self._screen.notify(f"you are {name}{'; saved in the settings' if file else ''}")
