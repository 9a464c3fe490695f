"""Terminal notifications: the bell, or an escape sequence with sanitized text."""

from __future__ import annotations

from rich.cells import set_cell_size

from presscheck.text.sanitize import sanitize

MAX_WIDTH = 120
"""Maximum width of the text, in cells."""
APP_NAME = "presscheck"
"""Prefix of every text: some terminals interpret an OSC 9 that starts with a number as a command."""


def notification(way: str, text: str) -> str:
    """Return the characters that make the terminal notify the user; `way` is `bell`, `osc9` or `osc777`."""
    if way == "bell":
        return "\a"
    clean_text = sanitize(text)
    message = set_cell_size(clean_text, MAX_WIDTH).rstrip() if len(clean_text) > MAX_WIDTH else clean_text
    return f"\x1b]777;notify;{APP_NAME};{message}\a" if way == "osc777" else f"\x1b]9;{APP_NAME}: {message}\a"
