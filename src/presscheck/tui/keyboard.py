"""From key presses to commands: sequences such as `g i`, and keys typed faster than screens open.

A sequence has no timeout: a prefix stays pending until the next key. A key that continues no sequence starts a new one.

Keys that are typed ahead wait, in order, for the first screen, and for the dialog or screen that an earlier key opens.
Textual forwards a key to what has the focus at the moment when the key arrives. Of `C` and a comment typed in one
breath (or sent by a slow line in one packet), the first letters would go to the review, where they are commands. Keys
typed before a confirmation is open are dropped (`drops_type_ahead`), because it was not seen.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from textual import events
from textual.dom import DOMNode
from textual.message_pump import MessagePump
from textual.screen import Screen

from presscheck.tui.commands import COMMANDS, PREFIXES, Command, Keymap, keys_of

PATIENCE = 0.5
"""Seconds for which a command that asks the service before it opens a dialog holds later keys back."""
LIMIT = 5.0
"""Seconds after which a key is delivered though an earlier one was never handled."""
Input = events.Key | events.Paste
RUNNING: ContextVar[object] = ContextVar("RUNNING", default=None)
"""The command that runs, in its task."""


class Continuation(NamedTuple):
    """A possible next key of a pending sequence, with the title of its command."""

    key: str
    title: str


def key_name(event: events.Key) -> str:
    """The name of a key in the command table: the character if it is printable, except `space`."""
    if event.character and event.character.isprintable() and event.key != "space":
        return event.character
    return event.key


def press_keys(app: MessagePump, keys: str) -> None:
    """Press the keys of a sequence, as if they were typed: what a click on a key hint does."""
    for key in keys.split(" "):
        app.post_message(events.Key(key, " " if key == "space" else key if len(key) == 1 else None))


class KeySequences:
    """The pending keys of a sequence, and the commands that they can complete.

    Args:
        commands: those of the screen.
        keymap: the keys that replace those in the table.
        elsewhere: those of other screens. A sequence of theirs is taken as a whole, so that its last key is no command
            of its own here: `v b` starts a review, and is no bookmark in the inbox.
    """

    def __init__(
        self,
        commands: Iterable[Command] = COMMANDS,
        keymap: Keymap | None = None,
        elsewhere: Iterable[Command] = (),
    ) -> None:
        self.commands = tuple(commands)
        self.pending: tuple[str, ...] = ()
        self._by_sequence = _sequences(self.commands, keymap)
        self._elsewhere: dict[tuple[str, ...], Command] = {
            sequence: command for sequence, command in _sequences(elsewhere, keymap).items() if len(sequence) > 1
        }

    def press(self, key: str) -> Command | None:
        """The command that this key completes; None if more keys must follow or no command matches.

        It may be a command of another screen, which has no handler here.
        """
        sequence = (*self.pending, key)
        command = self._by_sequence.get(sequence)
        if command is None and (_is_prefix(sequence, self._by_sequence) or _is_prefix(sequence, self._elsewhere)):
            self.pending = sequence
            return None
        command = command or self._elsewhere.get(sequence)
        if command is None and self.pending:
            self.pending = ()
            return None if key == "escape" else self.press(key)
        self.pending = ()
        return command

    def continuations(self, titles: Mapping[str, str] = MappingProxyType({})) -> list[Continuation]:
        """The possible next keys; empty if no sequence is pending.

        Args:
            titles: the titles of commands, by name, that differ from those of the table.
        """
        length = len(self.pending)
        if not length:
            return []
        return [
            Continuation(" ".join(sequence[length:]), titles.get(command.name, command.title))
            for sequence, command in self._by_sequence.items()
            if len(sequence) > length and sequence[:length] == self.pending
        ]

    def prefix_title(self) -> str:
        """The title of the pending prefix; empty if it has none."""
        return PREFIXES.get(" ".join(self.pending), "")

    def ambiguous(self) -> list[str]:
        """The sequences that can never be typed, because another sequence is their prefix."""
        sequences = [
            " ".join(longer)
            for longer in self._by_sequence
            for shorter in self._by_sequence
            if len(shorter) < len(longer) and longer[: len(shorter)] == shorter
        ]
        return sorted(sequences)


def _sequences(commands: Iterable[Command], keymap: Keymap | None) -> dict[tuple[str, ...], Command]:
    return {tuple(keys.split(" ")): command for command in commands for keys in keys_of(command, keymap)}


def _is_prefix(sequence: tuple[str, ...], others: Iterable[tuple[str, ...]]) -> bool:
    return any(len(other) > len(sequence) and other[: len(sequence)] == sequence for other in others)


class TypeAhead:
    """The keys and pastes that are not delivered yet, and what they wait for.

    Args:
        app: runs the delivery between its other messages.
        deliver: passes an event to what has the focus, as Textual does.
    """

    def __init__(self, app: MessagePump, deliver: Callable[[Input], Awaitable[None]]) -> None:
        self._app, self._deliver = app, deliver
        self._events: deque[Input] = deque()
        self._holds: dict[object, asyncio.TimerHandle] = {}
        """By what events wait for: when they wait no longer for it."""
        self._commands: set[object] = set()
        """The commands that run."""
        self._dialogs: WeakKeyDictionary[Screen[Any], object] = WeakKeyDictionary()
        """By dialog, the command that opened it."""

    @property
    def has_more(self) -> bool:
        """Whether more was typed than what is being handled."""
        return bool(self._events or self._app.message_queue_size)

    def starting(self) -> None:
        """Hold events until `started`: the first screen is not there yet, though its last picture may be."""
        self._hold(self, LIMIT)

    def started(self) -> None:
        """Deliver what was typed since the start."""
        self._release(self)

    def hold(self, token: object) -> None:
        """Hold events until `release` is called for the same object, at most for `LIMIT`."""
        self._hold(token, LIMIT)

    def release(self, token: object) -> None:
        """Deliver events again, unless something else holds them."""
        self._release(token)

    async def take(self, event: Input) -> None:
        """Deliver an event, at once or when nothing holds it back any more."""
        self._events.append(event)
        if len(self._events) == 1:
            await self._deliver_all()

    def hold_until_handled(self, target: DOMNode) -> None:
        """Hold later events until a widget and its parents have handled the one that was just passed to it."""
        token = object()
        pumps = iter([node for node in target.ancestors_with_self if node is not self._app])
        self._hold(token, LIMIT)

        def next_pump() -> None:
            # a message in the queue of each comes after the event, which bubbles up through these queues
            if not any(pump.call_later(next_pump) for pump in pumps):
                self._release(token)

        next_pump()

    def command(self, work: Awaitable[None]) -> Callable[[], Awaitable[None]]:
        """A command to run; later events wait until it opens a dialog or ends, at most for `PATIENCE`."""
        command = object()
        self._commands.add(command)
        self._hold(command, PATIENCE)

        async def run() -> None:
            RUNNING.set(command)
            try:
                await work
            finally:
                self._commands.discard(command)
                self._release(command)

        return run

    def let_go(self) -> None:
        """Hold events no longer for the command that runs: what is typed from now on is not for what it opens."""
        command = RUNNING.get()
        self._commands.discard(command)
        self._release(command)

    def opened(self, screen: Screen[Any]) -> None:
        """Hold later events until a new screen has the focus, instead of for the command that opened it."""
        self._dialogs[screen] = RUNNING.get()
        self._hold(screen, LIMIT)
        # behind the messages that mount the screen and set the focus
        if not screen.call_later(self._ready, screen):
            self._release(screen)
        for command in self._commands & self._holds.keys():
            self._release(command)

    def closed(self, screen: Screen[Any]) -> None:
        """Hold later events for the command whose dialog was closed: it may open another one."""
        command = self._dialogs.pop(screen, None)
        if command in self._commands:
            self._hold(command, PATIENCE)

    def _ready(self, screen: Screen[Any]) -> None:
        if getattr(screen, "drops_type_ahead", False):
            self._events.clear()
        self._release(screen)

    def _release(self, token: object) -> None:
        timer = self._holds.pop(token, None)
        if timer:
            timer.cancel()
            if self._events and not self._holds:
                self._app.call_next(self._deliver_all)

    def _hold(self, token: object, seconds: float) -> None:
        before = self._holds.pop(token, None)
        if before:
            before.cancel()
        self._holds[token] = asyncio.get_running_loop().call_later(seconds, self._release, token)

    async def _deliver_all(self) -> None:
        while self._events and not self._holds:
            await self._deliver(self._events.popleft())
