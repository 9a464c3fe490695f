"""The choice of the user's name for a service that does not identify users. It is saved in the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.config.settings_file import save_setting
from presscheck.text.sanitize import sanitize
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.tui.ui.screen import BaseScreen

ASKED = "asked who the user is"
"""The storage key that records that the app has asked for the user."""


async def choose_user_once(screen: BaseScreen, organization_id: str) -> None:
    """Ask for the user's name, unless the app has asked before or the settings contain a user."""
    outbox = screen.engine.outbox
    if outbox.recall(ASKED) is None and not screen.app_context.profile.user:
        outbox.remember_if_possible(ASKED, "1")
        await choose_user(screen, organization_id)


async def choose_user(screen: BaseScreen, organization_id: str) -> None:
    """Ask for the user's name among the people that the service lists, and save the choice in the settings."""
    people = await screen.engine.people(organization_id)
    if not people:
        screen.notify("the service lists no user: set `user` in the settings")
        return
    choices = [
        Choice(person.id, sanitize(person.display_name) or sanitize(person.id), sanitize(person.email or ""))
        for person in people
    ]
    chosen = await choose(screen, "This service does not tell who you are: choose your name", choices, ranked=True)
    if not chosen:
        return
    save_setting(screen.app_context.settings_file, screen.app_context.profile.name, "user", chosen)
    screen.engine.set_user(chosen)
    name = next(choice.label for choice in choices if choice.key == chosen)
    screen.notify(f"you are {name}; saved in the settings")
