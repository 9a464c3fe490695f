"""The base of every full screen: status bar, footer, key sequences, commands, subscriptions and error display.

Every screen has the commands that move in the focused pane, switch panes and find text. A click on a key hint presses
the key, and a double click runs the command `open` on the clicked item.

A screen lists the objects that handle its commands in `command_handlers`; its `command_table` is built from them. A
`PresscheckError` raised anywhere in a screen is shown by the app.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.css.query import NoMatches
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.worker import Worker
from typing_extensions import override

from presscheck.config.browser_tab import is_in_browser
from presscheck.engine.results import Result
from presscheck.errors import PresscheckError
from presscheck.text.phrases import span
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, width
from presscheck.tui.commands import ASK_FOR_TEXT, COMMANDS, NEED_TERMINAL, NO_TERMINAL, CommandTable, shown, where
from presscheck.tui.keyboard import KeySequences, key_name
from presscheck.tui.places import Place
from presscheck.tui.terminal.output import LineCompositor
from presscheck.tui.ui.find import Find
from presscheck.tui.ui.stored_choice import StoredChoice
from presscheck.tui.widgets.line_view import END, LineView
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.pane_border import PaneBorder
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.search_inputs import FindBar
from presscheck.tui.widgets.status_bar import (
    StatusLine,
    WhichKey,
    key_hints,
    pending_keys,
    pressing,
)
from presscheck.tui.widgets.tree import Tree

if TYPE_CHECKING:
    from textual.screen import ModalScreen
    from textual.timer import TimerCallback

    from presscheck.engine.connection import Status
    from presscheck.engine.engine import Engine
    from presscheck.tui.app_context import AppContext
    from presscheck.tui.commands import Command, Keymap
    from presscheck.tui.ui.content_place import ContentPlace

T = TypeVar("T")
Work = Awaitable[Any] | Callable[[], Awaitable[Any]]
"""An awaitable, or a function that returns an awaitable, for exclusive work that may be cancelled before it starts."""
NARROW = 100
"""Screens below this width, in cells, have the class `narrow`: details are shown below, or after enter."""
WIDE = 150
"""Screens from this width, in cells, have the class `wide`: trees and lists of pages are wider."""
FOLDED = 60
"""Screens up to this width, in cells, have the class `folded`: a tree or list of pages covers the page while in use."""
POPUP_DELAY = 0.3
"""Seconds before the continuations of a key prefix are shown."""
SIGN_AFTER = 1.0
"""Seconds until a message says that a command is waiting."""
CLOCK_INTERVAL = 30.0
"""Seconds between updates of the time spent offline."""
ARRIVAL_CHECK = 0.05
"""Seconds between two checks of `run_command_at` whether the screen shows the place."""
ARRIVAL_CHECKS = 100
"""Maximum number of these checks."""


class PaneCommands:
    """The commands that move in the focused pane.

    Args:
        screen: the screen with the panes.
    """

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen

    @property
    def pane(self) -> LineView | None:
        """The focused list, tree or text, or None."""
        focused = self._screen.focused
        return focused if isinstance(focused, LineView) else None

    def command_down(self) -> None:
        """Move down one line."""
        self._move(1)

    def command_up(self) -> None:
        """Move up one line."""
        self._move(-1)

    def command_top(self) -> None:
        """Move to the top."""
        self._move(-END)

    def command_bottom(self) -> None:
        """Move to the bottom."""
        self._move(END)

    def command_half_down(self) -> None:
        """Move half a page down."""
        if self.pane:
            self.pane.move_half_pages(1)

    def command_half_up(self) -> None:
        """Move half a page up."""
        if self.pane:
            self.pane.move_half_pages(-1)

    def command_left(self) -> None:
        """Collapse a tree node, go back in tabs or a wide table, or focus the pane on the left."""
        if isinstance(self.pane, PageView) and self.pane.step_sideways(-1):
            return
        if not (isinstance(self.pane, Tree) and self.pane.collapse_node()) and not self._is_at_end(0):
            self.command_previous_pane()

    def command_right(self) -> None:
        """Expand a tree node, go forward in tabs or a wide table, or focus the pane on the right."""
        if isinstance(self.pane, PageView) and self.pane.step_sideways(1):
            return
        if not (isinstance(self.pane, Tree) and self.pane.expand_node()) and not self._is_at_end(-1):
            self.command_next_pane()

    def command_next_pane(self) -> None:
        """Focus the next pane."""
        self._screen.focus_next()

    def command_previous_pane(self) -> None:
        """Focus the previous pane."""
        self._screen.focus_previous()

    def command_labels(self) -> None:
        """Label the visible links of a page, so that typing a label follows the link."""
        for page in self._screen.query(PageView):
            if page.display and page.label_links():
                self._screen.set_focus(page)  # at once: the next key is a label, and would be a command elsewhere
                return
        self._screen.notify("no links in view")

    def _move(self, by: int) -> None:
        if self.pane:
            self.pane.move(by)

    def _is_at_end(self, end: int) -> bool:
        """Return whether the first pane (0) or the last pane (-1) has the focus."""
        panes = self._screen.focus_chain
        return bool(panes) and self._screen.focused is panes[end]


class BaseScreen(Screen[None], inherit_bindings=False):
    """A full screen with commands, a status bar at the top and a footer at the bottom.

    `FOOTER` names the commands whose keys the footer shows; `footer_commands` may depend on the cursor. `FOOTER_TITLES`
    maps names of commands to titles that are more specific on this screen. The list of keys begins with the commands
    of `SCOPE`, and explains the signs of `LEGEND`, which are pairs of a sign and its meaning.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = "BaseScreen { layers: default above; layout: vertical; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("open", "next_pane", "find_here", "palette", "go_inbox", "close")
    FOOTER_TITLES: ClassVar[Mapping[str, str]] = {}
    SCOPE: ClassVar[str] = ""
    LEGEND: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __init__(self) -> None:
        super().__init__()
        self._compositor = LineCompositor()
        self.keys = KeySequences(())
        self.last_key = ""
        self.selected_text = ""
        """The text that was selected with the mouse before the last key, which ended the selection."""
        self._command_table: tuple[Keymap, CommandTable] | None = None
        self.pane_commands = PaneCommands(self)
        self.find = Find(self)
        self._engine: Engine | None = None
        self._connection: Status | None = None
        """The latest state of the connection; None before the status bar is first drawn."""
        self._stop_status: Callable[[], None] | None = None
        self._popup_timer: Timer | None = None
        self._clock: Timer | None = None
        self._will_draw_bars = False
        self._when_shown: dict[str, Callable[[], None]] = {}
        self._resumed = asyncio.Event()

    @property
    def app_context(self) -> AppContext:
        """The app."""
        return cast("AppContext", self.app)  # App is generic in its result

    @property
    def engine(self) -> Engine:
        """The engine behind all screens; the app opens it once."""
        if self._engine is None:
            self._engine = self.app_context.engine
        return self._engine

    @property
    def is_leaving(self) -> bool:
        """Whether the screen is being closed, so that some of its widgets may be gone."""
        return self._closing or self._closed or self._pruning

    @property
    def is_shown(self) -> bool:
        """Whether this is the topmost full screen; a dialog may be open above it."""
        stack = reversed(self.app_context.screen_stack)
        return next((screen for screen in stack if isinstance(screen, BaseScreen)), None) is self

    def place(self) -> Place | None:
        """Return the user's current place; None if the screen belongs to the screen below it and closes with it."""
        return None

    def go_to(self, place: Place) -> None:
        """Go to a place of this screen once the content of the place is loaded."""

    def has_arrived(self, place: Place) -> bool:
        """Return whether the screen shows a place after `go_to`, so that a command can run at the place."""
        here = self.place()
        return here is not None and (not place.ids or here.ids == place.ids)

    async def run_command_at(self, place: Place) -> None:
        """Run the command of a place once the screen shows the place, unless the user presses another key first."""
        pressed = self.last_key
        for _ in range(ARRIVAL_CHECKS):
            if self.has_arrived(place):
                break
            await asyncio.sleep(ARRIVAL_CHECK)
        command = self.command_table.command(place.command)
        if command is None or self.last_key != pressed or self.app_context.screen is not self:
            return
        if self.has_arrived(place):
            self.run_command(command)
        else:
            keys = self.app_context.keymap.label(command.name)
            self.notify(f"still loading, so {command.title} was not started: {keys} starts it")
        self.refresh_status_bars()

    def when_shown(self, key: str, action: Callable[[], None]) -> None:
        """Run an action now, or once the screen is shown again. It replaces a waiting action with the same key."""
        self._when_shown.pop(key, None)
        if self.is_shown:
            action()
        else:
            self._when_shown[key] = action

    def command_handlers(self) -> Iterable[object]:
        """Return the objects that handle commands of this screen, in methods `command_<name>` and `reason_<name>`.

        The first object that has a method wins. The commands of panes, the search and the app come after these.
        """
        return (self,)

    def parts(self) -> Mapping[str, object]:
        """Return the objects, by title, that handle commands only while they are shown, such as tabs."""
        return {}

    def shown_parts(self) -> Iterable[object]:
        """Return the visible parts, which handle commands before all other objects."""
        return ()

    def redraw(self) -> None:
        """Draw the screen again because its data changed; a hidden screen is drawn once it is shown."""
        if self.is_mounted and not self.is_leaving:
            self.when_shown("redraw", self.draw)

    def draw(self) -> None:
        """Draw the screen from its current data."""

    @property
    def command_table(self) -> CommandTable:
        """The commands of this screen and of the app, with their handlers and the reasons why they are disabled."""
        keymap = self.app_context.keymap
        if self._command_table is None or self._command_table[0].own_commands != keymap.own_commands:
            owners = (*self.command_handlers(), self.pane_commands, self.find, *self.app_context.command_handlers())
            own = self.app_context.own_handlers(self)
            self._command_table = keymap, CommandTable(owners, self.parts(), self.shown_parts, own)
        return self._command_table[1]

    def field(self, name: str) -> str:
        """Return the value of a field in the user's own commands, such as `page`; empty if this screen has none."""
        place = self.content_place() if name == "space" else None
        return place.space_id if place else ""

    @property
    def text_pane(self) -> LineView | None:
        """The pane to search and to copy from: by default the focused pane."""
        return self.pane_commands.pane

    def content_place(self) -> ContentPlace | None:
        """Return the space that the screen shows, for the lists of links and files; None without a space."""
        return None

    def title_line(self) -> Line:
        """Return the title, on the left of the status bar."""
        return (Span(" presscheck", "strong"),)

    def clickable(self, command: str, *spans: Span) -> Line:
        """Return text that runs a command when it is clicked."""
        return pressing(self.app_context.keymap.first(command), *spans)

    def body(self) -> ComposeResult:
        """Yield the widgets between the status bar and the footer."""
        yield from ()

    @override
    def compose(self) -> ComposeResult:
        yield StatusLine(id="above")
        yield from self.body()
        yield StatusLine(id="below")
        yield WhichKey()

    def on_mount(self) -> None:
        """Build the command table, restore pane widths and subscribe to the state of the connection."""
        if self._stop_status is None:
            self.keys = self._key_sequences()
            self._stop_status = self.engine.on_status(self._take_status)
            for border in self.query(PaneBorder):
                width = self._stored_width(border)
                if width.value.isdecimal():
                    (border.use_setting if width.is_setting else border.set_columns)(int(width.value))
            self.refresh_status_bars()

    def _key_sequences(self) -> KeySequences:
        own = self.command_table.commands
        elsewhere = [command for command in COMMANDS if command not in own]
        return KeySequences(own, self.app_context.keymap, elsewhere)

    def on_unmount(self) -> None:
        """Stop listening to the state of the connection."""
        if self._stop_status:
            self._stop_status()
            self._stop_status = None

    def on_screen_resume(self) -> None:
        """Run the actions that waited while the screen was hidden."""
        for screen in self.app_context.screen_stack:  # also the screens below that own parts of this screen
            if isinstance(screen, BaseScreen):
                screen._resumed.set()
        actions, self._when_shown = self._when_shown, {}
        for action in actions.values():
            action()
        self.refresh_status_bars()

    def on_resize(self) -> None:
        """Set the CSS classes for the width of the screen, and fit the status bar and the footer to the width."""
        self.set_class(self.size.width < NARROW, "narrow")
        self.set_class(self.size.width >= WIDE, "wide")
        self.set_class(self.size.width <= FOLDED, "folded")
        for border in self.query(PaneBorder):
            border.screen_resized()
        self.refresh_status_bars()

    def _take_status(self, status: Status) -> None:
        self._connection = status
        if self.app_context.screen_stack[-1:] == [self]:
            self.status_changed()

    def status_changed(self) -> None:
        """Show a new state of the connection and the outbox. A covered screen shows it when it is on top again."""
        self.refresh_status_bars()

    def refresh_status_bars(self) -> None:
        """Draw the status bar and the footer soon; several calls during a key press draw them once."""
        if not self._will_draw_bars:
            self._will_draw_bars = True
            self.call_later(self._draw_status_bars)

    def end_notice(self) -> None:
        """Clear the message in the footer at once, because the footer is not drawn while a dialog is open."""
        self.app_context.clear_notice()
        self._draw_status_bars()

    def _draw_status_bars(self) -> None:
        self._will_draw_bars = False
        if not self.is_mounted or self.is_leaving or self.app_context.screen is not self:
            return
        status = self._connection = self._connection or self.engine.status
        state = connection_state(status, self.app_context.profile.name, self.app_context.keymap)
        self.query_one("#above", StatusLine).show(self.title_line(), state)
        self._show_footer()
        if not status.online and self._clock is None:
            self._clock = self.set_interval(CLOCK_INTERVAL, self.refresh_status_bars)
        elif status.online and self._clock:
            self._clock.stop()
            self._clock = None

    @property
    def footer_commands(self) -> tuple[str, ...]:
        """The names of the commands in the footer."""
        return self.FOOTER

    @property
    def footer_titles(self) -> Mapping[str, str]:
        """The titles that replace the general titles of commands, also in the list of keys after a prefix."""
        return self.FOOTER_TITLES

    def footer_hints(self, columns: int | None = None) -> Line:
        """Return the key hints of the footer; `columns` is the available width, by default the whole line."""
        columns = self.size.width if columns is None else columns
        keymap = self.app_context.keymap
        return key_hints(self.footer_commands, self.command_table, keymap, columns, self.footer_titles)

    def _show_footer(self) -> None:
        """Show key hints on the left, and a message or the state of the search on the right."""
        notice = self.app_context.notice_line(self)
        message = self.clickable("errors", *notice) if notice else self.find.line() if self.find.pane else ()
        columns, pending = self.size.width, self.keys.pending
        if message:
            message = cut(message, max(0, columns - width(self.footer_hints(0)) - 3))
            columns -= width(message)
        hints = pending_keys(pending) if pending else self.footer_hints(columns)
        self.query_one("#below", StatusLine).show(hints, message)

    def subscribe(
        self,
        answers: AsyncIterator[Result[T]],
        handle: Callable[[Result[T]], None],
        *,
        group: str,
        shows_errors: bool = True,
    ) -> None:
        """Pass each answer to `handle` until the group is subscribed again or the screen is closed.

        A hidden screen requests nothing, and gets only the latest answer when it is shown again. The footer shows
        errors unless `shows_errors` is False, for screens that show them in place of the answer.
        """

        def deliver(result: Result[T]) -> None:
            if shows_errors and result.error and result.state != "offline":
                self.app_context.show_error(result.error)
            handle(result)

        async def receive() -> None:
            try:
                async for result in answers:
                    self.when_shown(group, partial(deliver, result))
                    while result.state == "cached" and not self.is_shown:
                        self._resumed.clear()
                        await self._resumed.wait()  # the next answer would be requested from the service
            finally:
                if isinstance(answers, AsyncGenerator):  # a suspended generator would stay subscribed
                    await answers.aclose()

        self._when_shown.pop(group, None)
        self.run(receive, group=group, exclusive=True)

    def unsubscribe(self, group: str) -> None:
        """End the subscription of this group."""
        self._when_shown.pop(group, None)
        self.workers.cancel_group(self, group)  # workers are generic

    def run(self, work: Work, *, group: str = "work", exclusive: bool = False) -> Worker[None]:
        """Run asynchronous work in a worker and show its error; closing the screen cancels it."""
        start = work if callable(work) else lambda: work

        async def guarded() -> None:
            try:
                await start()
            except PresscheckError as error:
                self.app_context.show_error(error)
            except NoMatches:
                if not self.is_leaving:
                    raise

        # a function, not a coroutine: a screen that is being closed starts no worker, and would never await a coroutine
        return self.run_worker(guarded, group=group, exclusive=exclusive)

    @override
    def set_timer(
        self,
        delay: float,
        callback: TimerCallback | None = None,
        *,
        name: str | None = None,
        pause: bool = False,
    ) -> Timer:
        """Call a function after `delay` seconds, unless the screen is being closed: its widgets may be gone."""
        if callback is None:
            return super().set_timer(delay, name=name, pause=pause)
        return super().set_timer(delay, lambda: None if self.is_leaving else callback(), name=name, pause=pause)

    async def ask(self, question: ModalScreen[T]) -> T | None:
        """Open a dialog and return its result, or None if it was closed. For async commands and `run` only."""
        self.engine.prepare_writes()
        self.end_notice()
        return await self.app_context.push_screen_wait(question)

    def handler(self, name: str) -> Callable[[], Any] | None:
        """Return the method that runs a command, or None if this screen lacks the command."""
        return self.command_table.handler(name)

    def has_key_for(self, command: Command) -> bool:
        """Return whether the keys of a command of this screen run it now. An editor takes most keys for its text."""
        return True

    def disabled_reason(self, name: str) -> str | None:
        """Return why a command cannot run now, or None if it can."""
        if name in NEED_TERMINAL and is_in_browser() and self.handler(name):
            return NO_TERMINAL
        return self.command_table.disabled_reason(name)

    def run_command(self, command: Command) -> None:
        """Run a command, or show why it is disabled."""
        observer = self.app_context.observer
        if observer and observer.takes(command.name):
            return
        handler, reason = self.handler(command.name), self.disabled_reason(command.name)
        if command.name in ASK_FOR_TEXT and (reason or not handler):
            self.app_context.type_ahead.drop_burst()
        if reason:
            self.notify(reason)
        elif handler:
            work = self.invoke(handler, command)
            if observer:
                observer.ran(command.name, work)
        else:
            keys = self.app_context.keymap.label(command.name)
            self.notify(f"{keys} ({command.title}) works {where(command).words}, not here")

    def invoke(self, handler: Callable[[], Any], command: Command | None = None) -> Worker[None] | None:
        """Call a handler and show its error. Return the worker of an asynchronous handler.

        If it opens nothing for `SIGN_AFTER` seconds, a message says that `command` is waiting.
        """
        try:
            result = handler()
        except PresscheckError as error:
            self.app_context.show_error(error)
            return None
        if not isawaitable(result):
            return None
        asks_for_text = command is not None and command.name in ASK_FOR_TEXT
        worker = self.run(self.app_context.type_ahead.command(result, asks_for_text=asks_for_text))
        if command:
            self.set_timer(SIGN_AFTER, lambda: self._show_waiting(command, worker))
        return worker

    def _show_waiting(self, command: Command, worker: Worker[None]) -> None:
        app = self.app_context
        if not worker.is_finished and app.screen is self and not app.notice_line(self):
            self.notify(f"{command.title}: waiting …")

    @property
    def pressed_number(self) -> int:
        """Which of its keys ran the command `tab`, counted from 1; 1 if it was run without a key."""
        keys = self.keys.keymap.keys("tab")
        return keys.index(self.keys.completed) + 1 if self.keys.completed in keys else 1

    def on_key(self, event: events.Key) -> None:
        """Run the command of a key or key sequence."""
        if getattr(self.focused, "takes_text", False):
            return
        event.stop()
        event.prevent_default()
        self.last_key = key_name(event)
        app = self.app_context
        had_notice = bool(app.notice_line(self))
        app.clear_notice()
        had_selection = bool(self.selections)
        self.selected_text = (self.get_selected_text() or "") if had_selection else ""
        self.clear_selection()
        if self.last_key == "escape" and not self.keys.pending and (self.find.end() or had_selection):
            self.refresh_status_bars()
            return
        if self.keys.keymap is not app.keymap:  # the user has changed keys since
            self.keys = self._key_sequences()
        is_prefix_open = bool(self.keys.pending)
        command = self.keys.press(self.last_key)
        self._update_popup()
        if command and (is_prefix_open or had_notice):
            self._draw_status_bars()  # a dialog that the command opens leaves the footer below it as it is now
        if command:
            self.run_command(command)
        elif not self.keys.pending and self.last_key != "escape":
            all_keys = app.keymap.label("help")
            self.notify(f"{sanitize(shown(self.last_key))} has no command here: {all_keys} shows all keys")
        self.refresh_status_bars()

    @on(RowList.RowSelected)
    @on(Tree.NodeSelected)
    def run_open(self) -> None:
        """Run the command `open` after a double click."""
        command = self.command_table.command("open")
        if command:
            self.run_command(command)
            self.refresh_status_bars()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Close the search input on a click above the footer, because the input would get the key of a clicked hint."""
        if event.screen_y < self.size.height - 1:
            self.find.close_bar()

    @on(FindBar.Typed)
    def find_typed(self, event: FindBar.Typed) -> None:
        """Highlight the matches of the typed text."""
        self.find.typed(event.text)

    @on(FindBar.Submitted)
    def find_submitted(self, event: FindBar.Submitted) -> None:
        """Close the search input, and go to the first match after the cursor; without a text, end the search."""
        self.find.submitted(event.text)

    @on(FindBar.Cancelled)
    def find_cancelled(self) -> None:
        """End the search."""
        self.find.end()
        self.refresh_status_bars()

    @on(PaneBorder.Moved)
    def border_moved(self, event: PaneBorder.Moved) -> None:
        """Remember the width of a pane."""
        self._stored_width(event.border).store(str(event.columns))

    @property
    def pane_width(self) -> int | None:
        """The width of the pane on the left in the settings of the profile, or None."""
        return None

    def _stored_width(self, border: PaneBorder) -> StoredChoice:
        return StoredChoice(self.engine.outbox, f"width {type(self).__name__} {border.pane.id}", self.pane_width)

    @override
    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except PresscheckError as error:
            self.app_context.show_error(error)

    def command_refresh(self) -> None:
        """Reload all visible data."""
        self.app_context.clear_notice()
        self.engine.refresh()

    def _update_popup(self) -> None:
        """Show the possible next keys after a delay, or update the open popup at once."""
        if self._popup_timer:
            self._popup_timer.stop()
            self._popup_timer = None
        popup = self.query_one(WhichKey)
        if not self.keys.pending:
            if popup.display:
                popup.close()
        elif popup.display:
            self._open_popup()
        else:
            self._popup_timer = self.set_timer(POPUP_DELAY, self._open_popup)

    def _open_popup(self) -> None:
        title = f"{' '.join(self.keys.pending)} {self.keys.prefix_title()}".strip()
        continuations = self.keys.continuations(self.footer_titles)
        if continuations:  # empty for a prefix that is used only on other screens
            self.query_one(WhichKey).open(title, continuations, self.size.width)


def connection_state(status: Status, profile: str, keymap: Keymap) -> Line:
    """Render the right side of the status bar.

    The parts are running work, failed writes, pending writes, `read-only`, a profile other than the default, and the
    connection. A click on failed or pending writes opens the outbox.
    """
    parts: list[Span] = []
    outbox = keymap.first("go_outbox")
    if status.running:
        parts.append(Span(sanitize(status.running), "quiet"))
    if status.refused:
        parts += pressing(outbox, Span(f"✗ {status.refused} failed", "removed"))
    if status.waiting:
        parts += pressing(outbox, Span(f"◷ {status.waiting} pending", "waiting"))
    if status.read_only:
        parts.append(Span("read-only", "waiting"))
    if profile != "default":
        parts.append(Span(sanitize(profile), "accent"))
    if status.online:
        parts.append(Span("live", "quiet"))
    else:
        ago = span(time.time() - status.offline_since) if status.offline_since else "now"
        parts.append(Span("offline" if ago == "now" else f"offline {ago}", "waiting"))
    return tuple(span_ for part in parts for span_ in (Span(" · ", "quiet"), part))[1:]
