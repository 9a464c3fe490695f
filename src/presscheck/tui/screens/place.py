"""What every place has: a line above that says where and how the world is, a line below with keys, and one way of keys.

A place follows what the desk knows; a newer question in the same group ends the older one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.widget import Widget

from presscheck.desk.seen import Seen
from presscheck.documents.display_text import display_text
from presscheck.documents.moments import span
from presscheck.documents.spans import Line, Span
from presscheck.tui.commands import COMMANDS, SHOWN, Command
from presscheck.tui.keys import Keys
from presscheck.tui.widgets.bar import Bar

if TYPE_CHECKING:
    from presscheck.desk.desk import Desk
    from presscheck.tui.app import PresscheckApp

T = TypeVar("T")
FOOTER = 6
"""Keys that the line below shows."""


class Place(Screen[None], inherit_bindings=False):
    """A screen with a name, the desk behind it, and commands as methods ``command_<name>``."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self) -> None:
        super().__init__()
        self.keys = Keys()
        self._unlisten: Callable[[], None] | None = None

    @property
    def home(self) -> PresscheckApp:
        """The app."""
        return cast("PresscheckApp", self.app)

    @property
    def desk(self) -> Desk:
        """The desk."""
        return self.home.desk

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

    def on_mount(self) -> None:
        """Show the state of the world from now on."""
        self._unlisten = self.desk.on_status(lambda _: self.show_world())
        self.show_world()

    def on_unmount(self) -> None:
        """Listen no longer."""
        if self._unlisten:
            self._unlisten()

    def on_resize(self) -> None:
        """The lines are as wide as the screen."""
        self.show_world()

    def show_world(self) -> None:
        """Write both lines anew."""
        self.query_one("#above", Bar).show(self.title_line(), self._world())
        self.query_one("#below", Bar).show(self._footer())

    def follow(self, answers: AsyncIterator[Seen[T]], handle: Callable[[Seen[T]], None], *, group: str) -> None:
        """Hand each answer to `handle`, until something else is followed in that group or the place is left."""

        async def run() -> None:
            async for seen in answers:
                if seen.error and seen.state == "failed":
                    self.home.complain(seen.error)
                handle(seen)

        self.run_worker(run(), group=group, exclusive=True)

    def on_key(self, event: events.Key) -> None:
        """Find the command of a key, and do it."""
        event.stop()
        event.prevent_default()
        key = (
            event.character if event.character and event.character.isprintable() and event.key != "space" else event.key
        )
        command = self.keys.press(key)
        if command:
            self.do(command)
        self.show_world()

    def do(self, command: Command) -> None:
        """Do a command that this place or the app has; say why where it cannot be done now."""
        doing = self._doer(command.name)
        if doing is None:
            return
        reason: Callable[[], str | None] | None = getattr(self, f"reason_{command.name}", None)
        why = reason() if reason else None
        if why:
            self.home.notice(why)
        else:
            doing()

    def command_down(self) -> None:
        """Down one line."""
        self._focused().move(1)

    def command_up(self) -> None:
        """Up one line."""
        self._focused().move(-1)

    def command_top(self) -> None:
        """To the top."""
        self._focused().move(-(1 << 30))

    def command_bottom(self) -> None:
        """To the bottom."""
        self._focused().move(1 << 30)

    def command_half_down(self) -> None:
        """Half a page down."""
        self._focused().page(1)

    def command_half_up(self) -> None:
        """Half a page up."""
        self._focused().page(-1)

    def command_refresh(self) -> None:
        """Ask again for all that is looked at."""
        self.desk.refresh()

    def _focused(self) -> Any:
        found = self.focused
        return found if found is not None and hasattr(found, "move") else _Nothing()

    def _doer(self, name: str) -> Callable[[], None] | None:
        return getattr(self, f"command_{name}", None) or getattr(self.home, f"command_{name}", None)

    def _footer(self) -> Line:
        if self.keys.pending:
            found = self.keys.continuations()
            parts = [Span(f" {' '.join(self.keys.pending)} …", "accent")]
            return (*parts, *(span for keys, one in found for span in _key(keys, one.title)))
        known = [one for one in COMMANDS if one.rank and self._doer(one.name)]
        first = sorted(known, key=lambda one: one.rank)[:FOOTER]
        return tuple(span for one in first for span in _key(SHOWN.get(one.keys[0], one.keys[0]), one.title))

    def _world(self) -> Line:
        status, notice = self.desk.status, self.home.last_notice
        parts: list[Span] = []
        if notice:
            parts += [Span(display_text(notice), "waiting"), Span(" · ", "quiet")]
        if status.read_only:
            parts += [Span("read-only", "waiting"), Span(" · ", "quiet")]
        if status.running:
            parts += [Span(status.running, "quiet"), Span(" · ", "quiet")]
        if status.refused:
            parts += [Span(f"✗ {status.refused} refused", "removed"), Span(" · ", "quiet")]
        if status.waiting:
            parts += [Span(f"◷ {status.waiting} waiting", "waiting"), Span(" · ", "quiet")]
        if status.online:
            parts.append(Span("live", "quiet"))
        else:
            parts.append(Span("offline " + span(self.home.offline_seconds()), "waiting"))
        return tuple(parts)


class _Nothing(Widget):
    """Takes movements where there is nothing to move."""

    def move(self, by: int) -> None:
        """Nothing moves."""

    def page(self, halves: int) -> None:
        """Nothing moves."""


def _key(keys: str, title: str) -> tuple[Span, ...]:
    return Span(f" {keys}", "accent"), Span(f" {title} ", "quiet")
