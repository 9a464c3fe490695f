"""The app: themes, the places, the keys that work everywhere, and the one place where an error is shown."""

from __future__ import annotations

import logging
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from textual.app import App
from textual.binding import BindingType

from presscheck.config import Profile
from presscheck.errors import ConfigurationError, PresscheckError, RequestError
from presscheck.tui.screens.inbox import Inbox
from presscheck.tui.theme import Theme, load

if TYPE_CHECKING:
    from presscheck.desk.desk import Desk

ENDED_BY = {signal.SIGTERM: 143, signal.SIGHUP: 129}
"""The exit code after each signal that ends the app."""


class PresscheckApp(App[int]):
    """The whole program on one terminal.

    Args:
        desk: what is behind the screens; started after the first picture, closed with the app.
        profile: whose it is.
        theme: the name of a theme; ink when not given.
        own_themes: a directory with themes of the user's own.
        log: where a traceback goes.

    Raises:
        ConfigurationError: there is no such theme.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "app.tcss"

    def __init__(
        self,
        desk: Desk,
        *,
        profile: Profile,
        theme: str | None = None,
        own_themes: Path | None = None,
        log: Path | None = None,
    ) -> None:
        super().__init__()
        self.desk, self.profile, self._log_file = desk, profile, log
        self.themes = load(own_themes)
        for one in self.themes.values():
            self.register_theme(one.as_textual())
        chosen = theme or "ink"
        if chosen not in self.themes:
            raise ConfigurationError(f"there is no theme {chosen!r}; known: {', '.join(sorted(self.themes))}")
        self.theme = chosen
        self.last_notice = ""
        self._is_started = False

    @property
    def palette(self) -> Theme:
        """The theme that is shown."""
        return self.themes[self.theme]

    def look(self, words: str) -> Style:
        """What a style of spans looks like now."""
        return self.palette.style(words)

    def on_mount(self) -> None:
        """Show the inbox from the store, then connect."""
        self.install_screen(Inbox(), "inbox")
        self.push_screen("inbox")
        for notice in self.desk.notices:
            self.notice(notice)
        self.call_after_refresh(self._start_desk)

    async def _start_desk(self) -> None:
        await self.desk.start()
        self._is_started = True

    async def on_unmount(self) -> None:
        """Let go of the store and the connection."""
        await self.desk.close()

    def notice(self, text: str) -> None:
        """Say something in the line above, until something else is to be said."""
        self.last_notice = text
        for screen in self.screen_stack:
            show = getattr(screen, "show_world", None)
            if show and screen.is_mounted:
                show()

    def complain(self, error: PresscheckError) -> None:
        """Show what went wrong, with the request."""
        request = f" ({error.request})" if isinstance(error, RequestError) else ""
        self.notice(f"{error.message}{request}")

    def offline_seconds(self) -> float:
        """For how long the service could not be reached."""
        since = self.desk.status.offline_since
        return 0.0 if since is None else time.time() - since

    def command_go_inbox(self) -> None:
        """To the inbox."""
        self._go("inbox")

    def command_go_browse(self) -> None:
        """To collections, spaces and pages."""
        if not self.is_screen_installed("browse"):
            from presscheck.tui.screens.browse import Browse  # late: the first picture does not need it

            self.install_screen(Browse(), "browse")
        self._go("browse")

    def _go(self, name: str) -> None:
        while len(self.screen_stack) > 2:
            self.pop_screen()
        self.last_notice = ""
        self.switch_screen(name)

    def command_close(self) -> None:
        """Close this place; at the root, quit."""
        if len(self.screen_stack) > 2:
            self.pop_screen()
        else:
            self.exit(0)

    def command_back(self) -> None:
        """Back to the place before."""
        if len(self.screen_stack) > 2:
            self.pop_screen()

    def command_quit(self) -> None:
        """Quit; what waits to be sent stays in the outbox."""
        self.exit(0)

    def run_to_end(self) -> int:
        """Run until the user or a signal ends it; the exit code."""

        async def begin() -> None:
            import asyncio

            loop = asyncio.get_running_loop()
            for number, code in ENDED_BY.items():
                loop.add_signal_handler(number, self.exit, code)

        self.call_later(begin)
        code = self.run()
        if self._exception is not None:
            self._write_traceback(self._exception)
            return 70
        return code or 0

    def _write_traceback(self, error: BaseException) -> None:
        if self._log_file:
            logging.basicConfig(filename=self._log_file, level=logging.INFO)
            logging.getLogger("presscheck").error("the app ended by a bug", exc_info=error)
