"""Keyboard input: key sequences such as `g i`, and keys that are typed faster than screens open.

A sequence has no timeout: a prefix stays pending until the next key. A key that continues no sequence starts a new
sequence.

Type-ahead: keys wait, in order, for the first screen, and for the dialog or screen that an earlier key opens. Textual
alone forwards each key to the widget with the focus at that moment. If a user types `C` and a comment in a burst, or a
slow line sends them in one packet, the first letters would go to the review and run commands. Keys typed before a
confirmation is open are dropped (`drops_type_ahead`), because the user has not seen the question. Text typed after the
key of a command in `commands.ASK_FOR_TEXT` is dropped, too, if the command opens no dialog.

Keys do not wait for a command for longer than that, so a slow command may want to open a dialog while the user is at
something else. It is late then (`TypeAhead.is_late`) and opens nothing: the next key would answer a question that the
user has not seen.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, NamedTuple
from unicodedata import category
from weakref import WeakKeyDictionary

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.message_pump import MessagePump
from textual.screen import Screen

from presscheck.errors import PresscheckError
from presscheck.tui.commands import COMMANDS, PREFIXES, Command, Keymap

PATIENCE = 0.5
"""Maximum seconds that a running command delays later keys, because it may still open a dialog."""
LIMIT = 5.0
"""Maximum seconds that a key waits for an earlier key to be handled."""
BURST = 0.1
"""Maximum seconds between two keys of a burst."""
Input = events.Key | events.Paste
RUNNING: ContextVar[object] = ContextVar("RUNNING", default=None)
"""The command of the current task."""


class TooLate(PresscheckError):
    """A command wanted to open a screen after the user had gone on; see `TypeAhead.is_late`."""

    def __init__(self) -> None:
        super().__init__("Not opened, because you went on while it loaded: press its key again")


class Continuation(NamedTuple):
    """A possible completion of a pending sequence: the missing keys and the title of the command."""

    key: str
    title: str


def key_name(event: events.Key) -> str:
    """Return the name of a key in the command table: the character if it is printable, except `space` and alt keys."""
    if event.character and event.character.isprintable() and event.key != "space" and not event.key.startswith("alt+"):
        return event.character
    return event.key


def is_alt_letter(event: events.Key) -> bool:
    """Return whether a key is a letter with alt, which is never a text, although Textual's text widgets type it."""
    return event.is_printable and event.key.startswith("alt+")


def as_text(event: Input) -> Input:
    """Convert a key of an invisible character, such as the joiner in emoji or in Persian, to a paste.

    Textual's text widgets ignore keys that are not printable, so the character would be lost.
    """
    if isinstance(event, events.Key) and event.character and category(event.character[0]) == "Cf":
        return events.Paste(event.character)
    return event


def press_keys(app: MessagePump, keys: str) -> None:
    """Press the keys of a sequence as if they were typed, after a click on a key hint."""
    for key in keys.split(" "):
        app.post_message(events.Key(key, " " if key == "space" else key if len(key) == 1 else None))


class KeySequences:
    """A matcher of key sequences, with the pending keys of an incomplete sequence.

    Args:
        commands: the commands of the screen.
        keymap: the keys of the commands; by default the default keys.
        elsewhere: the commands of other screens. Their sequences are matched completely, too: `v b`, which starts a
            review, must not set a bookmark (`b`) in the inbox.
    """

    def __init__(
        self,
        commands: Iterable[Command] = COMMANDS,
        keymap: Keymap | None = None,
        elsewhere: Iterable[Command] = (),
    ) -> None:
        self.commands = tuple(commands)
        self.pending: tuple[str, ...] = ()
        self.completed = ""
        """The keys of the command that was returned last."""
        self.keymap = keymap or Keymap()
        self._by_sequence = _sequences(self.commands, self.keymap)
        self._elsewhere = _sequences(elsewhere, self.keymap)

    def press(self, key: str) -> Command | None:
        """Return the command that a key completes, or None if the sequence is incomplete or unknown.

        The command may belong to another screen and have no handler on this screen.
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
        self.pending, self.completed = (), " ".join(sequence)
        return command

    def continuations(self, titles: Mapping[str, str] = MappingProxyType({})) -> list[Continuation]:
        """Return the ways to complete the pending sequence; empty if no sequence is pending.

        Args:
            titles: titles by name of the command, which replace the general titles.
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
        """Return the title of the pending prefix; empty without a title."""
        return PREFIXES.get(" ".join(self.pending), "")

    def ambiguous(self) -> list[str]:
        """Return the sequences that can never be typed, because another sequence is their prefix."""
        sequences = [
            " ".join(longer)
            for longer in self._by_sequence
            for shorter in self._by_sequence
            if len(shorter) < len(longer) and longer[: len(shorter)] == shorter
        ]
        return sorted(sequences)


