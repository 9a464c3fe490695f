"""Detects slow connections, by the time that the terminal takes to report its device attributes.

Every terminal answers this query. Tmux and screen answer it themselves, so behind them only the setting has an effect.
A terminal counts as slow after two slow answers, because a busy machine can delay one. Nothing waits for an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from time import monotonic

import textual._xterm_parser
from textual._xterm_parser import XTermParser
from textual.events import Key
from typing_extensions import override

QUESTION = "\x1b[c"
SLOW = 0.15
"""Seconds after which an answer is slow."""
QUESTIONS = 2
ANSWER = 0.2
"""Seconds after a key press in which changes are sent to a slow terminal at once, because they respond to the key."""
PAUSE = 1.0
"""Seconds after which changes outside the focused widget are sent to a slow terminal."""
OPENING = 0.3
"""Seconds after which these changes are sent if another screen was opened."""

_is_answer = re.compile(r"\x1b\[\?[\d;]*c").fullmatch
# answers of xterm and Windows Terminal are longer than the keys that Textual expects
textual._xterm_parser._MAX_SEQUENCE_SEARCH_THRESHOLD = 96  # pyrefly: ignore[bad-assignment]


class DeviceAttributes(Key):
    """The terminal's answer. It is a key event, because Textual's parser returns only keys for such sequences."""


class AnswerParser(XTermParser):
    """A parser of terminal input that also reads device attributes."""

    @override
    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        if _is_answer(sequence):
            return (DeviceAttributes("device-attributes", None),)
        return super()._sequence_to_key_events(sequence, alt)


class Bandwidth:
    """The measurement of the terminal's speed. `is_low` is whether to send few bytes.

    Args:
        setting: the setting `low_bandwidth`.
    """

    def __init__(self, setting: str | None) -> None:
        self.is_low = setting == "on"
        self.is_measured = setting in (None, "auto")
        self._asked_at = 0.0
        self._slow_answers = 0

    def asked(self) -> None:
        """Record the time of a query."""
        self._asked_at = monotonic()

    def answered(self, at: float) -> bool:
        """Record the time of an answer. Return True if another query is needed."""
        if not self._asked_at:
            return False
        is_slow, self._asked_at = at - self._asked_at > SLOW, 0.0
        self._slow_answers = self._slow_answers + 1 if is_slow else 0
        self.is_low = self._slow_answers == QUESTIONS
        return is_slow and not self.is_low
