"""The interface of the app for screens, so that they do not import the app."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from textual.screen import Screen
from textual.worker import Worker

from presscheck.config.profile import Profile
from presscheck.errors import PresscheckError
from presscheck.paths import Places
from presscheck.text.styled_text import Line
from presscheck.tui.commands import Keymap, OwnHandler
from presscheck.tui.keyboard import TypeAhead
from presscheck.tui.notifications import Notifications
from presscheck.tui.places import Place
from presscheck.tui.terminal.pictures import PictureTable
from presscheck.tui.theme import StyleLookup, Theme

if TYPE_CHECKING:
    from presscheck.api.organizations import Organization, OrganizationMember
    from presscheck.engine.access import Container
    from presscheck.engine.engine import Engine
    from presscheck.engine.inbox.profile_inboxes import ProfileInboxes

T = TypeVar("T")


class CommandObserver(Protocol):
    """An observer of the user's commands, such as the tour."""

    def takes(self, command: str) -> bool:
        """Handle a command that is about to run. Return True to prevent it."""
        ...

    def ran(self, command: str, work: Worker[None] | None) -> None:
        """Handle a command that was started. `work` is the worker of an asynchronous command."""
        ...

    def screen_changed(self) -> None:
        """Handle a change of the top screen or dialog."""
        ...


class AppContext(Protocol):
    """The app as screens use it: the engine, messages to the user, styles and navigation."""

    profile: Profile
    settings_file: Path
    where: Places
    keymap: Keymap
    theme: str
    type_ahead: TypeAhead
    notices: Notifications
    observer: CommandObserver | None
    pictures: PictureTable

    @property
    def engine(self) -> Engine:
        """The engine behind all screens."""
        ...

    @property
    def screen(self) -> Screen[Any]:
        """The top screen."""
        ...

    @property
    def screen_stack(self) -> Sequence[Screen[Any]]:
        """The screens of the current mode; the last is the top screen."""
        ...

    def reload_keys(self) -> None:
        """Load the keys from the settings file again."""
        ...

    def notify(self, message: str) -> None:
        """Show a message in the footer, for some seconds or until the next key."""
        ...

    def show_error(self, error: PresscheckError) -> None:
        """Show an error in the footer, with the API request that failed, if any."""
        ...

    def notice_line(self, place: Screen[Any]) -> Line:
        """Return the current message or error of a screen; empty without a message."""
        ...

    def clear_notice(self) -> None:
        """Clear the message."""
        ...

    @property
    def style_for(self) -> StyleLookup:
        """The lookup of styles of the current theme by style words such as `added strong`."""
        ...

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text to the clipboard through the terminal."""
        ...

    def open_url(self, url: str, *, new_tab: bool = True) -> None:
        """Open an address in the web browser that shows the app."""
        ...

    def suspend(self) -> AbstractContextManager[None]:
        """Give the terminal to another program for the duration of the context."""
        ...

    def write_to_terminal(self, sequence: str) -> None:
        """Write an escape sequence, such as a notification, to the terminal."""
        ...

    def push_screen(self, screen: Screen[T], callback: Callable[[T | None], Any] | None = None) -> Awaitable[Any]:
        """Show a screen on top of the stack."""
        ...

    async def push_screen_wait(self, screen: Screen[T]) -> T | None:
        """Show a screen and wait for its result."""
        ...

    def pop_screen(self) -> Awaitable[Any]:
        """Close the top screen."""
        ...

    def close_screen(self) -> None:
        """Close the top screen unless it is the only screen of the stack."""
        ...

    def remember_review(self, space_id: str, change_request_id: str) -> None:
        """Make a change request the target of the command `go_review`."""
        ...

    def go(self, place: Place) -> Awaitable[Screen[Any]]:
        """Go to a place.

        Returns:
            An awaitable of the screen. The screen is on top at once. Once awaited, the screen goes to the place as soon
            as the content of the place is loaded.

        Raises:
            PresscheckError: the user cannot go to the place.
        """
        ...

    async def go_to_profile(self, place: Place) -> None:
        """Go to a place of another profile, or of the profile of the app. See `Navigation.go_to_profile`."""
        ...

    def place_reason(self, place: Place) -> str | None:
        """Return why the user cannot go to a place, or None."""
        ...

    def open_permissions(self, organization: Organization, thing: Container | OrganizationMember) -> None:
        """Show the access levels in a container or of a member, each with its source."""
        ...

    @property
    def themes(self) -> Mapping[str, Theme]:
        """All themes by name."""
        ...

    @property
    def current_mode(self) -> str:
        """The name of the current mode."""
        ...

    def switch_mode(self, mode: str) -> Awaitable[Any]:
        """Show the screens of a mode."""
        ...

    def install_screen(self, screen: Screen[Any], name: str) -> None:
        """Keep a screen alive when it leaves the stack."""
        ...

    def uninstall_screen(self, screen: Screen[Any]) -> str | None:
        """Stop keeping a screen alive when it leaves the stack."""
        ...

    def refresh_css(self, animate: bool = True) -> None:
        """Apply the theme to all screens of the stack."""
        ...

    @property
    def profile_inboxes(self) -> ProfileInboxes:
        """The inboxes of several profiles, created at the first use."""
        ...

    @property
    def begun_with(self) -> Profile:
        """The profile that the process started with. Its token may come from the environment."""
        ...

    def switch_profile(self, profile: Profile, place: Place | None = None, before: Place | None = None) -> None:
        """Exit the app; the process continues with an app for another profile.

        Args:
            profile: the other profile.
            place: the first place of the next app; None for its first screen.
            before: the place of this profile to which the user can go back.
        """
        ...

    def exit(self, result: int | None = None) -> None:
        """Exit the app; `result` is the exit code."""
        ...

    def command_handlers(self) -> Iterable[object]:
        """Return the objects with the commands that work on every screen."""
        ...

    def own_handlers(self, screen: Screen[Any]) -> Sequence[OwnHandler]:
        """Return the user's own commands with their handlers for a screen."""
        ...


def app_of(screen: Screen[Any]) -> AppContext:
    """Return the app of a screen that is not a `BaseScreen`, such as a dialog."""
    return cast("AppContext", screen.app)  # App is generic in its result