def _sequences(commands: Iterable[Command], keymap: Keymap) -> dict[tuple[str, ...], Command]:
    return {tuple(keys.split(" ")): command for command in commands for keys in keymap.keys(command.name)}


def _is_prefix(sequence: tuple[str, ...], others: Iterable[tuple[str, ...]]) -> bool:
    return any(len(other) > len(sequence) and other[: len(sequence)] == sequence for other in others)


class TypeAhead:
    """A queue of keys and pastes that wait until screens, widgets and commands are ready for them.

    Args:
        app: the app, which delivers events between its other messages.
        deliver: passes an event to the focused widget, as Textual does.
    """

    def __init__(self, app: App[Any], deliver: Callable[[Input], Awaitable[None]]) -> None:
        self._app, self._deliver = app, deliver
        self._events: deque[Input] = deque()
        self._holds: dict[object, asyncio.TimerHandle] = {}
        """The timeouts of all holds, by token. Events wait while there is any hold."""
        self._releases = 0
        """The number of holds that end when the app has handled its queued messages."""
        self._commands: dict[object, DOMNode] = {}
        """The running commands, each with the screen from which it may open others."""
        self._overtaken: set[object] = set()
        """The running commands that opened nothing before a later key was handled."""
        self._dialogs: WeakKeyDictionary[Screen[Any], object] = WeakKeyDictionary()
        """The command that opened each dialog."""
        self._without_dialog: set[object] = set()
        """The running commands that ask for a text and have opened no dialog yet."""
        self._last_time = 0.0
        """The time of the last queued event."""
        self._burst_end: float | None = None
        """The time of the last event of the burst that is being dropped."""

    @property
    def has_more(self) -> bool:
        """Whether more events are waiting, here or in the message queue of the app."""
        return bool(self._events) or self._app.message_queue_size > self._releases

    def starting(self) -> None:
        """Hold events until `started`: the user may see only the startup snapshot of the first screen."""
        self._hold(self, LIMIT)

    def started(self) -> None:
        """Deliver the keys typed since the start."""
        self._release(self)

    def hold(self, token: object) -> None:
        """Hold events until `release` is called with the same token, at most for `LIMIT`."""
        self._hold(token, LIMIT)

    def release(self, token: object) -> None:
        """End a hold, and deliver events if there are no other holds."""
        self._release(token)

    async def take(self, event: Input) -> None:
        """Queue an event, which is delivered once there are no holds."""
        self._events.append(event)
        self._last_time = event.time
        if len(self._events) == 1:
            await self._deliver_all()

    def hold_until_handled(self, target: DOMNode) -> None:
        """Hold later events until a widget and its ancestors have handled the event that it just received."""
        token = object()
        pumps = iter([node for node in target.ancestors_with_self if node is not self._app])
        self._hold(token, LIMIT)

        def next_pump() -> None:
            # the event bubbles up through the queues of these nodes; a call queued in each runs after the event
            if not any(pump.call_later(next_pump) for pump in pumps):
                self._release(token)

        next_pump()

    def drop_burst(self) -> None:
        """Drop the text typed so far, and the rest of its burst: it was meant for a dialog that does not open."""
        self._burst_end = self._last_time

    def command(self, work: Awaitable[None], *, asks_for_text: bool = False) -> Callable[[], Awaitable[None]]:
        """Wrap the work of a command. Events wait until the command opens a dialog or ends, at most for `PATIENCE`.

        If the command asks for a text, events wait for up to `LIMIT` seconds, and without a dialog the text is dropped.
        """
        command = object()
        self._commands[command] = self._app.screen
        if asks_for_text:
            self._without_dialog.add(command)
        self._hold(command, LIMIT if asks_for_text else PATIENCE)

        async def run() -> None:
            RUNNING.set(command)
            try:
                await work
            finally:
                self._forget(command)
                self._release(command)

        return run

    def is_late(self, *, asks: bool) -> bool:
        """Return whether the running command wants to open a screen while the user is at something else.

        That is so if the user has opened another screen since, is typing a text, or has pressed any key and the
        command wants to ask something (`asks`).
        """
        command, current = RUNNING.get(), self._app.screen
        if command not in self._commands or self._dialogs.get(current) is command:
            return False
        if current is not self._commands[command]:
            return True
        return command in self._overtaken and (asks or getattr(self._app.focused, "takes_text", False))

    def hold_longer(self) -> None:
        """Hold events for up to `LIMIT` seconds, because keys typed now are for the dialog of the running command."""
        command = RUNNING.get()
        if command in self._commands:
            self._hold(command, LIMIT)

    def let_go(self) -> None:
        """Stop holding events for the running command: later keys are not for a dialog that it opens."""
        command = RUNNING.get()
        self._forget(command)
        self._without_dialog.discard(command)
        self._release(command)

    def opened(self, screen: Screen[Any]) -> None:
        """Hold events until a new screen has the focus, and end the holds of running commands."""
        self._dialogs[screen] = RUNNING.get()
        self._without_dialog.discard(RUNNING.get())
        self._hold(screen, LIMIT)
        # queued after the messages that mount the screen and set the focus
        if not screen.call_later(self._release, screen):
            self._release(screen)
        for command in self._commands.keys() & self._holds.keys():
            self._release(command)

    def closed(self, screen: Screen[Any]) -> None:
        """Hold events for the command whose dialog was closed, because the command may open another dialog."""
        command = self._dialogs.pop(screen, None)
        if command in self._commands:
            self._hold(command, PATIENCE)
        if RUNNING.get() in self._commands:
            self._commands[RUNNING.get()] = self._app.screen

    def _forget(self, command: object) -> None:
        self._commands.pop(command, None)
        self._overtaken.discard(command)

    def _release(self, token: object) -> None:
        """End a hold once the app has handled the messages in its queue.

        Textual moves the focus with such a message. Events delivered before it would go to the previous focus.
        """
        timer = self._holds.get(token)
        if timer and self._app.call_later(self._end, token, timer):
            self._releases += 1

    async def _end(self, token: object, timer: asyncio.TimerHandle) -> None:
        self._releases -= 1
        if self._holds.get(token) is not timer:  # held again since
            return
        timer.cancel()
        del self._holds[token]
        if getattr(token, "drops_type_ahead", False):
            self._events.clear()
        if token in self._without_dialog:
            self._without_dialog.discard(token)
            self.drop_burst()
        await self._deliver_all()

    def _hold(self, token: object, seconds: float) -> None:
        before = self._holds.pop(token, None)
        if before:
            before.cancel()
        self._holds[token] = asyncio.get_running_loop().call_later(seconds, self._release, token)

    async def _deliver_all(self) -> None:
        while self._events and not self._holds:
            event = self._events.popleft()
            if not self._is_dropped(event):
                own = self._dialogs.get(self._app.screen)
                self._overtaken.update(command for command in self._commands if command is not own)
                await self._deliver(event)

    def _is_dropped(self, event: Input) -> bool:
        """Return whether an event is text of the burst that is being dropped."""
        if self._burst_end is None:
            return False
        if event.time > self._burst_end + BURST:
            self._burst_end = None
            return False
        self._burst_end = max(self._burst_end, event.time)
        return isinstance(event, events.Paste) or event.is_printable or event.key == "enter"
