"""The Textual app: themes, screens, messages, errors, and a clean exit on signals and crashes."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable
from pathlib import Path
from threading import Timer as ThreadTimer
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual._compositor import CompositorUpdate
from textual._styles_cache import StylesCache
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.errors import NoWidget
from textual.events import Event, InputEvent, Key, MouseDown, MouseMove, Paste, Resize
from textual.filter import Monochrome, NoColor
from textual.geometry import Size
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import AwaitMount, Widget
from typing_extensions import override

from presscheck.config.browser_tab import is_in_browser
from presscheck.config.profile import Profile
from presscheck.errors import ConfigurationError, PresscheckError
from presscheck.paths import Places
from presscheck.text.phrases import now
from presscheck.text.sanitize import sanitize, show_joiners
from presscheck.text.styled_text import Line
from presscheck.tui.app_context import AppContext, CommandObserver
from presscheck.tui.auto_refresh import AutoRefresh
from presscheck.tui.commands import Keymap, OwnHandler, key_for, tab_label, use_keymap
from presscheck.tui.key_settings import load_keymap
from presscheck.tui.keyboard import TooLate, TypeAhead, as_text
from presscheck.tui.navigation import MODES, Navigation
from presscheck.tui.notifications import Notice, Notifications
from presscheck.tui.places import Place
from presscheck.tui.screens.startup_snapshot import StartupSnapshot
from presscheck.tui.terminal.bandwidth import (
    ANSWER,
    OPENING,
    PAUSE,
    QUESTION,
    AnswerParser,
    Bandwidth,
    DeviceAttributes,
)
from presscheck.tui.terminal.output import AsciiFilter, ControlCharFilter, DiffPainter, erases_in_color, joiners_of
from presscheck.tui.terminal.pictures import PictureTable
from presscheck.tui.terminal.stream import TerminalStream, flush_or_discard, is_terminal
from presscheck.tui.theme import ParsedStylesheet, StyleLookup, StyleTable, load

if TYPE_CHECKING:
    from textual.driver import Driver
    from textual.notifications import SeverityLevel
    from textual.signal import Signal

    from presscheck.api.organizations import Organization, OrganizationMember
    from presscheck.engine.access import Container
    from presscheck.engine.engine import Engine
    from presscheck.engine.inbox.profile_inboxes import ProfileInboxes
    from presscheck.tui.ui.screen import BaseScreen

SIGNAL_EXIT_CODES = {signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 130}
"""The exit code after each signal that ends the app."""
NOTICE_SECONDS = 4.0
"""Seconds that a message is shown, unless a key is pressed earlier."""
CONNECT_AFTER = 0.5
"""Maximum seconds before requests are sent, even if the inbox is not painted yet."""
LONGEST_END = 3.0
"""Maximum seconds for the app to exit after its terminal is gone."""
SETTLED = 0.1
"""Seconds after a resize until the size of the terminal is checked."""
TERMINAL_CHECK = 1.0
"""Seconds between two checks whether the terminal still exists."""
INTERNAL_ERROR = 70
"""The exit code after an internal error."""


@dataclass(frozen=True)
class Start:
    """The screens that the app opens at its start.

    Args:
        snapshot: the stored startup snapshot of the inbox.
        welcome: creates a screen that is shown before the inbox; its result is the profile to use.
        then: opens another screen of the app on top of the inbox.
        begun_with: the profile that the process started with; by default the profile of the app.
    """

    snapshot: str | None = None
    welcome: Callable[[], Screen[Profile | None]] | None = None
    then: Callable[[PresscheckApp], Any] | None = None
    begun_with: Profile | None = None


class PresscheckApp(App[int], inherit_bindings=False):
    """The terminal app.

    Args:
        open_engine: opens the engine of a profile; called after the first paint. The app closes it when it ends.
        profile: the profile to use.
        where: the directories with the settings file, the user's own themes and the log.
        start: the screens to open at the start.
        keymap: the keys of the commands; by default those of the settings file.

    Raises:
        ConfigurationError: the theme of the profile is unknown.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = MODES
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    CSS_PATH = str(Path(__file__).with_name("app.tcss"))

    def __init__(
        self,
        open_engine: Callable[[Profile], Engine],
        profile: Profile,
        where: Places,
        start: Start | None = None,
        keymap: Keymap | None = None,
    ) -> None:
        super().__init__()
        self._open_engine, self._start = open_engine, start or Start()
        self._engine: Engine | None = None
        self._profile_inboxes: ProfileInboxes | None = None
        self.navigation = Navigation(cast("AppContext", self))  # AppContext needs narrower types than Textual declares
        self._notices_shown = 0
        self.profile, self.settings_file, self.where = profile, where.config_file, where
        self.next_profile: Profile | None = None
        """The profile of the next app of this process, if the user switches profiles."""
        self.next_place: Place | None = None
        """The first place of the next app; None for its first screen."""
        self.place_before: Place | None = None
        """The place of this app to which the user can go back from the next app."""
        self._trust_file = where.trust_file
        self.keymap, self._key_errors = (keymap, ()) if keymap else load_keymap(where.config_file, profile.project)
        use_keymap(self.keymap)
        self.notices = Notifications(where.log_file())
        self.themes = load(where.config / "themes")
        for loaded in self.themes.values():
            self.register_theme(loaded.as_textual())
        # the ansi theme uses only the colors of the terminal, so it works with NO_COLOR
        theme_name = "ansi" if self.no_color else profile.theme or "ink"
        if theme_name not in self.themes:
            raise ConfigurationError(f"unknown theme {theme_name!r}; available: {', '.join(sorted(self.themes))}")
        self._styles = StyleTable(self.themes[theme_name], has_color=not self.no_color)
        self.style_for: StyleLookup = self._styles.__getitem__
        """Return the style of the current theme for style words such as `added strong`."""
        self.theme = theme_name
        self.stylesheet = ParsedStylesheet(variables=self.get_css_variables())
        # Textual chose Monochrome before the theme was known; it turns the terminal's own colors into black
        self._filters = [NoColor() if isinstance(each, Monochrome) else each for each in self._filters]
        self._filters.append(ControlCharFilter())
        if profile.uses_ascii:
            self._filters.append(AsciiFilter())
        self.bandwidth = Bandwidth(profile.low_bandwidth)
        self.pictures = PictureTable(self._images)
        """The pictures of pages."""
        if profile.reduces_motion or self.bandwidth.is_low:
            self.animation_level = "none"
        self._painter = DiffPainter(self.pictures, self.bandwidth, erases=erases_in_color(os.environ))
        self.type_ahead = TypeAhead(self, self._deliver)
        self._last_input = monotonic()
        self._painted: Screen[Any] | None = None
        """The screen that was painted last."""
        self._painted_size = Size()
        """The size of the screen at its last paint."""
        self._last_key = 0.0
        self._paint_timer: Timer | None = None
        """The timer that sends delayed changes to a slow terminal."""
        self._pressed: Widget | None = None
        """The widget on which a mouse button was last pressed."""
        self._notice_timer: Timer | None = None
        self._size_timer: Timer | None = None
        """The timer that compares the size of the terminal after a resize."""
        self._background_refresh: AutoRefresh | None = None
        self._is_connected = False
        self._is_opening = True
        """Whether the first screen is still being opened."""
        self._end_code: int | None = None
        """The exit code, if a signal arrived while the first screen was being opened."""
        self.observer: CommandObserver | None = None
        """The observer of commands and screens, such as the tour."""

    def _images(self) -> str:
        is_plain = self.no_color or self.profile.uses_ascii or self.bandwidth.is_low
        setting = "off" if is_plain else self.profile.images or "auto"
        return "blocks" if is_in_browser() and setting != "off" else setting  # xterm.js draws no images

    @property
    def engine(self) -> Engine:
        """The engine, opened at its first use."""
        if self._engine is None:
            self._engine = self._open_engine(self.profile)
        return self._engine

    @property
    def begun_with(self) -> Profile:
        """The profile that the process started with. Its token may come from the environment."""
        return self._start.begun_with or self.profile

    @property
    def profile_inboxes(self) -> ProfileInboxes:
        """The inboxes of several profiles, created at the first use."""
        if self._profile_inboxes is None:
            from presscheck.engine.inbox.profile_inboxes import ProfileInboxes  # 5 ms, only for several profiles

            self._profile_inboxes = ProfileInboxes(self.profile.name, self.engine, self._open_other)
        return self._profile_inboxes

    async def _open_other(self, name: str) -> Engine:
        """Open and start the engine of another profile. Token programs run in a thread.

        Raises:
            PresscheckError: the settings file has an error, the profile has no token, or its files cannot be opened.
        """
        from presscheck.tui.profile_switch import load_profile  # 5 ms, only for several profiles

        engine = self._open_engine(await asyncio.to_thread(load_profile, cast("AppContext", self), name))
        await engine.start()
        return engine

    def switch_profile(self, profile: Profile, place: Place | None = None, before: Place | None = None) -> None:
        """Exit the app; the process continues with an app for another profile. See `AppContext.switch_profile`."""
        self.next_profile, self.next_place, self.place_before = profile, place, before
        self.exit(0)

    def watch_theme(self, name: str) -> None:
        """Switch to the styles of the new theme before Textual draws with it."""
        self._styles.use(self.themes[name])

    @override
    def get_default_screen(self) -> StartupSnapshot:
        return StartupSnapshot(self._start.snapshot, self.style_for(""), self.profile.first_view or "")

    def on_mount(self) -> None:
        """Watch the terminal, and open the welcome screen or, after the first paint, the first screen."""
        resumed = cast("Signal[object]", self.app_resume_signal)  # generic
        resumed.subscribe(self, self.repaint, immediate=True)
        if not self.is_headless and is_terminal():
            self._watch_terminal()
            if self.bandwidth.is_measured:
                self._ask_terminal()
        if self._start.welcome:
            self.push_screen(self._start.welcome(), self._begin_with)
            self.call_after_refresh(self._first_screen_opened)
        else:
            self.type_ahead.starting()
            self.call_after_refresh(self._open_first_screen)

    async def _begin_with(self, profile: Profile | None) -> None:
        """Open the first screen for the profile from the welcome screen. Without a profile, exit."""
        if profile is None:
            self.exit(0)
            return
        self.profile = profile
        await self._open_first_screen()

    async def _open_first_screen(self) -> None:
        self._is_opening = True
        await self.navigation.open_first_screen()
        self._first_screen_opened()
        self._show_engine_notices()
        self._take_left_texts()
        self._show_key_errors()
        self.engine.on_status(lambda _: self._show_engine_notices())
        self.call_after_refresh(self._connect)
        # if a fast user opens a screen before the inbox is painted, `call_after_refresh` would wait for the inbox
        self.set_timer(CONNECT_AFTER, self._connect)
        self.run_worker(self._announce_events, exclusive=True, group="events")

    def _show_key_errors(self) -> None:
        """Show the errors in the key settings. Settings with errors are ignored."""
        for error in reversed(self._key_errors):
            # the footer has no room for the whole path; `presscheck keys --check` shows it
            self.show_error(ConfigurationError(str(replace(error, file=Path(error.file.name)))))

    def _begin_project(self) -> None:
        """Show the problems of the project file, and ask whether to trust its programs."""
        project = self.profile.project
        for error in reversed(project.problems if project else ()):
            self.show_error(ConfigurationError(str(replace(error, file=Path(error.file.name)))))
        if project and project.to_ask:
            from presscheck.tui.project_programs import ask_for_programs  # 3 ms, only if a project names programs

            self.run_worker(ask_for_programs(cast("AppContext", self), self._trust_file), group="project")

    def reload_keys(self) -> None:
        """Load the keys from the settings file again."""
        self.keymap, self._key_errors = load_keymap(self.settings_file, self.profile.project)
        use_keymap(self.keymap)
        self._show_key_errors()

    async def _connect(self) -> None:
        """Start sending requests, and open the requested screen. Later calls do nothing."""
        if self._is_connected:
            return
        self._is_connected = True
        await self.engine.start()
        if self.profile.sync and not self.profile.offline:
            self._start_background_refresh()
        if self._start.then and isawaitable(opening := self._start.then(self)):
            await opening
        self._begin_project()  # last, so that no screen opens above its question

    async def _announce_events(self) -> None:
        """Show new activity in the footer, and as notifications if the profile enables them."""
        # 4 ms, only after the first paint
        from presscheck.engine.inbox.event_notifications import notify
        from presscheck.engine.inbox.events import sentence, summarize

        async for events, _ in self.engine.events.watch():
            if not events:
                continue
            for event in events:
                self.notices.add(Notice(sanitize(sentence(event)), now(), space=event.space, request=event.request))
            if self.notices.show_summary(summarize(events), self._place):
                self._notice_shown()
            try:
                await notify(self.engine.events, self.profile, events, self.write_to_terminal)
            except PresscheckError as error:
                self.show_error(error)

    def _start_background_refresh(self) -> None:
        self._background_refresh = AutoRefresh(self.engine, lambda: self._last_input)
        self._background_refresh.start()

    @override
    async def on_event(self, event: Event) -> None:
        if isinstance(event, DeviceAttributes):
            self._terminal_answered(event)
            return
        if isinstance(event, InputEvent):
            self._last_input = monotonic()
            if not isinstance(event, MouseMove):
                self._last_key = self._last_input
                self._painter.restart()
                if self._paint_timer:
                    self._paint_later(PAUSE)
        if isinstance(event, MouseDown):
            self._pressed = self._widget_at(event)
        if isinstance(event, Key | Paste) and not event.is_forwarded:
            if isinstance(event, Key) and event.key == "ctrl+c" and self._pressed and self._pressed.is_attached:
                # the app handles this key itself, so the key would overtake mouse events in the queue of this widget
                self.type_ahead.hold_until_handled(self._pressed)
            await self.type_ahead.take(as_text(event))
        else:
            await super().on_event(event)

    def on_line_view_menu_requested(self) -> None:
        """List the commands of the item that was clicked with the right button, except in dialogs."""
        # 10 ms, only for a click
        from presscheck.tui.screens.key_list import choose_command
        from presscheck.tui.ui.screen import BaseScreen

        screen = self.screen
        if isinstance(screen, BaseScreen):
            screen.run(lambda: choose_command(screen))

    def _widget_at(self, event: MouseDown) -> Widget | None:
        try:
            return self.screen.get_widget_at(event.x, event.y)[0] if self.screen_stack else None
        except NoWidget:
            return None

    async def _deliver(self, event: Key | Paste) -> None:
        """Pass a key or paste to the focused widget; ctrl+c copies the text selected by the mouse, if any."""
        if isinstance(event, Key) and event.key == "ctrl+c" and self._copy_selection():
            return
        target = self.focused or self.screen
        await super().on_event(event)
        self.type_ahead.hold_until_handled(target)

    @override
    def push_screen(self, screen: Any, *args: Any, **more: Any) -> Any:
        """Open a screen; keys typed from now on are delivered to this screen.

        Raises:
            TooLate: a command opens it, and the user is at something else.
        """
        if self.screen_stack and self.type_ahead.is_late(asks=getattr(screen, "is_modal", False)):
            raise TooLate
        self.capture_mouse(None)  # end a drag: the widget below would never receive the end
        opening = cast("Any", super()).push_screen(screen, *args, **more)  # its overloads are generic
        self.type_ahead.opened(self.screen)
        self._screen_changed()
        return opening

    @override
    def pop_screen(self) -> AwaitComplete:
        self.capture_mouse(None)
        closed = self.screen
        closing = super().pop_screen()
        self.type_ahead.closed(closed)
        self._screen_changed()
        return closing

    @override
    def switch_mode(self, mode: str) -> AwaitMount:
        """Switch the mode; keys typed from now on are delivered to its screen.

        Raises:
            TooLate: a command switches it, and the user is at something else.
        """
        if self.screen_stack and self.type_ahead.is_late(asks=False):
            raise TooLate
        self.capture_mouse(None)
        switching = super().switch_mode(mode)
        self.type_ahead.opened(self.screen)
        self._screen_changed()
        return switching

    def _screen_changed(self) -> None:
        if self.observer:
            self.observer.screen_changed()

    async def on_unmount(self) -> None:
        """Stop the background sync, and close the engines."""
        if self._background_refresh:
            await self._background_refresh.close()
        if self._profile_inboxes:
            await self._profile_inboxes.close()
        if self._engine:
            await self._engine.close()

    @override
    def exit(self, *args: Any, **more: Any) -> None:
        self._is_connected = True  # send no requests any more
        save = getattr(self.screen, "save_snapshot", None) if self.screen_stack else None
        if save:
            save()
        if self._engine and self.screen_stack:
            self.navigation.store_last_place()
        if self.pictures.is_used:
            self.write_to_terminal(self.pictures.deletion())
        super().exit(*args, **more)

    @override
    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a message in the footer, for some seconds or until the next key, instead of Textual's toast."""
        self.notices.show(message, self._place)
        self._notice_shown()

    def show_error(self, error: PresscheckError) -> None:
        """Show an error in the footer, with the API request that failed, if any."""
        self.notices.show_error(error, self._place)
        self._notice_shown()

    @property
    def _place(self) -> Screen[Any] | None:
        """The topmost full screen, whose footer shows messages."""
        full = (screen for screen in reversed(self.screen_stack) if not screen.is_modal)
        return next(full, None) if self.screen_stack else None

    def _notice_shown(self) -> None:
        """Draw a new message, and start the timer that clears the message."""
        if self._notice_timer:
            self._notice_timer.stop()
        self._notice_timer = self.set_timer(NOTICE_SECONDS, self._end_notice)
        self._refresh_status_bars()

    def _end_notice(self) -> None:
        self.notices.clear()
        self._refresh_status_bars()

    def _copy_selection(self) -> bool:
        """Copy the text selected by the mouse. Return False if nothing is selected."""
        text = self.screen.get_selected_text() if self.screen_stack else None
        if not text:
            return False
        self.copy_to_clipboard(text)
        self.screen.clear_selection()
        self.notify("copied the selected text")
        return True

    def command_handlers(self) -> tuple[object, ...]:
        """Return the objects with the commands that work on every screen."""
        return (self.navigation,)

    def own_handlers(self, screen: Screen[Any]) -> Sequence[OwnHandler]:
        """Return the user's own commands with their handlers for a screen."""
        if not self.keymap.own_commands:
            return ()
        from presscheck.tui.screens.own_commands import own_handlers  # 9 ms, only with own commands

        return own_handlers(cast("BaseScreen", screen), self.keymap.own_commands)

    def close_screen(self) -> None:
        """Close the top screen unless it is the only screen of the stack."""
        self.navigation.command_back()

    def remember_review(self, space_id: str, change_request_id: str) -> None:
        """Make a change request the target of the command `go_review`."""
        self.navigation.last_review = (space_id, change_request_id)

    def go(self, place: Place) -> Awaitable[Screen[Any]]:
        """Go to a place, and return its screen."""
        return self.navigation.go(place)

    async def go_to_profile(self, place: Place) -> None:
        """Go to a place of another profile, or of the profile of the app. See `Navigation.go_to_profile`."""
        await self.navigation.go_to_profile(place)

    def place_reason(self, place: Place) -> str | None:
        """Return why the user cannot go to a place, or None."""
        return self.navigation.place_reason(place)

    def open_permissions(self, organization: Organization, thing: Container | OrganizationMember) -> None:
        """Show the access levels in a container or of a member, each with its source."""
        self.navigation.open_permissions(organization, thing)

    def write_to_terminal(self, sequence: str) -> None:
        """Write an escape sequence, such as a notification, to the terminal."""
        if self._driver is not None:
            self._driver.write(sequence)
            self._driver.flush()

    def notice_line(self, place: Screen[Any]) -> Line:
        """Return the current message of a screen; empty without a message."""
        return self.notices.line(place) if self.notices.shown else ()

    def clear_notice(self) -> None:
        """Clear the message."""
        if self.notices.shown:
            self.notices.clear()

    def repaint(self, _: object = None) -> None:
        """Send the whole screen to the terminal again."""
        self._painter.reset()
        self.pictures.forget_terminal()
        self.refresh()

    def on_resize(self) -> None:
        """Reset the painter, because the resize changed the lines on the terminal, and measure the cells again."""
        self._painter.reset()
        self.pictures.measure_again()
        if self._size_timer:
            self._size_timer.stop()
        self._size_timer = self.set_timer(SETTLED, self._check_size)

    def _check_size(self) -> None:
        """Use the current size of the terminal if Textual reported an older one last.

        Textual reads and then reports the size in a signal handler. Another resize may interrupt it between the two
        steps.
        """
        self._size_timer = None
        if self.is_headless or self.is_web or self.supports_smooth_scrolling:  # the last: the terminal reports its size
            return
        size = Size(*shutil.get_terminal_size())
        if size != self.size:
            self.post_message(Resize(size, size))

    @override
    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        if isinstance(renderable, CompositorUpdate):
            if screen.outer_size != self._painted_size:  # the size of the last layout; `size` already has the new size
                # between `on_resize` and the new layout, lines of the old size may have scrolled the terminal
                self._painted_size = screen.outer_size
                self._painter.reset()
            if self.bandwidth.is_low and not self._is_sent_now(screen, renderable):
                return
            is_part = self.bandwidth.is_low and self._painted is screen
            first = self.focused.region if is_part and self.focused else None
            self._painted = screen
            renderable = cast("Any", self._painter.update(renderable, first))  # Textual declares a narrower type
        super()._display(screen, renderable)  # screens are generic
        # the cache holds the last 1,024 drawn widgets, including widgets of closed screens with all their lines
        StylesCache.get_inner_outer.cache_clear()

    @override
    def _begin_update(self) -> None:
        if not self.bandwidth.is_low:  # a slow terminal should show text as it arrives; this also saves 16 bytes
            super()._begin_update()

    @override
    def _end_update(self) -> None:
        if not self.bandwidth.is_low:
            super()._end_update()

    def _is_sent_now(self, screen: Screen[Any], update: CompositorUpdate) -> bool:
        """Return whether to send a change to a slow terminal at once; otherwise a timer sends it.

        Changes that respond to a key, or open a screen, are sent at once.
        """
        is_opened, is_answer = self._painted is not screen, monotonic() - self._last_key < ANSWER
        if is_opened or not self._paint_timer:
            self._paint_later(OPENING if is_opened else PAUSE)
        if not (is_opened or is_answer):
            self._painter.take(update)
        return is_opened or is_answer

    def _paint_later(self, seconds: float) -> None:
        """Start the timer that sends the delayed changes. It replaces a timer that is running."""
        if self._paint_timer:
            self._paint_timer.stop()
        self._paint_timer = self.set_timer(seconds, self._paint_all)

    def _paint_all(self) -> None:
        """Send the delayed changes."""
        self._paint_timer = None
        if self._painter.has_more:
            super()._display(self.screen, cast("Any", self._painter.update()))

    @override
    def copy_to_clipboard(self, text: str) -> None:
        from presscheck.tui.terminal.clipboard import clipboard_sequence  # 1 ms, only to copy

        self._clipboard = text
        self.write_to_terminal(clipboard_sequence(text, os.environ))

    def _ask_terminal(self) -> None:
        """Query the terminal's attributes, to measure the time until it answers."""
        self.bandwidth.asked()
        self.write_to_terminal(QUESTION)

    def _terminal_answered(self, answer: DeviceAttributes) -> None:
        if self.bandwidth.answered(answer.time):
            self.set_timer(PAUSE, self._ask_terminal)
        elif self.bandwidth.is_low:
            self.animation_level = "none"
            self.repaint()  # with fewer colors
            self.notify("slow terminal: sending less; PRESSCHECK_LOW_BANDWIDTH=off prevents it")

    def run_to_end(self) -> int:
        """Run until the app exits. Return the exit code."""
        show_joiners(joiners_of(os.environ))
        code = self.run()
        flush_or_discard()
        if self._exception is not None:
            self.notices.write_traceback(self._exception)
            return INTERNAL_ERROR
        # the app ended without an exit code: the terminal was closed
        return SIGNAL_EXIT_CODES[signal.SIGHUP] if code is None else code

    def on_load(self) -> None:
        """Install handlers for errors of background tasks, and for the signals that end the app."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._log_error)
        for number, code in SIGNAL_EXIT_CODES.items():
            loop.add_signal_handler(number, self._end, code)
        loop.add_signal_handler(signal.SIGHUP, self._hang_up)

    def _log_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Write an error that no caller gets to the log file: while the app runs, standard error is not visible."""
        if error := context.get("exception"):
            self.notices.write_traceback(error, context["message"])
        loop.default_exception_handler(context)

    def _end(self, code: int) -> None:
        """Exit the app. While the first screen is being opened, exit after that, because Textual would fail."""
        if self._is_opening:
            self._end_code = code
        else:
            self.exit(code)

    def _first_screen_opened(self) -> None:
        self._is_opening = False
        self.type_ahead.started()
        if self._end_code is not None:
            self.exit(self._end_code)

    def _watch_terminal(self) -> None:
        """Check regularly whether the terminal still exists, because not every lost terminal sends a signal.

        A hang-up also sends SIGCONT, after which Textual would draw on the lost terminal.
        """
        resume = signal.getsignal(signal.SIGCONT)

        def resume_on_terminal(number: int, frame: FrameType | None) -> None:
            if is_terminal() and callable(resume):
                resume(number, frame)

        signal.signal(signal.SIGCONT, resume_on_terminal)
        self.set_interval(TERMINAL_CHECK, self._end_without_terminal)

    def _end_without_terminal(self) -> None:
        """Exit as on a hang-up if the terminal is gone.

        Only the first program in a terminal receives the signal. If that is a program that waits for the app, such as
        `make`, the app would never exit, and Textual would read the end of its input in a loop.
        """
        if not is_terminal():
            self._hang_up()

    def _hang_up(self) -> None:
        """Exit because the terminal is gone.

        If Textual still waits for the terminal after `LONGEST_END`, terminate the process; the store is closed by then.
        """
        code = SIGNAL_EXIT_CODES[signal.SIGHUP]
        end = ThreadTimer(LONGEST_END, os._exit, (code,))
        end.daemon = True
        end.start()
        self._end(code)

    @override
    def _build_driver(self, headless: bool, inline: bool, mouse: bool, size: tuple[int, int] | None) -> Driver:
        driver = super()._build_driver(headless, inline, mouse, size)
        module = sys.modules[type(driver).__module__]
        if hasattr(module, "XTermParser"):
            vars(module)["XTermParser"] = AnswerParser
        if stream := getattr(driver, "_file", None):  # drivers with a writer thread
            vars(driver)["_file"] = TerminalStream(stream)
        return driver

    @override
    def _fatal_error(self) -> None:
        """Exit after an internal error, without printing local variables, which may contain secrets."""
        self._close_messages_no_wait()

    @override
    def _print_error_renderables(self) -> None:
        self._exit_renderables.clear()
        if self._exception is not None:
            where = f"; details in {self.notices.log}" if self.notices.log else ""
            self.error_console.print(f"presscheck crashed (internal error){where}", markup=False, highlight=False)

    def _show_engine_notices(self) -> None:
        new, self._notices_shown = self.engine.notices[self._notices_shown :], len(self.engine.notices)
        for notice in new:
            self.notify(notice)

    def _take_left_texts(self) -> None:
        """Recover texts that were open in an editor when the app was killed, as drafts."""
        from presscheck.store.open_texts import take_left_texts  # 4 ms, only after the first paint

        try:
            left = take_left_texts(self.engine.outbox)
        except PresscheckError as error:
            self.show_error(error)
            return
        if left:
            drafts = "a draft: the text that was" if left == 1 else f"{left} drafts: the texts that were"
            self.notify(f"{key_for('go_outbox')} {tab_label(3)} shows {drafts} open in your editor")

    def _refresh_status_bars(self) -> None:
        refresh = getattr(self.screen, "refresh_status_bars", None) if self.screen_stack else None
        if refresh:
            refresh()
