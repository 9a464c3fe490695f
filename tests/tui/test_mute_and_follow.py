"""Mute and follow with real keys: in the inbox and in the threads of a review, on the real service."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import somebody, thread_of
from tests.tui.app_driver import (
    app_on,
    inbox_loaded,
    open_review,
    running,
    shown,
    until,
    until_all,
    until_row,
    write,
)

from presscheck.api.comments import Document, PostComment, PostReply
from presscheck.config.profile import Profile
from presscheck.paths import Places
from presscheck.tui.app import PresscheckApp
from presscheck.wiring import open_engine

pytestmark = pytest.mark.usefixtures("fast_live_updates")

AUTH = {"space_id": "api", "change_request_id": "5"}
LIMITS = {"space_id": "api", "change_request_id": "4"}
WORST = "Rewrite the auth guide"
"""The first row."""


def watching_app(service: RunningService, home: Path) -> PresscheckApp:
    """The app, which polls five times a second."""
    app = app_on(service, home)
    app.engine.events.pause, app.engine.events.first = 0.2, 0
    return app


def said(pilot: Any) -> list[str]:
    """All notices so far."""
    return [notice.text for notice in pilot.app.notices.history]


@pytest.mark.slow
async def test_a_muted_request_leaves_the_views_and_is_found_in_all_open(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until_all(pilot, "Needs me 7 ", "Mine 1 ", "Involved 8 ")
        await pilot.press("M", "m")
        await until(pilot, shows=f"#5 {WORST} muted (z to undo)")
        await until_all(pilot, "Needs me 6 ", "Mine 1 ", "Involved 7 ")
        await until_row(pilot, WORST, is_there=False)
        await pilot.press("4")
        await until(pilot, shows=f"⊘ #5 {WORST}")
        await until(pilot, shows="All open 10")
        await write(pilot, "F", "is:muted", "enter")
        await until(pilot, shows="All open 1 ")
        await until_row(pilot, WORST)
    async with running(app_on(service, tmp_path)) as pilot:
        await until_row(pilot, WORST)  # the filter is remembered, too
        await pilot.press("M", "m")
        await until(pilot, shows=f"#5 {WORST} no longer muted (z to undo)")
        await until_all(pilot, "Needs me 7 ", "Mine 1 ", "Involved 8 ")
        await pilot.press("z")
        await until(pilot, shows="undone: ")
        await until_all(pilot, "Needs me 6 ", "Mine 1 ", "Involved 7 ")


@pytest.mark.slow
async def test_a_request_that_another_process_muted_makes_no_news_until_a_mention(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(watching_app(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await inbox_loaded(pilot)
        await until(pilot, holds=lambda: bool(pilot.app.engine.triage.followed))
        profile = Profile(base_url=service.base_url, token=service.token)
        places = Places(tmp_path / "config", tmp_path / "cache", tmp_path / "state", tmp_path / "data")
        other = open_engine(profile, places)
        other.notification_settings.change(pilot.app.screen.triage._notification_targets().targets, "muted", is_on=True)
        await other.close()
        thread = await thread_of(mia, AUTH, "This still says API key")
        await mia.send(PostComment(**AUTH, body=Document(markdown="Not for @Robinson or @Robin")))
        await mia.send(PostReply(**AUTH, comment_id=thread.id, body=Document(markdown="Nor this")))
        await mia.send(PostComment(**LIMITS, body=Document(markdown="Hm")))
        await until(pilot, holds=lambda: "Mia commented on #4 Limits per workspace" in said(pilot))
        await until_row(pilot, WORST, is_there=False)
        await pilot.press("4")
        await until(pilot, shows=f"⊘ #5 {WORST}")
        assert not any("commented on #5" in text for text in said(pilot))
        await mia.send(
            PostReply(**AUTH, comment_id=thread.id, body=Document(markdown="What do you say, @Robin Achterberg?"))
        )
        await until(pilot, holds=lambda: f"Mia commented on #5 {WORST}" in said(pilot))
        await until(pilot, shows=f"◆ #5 {WORST}")
        await pilot.press("1")
        await until_row(pilot, WORST)


async def test_threads_are_muted_in_their_list(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await open_review(pilot, AUTH)
        await pilot.press("g", "t")
        await until(pilot, shows="Threads of")
        await pilot.press("space", "space", "M", "m")
        await until(pilot, shows="2 threads muted (z to undo)")
        await until(pilot, holds=lambda: sum(" muted" in line for line in shown(pilot.app).splitlines()[2:20]) == 2)
        await pilot.press("z")
        await until(pilot, shows="undone: 2 threads no longer muted")
        await until(pilot, holds=lambda: not any(" muted" in line for line in shown(pilot.app).splitlines()[2:20]))
