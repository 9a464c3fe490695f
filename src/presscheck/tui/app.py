"""The app: themes, the places and how one goes between them, and the one place where an error is shown."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from textual.app import App
from textual.binding import BindingType

from presscheck.config import Profile
from presscheck.documents.spans import Line, plain
from presscheck.errors import ConfigurationError, PresscheckError
from presscheck.tui.commands import Keymap
from presscheck.tui.going import Going
from presscheck.tui.notices import Notices
from presscheck.tui.theme import Theme, load
from presscheck.tui.wall import Wall

if TYPE_CHECKING:
    from presscheck.desk.desk import Desk

ENDED_BY = {signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 130}
"""The exit code after each signal that ends the app."""
BUG = 70
"""The exit code after an exception that nobody meant."""


class PresscheckApp(Going, App[int], inherit_bindings=False):
    """The whole program on one terminal.

    Args:
        desk: what is behind the screens; started after the first picture, closed with the app.
        profile: whose it is.
        theme: the name of a theme; ink when not given.
        own_themes: a directory with themes of the user's own.
        keymap: keys by the name of a command, instead of those in the table.
        log: where a traceback goes.

    Raises:
        ConfigurationError: there is no such theme.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    CSS_PATH = str(Path(__file__).with_name("app.tcss"))

    def __init__(
        self,
        desk: Desk,
        *,
        profile: Profile,
        theme: str | None = None,
        own_themes: Path | None = None,
        keymap: Keymap | None = None,
        log: Path | None = None,
    ) -> None:
        super().__init__()
        self.desk, self.profile, self.keymap = desk, profile, keymap or {}
        self.notices = Notices(log)
        self.themes = load(own_themes)
        for one in self.themes.values():
            self.register_theme(one.as_textual())
        # colours of the terminal's own are the only ones that can all be left out
        chosen = "ansi" if self.no_color else theme or "ink"
        if chosen not in self.themes:
            raise ConfigurationError(f"there is no theme {chosen!r}; known: {', '.join(sorted(self.themes))}")
        self.theme = chosen
        self._filters.append(Wall())

    @property
    def palette(self) -> Theme:
        """The theme that is shown."""
        return self.themes[self.theme]

    def look(self, words: str) -> Style:
        """What a style of spans looks like now."""
        return self.palette.style(words)

    def on_mount(self) -> None:
        """Show what is known, then connect."""
        for notice in self.desk.notices:
            self.notice(notice)
        self.call_after_refresh(self.desk.start)

    async def on_unmount(self) -> None:
        """Let go of the store and the connection."""
        await self.desk.close()

    def notice(self, text: str) -> None:
        """Say something in the line below, until a later key."""
        self.notices.say(text)
        self._show_world()

    def complain(self, error: PresscheckError) -> None:
        """Show what went wrong, with the request."""
        self.notices.complain(error)
        self._show_world()

    def notice_line(self) -> Line:
        """What is to be said now."""
        return self.notices.line()

    def forget_notice(self, moment: float | None = None) -> None:
        """Say it no longer; given a moment, only if there was time to read it until then."""
        self.notices.forget(moment)

    @property
    def last_notice(self) -> str:
        """What was said last, if it is still shown."""
        return plain(self.notices.line()).strip()

    @last_notice.setter
    def last_notice(self, text: str) -> None:
        if text:
            self.notice(text)
        else:
            self.forget_notice()

    def run_to_end(self) -> int:
        """Run until the user or a signal ends it; the exit code."""
        code = self.run()
        if self._exception is not None:
            self.notices.write_traceback(self._exception)
            return BUG
        # nobody said how to end: the terminal went away
        return ENDED_BY[signal.SIGHUP] if code is None else code

    def on_load(self) -> None:
        """End cleanly when the terminal or the system asks for it."""
        loop = asyncio.get_running_loop()
        for number, code in ENDED_BY.items():
            loop.add_signal_handler(number, self.exit, code)

    def _fatal_error(self) -> None:
        """End by a bug without showing its surroundings, which may hold secrets; the log gets the traceback."""
        self._close_messages_no_wait()

    def _print_error_renderables(self) -> None:
        self._exit_renderables.clear()
        if self._exception is not None:
            where = f"; the traceback is in {self.notices.log}" if self.notices.log else ""
            self.error_console.print(f"presscheck ended by a bug of its own{where}", markup=False, highlight=False)

    def _show_world(self) -> None:
        show = getattr(self.screen, "show_world", None) if self.screen_stack else None
        if show:
            show()
