"""Comments in a review, while another user acts between key presses: what both see, and what the service has."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import edits, page_of, somebody, thread_of, threads
from tests.tui.app_driver import all_sent, app_on, open_review, running, shown, until, write
from tests.tui.draft_places import drafted
from tests.tui.keyboard import burst

from presscheck.api.comments import Comment, DeleteComment, Document, ListReplies, PostComment, PostReply, UpdateComment
from presscheck.api.content_changes import DeletePage, EditChangeRequestContent
from presscheck.api.organizations import UpdateMember
from presscheck.client.client import Client

AUTH = {"space_id": "api", "change_request_id": "5"}
BLOCK = "A token belongs to one project. It carries the rights of the member who made it, and expires after 90 days."


pytestmark = pytest.mark.usefixtures("at_once")


@asynccontextmanager
async def review(service: RunningService, home: Path) -> AsyncIterator[Any]:
    """The app with the review of the auth guide open at its first page, Tokens."""
    async with running(app_on(service, home)) as pilot:
        await open_review(pilot, AUTH)
        await until(pilot, shows="expires after 90 days")
        await until(pilot, shows="Then say why it is meant.")
        yield pilot


async def to_thread(pilot: Any, words: str) -> None:
    """Go to the thread with this text."""
    for _ in range(9):
        one = pilot.app.screen.session.view.thread
        if one and words in one.first.text:
            return
        await pilot.press("t")
    raise AssertionError(f"no thread {words!r}:\n{shown(pilot.app)}")


def emojis(comment: Comment) -> list[tuple[str, int]]:
    return [(one.emoji, one.count) for one in comment.reactions]


async def replies(client: Client, comment: str) -> list[str]:
    found = await client.send(ListReplies(**AUTH, comment_id=comment, format="markdown", limit=1000))
    return [(one.body.markdown or "").strip() for one in found.items]


@pytest.mark.slow
async def test_joiners_in_emoji_and_words_are_read_and_sent_as_they_were_typed(
    service: RunningService, tmp_path: Path
) -> None:
    text = "👩\u200d👩\u200d👧\u200d👦 می\u200cخواهم 🏴\U000e0067\U000e0062\U000e007f"
    async with review(service, tmp_path) as pilot, somebody(service, "luz") as (luz,):
        await luz.send(PostComment(**AUTH, body=Document(markdown=f"We are {text}")))
        await pilot.press("ctrl+r", "{")
        await until(pilot, shows="می\u200cخواهم")
        burst(pilot, "C", *f"So are {text}")
        await until(pilot, shows="So are")
        await pilot.press("ctrl+s")
        await all_sent(pilot)
        assert f"So are {text}" in await threads(luz, AUTH)


@pytest.mark.slow
async def test_both_comment_on_a_block_on_a_page_and_on_the_whole(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path) as pilot, somebody(service, "mia", "jon", "luz") as (mia, jon, luz):
        tokens = (await page_of(mia, AUTH, "Tokens")).id
        await write(pilot, "l ] c", "On the block")
        quote = f"> {BLOCK[:52]} …\n\n"
        await mia.send(PostComment(**AUTH, page=tokens, body=Document(markdown=f"{quote}Mia on the block")))
        await pilot.press("ctrl+s")
        await until(pilot, shows="now  On the block")
        await until(pilot, shows="Mia on the block")
        await write(pilot, "h c", "On the page")
        await jon.send(PostComment(**AUTH, page=tokens, body=Document(markdown="Jón on the page")))
        await pilot.press("ctrl+s")
        await until(pilot, shows="now  On the page")
        await until(pilot, shows="Jón on the page")
        await write(pilot, "C", "On the whole")
        await luz.send(PostComment(**AUTH, body=Document(markdown="Luz on the whole")))
        await pilot.press("ctrl+s", "g", "g")
        await until(pilot, shows="now  On the whole")
        await until(pilot, shows="Luz on the whole")
        await all_sent(pilot)
        block, page = await thread_of(mia, AUTH, "On the block"), await thread_of(mia, AUTH, "On the page")
        assert (block.body.markdown or "").startswith("> A token belongs to one project.")
        assert [one.target.page.id for one in (block, page) if one.target.page] == [tokens, tokens]
        assert (await thread_of(mia, AUTH, "On the whole")).target.page is None


@pytest.mark.slow
async def test_a_comment_is_sent_even_if_its_text_was_deleted(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path) as pilot, somebody(service, "mia") as (mia,):
        await write(pilot, "l ] c", "Half of i")
        await edits(mia, AUTH, "Tokens", BLOCK, "It all works otherwise now.")
        await pilot.press("escape", "ctrl+r")
        await until(pilot, shows="It all works otherwise now.")
        await drafted(pilot, "comment on Tokens: “A token belongs to one project.")
        await until(pilot, shows="Half of i")
        await pilot.press(*"t", "ctrl+s")
        await until(pilot, shows="Half of it")
        await all_sent(pilot)
        await until(pilot, shows="A token belongs to one project.")  # the words that it is about are its quote
        found = await thread_of(mia, AUTH, "Half of it")
        assert (found.body.markdown or "").startswith("> A token belongs to one project.")


@pytest.mark.slow
async def test_a_failed_comment_on_a_deleted_page_or_thread_keeps_its_text(
    service: RunningService, tmp_path: Path
) -> None:
    async with review(service, tmp_path) as pilot, somebody(service, "mia", "jon") as (mia, jon):
        await write(pilot, "} } c", "And a phone?")
        assert "Comment on Sessions" in shown(pilot.app)
        page = (await page_of(mia, AUTH, "Sessions")).id
        await mia.send(EditChangeRequestContent(**AUTH, changes=(DeletePage(page=page),), compat=False))
        await pilot.press("ctrl+s")
        await until(pilot, shows="no page ")
        await until(pilot, shows="3 changes")
        await pilot.press("g", "g")
        await until(pilot, shows="you ✗ failed  And a phone?")
        await pilot.press("g", "x")
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
async def test_both_reply_react_and_resolve(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path) as pilot, somebody(service, "mia", "jon", "ada") as (mia, jon, ada):
        await pilot.press("l")
        await to_thread(pilot, "two places")
        places = await thread_of(ada, AUTH, "two places")
        await write(pilot, "r", "It is the old one")
        await ada.send(PostReply(**AUTH, comment_id=places.id, body=Document(markdown="Never mind, I see")))
        await pilot.press("ctrl+s")
        await until(pilot, shows="Never mind, I see")
        await until(pilot, shows="now  It is the old one")
        await all_sent(pilot)
        assert (await replies(ada, places.id))[-2:] == ["Never mind, I see", "It is the old one"]

        await to_thread(pilot, "An hour is short")
        hour = await thread_of(jon, AUTH, "An hour is short")
        await jon.send(UpdateComment(**AUTH, comment_id=hour.id, resolved=True))
        await pilot.press("x")
        await until(pilot, shows="○ resolved Jón")
        await all_sent(pilot)
        found = await thread_of(jon, AUTH, "An hour is short")
        assert (found.status, found.resolved_by and found.resolved_by.id) == ("resolved", "jon")
        await jon.send(UpdateComment(**AUTH, comment_id=hour.id, resolved=False))
        await pilot.press("x")
        await until(pilot, holds=lambda: "○ resolved" not in shown(pilot.app))
        await all_sent(pilot)
        assert (await thread_of(jon, AUTH, "An hour is short")).status == "open"

        await pilot.press("h", "g", "g")
        await until(pilot, shows="👍 2")
        link = await thread_of(mia, AUTH, "Can we link")
        await pilot.press("+")
        await until(pilot, shows="thumbs up")
        await ada.send(UpdateComment(**AUTH, comment_id=link.id, added_reactions=("1f44d",)))
        await pilot.press("enter")
        await until(pilot, shows="👍 4")
        await all_sent(pilot)
        assert emojis(await thread_of(mia, AUTH, "Can we link")) == [("1f44d", 4)]
        await pilot.press("+")
        await until(pilot, shows="yours: remove")
        await mia.send(UpdateComment(**AUTH, comment_id=link.id, removed_reactions=("1f44d",)))
        await pilot.press("enter")
        await until(pilot, shows="👍 2")
        await all_sent(pilot)
        assert emojis(await thread_of(mia, AUTH, "Can we link")) == [("1f44d", 2)]


async def test_own_comments_are_edited_and_deleted_while_others_reply(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path) as pilot, somebody(service, "robin", "mia", "luz") as (robin, mia, luz):
        await robin.send(UpdateMember(organization_id="tallowick", user_id="mia", role="admin"))  # may resolve it
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
async def test_a_suggestion_overwrites_nothing_that_somebody_else_wrote(
    service: RunningService, tmp_path: Path
) -> None:
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
