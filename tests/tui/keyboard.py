"""Steps that type keys in one burst, or after the screen has shown a text for a moment."""

import asyncio
from typing import Any

from tests.private_names import key_event, send
from tests.tui.app_driver import until

from presscheck.tui.widgets.completion import GLANCE

LONG = 15.0
"""A value for `PATIENCE`, in seconds, that does not run out before a command ends, even on a busy machine."""


def burst(pilot: Any, *keys: str) -> None:
    """Send keys as a terminal does when it reads them all at once: nothing runs between them."""
    send(pilot, *map(key_event, keys))


async def seen(pilot: Any, text: str) -> None:
    """Wait until a text has been shown for a moment: a key accepts no proposal that was drawn just before."""
    await until(pilot, shows=text)
    await asyncio.sleep(GLANCE)
