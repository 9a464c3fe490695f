"""Undoing sent changes by keys: in the history, in a review, in browse, among sites; with others, after a restart."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import edits, page_of, somebody, thread_of, threads
from tests.tui.app_driver import all_sent, app_on, open_review, pick, running, shown, until, write

from presscheck.api.change_requests import GetChangeRequest, UpdateChangeRequest
from presscheck.api.comments import DeleteComment, Document, PostComment, PostReply, UpdateComment
from presscheck.api.content import ListChangeRequestPages
from presscheck.api.sites import GetSite
from presscheck.api.spaces import GetSpace, UpdateSpace
from presscheck.tui.places import Place
from presscheck.tui.screens.outbox.screen import OutboxScreen
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.review.screen import ReviewScreen

AUTH = {"space_id": "api", "change_request_id": "5"}


pytestmark = pytest.mark.usefixtures("at_once")


def is_on(pilot: Any, title: str) -> Callable[[], bool]:
    """Whether the cursor of the tree is on a page with this title."""
    return lambda: getattr(getattr(pilot.app.screen, "item", None), "title", "") == title


async def history(pilot: Any) -> None:
    """Open the history."""
    await pilot.press("g", "x")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, OutboxScreen))
    await pilot.press("2")
    await until(pilot, holds=lambda: pilot.app.screen.lists.tab is pilot.app.screen.history)


@pytest.mark.slow
async def test_a_comment_is_undone_from_the_history_and_the_history_lasts(
    service: RunningService, tmp_path: Path
) -> None:
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
        await pilot.press("enter")  # the default is No
        await until(pilot, holds=lambda: "Undo: add comment?" not in shown(pilot.app))
        assert await thread_of(mia, AUTH, "Too harsh")
        await pilot.press("z")
        await until(pilot, shows="Undo: add comment?")
        await pilot.press("y")
        await until(pilot, shows="sent · undo of “add comment” · a deleted comment cannot be restored")
        assert not [text for text in await threads(mia, AUTH) if "Too harsh" in text]
        await pilot.press("j", "z")
        await until(pilot, shows="it is undone")
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await history(pilot)
        await until(pilot, shows="undo of “add comment”")


@pytest.mark.slow
async def test_enter_goes_to_the_place(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await open_review(pilot, AUTH)
        await write(pilot, "C", "Find me again", "ctrl+s")
        await all_sent(pilot)
        await pilot.press("q")
        await history(pilot)
        await until(pilot, shows="#5 Rewrite the auth guide")
        await pilot.press("enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReviewScreen))

        def is_on_thread() -> bool:
            thread = pilot.app.screen.session.view.thread
            return thread is not None and thread.first.text == "Find me again"

        await until(pilot, holds=is_on_thread)


@pytest.mark.slow
async def test_z_in_a_review_undoes_first_what_is_unsent_then_offers_the_last_sent(
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
async def test_archiving_and_a_subject_are_undone_one_after_the_other(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await open_review(pilot, AUTH)
        await pilot.press("E")
        await pick(pilot, "Subject")
        await write(pilot, "", "", *["backspace"] * 5, *"manual", "enter")
        await all_sent(pilot)
        assert (await mia.send(GetChangeRequest(**AUTH))).subject == "Rewrite the auth manual"
        await pilot.press("X")
        await until(pilot, shows="Archive it?")
        await pilot.press("y")
        await all_sent(pilot)
        for question, what in (("Undo: archive change request?", "archived"), ("Undo: change subject", "manual")):
            request = await mia.send(GetChangeRequest(**AUTH))
            assert what in (request.status, request.subject.rpartition(" ")[2])
            await pilot.press("z")
            await until(pilot, shows=question)
            await pilot.press("y")
            await until(pilot, shows="undone: ")
            await all_sent(pilot)
        request = await mia.send(GetChangeRequest(**AUTH))
        assert (request.subject, request.status) == ("Rewrite the auth guide", "open")


@pytest.mark.slow
async def test_what_others_changed_is_shown_and_kept(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await open_review(pilot, AUTH)
        await pilot.press("E")
        await pick(pilot, "Subject")
        await write(pilot, "", "", *["backspace"] * 5, *"manual", "enter")
        await all_sent(pilot)
        await mia.send(UpdateChangeRequest(**AUTH, subject="Rewrite everything"))
        await pilot.press("z")
        await until(pilot, shows="Not undone: changed by others since.")
        await until(pilot, shows="What you wrote")
        await until(pilot, shows="Rewrite the auth manual")
        await until(pilot, shows="What is there now")
        await until(pilot, shows="Rewrite everything")
        assert (await mia.send(GetChangeRequest(**AUTH))).subject == "Rewrite everything"


@pytest.mark.slow
async def test_a_change_between_the_question_and_the_answer_is_not_overwritten(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await open_review(pilot, AUTH)
        await write(pilot, "C", "Any questions?", "ctrl+s")
        await all_sent(pilot)
        await pilot.press("z")
        await until(pilot, shows="Deletes “Any questions?”.")
        comment = await thread_of(mia, AUTH, "Any questions?")
        await mia.send(PostReply(**AUTH, comment_id=comment.id, body=Document(markdown="One")))
        await pilot.press("y")
        await until(pilot, shows="Not undone: changed by others since.")
        await until(pilot, shows="(1 reply)")
        assert (await thread_of(mia, AUTH, "Any questions?")).replies == 1
        assert [row.state for row in pilot.app.engine.waiting()] == ["refused"]


@pytest.mark.slow
async def test_an_undo_offline_waits_and_is_refused_if_others_changed_it(
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


@pytest.mark.slow
async def test_a_page_edit_is_undone_where_pages_are_browsed(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await until(pilot, shows="Needs me")
        page = await page_of(mia, AUTH, "Tokens")
        request = await mia.send(GetChangeRequest(**AUTH))
        await pilot.app.go(Place.page("api", page.id, request.id))
        await until(pilot, shows="#5 Rewrite the auth guide")
        await until(pilot, holds=is_on(pilot, "Tokens"))
        await pilot.press("E")
        await until(pilot, shows="Edit Tokens")
        await write(pilot, "t", "2", "enter")
        await until(pilot, holds=is_on(pilot, "Tokens2"))
        await pilot.press("z")
        await until(pilot, shows="Undo: rename page to “Tokens2”?")
        await until(pilot, shows="Restores 1 page as before the edit.")
        await pilot.press("y")
        await until(pilot, shows="undone: rename page")
        await until(pilot, holds=is_on(pilot, "Tokens"))
        assert await page_of(mia, AUTH, "Tokens")
        await pilot.press("E")
        await until(pilot, shows="Edit Tokens")
        await write(pilot, "t", "3", "enter")
        await until(pilot, holds=is_on(pilot, "Tokens3"))
        await edits(mia, AUTH, "Tokens3", "Only hers")
        await pilot.press("z")
        await until(pilot, shows="Not undone: changed by others since.")
        await pilot.press("G")
        await until(pilot, shows="Only hers")


async def test_a_new_page_is_deleted_again(service: RunningService, tmp_path: Path) -> None:
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


@pytest.mark.slow
async def test_a_space_is_unlocked_from_the_history(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await until(pilot, shows="Needs me")
        await pilot.app.engine.write(UpdateSpace(space_id="cli", edit_mode="locked")).landed()
        await history(pilot)
        await until(pilot, shows="lock space")
        await pilot.press("z")
        await until(pilot, shows="Unlocks the space.")
        await pilot.press("y")
        await until(pilot, shows="undone: lock space")
        assert (await mia.send(GetSpace(space_id="cli"))).edit_mode != "locked"


@pytest.mark.slow
async def test_unpublishing_a_site_is_undone_where_it_was_done(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await until(pilot, shows="Needs me")
        await pilot.press("g", "p")
        await until(pilot, holds=lambda: getattr(pilot.app.screen, "current", None) is not None)
        site: Any = pilot.app.screen.current
        action = "Unpublish" if site.published else "Publish"
        await pilot.press("P")
        await until(pilot, shows=f"{action} {site.title}?")
        await until(pilot, shows=f"type: {site.title}" if site.published else "y  n")
        await pilot.press(*(site.title if site.published else ""), "enter" if site.published else "y")
        await until(pilot, shows="1 done")
        await pilot.press("q")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, PublishScreen))
        await until(pilot, holds=lambda: pilot.app.screen.current.published is not site.published)
        await pilot.press("z")
        await until(pilot, shows=f"Undo: {action.lower()} site?")
        await pilot.press("y")
        await until(pilot, shows=f"undone: {action.lower()} site")
        path = {"organization_id": "tallowick", "site_id": site.id}
        assert (await mia.send(GetSite(**path))).published is site.published


@pytest.mark.slow
async def test_what_cannot_be_undone_has_a_reason(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await open_review(pilot, AUTH)
        await pilot.press("v", "a")
        await until(pilot, shows="message (optional)")
        await pilot.press("enter")
        await all_sent(pilot)
        await pilot.press("z")
        await until(pilot, shows="approve: a review cannot be withdrawn")


@pytest.mark.slow
async def test_text_of_others_in_the_history_is_harmless(service: RunningService, tmp_path: Path) -> None:
    hostile = "[bold red]x[/] \u202ey"
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await until(pilot, shows="Needs me")
        answer = await mia.send(PostComment(**AUTH, body=Document(markdown="hers")))
        engine = pilot.app.engine
        await engine.write(UpdateComment(**AUTH, comment_id=answer.id, body=Document(markdown=hostile))).landed()
        await engine.write(DeleteComment(**AUTH, comment_id=answer.id)).landed()
        await history(pilot)
        await until(pilot, shows="edit comment")
        await pilot.press("j", "Y")
        await until(pilot, shows="copied")
        assert "\u202e" not in pilot.app.clipboard
        assert "[bold red]x[/]" in pilot.app.clipboard
        assert "\u202e" not in shown(pilot.app)
