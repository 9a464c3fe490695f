"""Mute and follow with real keys: in the inbox and in the threads of a review, on the real service."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import opens, somebody, thread_of
from tests.tui.app_driver import (
    app_on,
    inbox_loaded,
    inbox_rows,
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
WORST, SECOND = "Rewrite the auth guide", "What to write afterwards"
"""Subjects of the first two rows of the inbox."""


def watching_app(service: RunningService, home: Path) -> PresscheckApp:
    """Return the app, which polls for events five times a second."""
    app = app_on(service, home)
    app.engine.events.pause, app.engine.events.first = 0.2, 0
    return app


def said(pilot: Any) -> list[str]:
    """Return the texts of all notices so far."""
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
async def test_request_muted_by_another_process_shows_no_notices_until_a_mention(
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


@pytest.mark.slow
async def test_mute_is_undone_and_works_on_marked_rows(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("z")
        await until(pilot, shows="nothing to undo")
        await pilot.press("space", "space", "M", "m")
        await until(pilot, shows="2 change requests muted (z to undo)")
        await until_row(pilot, WORST, is_there=False)
        await until_row(pilot, SECOND, is_there=False)
        await until(pilot, holds=lambda: "marked" not in shown(pilot.app).splitlines()[1])
        await pilot.press("z")
        await until(pilot, shows="undone: 2 change requests no longer muted")
        await until_row(pilot, WORST)
        await until_row(pilot, SECOND)
        await pilot.press("g", "g", "M", "m")
        await until_row(pilot, WORST, is_there=False)
        await pilot.press("D")
        await until_row(pilot, SECOND, is_there=False)
        await pilot.press("z")
        await until_row(pilot, SECOND)
        await pilot.press("z")
        await until(pilot, shows="nothing to undo")


@pytest.mark.slow
async def test_a_followed_request_is_listed_as_involved_and_shows_notices(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(watching_app(service, tmp_path)) as pilot, somebody(service, "mia", "luz") as (mia, luz):
        await inbox_loaded(pilot)
        at = await opens(mia, "cli", "Errors by number", "Configuration", "The file of settings.\n")
        await pilot.press("ctrl+r", "4")
        await until(pilot, shows="All open 11")
        await until(pilot, shows="Errors by number")
        await luz.send(PostComment(**at, body=Document(markdown="Before")))
        await pilot.press("g", "g")
        await until(pilot, holds=lambda: pilot.app.screen.session.current().subject == "Errors by number")
        await pilot.press("M", "f")
        await until(pilot, shows="Errors by number followed (z to undo)")
        await until(pilot, shows="Involved 9")
        await until_row(pilot, "◉")
        await until(pilot, holds=lambda: pilot.app.screen.session.current().id in pilot.app.engine.triage.followed)
        await luz.send(PostComment(**at, body=Document(markdown="After")))
        number = pilot.app.screen.session.current().number
        await until(pilot, holds=lambda: f"Luz commented on #{number} Errors by number" in said(pilot))
        assert sum("Errors by number" in text and "commented" in text for text in said(pilot)) == 1
        await write(pilot, "F", "is:followed", "enter")
        await until(pilot, shows="All open 1 ")
        await pilot.press("M", "f")
        await until(pilot, shows="no longer followed")
        await until(pilot, shows="Involved 8")


@pytest.mark.slow
async def test_a_muted_thread_is_not_marked_new_in_the_review(service: RunningService, tmp_path: Path) -> None:
    async with running(watching_app(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await until(pilot, holds=lambda: bool(pilot.app.engine.triage.followed))
        await open_review(pilot, AUTH)
        await until(pilot, shows="Then say why it is meant.")
        view, model = pilot.app.screen.session.view, pilot.app.screen.session.model
        thread = await thread_of(mia, AUTH, "This still says API key")
        await pilot.press("l", "t")
        await until(pilot, holds=lambda: view.is_on_thread)
        while view.thread.id != thread.id:
            await pilot.press("t")
        await pilot.press("M", "m")
        await until(pilot, shows="muted (z to undo)")
        await until(pilot, holds=lambda: model.discussion.thread(thread.id).notifications == "muted")
        assert model.notifications == "", "the change request is not muted"
        await until(pilot, shows=" muted · 2 replies")
        await pilot.press("g", "g")
        await mia.send(PostReply(**AUTH, comment_id=thread.id, body=Document(markdown="Quietly said")))
        other = await thread_of(mia, AUTH, "An hour is short")
        await mia.send(PostReply(**AUTH, comment_id=other.id, body=Document(markdown="Loudly said")))
        await until(pilot, shows="now new  Loudly said")
        await until(pilot, shows="Quietly said")
        assert model.discussion.new_threads() == 1
        assert "now new  Quietly said" not in shown(pilot.app)
        await until(pilot, holds=lambda: f"Mia commented on #5 {WORST}" in said(pilot))
        assert sum("Mia commented on #5" in text for text in said(pilot)) == 1
        await pilot.press("z")
        await until(pilot, shows="now new  Quietly said")


@pytest.mark.slow
async def test_muting_a_space_mutes_its_change_requests(service: RunningService, tmp_path: Path) -> None:
    async with running(watching_app(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await inbox_loaded(pilot)
        await pilot.press("g", "o")
        await until(pilot, shows="API docs")
        await until(pilot, holds=lambda: pilot.app.screen.tree_view.count > 3)
        await pilot.press("g", "g", "M", "m")
        await until(pilot, shows="go to a space first")
        while not (pilot.app.screen.item and pilot.app.screen.item.title == "API docs"):
            await pilot.press("j")
        await pilot.press("M", "m")
        await until(pilot, shows="API docs muted (z to undo)")
        await until(pilot, holds=lambda: any("API docs" in line and "muted 4" in line for line in tree_lines(pilot)))
        await pilot.press("g", "i")
        await until_row(pilot, "API docs", is_there=False)
        await mia.send(PostComment(**AUTH, body=Document(markdown="@Robin Achterberg, look")))
        await mia.send(PostComment(space_id="guides", change_request_id="3", body=Document(markdown="Hm")))
        await until(pilot, holds=lambda: any("commented on #3" in text for text in said(pilot)))
        assert not any("commented on #5" in text for text in said(pilot)), "a space stays muted"
        await pilot.press("4")
        await until(pilot, shows=f"⊘ #5 {WORST}")
        while pilot.app.screen.session.current().subject != WORST:
            await pilot.press("j")
        await pilot.press("M", "m")
        await until(pilot, shows=f"#5 {WORST} no longer muted")
        await pilot.press("1")
        await until_row(pilot, WORST)
        assert "Limits per workspace" not in inbox_rows(pilot)
        await pilot.press("g", "o", "M", "m")
        await until(pilot, shows="API docs no longer muted")
        await pilot.press("g", "i")
        await until_row(pilot, "Limits per workspace")


def tree_lines(pilot: Any) -> list[str]:
    """Return the left part of each line of Browse, which contains the tree."""
    return [line[:60] for line in shown(pilot.app).splitlines()]
