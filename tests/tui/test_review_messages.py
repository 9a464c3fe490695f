"""Reactions, edits and deletions of comments, while another user changes them too."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import pick, review, shown, until, write
from tests.tui.keyboard import seen

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.comments import ListComments, ListReplies
from presscheck.api.content import GetChangeRequestPage
from presscheck.tui.comments import drafts

SUBJECT = "Rewrite the auth guide"
SUGGESTED = "Rotate in two steps: make the new token, then revoke the old."


pytestmark = pytest.mark.usefixtures("at_once")


async def to_suggestion(pilot: Any) -> None:
    """Go to the next thread until one has a suggestion; threads that are still loading move the cursor."""
    async with asyncio.timeout(20):
        while pilot.app.screen.disabled_reason("use_suggestion") is not None:
            await pilot.press("t")
            await pilot.pause(0.02)


async def threads(pilot: Any) -> dict[str, Any]:
    """The threads at the service, by their text."""
    path = path_of(pilot.app.screen.session.model.request)
    found = await pilot.app.engine.read(ListComments(**path, format="markdown", limit=1000))
    return {one.body.markdown.strip(): one for one in found.items}


def path_of(request: ChangeRequest) -> dict[str, Any]:
    return {"space_id": request.space, "change_request_id": request.id}


async def settled(pilot: Any) -> None:
    await until(pilot, holds=lambda: not pilot.app.engine.waiting())


@pytest.mark.slow
async def test_a_reaction_is_added_and_removed(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="expires after 90 days")
        await pilot.press("k")
        await until(pilot, shows="👍 2")
        await pilot.press("+")
        await pick(pilot, "thumbs up")
        await until(pilot, shows="👍 3")
        await settled(pilot)
        said = (await threads(pilot))["Can we link this from the quickstart?"]
        assert [(one.emoji, one.count) for one in said.reactions] == [("1f44d", 3)]
        await pilot.press("+")
        await until(pilot, shows="yours: remove")
        await pilot.press("enter")
        await until(pilot, shows="👍 2")
        await pilot.press("+")
        await pick(pilot, "rocket")
        await until(pilot, shows="🚀 1")


@pytest.mark.slow
async def test_own_comments_are_edited_and_deleted(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="expires after 90 days")
        await write(pilot, "C", "Teh words", "ctrl+s")
        await settled(pilot)
        await pilot.press("k", "l", "G", "k")
        await until(pilot, shows="Teh words")
        await pilot.press("e")
        await until(pilot, shows="Edit your comment")
        await pilot.press(*(["backspace"] * 9), *"The words", "escape", "e")
        await until(pilot, shows="The words")  # the draft was kept
        await pilot.press("ctrl+s")
        await until(pilot, holds=lambda: "Teh" not in shown(pilot.app) and "edited" in shown(pilot.app))
        await settled(pilot)
        assert "The words" in await threads(pilot)
        await pilot.press("-")
        await until(pilot, shows="Delete your comment?")
        assert "The words" in shown(pilot.app)
        await pilot.press("y")
        await settled(pilot)
        assert "The words" not in await threads(pilot)
        await until(pilot, holds=lambda: not any("The words" in line for line in shown(pilot.app).splitlines()[:-1]))
        assert "deleted “The words”" in shown(pilot.app)


@pytest.mark.slow
async def test_one_of_several_messages_is_chosen(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="Then say why it is meant.")
        await pilot.press("l", "t")
        for _ in range(9):
            one = pilot.app.screen.session.view.thread
            if one and "two places" in one.first.text:
                break
            await pilot.press("t")
        await pilot.press("down")
        assert pilot.app.screen.session.view.message is pilot.app.screen.session.view.thread.replies[0]
        await pilot.press("down", "+")
        await until(pilot, shows="thumbs up")
        await pilot.press("enter")
        await until(pilot, shows="👍 1")
        await settled(pilot)
        thread = next(one for text, one in (await threads(pilot)).items() if "two places" in text)
        request = pilot.app.screen.session.model.request
        replies = await pilot.app.engine.read(
            ListReplies(**path_of(request), comment_id=thread.id, format="markdown", limit=1000)
        )
        assert [len(one.reactions) for one in replies.items] == [0, 1]


@pytest.mark.slow
async def test_a_mention_is_completed_and_the_text_previewed(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="expires after 90 days")
        await write(pilot, "C", "a@b")
        assert "▌Tomasz" not in shown(pilot.app)  # within a word it is an address
        await pilot.press("space", "@")
        await until(pilot, shows="Noor Haddad")
        await pilot.press(*"tom")
        await seen(pilot, "▌Tomasz")
        await pilot.press("tab")
        await until(pilot, shows="a@b @Tomasz Wiśniewski")
        await pilot.press(*"**look**", "ctrl+o")
        await until(pilot, holds=lambda: "look" in shown(pilot.app) and "**look**" not in shown(pilot.app))
        await pilot.press("ctrl+o", "!")
        await until(pilot, shows="**look**!")


@pytest.mark.slow
async def test_a_suggestion_is_inserted_with_one_key(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="expires after 90 days")
        await pilot.press("l", "]", "c")
        await until(pilot, shows="ctrl+g suggest")
        await pilot.press(*"Why so?", "ctrl+g")
        await until(pilot, shows="```suggestion")
        area = pilot.app.screen.query_one("TextArea")
        block = area.selected_text
        assert f"Why so?\n```suggestion\n{block}\n```\n" in area.text
        await pilot.press("x", "ctrl+g")
        assert area.selected_text == "x", "the same suggestion is selected again"
        await pilot.press(*SUGGESTED, "right", "backspace")
        await until(pilot, shows="the suggestion has no end: close it with ```")
        await pilot.press("ctrl+s", "enter")
        await until(pilot, shows="ctrl+g suggest")
        await pilot.press("ctrl+o")
        await until(pilot, shows="suggestion:")
        assert "```" not in shown(pilot.app)
        await pilot.press("ctrl+o", "ctrl+s")
        await settled(pilot)
        await until(pilot, shows="Rotate in two steps")
        assert "```suggestion" not in shown(pilot.app)
        await to_suggestion(pilot)
        await pilot.press("U")
        await until(pilot, shows="Apply the suggestion to")
        assert "suggestion:" in shown(pilot.app)
        await pilot.press("y")
        await until(pilot, shows="suggestion applied")
        await settled(pilot)
        review_screen = pilot.app.screen
        page = await pilot.app.engine.read(
            GetChangeRequestPage(
                **path_of(review_screen.session.model.request),
                page_id=review_screen.session.view.item.id,
                format="markdown",
            )
        )
        assert SUGGESTED in page.markdown and block not in page.markdown
        thread = next(one for text, one in (await threads(pilot)).items() if "Rotate in two steps" in text)
        assert thread.status == "resolved"


@pytest.mark.slow
async def test_a_suggestion_for_deleted_text_changes_nothing(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="expires after 90 days")
        await pilot.press("c")
        composer = pilot.app.screen
        composer.query_one("TextArea").text = "> words that stand nowhere at all\n\n```suggestion\nother\n```"
        await pilot.press("ctrl+s")
        await settled(pilot)
        await pilot.press("l")
        await to_suggestion(pilot)
        await pilot.press("U")
        await until(pilot, shows="is gone")


@pytest.mark.slow
async def test_a_comment_that_is_sent_during_the_question_is_not_discarded(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "HOLD", 600.0)
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="expires after 90 days")
        await write(pilot, "C", "Sent meanwhile", "ctrl+s")
        [entry] = pilot.app.engine.waiting()
        await pilot.press("k", "l", "G", "k")
        await until(pilot, shows="Sent meanwhile")
        await pilot.press("-")
        await until(pilot, shows="Discard this comment?")
        assert entry.call
        assert pilot.app.engine.rewrite(entry.id, entry.call), "it is due now"
        await settled(pilot)
        await pilot.press("y")
        await until(pilot, shows="not discarded: it is already sent, or is being sent")
        assert "Sent meanwhile" in await threads(pilot)
