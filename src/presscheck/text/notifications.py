"""Terminal notifications: the bell, or an escape sequence with sanitized text."""

from __future__ import annotations

from rich.cells import set_cell_size

from presscheck.text.sanitize import sanitize

MAX_WIDTH = 120
"""The longest text, in cells."""
APP_NAME = "presscheck"
"""Starts every text: some terminals read an OSC 9 that starts with a number as a command."""


def notification(way: str, text: str) -> str:
    """Returns the characters that notify: `way` is bell, osc9 or osc777."""
    if way == "bell":
        return "\a"
    shown = sanitize(text)
    message = set_cell_size(shown, MAX_WIDTH).rstrip() if len(shown) > MAX_WIDTH else shown
    return f"\x1b]777;notify;{APP_NAME};{message}\a" if way == "osc777" else f"\x1b]9;{APP_NAME}: {message}\a"
