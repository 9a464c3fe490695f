"""Steps that drive the real app on the real service by keys. They wait for conditions, never for a fixed time."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from weakref import WeakKeyDictionary

from tests.private_names import share_parsed_styles, strips
from tests.running_service import RunningService
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from presscheck.api.change_requests import GetChangeRequest, ListOrganizationChangeRequests
from presscheck.config.profile import Profile
from presscheck.paths import Places
from presscheck.text.styled_text import plain
from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place
from presscheck.tui.screens.inbox.screen import InboxScreen
from presscheck.tui.screens.review.screen import ReviewScreen
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Picker
from presscheck.tui.widgets.row_list import RowList
from presscheck.wiring import open_engine

NOON = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)

share_parsed_styles()

frames: WeakKeyDictionary[App[Any], int] = WeakKeyDictionary()
"""Number of frames that each app has displayed."""


def count_frame(app: App[Any]) -> None:
    frames[app] = frames.get(app, 0) + 1


App.post_display_hook = count_frame


def noon() -> datetime:
    return NOON


def app_on(service: RunningService, home: Path, *, theme: str = "ink", **profile: object) -> PresscheckApp:
    given = {"base_url": service.base_url, "token": service.token, "sync": False, "theme": theme, **profile}
    chosen = Profile(**given)  # type: ignore[arg-type]
    places = Places(home / "config", home / "cache", home / "state", home / "data")
    return PresscheckApp(lambda profile: open_engine(profile, places), chosen, places)


@asynccontextmanager
async def running(app: PresscheckApp, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Pilot[int]]:
    async with app.run_test(size=size) as pilot:
        yield pilot


def shown(app: PresscheckApp) -> str:
    """Return the text of the screen, including the screen below a dialog."""
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips(app))


async def until(pilot: Pilot[int], *, shows: str = "", holds: Callable[[], bool] | None = None) -> None:
    """Wait until the screen shows a text and a condition holds; fails after 20 seconds."""

    async def poll() -> None:
        while True:
            looked, frame = time.perf_counter(), frames.get(pilot.app)
            if (holds is None or holds()) and (not shows or shows in shown(pilot.app)):
                return
            # reading the screen takes milliseconds, and more on a busy machine: check again after the next frame, or
            # after a pause, as some conditions change without a frame
            took = time.perf_counter() - looked
            soonest, latest = looked + 2 * took, looked + min(0.2, max(0.005, 9 * took))
            while (now := time.perf_counter()) < soonest or (now < latest and frames.get(pilot.app) == frame):  # noqa: ASYNC110
                await asyncio.sleep(0.003)

    try:
        await asyncio.wait_for(poll(), 20)
    except TimeoutError:
        raise AssertionError(f"never showed {shows!r}:\n{shown(pilot.app)}") from None
    await pilot.pause()  # a dialog accepts keys only a moment after its first frame
    if "checking" not in shows:
        await _question_checked(pilot)


async def until_all(pilot: Pilot[int], *texts: str) -> None:
    """Wait until one screen shows all texts, such as the counts of tabs, whose spacing varies."""
    await until(pilot, holds=lambda: not [text for text in texts if text not in shown(pilot.app)])


async def _question_checked(pilot: Pilot[int]) -> None:
    """Wait until an open confirmation accepts an answer, at most two seconds: the checks of some tests never end."""
    ends = time.monotonic() + 2
    while isinstance(pilot.app.screen, ConfirmDialog) and not pilot.app.screen.is_ready and time.monotonic() < ends:  # noqa: ASYNC110
        await asyncio.sleep(0.005)


async def inbox_loaded(pilot: Pilot[int]) -> None:
    """Wait until the inbox shows its rows in their final order and has read the reviews that its views depend on."""
    groups = ("arrange", "counts", "stored counts", "reviews")

    def is_loaded() -> bool:
        return _has_rows(pilot) and all(one.is_finished for one in pilot.app.workers if one.group in groups)

    await until(pilot, holds=is_loaded)


def _has_rows(pilot: Pilot[int]) -> bool:
    screen = pilot.app.screen
    return isinstance(screen, InboxScreen) and any(rows.count for rows in screen.query(RowList))


def inbox_rows(pilot: Pilot[int]) -> str:
    """Return the rows of the inbox, without the lines above them and without the preview."""
    lines = shown(pilot.app).splitlines()[3:]
    return "\n".join(lines[: next((at for at, line in enumerate(lines) if "──" in line), None)])


async def until_row(pilot: Pilot[int], text: str, *, is_there: bool = True) -> None:
    """Wait until the inbox has a row with a text, or, with `is_there=False`, only rows without the text."""
    await until(pilot, holds=lambda: _has_rows(pilot) and (text in inbox_rows(pilot)) == is_there)


async def down_to(pilot: Pilot[int], text: str) -> None:
    """Move the cursor of a list down until its row contains a text."""

    def row() -> tuple[int, str]:
        lines = enumerate(shown(pilot.app).split("\n"))
        return next(((at, line) for at, line in lines if "▌" in line), (-1, ""))  # none while a list loads

    while text not in row()[1]:
        before = row()
        await pilot.press("j")
        await until(pilot, holds=lambda before=before: row() != before)


async def open_review(pilot: Pilot[int], at: dict[str, str]) -> None:
    """Open the review of a change request, and wait until its merge forecast is loaded."""
    await inbox_loaded(pilot)
    app = cast("PresscheckApp", pilot.app)
    request = await app.engine.read(GetChangeRequest(**at))
    await app.go(Place.review(request.space, request.id))
    await until(pilot, shows="Can merge? ")
    screen: Any = app.screen
    await until(pilot, holds=lambda: screen.session.model.forecast is not None)


@asynccontextmanager
async def review(
    service: RunningService, home: Path, subject: str, size: tuple[int, int] = (120, 40), **profile: object
) -> AsyncIterator[Any]:
    """Run the app with the review of the open change request that has this subject."""
    async with running(app_on(service, home, **profile), size) as pilot:
        await until(pilot, shows="Needs me")
        listing = ListOrganizationChangeRequests(organization_id="tallowick", status="open", limit=1000)
        requests = (await cast("PresscheckApp", pilot.app).engine.read(listing)).items
        request = next(request for request in requests if request.subject == subject)
        await pilot.app.push_screen(ReviewScreen(request.space, request.id))
        await until(pilot, shows=subject)
        yield pilot


async def write(pilot: Pilot[int], keys: str, text: Iterable[str], *then: str) -> None:
    """Press keys that open an input, wait until the input has the focus, type a text, then press further keys.

    On a busy machine, text that is typed before the input has the focus would be lost.
    """
    before = pilot.app.focused if keys else None
    await pilot.press(*keys.split())
    await until(
        pilot, holds=lambda: pilot.app.focused is not before and isinstance(pilot.app.focused, TextArea | Input)
    )
    await pilot.press(*text, *then)


async def pick(pilot: Pilot[int], label: str) -> None:
    """Choose the first row of a picker whose label contains `label`, as soon as it is loaded."""

    def rows() -> list[str]:
        screen = pilot.app.screen
        return [choice.label for choice in screen.matches] if isinstance(screen, Picker) else []

    await until(pilot, holds=lambda: any(label.lower() in row.lower() for row in rows()))
    row = next(number for number, row in enumerate(rows()) if label.lower() in row.lower())
    await until(pilot, holds=lambda: pilot.app.screen.query_one(RowList).count > row)
    pilot.app.screen.query_one(RowList).move_to(row)
    await pilot.press("enter")


async def all_sent(pilot: Pilot[int]) -> None:
    """Wait until the outbox is empty."""
    await until(pilot, holds=lambda: not cast("PresscheckApp", pilot.app).engine.waiting())


__all__ = [
    "NOON",
    "all_sent",
    "app_on",
    "inbox_loaded",
    "inbox_rows",
    "noon",
    "open_review",
    "pick",
    "plain",
    "review",
    "running",
    "shown",
    "until",
    "until_row",
    "write",
]
