"""Types keys in one burst, or after looking at the screen."""

import asyncio
from typing import Any

from tests.private_names import key_event, send
from tests.tui.app_driver import until

from presscheck.tui.widgets.completion import GLANCE

LONG = 15.0
"""Seconds that keys are held, where a test tells holding them from a slow machine."""


def burst(pilot: Any, *keys: str) -> None:
    """Send keys as a terminal does that reads them all at once: nothing runs between them."""
    send(pilot, *map(key_event, keys))


async def seen(pilot: Any, text: str) -> None:
    """Wait until a person has seen a text: a proposal that is drawn and typed on at once is not taken."""
    await until(pilot, shows=text)
    await asyncio.sleep(GLANCE)
