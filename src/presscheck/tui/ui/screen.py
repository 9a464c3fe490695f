"""The base of every full screen: status bar, footer, key sequences, commands, subscriptions and error display.

Every screen has the commands that move in the focused pane, go from pane to pane, and find text. A click on a key hint
presses the key, and a double click runs the command that opens what is under the cursor.

A screen lists the objects that handle its commands in `command_handlers`; one table is built from them when the screen
is mounted. A `PresscheckError` raised anywhere in a screen is shown by the app.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from functools import cached_property, partial
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

from presscheck.engine.results import Result
from presscheck.errors import PresscheckError
from presscheck.text.phrases import span
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, width
from presscheck.tui.commands import COMMANDS, SCOPE_PLACES, CommandTable, keys_of, shown
from presscheck.tui.keyboard import KeySequences, key_name
from presscheck.tui.places import Place
from presscheck.tui.terminal.output import LineCompositor
from presscheck.tui.ui.find import Find
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
"""An awaitable, or for exclusive work a function: a newer one of its group may cancel it before it starts."""
NARROW = 100
"""Below this width a screen has the class `narrow`: details move below, or behind enter."""
POPUP_DELAY = 0.3
"""Seconds before the continuations of a key prefix are shown."""
CLOCK_INTERVAL = 30.0
"""Seconds between updates of the time spent offline."""
_BY_NAME = {command.name: command for command in COMMANDS}


class PaneCommands:
    """Handles the commands that move in the pane that has the focus.

    Args:
        screen: the screen whose panes these are.
    """

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen

    @property
    def pane(self) -> LineView | None:
        """The focused list, tree or text; None if something else has the focus."""
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
        """Collapse a tree node, go back in tabs or a wide table, or focus the pane on the left, if there is one."""
        if isinstance(self.pane, PageView) and self.pane.step_sideways(-1):
            return
        if not (isinstance(self.pane, Tree) and self.pane.collapse_node()) and not self._is_at_end(0):
            self.command_previous_pane()

    def command_right(self) -> None:
        """Expand a tree node, go on in tabs or a wide table, or focus the pane on the right, if there is one."""
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
        """Label the links of the first page shown, to follow one by its label."""
        for page in self._screen.query(PageView):
            if page.display and page.label_links():
                self._screen.set_focus(page)  # at once: the next key is a label, and would be a command elsewhere
                return
        self._screen.notify("no links in view")

    def _move(self, by: int) -> None:
        if self.pane:
            self.pane.move(by)

    def _is_at_end(self, end: int) -> bool:
        """Whether the first pane (0) or the last one (-1) has the focus."""
        panes = self._screen.focus_chain
        return bool(panes) and self._screen.focused is panes[end]


class BaseScreen(Screen[None], inherit_bindings=False):
    """A full screen with a status bar above, a footer below and commands.

    `FOOTER` names the commands whose keys the footer shows; `footer_commands` may depend on the cursor. `FOOTER_TITLES`
    has titles for those that do something more special here, by the name of the command. `SCOPE` is the group of
    commands that the list of keys begins with; `LEGEND` has the signs that it explains, with their words.
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
        self.pane_commands = PaneCommands(self)
        self.find = Find(self)
        self._engine: Engine | None = None
        self._connection: Status | None = None
        """The state of the connection, as the engine told it last; None before the status bar is drawn first."""
        self._stop_status: Callable[[], None] | None = None
        self._popup_timer: Timer | None = None
        self._clock: Timer | None = None
        self._will_draw_bars = False
        self._when_shown: dict[str, Callable[[], None]] = {}
        self._resumed = asyncio.Event()

    @property
    def app_context(self) -> AppContext:
        """The app, as screens see it."""
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
        """Whether the user sees this screen: no other full screen is on top of it, at most a dialog."""
        stack = reversed(self.app_context.screen_stack)
        return next((screen for screen in stack if isinstance(screen, BaseScreen)), None) is self

    def place(self) -> Place | None:
        """Where the user is on this screen; None if it is a part of the screen below it, and closed with that."""
        return None

    def go_to(self, place: Place) -> None:
        """Go to a place of this screen, as soon as that is loaded."""

    def when_shown(self, key: str, action: Callable[[], None]) -> None:
        """Run an action now; on a hidden screen run only the latest one of each key, once it is shown again."""
        self._when_shown.pop(key, None)
        if self.is_shown:
            action()
        else:
            self._when_shown[key] = action

    def command_handlers(self) -> Iterable[object]:
        """The objects that handle commands of this screen, by methods `command_<name>` and `reason_<name>`.

        The first one that has a method wins. Pane commands and those of the app are added after these.
        """
        return (self,)

    def parts(self) -> Mapping[str, object]:
        """The objects that handle commands only while they are shown, by their titles, such as tabs."""
        return {}

    def shown_parts(self) -> Iterable[object]:
        """The parts that are shown: they handle a command before the other objects."""
        return ()

    def redraw(self) -> None:
        """Draw the screen again after something that it shows has changed; a hidden screen waits until it is shown."""
        if self.is_mounted and not self.is_leaving:
            self.when_shown("redraw", self.draw)

    def draw(self) -> None:
        """Draw what the screen shows now."""

    @cached_property
    def command_table(self) -> CommandTable:
        """Handlers and reasons of every command that this screen has."""
        owners = (*self.command_handlers(), self.pane_commands, self.find, *self.app_context.command_handlers())
        return CommandTable(owners, self.parts(), self.shown_parts)

    @property
    def text_pane(self) -> LineView | None:
        """The pane in which text is read, and found: the one with the focus, unless a screen has a better one."""
        return self.pane_commands.pane

    def content_place(self) -> ContentPlace | None:
        """The space that the screen shows, for the list of its links and files; None without one."""
        return None

    def title_line(self) -> Line:
        """The title, on the left of the status bar."""
        return (Span(" presscheck", "strong"),)

    def clickable(self, command: str, *spans: Span) -> Line:
        """Text that runs a command when it is clicked."""
        return pressing(keys_of(_BY_NAME[command], self.app_context.keymap)[0], *spans)

    def body(self) -> ComposeResult:
        """The widgets between status bar and footer."""
        yield from ()

    @override
    def compose(self) -> ComposeResult:
        yield StatusLine(id="above")
        yield from self.body()
        yield StatusLine(id="below")
        yield WhichKey()

    def on_mount(self) -> None:
        """Build the command table and show the state of the connection from now on."""
        if self._stop_status is None:
            own = self.command_table.commands
            elsewhere = [command for command in COMMANDS if command not in own]
            self.keys = KeySequences(own, self.app_context.keymap, elsewhere)
            self._stop_status = self.engine.on_status(self._take_status)
            for border in self.query(PaneBorder):
                columns = self.engine.outbox.recall(self._width_key(border)) or ""
                if columns.isdecimal():
                    border.set_columns(int(columns))
            self.refresh_status_bars()

    def on_unmount(self) -> None:
        """Stop listening to the state of the connection."""
        if self._stop_status:
            self._stop_status()
            self._stop_status = None

    def on_screen_resume(self) -> None:
        """Draw what changed while the screen was hidden."""
        for screen in self.app_context.screen_stack:  # also those below that own parts of this one
            if isinstance(screen, BaseScreen):
                screen._resumed.set()
        actions, self._when_shown = self._when_shown, {}
        for action in actions.values():
            action()
        self.refresh_status_bars()

    def on_resize(self) -> None:
        """Fit both bars to the new width."""
        self.set_class(self.size.width < NARROW, "narrow")
        self.refresh_status_bars()

    def _take_status(self, status: Status) -> None:
        self._connection = status
        self.refresh_status_bars()

    def refresh_status_bars(self) -> None:
        """Draw status bar and footer with the next picture: several changes of one key draw them once."""
        if not self._will_draw_bars:
            self._will_draw_bars = True
            self.call_later(self._draw_status_bars)

    def end_notice(self) -> None:
        """Clear the message at once: below a dialog that opens next, nothing would draw the footer again."""
        self.app_context.clear_notice()
        self._draw_status_bars()

    def _draw_status_bars(self) -> None:
        """Draw status bar and footer, if the screen is on top."""
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
        """The names of the commands whose keys the footer shows now."""
        return self.FOOTER

    @property
    def footer_titles(self) -> Mapping[str, str]:
        """The titles of commands that do something more special here now, also among the keys after a prefix."""
        return self.FOOTER_TITLES

    def footer_hints(self, columns: int | None = None) -> Line:
        """The keys that the footer shows, in its whole width or in so many cells."""
        columns = self.size.width if columns is None else columns
        keymap = self.app_context.keymap
        return key_hints(self.footer_commands, self.command_table, keymap, columns, self.footer_titles)

    def _show_footer(self) -> None:
        """Show the keys that matter here on the left; a message, or what is being found, on the right."""
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

        A hidden screen gets only the latest answer, once it is shown again, and requests nothing before. A failure is
        also shown in the footer, unless the screen shows it where the answer would be (`shows_errors` is False).
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
                if isinstance(answers, AsyncGenerator):  # one that waits for its reader would stay subscribed
                    await answers.aclose()

        self._when_shown.pop(group, None)
        self.run(receive, group=group, exclusive=True)

    def unsubscribe(self, group: str) -> None:
        """End the subscription of this group."""
        self._when_shown.pop(group, None)
        self.workers.cancel_group(self, group)  # workers are generic

    def run(self, work: Work, *, group: str = "work", exclusive: bool = False) -> Worker[None]:
        """Run something asynchronous and show its error; it is cancelled when the screen is closed."""
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
        """Call a function after some seconds, unless the screen is being closed then: its widgets may be gone."""
        if callback is None:
            return super().set_timer(delay, name=name, pause=pause)
        return super().set_timer(delay, lambda: None if self.is_leaving else callback(), name=name, pause=pause)

    async def ask(self, question: ModalScreen[T]) -> T | None:
        """The result of a dialog; None if it was closed. Only in async commands and `run`."""
        self.engine.prepare_writes()
        return await self.app_context.push_screen_wait(question)

    def handler(self, name: str) -> Callable[[], Any] | None:
        """The method that runs a command; None if this screen does not have it."""
        return self.command_table.handler(name)

    def disabled_reason(self, name: str) -> str | None:
        """Why a command cannot run now; None if it can."""
        return self.command_table.disabled_reason(name)

    def run_command(self, command: Command) -> None:
        """Run a command, or show why it is disabled."""
        observer = self.app_context.observer
        if observer and observer.takes(command.name):
            return
        handler, reason = self.handler(command.name), self.disabled_reason(command.name)
        if reason:
            self.notify(reason)
        elif handler:
            work = self.invoke(handler)
            if observer:
                observer.ran(command.name, work)
        else:
            keys = shown(keys_of(command, self.app_context.keymap)[0])
            place = SCOPE_PLACES.get(command.scope, "on other screens")
            self.notify(f"{keys} ({command.title}) works {place}, not here")

    def invoke(self, handler: Callable[[], Any]) -> Worker[None] | None:
        """Call a handler, in the worker that is returned if it is asynchronous; its error is shown."""
        try:
            result = handler()
        except PresscheckError as error:
            self.app_context.show_error(error)
            return None
        return self.run(self.app_context.type_ahead.command(result)) if isawaitable(result) else None

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
        self.clear_selection()
        if self.last_key == "escape" and not self.keys.pending and (self.find.end() or had_selection):
            self.refresh_status_bars()
            return
        is_prefix_open = bool(self.keys.pending)
        command = self.keys.press(self.last_key)
        self._update_popup()
        if command and (is_prefix_open or had_notice):
            self._draw_status_bars()  # a dialog that the command opens leaves the footer below it as it is now
        if command:
            self.run_command(command)
        self.refresh_status_bars()

    @on(RowList.RowSelected)
    @on(Tree.NodeSelected)
    def run_open(self) -> None:
        """Open what was clicked twice."""
        command = self.command_table.command("open")
        if command:
            self.run_command(command)
            self.refresh_status_bars()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Leave the input of the search, if the click is not on it, so that it does not take the keys of a hint."""
        if event.screen_y < self.size.height - 1:
            self.find.close_bar()

    @on(FindBar.Typed)
    def find_typed(self, event: FindBar.Typed) -> None:
        """Mark the matches of the text."""
        self.find.typed(event.text)

    @on(FindBar.Submitted)
    def find_submitted(self, event: FindBar.Submitted) -> None:
        """Go to the first match."""
        self.find.submitted(event.text)

    @on(FindBar.Cancelled)
    def find_cancelled(self) -> None:
        """End the search."""
        self.find.end()
        self.refresh_status_bars()

    @on(PaneBorder.Moved)
    def border_moved(self, event: PaneBorder.Moved) -> None:
        """Remember the width of a pane."""
        self.engine.outbox.remember(self._width_key(event.border), str(event.columns))

    def _width_key(self, border: PaneBorder) -> str:
        return f"width {type(self).__name__} {border.pane.id}"

    @override
    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except PresscheckError as error:
            self.app_context.show_error(error)

    def command_refresh(self) -> None:
        """Request everything that is shown again."""
        self.app_context.clear_notice()
        self.engine.refresh()

    def _update_popup(self) -> None:
        """Show possible next keys after a delay; a popup that is open changes at once."""
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
        if continuations:  # a key that only other screens continue has none
            self.query_one(WhichKey).open(title, continuations, self.size.width)


def connection_state(status: Status, profile: str, keymap: Keymap) -> Line:
    """The connection, pending writes, running work, and the profile if it is not the default one.

    A click on pending or failed writes opens the outbox.
    """
    parts: list[Span] = []
    outbox = keys_of(_BY_NAME["go_outbox"], keymap)[0]
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
