"""An open review while other users work on it: their changes arrive within seconds."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import edits, page_of, somebody, thread_of
from tests.tui.app_driver import app_on, open_review, running, shown, until

from presscheck.api.change_requests import SubmitReview
from presscheck.api.comments import Document, PostComment, PostReply, UpdateComment
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage

pytestmark = pytest.mark.usefixtures("fast_live_updates")

AUTH = {"space_id": "api", "change_request_id": "5"}
BLOCK = "A token belongs to one project. It carries the rights of the member who made it, and expires after 90 days."


@asynccontextmanager
async def review(service: RunningService, home: Path) -> AsyncIterator[Any]:
    """Run the app with the review of the auth guide open at its first page, Tokens."""
    async with running(app_on(service, home)) as pilot:
        await open_review(pilot, AUTH)
        await until(pilot, shows="expires after 90 days")
        await until(pilot, shows="Then say why it is meant.")
        yield pilot


def under_cursor(pilot: Any) -> str:
    """Return the text of the line under the cursor."""
    change = pilot.app.screen.session.view.change
    return "".join(segment.text for segment in change.render_line(change.cursor - change.top)).strip()


@pytest.mark.slow
async def test_comments_and_edits_of_other_users_arrive_and_are_marked_new(
    service: RunningService, tmp_path: Path
) -> None:
    async with review(service, tmp_path) as pilot, somebody(service, "mia", "jon", "ada") as (mia, jon, ada):
        tokens = (await page_of(mia, AUTH, "Tokens")).id
        await pilot.press("l", "]", "]")
        before = under_cursor(pilot)
        assert len(before) > 10
        quote = f"> {BLOCK[:52]} …\n\n"
        await mia.send(PostComment(**AUTH, page=tokens, body=Document(markdown=f"{quote}Mia just wrote this")))
        await until(pilot, shows="now new  Mia just wrote this")
        await until(pilot, shows="1 new")
        thread = await thread_of(jon, AUTH, "Mia just wrote this")
        await jon.send(PostReply(**AUTH, comment_id=thread.id, body=Document(markdown="Jón answers at once")))
        await until(pilot, shows="now new  Jón answers at once")
        await ada.send(SubmitReview(**AUTH, status="approved"))
        await until(pilot, shows="open ✓2")
        await edits(mia, AUTH, "Tokens", BLOCK, f"{BLOCK} It is Mia's text.")
        await until(pilot, shows="It is Mia's text.")
        assert under_cursor(pilot) == before, "nothing of this moved the cursor"
        await mia.send(UpdateComment(**AUTH, comment_id=thread.id, resolved=True))
        await until(pilot, shows="○ resolved Mia")
        assert under_cursor(pilot) == before
        session = pilot.app.screen.session
        item, total = session.view.item, len(session.model.items)
        page = InsertPage(title="Added above", document=Document(markdown="New."), at=0)
        await mia.send(EditChangeRequestContent(**AUTH, changes=(page,), compat=False))
        await until(pilot, shows="Added above", holds=lambda: session.model.items[0].title == "Added above")
        assert len(session.model.items) == total + 1
        assert session.view.items.cursor == session.model.items.index(item) + 1
        assert session.view.item == item
        # a thread stays marked as new until the cursor has left it
        await mia.send(PostComment(**AUTH, body=Document(markdown="On the whole, fine")))
        await pilot.press("h", "g", "g", "l")
        await until(pilot, shows="now new  On the whole, fine")
        await pilot.press("t")
        while "On the whole" not in (session.view.thread.first.text if session.view.is_on_thread else ""):
            await pilot.press("t")
        await pilot.press("g", "g")
        await until(pilot, holds=lambda: "now new  On the whole" not in shown(pilot.app))
