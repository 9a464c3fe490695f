"""The startup snapshot: the last inbox, for the same size and theme only."""

from collections.abc import Callable
from pathlib import Path

import pytest
from rich.segment import Segment
from rich.style import Style
from tests.private_names import never_painted
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, inbox_loaded, running, shown, until
from tests.tui.snapshot_setup import rested
from textual.screen import Screen
from textual.strip import Strip

from presscheck.config.profile import Profile
from presscheck.paths import Places
from presscheck.tui.app import PresscheckApp, Start
from presscheck.tui.places import Place
from presscheck.tui.screens.inbox.screen import InboxScreen
from presscheck.tui.screens.startup_snapshot import KEY, snapshot_text
from presscheck.wiring import open_cache, open_engine


@pytest.fixture
def sample(shared_service: Callable[..., RunningService]) -> RunningService:
    return shared_service(sample=True)


TEXT = snapshot_text("ink", 20, 2, {1: Strip([Segment("remembered", Style.parse("bold #ff0000"))])})


def places_in(home: Path) -> Places:
    return Places(home / "config", home / "cache", home / "state", home / "data")


def again(service: RunningService, home: Path) -> PresscheckApp:
    """Return the app as it starts the next time, showing only the snapshot."""
    places = places_in(home)
    profile = Profile(base_url=service.base_url, token=service.token)
    cache = open_cache(profile, places)
    kept = cache.answer(KEY)
    cache.close()
    assert kept

    class Stopped(PresscheckApp):
        async def _open_first_screen(self) -> None:
            """Do nothing, so that only the snapshot is shown."""

    return Stopped(lambda _: pytest.fail("the engine was opened"), profile, places, Start(kept.json))


@pytest.mark.slow
async def test_the_next_start_shows_the_last_inbox_and_begins_at_its_row(
    sample: RunningService, tmp_path: Path
) -> None:
    app = app_on(sample, tmp_path)
    async with running(app) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("4")
        session = pilot.app.screen.session
        await until(pilot, holds=lambda: session.model.view.id == "all-open" and session.rows.count > 2)
        await pilot.press("j", "j")
        await rested(pilot, until(pilot, shows="live", holds=lambda: session.rows.cursor == 2))
        left, before = session.current().id, shown(app).split("\n")
        await pilot.press("q")
    async with running(again(sample, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        still = shown(pilot.app).split("\n")
        assert still[1:-1] == before[1:-1]
        assert "live" not in still[0], "whether there is a connection is not known yet"
    app = app_on(sample, tmp_path)
    async with running(app) as pilot:
        await until(pilot, holds=lambda: isinstance(app.screen, InboxScreen) and app.screen.session.rows.count)
        session = app.screen.session
        assert (session.model.view.id, session.current().id) == ("all-open", left)
        await until(pilot, shows="live")
        assert (session.rows.cursor, session.current().id) == (2, left)


@pytest.mark.parametrize(
    "text",
    [None, "", "[]", "{", '{"for": "ink 20 2"}', TEXT.replace("bold", "!!"), TEXT.replace("ink 20 2", "ink 21 2")],
)
async def test_a_snapshot_that_is_unreadable_or_of_another_size_leaves_a_blank_screen(
    text: str | None, tmp_path: Path
) -> None:
    app = PresscheckApp(lambda _: pytest.fail("the engine was opened"), Profile(), places_in(tmp_path), Start(text))
    app._open_first_screen = lambda: None  # type: ignore[method-assign,assignment]
    async with running(app, (20, 2)) as pilot:
        await pilot.pause()
        assert shown(pilot.app).strip() == ""


async def test_the_snapshot_is_painted_with_its_styles(tmp_path: Path) -> None:
    app = PresscheckApp(lambda _: pytest.fail("the engine was opened"), Profile(), places_in(tmp_path), Start(TEXT))
    app._open_first_screen = lambda: None  # type: ignore[method-assign,assignment]
    async with running(app, (20, 2)) as pilot:
        await until(pilot, shows="remembered")
        first = next(iter(app.screen.render_line(1)))
        assert first.style == Style.parse("bold #ff0000")


@pytest.mark.slow
async def test_a_review_that_is_opened_before_the_inbox_is_painted_is_loaded(
    sample: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # work that waits for the paint of a screen never runs once another screen covers it
    never_painted(monkeypatch, InboxScreen)
    app = app_on(sample, tmp_path)
    async with running(app) as pilot:
        await until(pilot, shows="live")
        await app.go(Place.review("api", "5"))
        await until(pilot, shows="Can merge?")


async def test_an_app_that_ends_at_its_start_sends_no_request(sample: RunningService, tmp_path: Path) -> None:
    """A key typed before the first screen is open, such as `q`, is handled before the app begins to send requests."""

    class Ended(PresscheckApp):
        def _first_screen_opened(self) -> None:
            super()._first_screen_opened()
            self.exit(0)

    places = places_in(tmp_path)
    profile = Profile(base_url=sample.base_url, token=sample.token)
    engine = open_engine(profile, places)
    await Ended(lambda _: engine, profile, places).run_async(headless=True)
    assert not engine._activity._entries


async def test_the_lines_of_the_snapshot_are_freed_behind_the_first_screen(tmp_path: Path) -> None:
    app = PresscheckApp(lambda _: pytest.fail("the engine was opened"), Profile(), places_in(tmp_path), Start(TEXT))
    app._open_first_screen = lambda: None  # type: ignore[method-assign,assignment]
    async with running(app, (20, 2)) as pilot:
        await until(pilot, shows="remembered")
        snapshot = app.screen
        await app.push_screen(Screen[None]())
        await until(pilot, holds=lambda: not snapshot.render_line(1).text.strip())
