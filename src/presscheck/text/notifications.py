"""What makes a terminal give a sign: its bell, or a notification with a text in it that was cleaned and has an end."""

from __future__ import annotations

from rich.cells import set_cell_size

from presscheck.text.sanitize import sanitize

MAX_WIDTH = 120
"""Cells of the text."""
APP_NAME = "presscheck"
"""Begins every text: some terminals take an OSC 9 that begins with a number for an order."""


def notification(way: str, text: str) -> str:
    """The characters to send, whatever the text: `way` is bell, osc9 or osc777."""
    if way == "bell":
        return "\a"
    shown = sanitize(text)
    said = set_cell_size(shown, MAX_WIDTH).rstrip() if len(shown) > MAX_WIDTH else shown
    return f"\x1b]777;notify;{APP_NAME};{said}\a" if way == "osc777" else f"\x1b]9;{APP_NAME}: {said}\a"
