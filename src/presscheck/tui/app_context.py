"""The part of the app that screens use, as a protocol; screens import this instead of the app."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from textual.screen import Screen
from textual.worker import Worker

from presscheck.config.profile import Profile
from presscheck.errors import PresscheckError
from presscheck.text.styled_text import Line
from presscheck.tui.commands import Keymap
from presscheck.tui.keyboard import TypeAhead
from presscheck.tui.notifications import Notifications
from presscheck.tui.places import Place
from presscheck.tui.terminal.pictures import PictureTable
from presscheck.tui.theme import StyleLookup, Theme

if TYPE_CHECKING:
    from presscheck.api.organizations import Organization, OrganizationMember
    from presscheck.engine.access import Container
    from presscheck.engine.engine import Engine

T = TypeVar("T")


class CommandObserver(Protocol):
    """Follows the user, as the tour does."""

    def takes(self, command: str) -> bool:
        """Whether it acts in place of a command that is about to run."""
        ...

    def ran(self, command: str, work: Worker[None] | None) -> None:
        """A command ran that it did not take, or runs on in a worker."""
        ...

    def screen_changed(self) -> None:
        """Another screen or dialog is on top now."""
        ...


class AppContext(Protocol):
    """The app as its screens see it: the engine, messages to the user, styles and navigation."""

    profile: Profile
    settings_file: Path
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
        """The screen on top."""
        ...

    @property
    def screen_stack(self) -> Sequence[Screen[Any]]:
        """The screens of the current mode, the one on top last."""
        ...

    def notify(self, message: str) -> None:
        """Show a message in the last line until a later key press."""
        ...

    def show_error(self, error: PresscheckError) -> None:
        """Show an error with its request in the last line."""
        ...

    def notice_line(self, place: Screen[Any]) -> Line:
        """The message or error shown now on a screen; empty if there is none."""
        ...

    def clear_notice(self) -> None:
        """Clear the message."""
        ...

    @property
    def style_for(self) -> StyleLookup:
        """The style of the current theme for these words, such as `added strong`."""
        ...

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text through the terminal."""
        ...

    def suspend(self) -> AbstractContextManager[None]:
        """Leave the terminal to another program inside this context."""
        ...

    def write_to_terminal(self, sequence: str) -> None:
        """Write an escape sequence, such as a notification, to the terminal."""
        ...

    def push_screen(self, screen: Screen[T], callback: Callable[[T | None], Any] | None = None) -> Awaitable[Any]:
        """Show a screen on top of this one."""
        ...

    async def push_screen_wait(self, screen: Screen[T]) -> T | None:
        """Show a screen and wait for its result."""
        ...

    def pop_screen(self) -> Awaitable[Any]:
        """Close the screen on top."""
        ...

    def close_screen(self) -> None:
        """Close the screen on top, if another one is below it."""
        ...

    def remember_review(self, space_id: str, change_request_id: str) -> None:
        """Make this change request the one that the command `go_review` opens."""
        ...

    def go(self, place: Place) -> Awaitable[Screen[Any]]:
        """Go to a place.

        Returns:
            The screen of the place. It is on top at once; what is awaited is that it goes to the place.

        Raises:
            PresscheckError: one cannot go there.
        """
        ...

    def place_reason(self, place: Place) -> str | None:
        """Why one cannot go to a place; None if one can."""
        ...

    def open_permissions(self, organization: Organization, thing: Container | OrganizationMember) -> None:
        """Show who has which level in a place, or which levels a person has, and why."""
        ...

    @property
    def themes(self) -> Mapping[str, Theme]:
        """All themes by name."""
        ...

    @property
    def current_mode(self) -> str:
        """The mode that is shown."""
        ...

    def switch_mode(self, mode: str) -> Awaitable[Any]:
        """Show the screens of a mode."""
        ...

    def install_screen(self, screen: Screen[Any], name: str) -> None:
        """Let a screen run on when it leaves the stack."""
        ...

    def uninstall_screen(self, screen: Screen[Any]) -> str | None:
        """Let a screen end when it leaves the stack."""
        ...

    def refresh_css(self, animate: bool = True) -> None:
        """Apply the theme to all screens of the stack."""
        ...

    def exit(self, result: int | None = None) -> None:
        """End the app with this exit code."""
        ...

    def command_handlers(self) -> Iterable[object]:
        """The objects with the commands that work on every screen."""
        ...


def app_of(screen: Screen[Any]) -> AppContext:
    """The app of a dialog, which is no `BaseScreen`."""
    return cast("AppContext", screen.app)  # App is generic in its result
