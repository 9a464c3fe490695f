"""From key presses to commands, sequences included: `g` waits for what follows, and anything else starts afresh.

Nothing here waits for time: a prefix stays open until the next key, however long that takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from textual import events

from presscheck.tui.commands import COMMANDS, PREFIXES, Command, Keymap, keys_of


class Continuation(NamedTuple):
    """What one more key may lead to."""

    key: str
    title: str


def key_name(event: events.Key) -> str:
    """What the table calls a key: a printable character as itself, but `space`."""
    if event.character and event.character.isprintable() and event.key != "space":
        return event.character
    return event.key


class KeySequences:
    """The keys pressed so far of a sequence, and what they may become."""

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
        found = self._by_sequence.get(sequence)
        if found is None and self.pending:
            self.pending = ()
            return None if key == "escape" else self.press(key)
        self.pending = ()
        return found

    def continuations(self) -> list[Continuation]:
        """What may follow the keys pressed so far; empty where none are."""
        length = len(self.pending)
        if not length:
            return []
        return [
            Continuation(" ".join(sequence[length:]), command.title)
            for sequence, command in self._by_sequence.items()
            if len(sequence) > length and sequence[:length] == self.pending
        ]

    def prefix_title(self) -> str:
        """What the pressed prefix is for."""
        return PREFIXES.get(" ".join(self.pending), "")

    def doubled(self) -> list[str]:
        """Sequences that hide one another: one is the beginning of another."""
        found = [
            " ".join(longer)
            for longer in self._by_sequence
            for shorter in self._by_sequence
            if len(shorter) < len(longer) and longer[: len(shorter)] == shorter
        ]
        return sorted(found)
