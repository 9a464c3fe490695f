"""The real app on the real service, driven by keys; waits are for conditions."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from tests.running_service import RunningService
from textual._context import visible_screen_stack
from textual.pilot import Pilot
from textual.widgets import TextArea

from presscheck.api.change_requests import GetChangeRequest
from presscheck.config.profile import Profile
from presscheck.paths import Places
from presscheck.text.styled_text import plain
from presscheck.tui.app import PresscheckApp
from presscheck.wiring import open_engine

NOON = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


def noon() -> datetime:
    return NOON


def app_on(service: RunningService, home: Path, *, theme: str = "ink", **profile: object) -> PresscheckApp:
    given = {"base_url": service.base_url, "token": service.token, "sync": False, **profile}
    chosen = Profile(**given)  # type: ignore[arg-type]
    places = Places(home / "config", home / "cache", home / "state", home / "data")
    return PresscheckApp(lambda: open_engine(chosen, places), profile=chosen, theme=theme, settings=places.config_file)


@asynccontextmanager
async def running(app: PresscheckApp, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Pilot[int]]:
    async with app.run_test(size=size) as pilot:
        yield pilot


def shown(app: PresscheckApp) -> str:
    """What the screen shows, as text, with what lies below a sheet."""
    visible_screen_stack.set(app._background_screens)
    lines = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in lines)


async def until(pilot: Pilot[int], *, shows: str = "", holds: Callable[[], bool] | None = None) -> None:
    async def look() -> None:
        while True:
            if shows in shown(pilot.app) and (holds is None or holds()):
                return
            await asyncio.sleep(0.01)

    try:
        await asyncio.wait_for(look(), 20)
    except TimeoutError:
        raise AssertionError(f"never showed {shows!r}:\n{shown(pilot.app)}") from None


async def open_review(pilot: Pilot[int], at: dict[str, str]) -> None:
    """Open a change request, as the inbox does, and wait until all is there that a merge depends on."""
    await until(pilot, shows="Needs me 7")
    app = cast("PresscheckApp", pilot.app)
    request = await app.engine.read(GetChangeRequest(**at))
    app.open_review(request.space, request.id)
    await until(pilot, shows="Can merge? ")
    screen: Any = app.screen
    await until(pilot, holds=lambda: screen.model.forecast is not None)


async def write(pilot: Pilot[int], keys: str, text: str) -> None:
    """Press keys that open a text, wait until it is open, and write in it."""
    await pilot.press(*keys.split())
    await until(pilot, holds=lambda: isinstance(pilot.app.focused, TextArea))
    await pilot.press(*text)


async def all_sent(pilot: Pilot[int]) -> None:
    """Wait until nothing waits to be sent."""
    await until(pilot, holds=lambda: not cast("PresscheckApp", pilot.app).engine.waiting())


__all__ = ["NOON", "all_sent", "app_on", "noon", "open_review", "plain", "running", "shown", "until", "write"]
