"""Clicks and drags."""

from typing import Any

from tests.private_names import send_mouse
from tests.tui.app_driver import until
from tests.tui.widget_harness import shown
from textual import events
from textual.pilot import Pilot
from textual.widget import Widget


async def click_text(pilot: Pilot[Any], text: str, *, times: int = 1, at: int = 1, button: int = 1) -> None:
    """Click on the first occurrence of a text on the screen, by default on its second character."""
    await until(pilot, shows=text)
    x, y = place_of(pilot, text)
    await pilot.click(offset=(x + at, y), times=times, button=button)


async def drag(pilot: Pilot[Any], widget: Widget, *places: tuple[int, int]) -> None:
    """Press the mouse button at the first place of a widget, move to the others, and release it at the last."""
    first, *others = [widget.region.offset + place for place in places]  # the widget may move with the pointer
    await pilot.mouse_down(offset=first)
    for place in others:
        await send_mouse(pilot, events.MouseMove, None, place, button=1)
    await pilot.mouse_up(offset=others[-1])
    await pilot.pause()


def place_of(pilot: Pilot[Any], text: str) -> tuple[int, int]:
    """Return the column and line of the first occurrence of a text on the screen."""
    lines = shown(pilot.app)
    y = next(y for y, line in enumerate(lines) if text in line)
    return lines[y].index(text), y
