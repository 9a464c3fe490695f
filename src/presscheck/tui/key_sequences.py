"""Maps key presses to commands, including sequences such as `g i`.

There is no timeout: a prefix stays pending until the next key. A key that continues no sequence starts a new one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from textual import events

from presscheck.tui.commands import COMMANDS, PREFIXES, Command, Keymap, keys_of


class Continuation(NamedTuple):
    """A possible next key of a pending sequence, with the title of its command."""

    key: str
    title: str


def key_name(event: events.Key) -> str:
    """The name of a key in the command table: the character if it is printable, except `space`."""
    if event.character and event.character.isprintable() and event.key != "space":
        return event.character
    return event.key


class KeySequences:
    """The pending keys of a sequence, and the commands that they can complete."""

    def __init__(self, commands: Iterable[Command] = COMMANDS, keymap: Keymap | None = None) -> None:
        self.commands = tuple(commands)
        self.pending: tuple[str, ...] = ()
        self._by_sequence = {
            tuple(keys.split(" ")): command for command in self.commands for keys in keys_of(command, keymap)
        }

    def press(self, key: str) -> Command | None:
        """The command that this key completes; None if more keys must follow or no command matches."""
        sequence = (*self.pending, key)
        is_open = any(len(other) > len(sequence) and other[: len(sequence)] == sequence for other in self._by_sequence)
        if is_open:
            self.pending = sequence
            return None
        command = self._by_sequence.get(sequence)
        if command is None and self.pending:
            self.pending = ()
            return None if key == "escape" else self.press(key)
        self.pending = ()
        return command

    def continuations(self) -> list[Continuation]:
        """The possible next keys; empty if no sequence is pending."""
        length = len(self.pending)
        if not length:
            return []
        return [
            Continuation(" ".join(sequence[length:]), command.title)
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
