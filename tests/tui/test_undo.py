"""Undo of sent changes by keys: in the history, a review and Browse, with other users, offline, after a restart."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import page_of, somebody, thread_of, threads
from tests.tui.app_driver import all_sent, app_on, open_review, running, shown, until, write

from presscheck.api.change_requests import GetChangeRequest
from presscheck.api.comments import Document, PostComment, PostReply
from presscheck.api.content import ListChangeRequestPages
from presscheck.tui.places import Place
from presscheck.tui.screens.outbox.screen import OutboxScreen

AUTH = {"space_id": "api", "change_request_id": "5"}


pytestmark = pytest.mark.usefixtures("at_once")


def is_on(pilot: Any, title: str) -> Callable[[], bool]:
    """Return a condition that holds while the cursor of the tree is on a page with this title."""
    return lambda: getattr(getattr(pilot.app.screen, "item", None), "title", "") == title


async def history(pilot: Any) -> None:
    """Open the history in the outbox."""
    await pilot.press("g", "x")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, OutboxScreen))
    await pilot.press("2")
    await until(pilot, holds=lambda: pilot.app.screen.lists.tab is pilot.app.screen.history)


@pytest.mark.slow
async def test_a_comment_is_undone_from_the_history_after_a_restart(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await open_review(pilot, AUTH)
        await write(pilot, "C", "Too harsh", "ctrl+s")
        await all_sent(pilot)
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await until(pilot, shows="Needs me")
        assert await thread_of(mia, AUTH, "Too harsh")
        await pilot.press("g", "x")
        await until(pilot, shows="Everything was sent.")
        await until(pilot, shows="History 1")
        await pilot.press("l")
        await until(pilot, shows="add comment")
        await until(pilot, shows="sent · z: deletes “Too harsh”")
        await pilot.press("z")
        await until(pilot, shows="Undo: add comment?")
        await until(pilot, shows="Deletes “Too harsh”.")
        await pilot.press("y")
        await until(pilot, shows="sent · undo of “add comment” · a deleted comment cannot be restored")
        assert not [text for text in await threads(mia, AUTH) if "Too harsh" in text]


@pytest.mark.slow
async def test_z_in_a_review_undoes_an_unsent_change_first_and_then_the_last_sent_one(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await open_review(pilot, AUTH)
        await pilot.press("z")
        await until(pilot, shows="nothing to undo")
        await write(pilot, "C", "Sent words", "ctrl+s")
        await all_sent(pilot)
        engine = pilot.app.engine
        body = Document(markdown="Unsent words")
        engine.write(PostComment(**pilot.app.screen.session.model.path, body=body), hold=600)
        await pilot.press("z")
        await until(pilot, holds=lambda: not engine.waiting())
        assert "Undo:" not in shown(pilot.app)
        await pilot.press("z")
        await until(pilot, shows="Undo: add comment?")
        await until(pilot, shows="Deletes “Sent words”.")
        await pilot.press("y")
        await until(pilot, shows="undone: add comment")
        assert not [text for text in await threads(mia, AUTH) if "Sent words" in text]


@pytest.mark.slow
async def test_an_offline_undo_is_pending_and_refused_after_a_change_by_others(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await open_review(pilot, AUTH)
        for text in ("Kept by Mia", "Undone later"):
            await write(pilot, "C", text, "ctrl+s")
            await all_sent(pilot)
        async with somebody(service, "mia") as (mia,):
            theirs = await thread_of(mia, AUTH, "Kept by Mia")
            service.stop()
            await pilot.press("ctrl+r")
            await until(pilot, shows="offline")
            await history(pilot)
            for _ in range(2):
                await pilot.press("z")
                await until(pilot, shows="You are offline: it is sent later")
                await pilot.press("y")
                await until(pilot, shows="its undo is in the outbox")
                await pilot.press("j")
            await pilot.press("1")
            await until(pilot, holds=lambda: shown(pilot.app).count("delete comment") == 2)
            service.start()
            await mia.send(PostReply(**AUTH, comment_id=theirs.id, body=Document(markdown="Still needed")))
            await pilot.press("ctrl+r")
            await until(pilot, holds=lambda: [row.state for row in pilot.app.engine.waiting()] == ["refused"])
            await until(pilot, shows="failed: Not undone: changed by others since")
            found = await threads(mia, AUTH)
            assert ("Kept by Mia" in found, "Undone later" in found) == (True, False)


async def test_the_undo_of_a_new_page_deletes_it(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await until(pilot, shows="Needs me")
        page = await page_of(mia, AUTH, "Tokens")
        request = await mia.send(GetChangeRequest(**AUTH))
        await pilot.app.go(Place.page("api", page.id, request.id))
        await until(pilot, shows="#5 Rewrite the auth guide")
        await until(pilot, holds=is_on(pilot, "Tokens"))
        await pilot.press("a")
        await until(pilot, shows="Add a page: where from Tokens?")
        await write(pilot, "a", "Newcomer", "enter")
        await until(pilot, holds=is_on(pilot, "Newcomer"))
        await pilot.press("z")
        await until(pilot, shows="Undo: add page “Newcomer”?")
        await until(pilot, shows="Deletes 1 new page.")
        await pilot.press("y")
        await until(pilot, shows="undone: add page")
        tree = await mia.send(ListChangeRequestPages(**AUTH))
        assert "Newcomer" not in tree.model_dump_json()
