"""Setup of the snapshot tests: a fixed clock, an idle screen, sizes and themes."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import noon, shown

from presscheck.text import phrases

Drive = Callable[[Any, RunningService], Awaitable[None]]
SIZES = [(80, 24), (120, 40)]
LOOKS = [((80, 24), "paper"), ((120, 40), "ink")]
"""Both sizes, one in a light and one in a dark theme: a change shows in both."""
LOOK_NAMES = ["80x24-paper", "120x40-ink"]
WHOLE = 340
"""Height of a terminal that shows the whole page with every block."""
WHOLE_LOOKS = [((columns, WHOLE), theme) for columns, _ in SIZES for theme in ("ink", "paper", "contrast", "ansi")]
WHOLE_LOOK_NAMES = [f"{columns}x{lines}-{theme}" for (columns, lines), theme in WHOLE_LOOKS]
STABLE = 6
"""Number of consecutive equal screens after which the screen counts as stable."""


@pytest.fixture(autouse=True)
def at_noon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phrases, "clock", noon)
    # messages stay on the screen, however slow the machine is
    monkeypatch.setattr("presscheck.tui.app.NOTICE_SECONDS", 3600.0)


async def rested(pilot: Any, driven: Awaitable[None], *, asks: bool = False) -> None:
    """Drive the app, then wait until the screen is stable and no read is running (unless `asks`)."""
    await driven
    same, before = 0, ""
    while same < STABLE:
        await asyncio.sleep(0.06)
        text = shown(pilot.app)
        same = same + 1 if text == before and (asks or not pilot.app.engine._scheduler._shared) else 0
        before = text


def names(value: Any) -> str:
    return f"{value[0]}x{value[1]}" if isinstance(value, tuple) else getattr(value, "__name__", str(value))
