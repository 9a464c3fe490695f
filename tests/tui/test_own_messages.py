"""The user's own messages in threads: deletion, undo, drafts and edits."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import all_sent, review, shown, until, write
from tests.tui.change_request_factory import begun
from tests.tui.drafts import open_drafts
from textual.widgets import TextArea

from presscheck.api.comments import Document, ListReplies, PostComment, PostReply
from presscheck.tui.comments import drafts

pytestmark = pytest.mark.slow

SUBJECT = "How long things last"


async def discussed(service: RunningService) -> tuple[str, dict[str, Any], str]:
    """Create a thread of mia with two replies of the user and a reply of mia between them.

    Returns:
        The token of mia, the ids of the change request, and the id of the first comment.
    """
    mia, at, page = await begun(service, SUBJECT, "A token lasts.\n")
    [comment] = await say(
        service, mia, PostComment(**at, page=page, body=Document(markdown="> A token lasts\n\nHow long?"))
    )
    for who, text in ((service.token, "Ten days"), (mia, "Really?"), (service.token, "It says so above the table")):
        await say(service, who, PostReply(**at, comment_id=comment.id, body=Document(markdown=text)))
    return mia, at, comment.id


async def go_to(pilot: Any, text: str) -> None:
    """Move the cursor to the first message that contains a text."""
    view = pilot.app.screen.session.view
    await pilot.press("t")
    for _ in range(9):
        if view.message and text in view.message.text:
            return
        await pilot.press("j")
    raise AssertionError(shown(pilot.app))


async def replies(service: RunningService, at: dict[str, Any], comment: str) -> list[str]:
    [found] = await say(service, service.token, ListReplies(**at, comment_id=comment, format="markdown"))
    return [(one.body.markdown or "").strip() for one in found.items]


async def test_a_deletion_is_undone_before_it_is_sent(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "HOLD", 60.0)
    mia, at, comment = await discussed(service)
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="It says so above the table")
        await go_to(pilot, "Ten days")
        await pilot.press("-")
        await until(pilot, shows="Delete your reply?")
        await pilot.press("y")
        await until(pilot, shows="deleted “Ten days”: z restores it")
        await until(pilot, holds=lambda: "you 0" not in shown(pilot.app) and "Really?" in shown(pilot.app))
        await until(pilot, shows="2 replies")
        assert "not loaded yet" not in shown(pilot.app), "the deleted reply is not missing"
        await say(service, mia, PostReply(**at, comment_id=comment, body=Document(markdown="And in May?")))
        await pilot.press("z")
        await until(pilot, shows="restored “Ten days”")
        await pilot.press("ctrl+r")
        await until(pilot, shows="And in May?")
        assert pilot.app.screen.session.view.thread.replies[0].text == "Ten days"
        assert not pilot.app.engine.waiting()
        assert (await replies(service, at, comment))[0] == "Ten days"
        # a reply that is sent while the question is open stays
        await write(pilot, "r", "Sent meanwhile", "ctrl+s")
        [entry] = pilot.app.engine.waiting()
        await go_to(pilot, "Sent meanwhile")
        await pilot.press("-")
        await until(pilot, shows="Discard this comment?")
        assert entry.call
        assert pilot.app.engine.rewrite(entry.id, entry.call), "it is due now"
        await all_sent(pilot)
        await pilot.press("y")
        await until(pilot, shows="not discarded: it is already sent, or is being sent")
    assert "Sent meanwhile" in await replies(service, at, comment)


async def test_an_undone_comment_is_added_to_the_existing_draft(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "HOLD", 60.0)
    await discussed(service)
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="It says so above the table")
        await write(pilot, "C", "Sent first", "ctrl+s")
        await until(pilot, holds=lambda: len(pilot.app.engine.waiting()) == 1)
        await write(pilot, "C", "Begun since", "escape")
        await until(pilot, holds=lambda: not isinstance(pilot.app.focused, TextArea))
        file = pilot.app.engine.outbox._db
        file.execute("CREATE TRIGGER full BEFORE UPDATE ON drafts BEGIN SELECT RAISE(ABORT, 'full'); END")
        await pilot.press("z")
        await until(pilot, shows="Could not save your text: full")
        assert len(pilot.app.engine.waiting()) == 1, "it stays where it was"
        file.execute("DROP TRIGGER full")
        await pilot.press("z")
        await until(pilot, shows="its text is a draft again")
        assert not pilot.app.engine.waiting()
        assert [draft.text for draft in pilot.app.engine.outbox.drafts()] == ["Sent first\n\nBegun since"]


async def test_the_draft_of_a_message_that_was_sent_meanwhile_becomes_an_edit(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "HOLD", 60.0)
    _, at, comment = await discussed(service)
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="It says so above the table")
        await pilot.press("t")
        await write(pilot, "r", "First text", "ctrl+s")
        [entry] = pilot.app.engine.waiting()
        await go_to(pilot, "First text")
        await write(pilot, "e", " and more")
        assert entry.call
        assert pilot.app.engine.rewrite(entry.id, entry.call), "it is due now"
        await all_sent(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, shows="already sent: your text is saved as a draft")
        monkeypatch.setattr(drafts, "HOLD", 0)
        await pilot.press("escape")
        await open_drafts(pilot)
        await until(pilot, shows="edit of an unsent comment")
        await pilot.press("enter")
        await until(pilot, shows="Edit your reply")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, TextArea))
        await pilot.press("ctrl+s")
        await all_sent(pilot)
        await until(pilot, holds=lambda: not pilot.app.engine.outbox.drafts())
        assert (await replies(service, at, comment))[-1] == "First text and more"

        # if the sent message is not found, a notice explains how to copy the text
        await go_to(pilot, "First text and more")
        await write(pilot, "e", "!", "escape")
        [draft] = pilot.app.engine.outbox.drafts()
        gone = draft.key.replace(draft.key.split("message ")[1], "x").replace("message x", "pending 99999")
        pilot.app.engine.outbox.move_drafts({draft.key: gone}, draft.about)
        await open_drafts(pilot)
        await until(pilot, shows="edit of an unsent comment")
        await pilot.press("enter")
        await until(pilot, shows="it is already sent: Y in the list of drafts copies your text")
        assert pilot.app.engine.outbox.draft(gone)


async def test_an_unchanged_message_is_not_sent_again(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, at, comment = await discussed(service)
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="It says so above the table")
        await go_to(pilot, "Ten days")
        await write(pilot, "e", "", "ctrl+s")
        await until(pilot, shows="no changes")
        assert not pilot.app.engine.waiting()
        assert not pilot.app.engine.history()
        await until(pilot, holds=lambda: "edited" not in shown(pilot.app))
        monkeypatch.setattr(drafts, "HOLD", 60.0)
        await write(pilot, "r", "Unsent", "ctrl+s")
        [entry] = pilot.app.engine.waiting()
        await go_to(pilot, "Unsent")
        await write(pilot, "e", "", "ctrl+s")
        await until(pilot, holds=lambda: not isinstance(pilot.app.focused, TextArea))
        assert pilot.app.engine.waiting() == (entry,)
    assert len(await replies(service, at, comment)) == 3
