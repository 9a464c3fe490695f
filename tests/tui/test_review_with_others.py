"""Comments in a review while other users write between key presses."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import edits, page_of, somebody, thread_of, threads
from tests.tui.app_driver import all_sent, app_on, open_review, running, shown, until, write
from tests.tui.draft_places import drafted

from presscheck.api.comments import DeleteComment, Document, PostReply, UpdateComment
from presscheck.api.content_changes import DeletePage, EditChangeRequestContent
from presscheck.api.organizations import UpdateMember

AUTH = {"space_id": "api", "change_request_id": "5"}
BLOCK = "A token belongs to one project. It carries the rights of the member who made it, and expires after 90 days."


pytestmark = pytest.mark.usefixtures("at_once")


@asynccontextmanager
async def review(service: RunningService, home: Path) -> AsyncIterator[Any]:
    """Run the app with the review of the auth guide, at its first page, Tokens."""
    async with running(app_on(service, home)) as pilot:
        await open_review(pilot, AUTH)
        await until(pilot, shows="expires after 90 days")
        await until(pilot, shows="Then say why it is meant.")
        yield pilot


async def to_thread(pilot: Any, words: str) -> None:
    """Move the cursor to the thread that contains a text."""
    for _ in range(9):
        one = pilot.app.screen.session.view.thread
        if one and words in one.first.text:
            return
        await pilot.press("t")
    raise AssertionError(f"no thread {words!r}:\n{shown(pilot.app)}")


@pytest.mark.slow
async def test_a_comment_is_kept_if_its_quoted_text_its_page_or_its_thread_is_deleted(
    service: RunningService, tmp_path: Path
) -> None:
    async with review(service, tmp_path) as pilot, somebody(service, "mia", "jon") as (mia, jon):
        await write(pilot, "l ] c", "Half of i")
        await edits(mia, AUTH, "Tokens", BLOCK, "It all works otherwise now.")
        await pilot.press("escape", "ctrl+r")
        await until(pilot, shows="It all works otherwise now.")
        await drafted(pilot, "comment on Tokens: “A token belongs to one project.")
        await until(pilot, shows="Half of i")
        await pilot.press(*"t", "ctrl+s")
        await until(pilot, shows="Half of it")
        await all_sent(pilot)
        await until(pilot, shows="A token belongs to one project.")  # the quote
        found = await thread_of(mia, AUTH, "Half of it")
        assert (found.body.markdown or "").startswith("> A token belongs to one project.")

        await write(pilot, "g g } } } c", "And a phone?")
        assert "Comment on Sessions" in shown(pilot.app)
        page = (await page_of(mia, AUTH, "Sessions")).id
        await mia.send(EditChangeRequestContent(**AUTH, changes=(DeletePage(page=page),), compat=False))
        await pilot.press("ctrl+s")
        await until(pilot, shows="no page ")
        await until(pilot, shows="3 changes")
        await pilot.press("g", "g")
        await until(pilot, shows="you ✗ failed  And a phone?")
        await pilot.press("g", "x", "1")
        await until(pilot, shows="add comment  And a phone?")
        await pilot.press("delete")
        await until(pilot, shows="Discard this change?")
        await pilot.press("y")
        await until(pilot, shows="Everything was sent.")
        await pilot.press("q", "g", "g", "}", "l")
        await to_thread(pilot, "An hour is short")
        await write(pilot, "r", "Is it?")
        hour = await thread_of(jon, AUTH, "An hour is short")
        await jon.send(DeleteComment(**AUTH, comment_id=hour.id))
        await pilot.press("ctrl+s")
        await until(pilot, shows="1 failed")
        await until(pilot, holds=lambda: "An hour is short" not in shown(pilot.app))
        await pilot.press("g", "x")
        await until(pilot, shows="add reply  Is it?")


@pytest.mark.slow
async def test_own_comments_are_edited_and_deleted_while_others_reply(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path) as pilot, somebody(service, "robin", "mia", "luz") as (robin, mia, luz):
        await robin.send(UpdateMember(organization_id="tallowick", user_id="mia", role="admin"))  # admins may resolve
        await write(pilot, "g g C", "Teh words")
        await pilot.press("ctrl+s")
        await until(pilot, shows="now  Teh words")
        said = await thread_of(mia, AUTH, "Teh words")
        await pilot.press("l")
        await to_thread(pilot, "Teh words")
        await pilot.press("e")
        await until(pilot, shows="Edit your comment")
        await pilot.press(*(["backspace"] * 9), *"The words")
        await mia.send(UpdateComment(**AUTH, comment_id=said.id, resolved=True, added_reactions=("1f680",)))
        await luz.send(PostReply(**AUTH, comment_id=said.id, body=Document(markdown="You mean The")))
        await pilot.press("ctrl+s")
        await until(pilot, shows="The words")
        await all_sent(pilot)
        await until(pilot, shows="○ resolved you")
        found = await thread_of(mia, AUTH, "The words")
        assert (found.status, found.replies, [one.emoji for one in found.reactions]) == ("resolved", 1, ["1f680"])
        await to_thread(pilot, "The words")
        await pilot.press("enter")
        await until(pilot, shows="You mean The")
        await until(pilot, shows="🚀 1")
        await pilot.press("-")
        await until(pilot, shows="Replies that are deleted too: 1.")
        await mia.send(DeleteComment(**AUTH, comment_id=said.id))
        await pilot.press("y")
        await until(pilot, holds=lambda: not any("The words" in line for line in shown(pilot.app).splitlines()[:-1]))
        await all_sent(pilot)
        assert "The words" not in await threads(mia, AUTH)


@pytest.mark.slow
async def test_a_suggestion_overwrites_no_edit_of_another_user(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path) as pilot, somebody(service, "mia") as (mia,):
        await pilot.press("l", "]", "c")
        await until(pilot, shows="ctrl+g suggest")
        await pilot.press("ctrl+g", "end", *" Really.", "ctrl+s")
        await all_sent(pilot)
        await until(pilot, shows="Really.")
        await to_thread(pilot, "suggestion")
        await edits(mia, AUTH, "Tokens", "expires after 90 days", "expires after 30 days")
        await pilot.press("U")
        await until(pilot, shows="The text has changed since the suggestion was made.")
        await pilot.press("n")
        await edits(mia, AUTH, "Tokens", "expires after 30 days", "expires after 90 days")
        await pilot.press("U")
        await until(pilot, shows="Apply the suggestion to Tokens?")
        assert "have changed" not in shown(pilot.app)
        await edits(mia, AUTH, "Tokens", "It is shown once.", "It is shown once, to you.")
        await pilot.press("y")
        await until(pilot, shows="suggestion applied")
        text = (await page_of(mia, AUTH, "Tokens")).markdown
        assert "expires after 90 days. Really." in text
        assert "It is shown once, to you." in text
        await all_sent(pilot)
        assert (await thread_of(mia, AUTH, "Really.")).status == "resolved"
