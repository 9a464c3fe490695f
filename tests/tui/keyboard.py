"""Types keys in one burst."""

from typing import Any

from textual.events import Key
from textual.keys import _character_to_key

LONG = 15.0
"""Seconds that keys are held, where a test tells holding them from a slow machine."""


def burst(pilot: Any, *keys: str) -> None:
    """Send keys as a terminal does that reads them all at once: nothing runs between them."""
    for key in keys:
        character = " " if key == "space" else key if len(key) == 1 else None
        pilot.app._driver.send_message(Key(_character_to_key(key) if len(key) == 1 else key, character))
