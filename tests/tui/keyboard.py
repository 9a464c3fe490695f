"""Types keys in one burst."""

from typing import Any

from tests.private_names import key_event, send

LONG = 15.0
"""Seconds that keys are held, where a test tells holding them from a slow machine."""


def burst(pilot: Any, *keys: str) -> None:
    """Send keys as a terminal does that reads them all at once: nothing runs between them."""
    send(pilot, *map(key_event, keys))
