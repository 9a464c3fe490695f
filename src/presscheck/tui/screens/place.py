"""What every place has: a line above that says where and how the world is, a line below with keys, and one way of keys.

A place follows what the desk knows; a newer question in the same group ends the older one, and leaving ends all. A
`PresscheckError`, wherever in a place it is raised, is shown by the app.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from inspect import isawaitable
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.css.query import NoMatches
from textual.message import Message
from textual.timer import Timer
from textual.worker import Worker

from presscheck.engine.results import Result
from presscheck.errors import PresscheckError
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import COMMANDS, Command
from presscheck.tui.keys import Keys, key_name
from presscheck.tui.screens.moving import Moving
from presscheck.tui.status_lines import footer, world
from presscheck.tui.widgets.bar import Bar
from presscheck.tui.widgets.which_key import WhichKey

if TYPE_CHECKING:
    from textual.screen import ModalScreen

    from presscheck.engine.engine import Engine
    from presscheck.tui.app import PresscheckApp

T = TypeVar("T")
Work = Awaitable[Any] | Callable[[], Awaitable[Any]]
"""What waits; a function where it is exclusive, for the next of its group may overtake it before it begins."""
NARROW = 100
"""Below this many columns a place has the class `narrow`: details move below, or behind enter."""
PATIENCE = 0.3
"""Seconds before the continuations of a prefix are shown."""
CLOCK = 30.0


class Place(Moving, inherit_bindings=False):
    """A screen with a name, the desk behind it, and commands as methods `command_<name>`, plain or async.

    `FOOTER` names the six commands that matter here; a method `reason_<name>` greys a command out while it returns a
    reason.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = "Place { layers: default above; layout: vertical; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("open", "next_pane", "find_here", "palette", "go_inbox", "close")

    def __init__(self) -> None:
        super().__init__()
        self.keys = Keys(())
        self.last_key = ""
        self._unlisten: Callable[[], None] | None = None
        self._popup_timer: Timer | None = None
        self._clock: Timer | None = None

    @property
    def home(self) -> PresscheckApp:
        """The app."""
        return cast("PresscheckApp", self.app)  # pyright: ignore[reportUnknownMemberType]  # generic in its answer

    @property
    def desk(self) -> Engine:
        """The desk."""
        return self.home.desk

    @property
    def is_leaving(self) -> bool:
        """Whether this is on its way out, so that parts of it may be gone."""
        return self._closing or self._closed or self._pruning

    def title_line(self) -> Line:
        """Where this is."""
        return (Span(" presscheck", "strong"),)

    def body(self) -> ComposeResult:
        """What lies between the two lines."""
        yield from ()

    def compose(self) -> ComposeResult:
        """The two lines, and what lies between them."""
        yield Bar(self.home.look, id="above")
        yield from self.body()
        yield Bar(self.home.look, id="below")
        yield WhichKey(self.home.look)

    def on_mount(self) -> None:
        """Show the state of the world from now on."""
        if self._unlisten is None:
            self.keys = Keys(self.commands(), self.home.keymap)
            self._unlisten = self.desk.on_status(lambda _: self.show_world())
            self.show_world()

    def on_unmount(self) -> None:
        """Listen no longer."""
        if self._unlisten:
            self._unlisten()
            self._unlisten = None

    def on_screen_resume(self) -> None:
        """The world went on meanwhile."""
        self.show_world()

    def on_resize(self) -> None:
        """The lines are as wide as the screen."""
        self.set_class(self.size.width < NARROW, "narrow")
        self.show_world()

    def show_world(self) -> None:
        """Write both lines anew, where they say something else."""
        if not self.is_mounted or self.is_leaving or self.home.screen is not self:
            return
        status = self.desk.status
        self.query_one("#above", Bar).show(self.title_line(), world(status, self.home.profile.name))
        self.query_one("#below", Bar).show(footer(self, self.home.notice_line()))
        if not status.online and self._clock is None:
            self._clock = self.set_interval(CLOCK, self.show_world)
        elif status.online and self._clock:
            self._clock.stop()
            self._clock = None

    def follow(
        self,
        answers: AsyncIterator[Result[T]],
        handle: Callable[[Result[T]], None],
        *,
        group: str,
        complains: bool = True,
    ) -> None:
        """Hand each answer to `handle`, until something else is followed in that group or the place is left.

        What failed is said below too, unless the place shows it where the answer would stand (`complains` is False).
        """

        async def run() -> None:
            async for seen in answers:
                if complains and seen.error and seen.state == "failed":
                    self.home.complain(seen.error)
                handle(seen)

        self._start(run, group=group, exclusive=True)

    def unfollow(self, group: str) -> None:
        """Follow nothing in that group any more."""
        self.workers.cancel_group(self, group)  # pyright: ignore[reportUnknownMemberType]  # workers are generic

    def run(self, work: Work, *, group: str = "work", exclusive: bool = False) -> Worker[None]:
        """Do something that waits; what fails is shown. It ends with the place."""
        return self._start(work if callable(work) else lambda: work, group=group, exclusive=exclusive)

    def _start(self, begin: Callable[[], Awaitable[Any]], *, group: str, exclusive: bool) -> Worker[None]:
        async def guarded() -> None:
            try:
                await begin()
            except PresscheckError as error:
                self.home.complain(error)
            except NoMatches:
                if not self.is_leaving:
                    raise

        # not called here: a place that is being left starts nothing, and nothing must be left unawaited
        return self.run_worker(guarded, group=group, exclusive=exclusive)

    async def ask(self, question: ModalScreen[T]) -> T | None:
        """The answer to a sheet, a composer or a picker; None where it was closed. Only in async commands and `run`."""
        return await self.home.push_screen_wait(question)

    def commands(self) -> list[Command]:
        """What can be done here, in the order of the table."""
        return [command for command in COMMANDS if self.doer(command.name)]

    def doer(self, name: str) -> Callable[[], Any] | None:
        """What does a command: the place, or else the app."""
        return getattr(self, f"command_{name}", None) or getattr(self.home, f"command_{name}", None)

    def reason(self, name: str) -> str | None:
        """Why a command cannot be done now; None where it can."""
        found = getattr(self, f"reason_{name}", None) or getattr(self.home, f"reason_{name}", None)
        return found() if found else None

    def do(self, command: Command) -> None:
        """Do a command that this place or the app has; say why where it cannot be done now."""
        doing, why = self.doer(command.name), self.reason(command.name)
        if why:
            self.home.notice(why)
        elif doing:
            self.act(doing)

    def act(self, doing: Callable[[], Any]) -> None:
        """Call this, and wait for it elsewhere if it has to be waited for; what fails is shown."""
        try:
            found = doing()
        except PresscheckError as error:
            self.home.complain(error)
            return
        if isawaitable(found):
            self.run(found)

    def on_key(self, event: events.Key) -> None:
        """Find the command of a key, and do it."""
        if getattr(self.focused, "takes_text", False):
            return
        event.stop()
        event.prevent_default()
        self.last_key = key_name(event)
        self.home.forget_notice(monotonic())
        command = self.keys.press(self.last_key)
        self._popup()
        if command:
            self.do(command)
        self.show_world()

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except PresscheckError as error:
            self.home.complain(error)

    def command_refresh(self) -> None:
        """Ask again for all that is looked at."""
        self.home.forget_notice()
        self.desk.refresh()

    def _popup(self) -> None:
        """Show what may follow, after a while; a popup that is open changes at once."""
        if self._popup_timer:
            self._popup_timer.stop()
            self._popup_timer = None
        popup = self.query_one(WhichKey)
        if not self.keys.pending:
            popup.close()
        elif popup.display:
            self._open_popup()
        else:
            self._popup_timer = self.set_timer(PATIENCE, self._open_popup)

    def _open_popup(self) -> None:
        title = f"{' '.join(self.keys.pending)} {self.keys.prefix_title()}".strip()
        self.query_one(WhichKey).open(title, self.keys.continuations(), self.size.width)
