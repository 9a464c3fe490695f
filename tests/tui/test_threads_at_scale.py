"""Many threads of a review: the filter of their list, and several resolved together, while others write too."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.service_users import say, token_of
from tests.tui.app_driver import all_sent, review, shown, until, write
from tests.tui.change_request_factory import Begun, begun

from presscheck.api.comments import Document, ListComments, PostComment, PostReply, UpdateComment
from presscheck.tui.comments import drafts

SUBJECT = "How long things last"
TEXT = "A token lasts.\n\nA key stays.\n\nAsk before you make more.\n"


pytestmark = pytest.mark.usefixtures("at_once")


async def discussed(service: RunningService) -> Begun:
    """Create a change request with threads of two users, on its page and on the whole change request."""
    one = await begun(service, SUBJECT, TEXT)
    token, *_ = await say(
        service,
        one.token,
        PostComment(**one.at, page=one.page, body=Document(markdown="> A token lasts\n\nHow long?")),
        PostComment(**one.at, body=Document(markdown="For whom is it?")),
    )
    await say(
        service,
        token_of(service, "ada"),
        PostComment(**one.at, page=one.page, body=Document(markdown="> A key stays\n\nWhere?")),
        PostReply(**one.at, comment_id=token.id, body=Document(markdown="What do you think, @Robin Achterberg?")),
    )
    return one


async def statuses(service: RunningService, one: Begun) -> dict[str, str]:
    """Return the status of each comment, by the last line of its text."""
    [found] = await say(service, one.token, ListComments(**one.at, format="markdown"))
    return {(comment.body.markdown or "").strip().split("\n")[-1]: comment.status for comment in found.items}


async def test_marked_threads_are_resolved_together(service: RunningService, tmp_path: Path) -> None:
    one = await discussed(service)
    async with review(service, tmp_path, SUBJECT, token=one.token) as pilot:
        await until(pilot, shows="How long?")
        await pilot.press("g", "t")
        await until(pilot, shows="1 ● open 3")
        await pilot.press("V", "G", "V")
        await until(pilot, holds=lambda: len(pilot.app.screen.rows.marks.keys) == 3)
        assert shown(pilot.app).count("• ●") == 3
        await pilot.press("x")
        await until(pilot, shows="Resolve 2 of 3 threads?")
        assert "only Ada or an admin of the space can resolve it" in shown(pilot.app).replace("\n", " ")
        [found] = await say(service, one.token, ListComments(**one.at, format="markdown"))
        whole = next(comment for comment in found.items if comment.body.markdown == "For whom is it?")
        await say(service, one.token, UpdateComment(**one.at, comment_id=whole.id, resolved=True))
        pilot.app.screen_stack[-2].command_refresh()  # as the live updates do
        await until(pilot, holds=lambda: pilot.app.screen_stack[-2].drafts.discussion.thread(whole.id).resolved)
        await pilot.press("y")
        await until(pilot, shows="○ resolved 2")
        await all_sent(pilot)
        assert await statuses(service, one) == {
            "How long?": "resolved",
            "For whom is it?": "resolved",
            "Where?": "open",
        }
        assert not pilot.app.screen.rows.marks.keys
        await pilot.press("*", "x")
        await until(pilot, shows="Reopen 2 of 3 threads?")


@pytest.mark.slow
async def test_threads_are_filtered_resolved_together_and_reopened_together(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await discussed(service)
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="How long?")
        await pilot.press("g", "t")
        await until(pilot, shows="1 ● open 3")
        await write(pilot, "F", "author:ada", "enter")
        await until(pilot, shows="Threads with author:ada of #", holds=lambda: "For whom is" not in shown(pilot.app))
        await write(pilot, "F", ["backspace"] * 10, "enter")
        await until(pilot, shows="For whom is it?")
        monkeypatch.setattr(drafts, "HOLD", 60.0)
        await pilot.press("*", "x")
        await until(pilot, shows="Resolve 3 threads?")
        await pilot.press("y")
        await until(pilot, shows="○ resolved 3")
        await pilot.press("z")
        await until(pilot, shows="3 changes undone")
        await until(pilot, shows="1 ● open 3")
        monkeypatch.setattr(drafts, "HOLD", 0.0)
        await pilot.press("*", "x")
        await until(pilot, shows="Resolve 3 threads?")
        await pilot.press("y")
        await until(pilot, shows="○ resolved 3")
        await all_sent(pilot)
        [found] = await say(service, one.token, ListComments(**one.at, format="markdown"))
        reopened = next(comment.id for comment in found.items if "How long?" in (comment.body.markdown or ""))
        await say(service, one.token, UpdateComment(**one.at, comment_id=reopened, resolved=False))
        await pilot.press("z")
        await until(pilot, shows="Undo: 2 of 3 changes, resolve thread?")
        await pilot.press("y")
        await all_sent(pilot)
        assert set((await statuses(service, one)).values()) == {"open"}
