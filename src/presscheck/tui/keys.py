"""From key presses to commands, sequences included: `g` waits for what follows, and anything else starts afresh."""

from __future__ import annotations

from collections.abc import Iterable

from presscheck.tui.commands import COMMANDS, Command

NAMES = {
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "exclamation_mark": "!",
    "at": "@",
    "plus": "+",
    "asterisk": "*",
    "equals_sign": "=",
}


class Keys:
    """The keys pressed so far of a sequence, and what they may become."""

    def __init__(self, commands: Iterable[Command] = COMMANDS) -> None:
        self._by_sequence = {tuple(key.split(" ")): command for command in commands for key in command.keys}
        self.pending: tuple[str, ...] = ()

    def press(self, key: str) -> Command | None:
        """The command that this press completes; None where more must follow or nothing begins so."""
        self.pending = (*self.pending, NAMES.get(key, key))
        found = self._by_sequence.get(self.pending)
        if found is None and not self.continuations():
            first_of_new = self._by_sequence.get(self.pending[-1:]) if len(self.pending) > 1 else None
            self.pending = ()
            return first_of_new
        if found is not None:
            self.pending = ()
        return found

    def continuations(self) -> list[tuple[str, Command]]:
        """What may follow the keys pressed so far."""
        length = len(self.pending)
        return [
            (" ".join(sequence[length:]), command)
            for sequence, command in self._by_sequence.items()
            if length and len(sequence) > length and sequence[:length] == self.pending
        ]
