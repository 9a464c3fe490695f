"""An open review while other people work on it: their news arrive within seconds, and cost little."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import edits, page_of, somebody, thread_of
from tests.tui.app_driver import app_on, open_review, running, shown, until

from presscheck.api.change_requests import GetChangeRequest, SubmitReview
from presscheck.api.comments import Document, PostComment, PostReply, UpdateComment
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.engine.connection import Entry
from presscheck.engine.review import live_updates

pytestmark = pytest.mark.usefixtures("fast_live_updates")

INTERVAL = live_updates.INTERVAL
"""As the app has it; the tests poll faster."""
AUTH = {"space_id": "api", "change_request_id": "5"}
BLOCK = "A token belongs to one project. It carries the rights of the member who made it, and expires after 90 days."


@asynccontextmanager
async def review(service: RunningService, home: Path) -> AsyncIterator[Any]:
    """The app with the review of the auth guide open at its first page, Tokens."""
    async with running(app_on(service, home)) as pilot:
        await open_review(pilot, AUTH)
        await until(pilot, shows="expires after 90 days")
        await until(pilot, shows="Then say why it is meant.")
        yield pilot


def sent(pilot: Any) -> list[Entry]:
    """The requests that were sent, oldest first."""
    return [entry for entry in pilot.app.engine._activity._entries if not entry.from_cache]


def polls(pilot: Any) -> list[Entry]:
    """The requests that asked in the background whether the change request has moved."""
    background = (entry for entry in sent(pilot) if entry.priority.name == "BACKGROUND")
    return [entry for entry in background if isinstance(entry.call, GetChangeRequest)]


def under_cursor(pilot: Any) -> str:
    """The text of the line under the cursor."""
    change = pilot.app.screen.session.view.change
    return "".join(segment.text for segment in change.render_line(change.cursor - change.top)).strip()


@pytest.mark.slow
async def test_an_idle_review_costs_one_unchanged_response_for_each_poll(
    service: RunningService, tmp_path: Path
) -> None:
    async with review(service, tmp_path) as pilot:
        path = f"/spaces/api/change-requests/{pilot.app.screen.session.model.request.id}"
        alone = {(path, 304, 0)}  # once all that the review needs, and what the inbox polls, has arrived
        await until(
            pilot, holds=lambda: {(entry.path, entry.status, entry.bytes) for entry in sent(pilot)[-10:]} == alone
        )


@pytest.mark.slow
async def test_what_others_write_arrives_and_is_marked_new(service: RunningService, tmp_path: Path) -> None:
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


@pytest.mark.slow
async def test_a_thread_is_new_until_the_cursor_has_left_it(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path) as pilot, somebody(service, "mia") as (mia,):
        await mia.send(PostComment(**AUTH, body=Document(markdown="On the whole, fine")))
        await until(pilot, shows="◆")
        await pilot.press("g", "g", "l")
        await until(pilot, shows="now new  On the whole, fine")
        view = pilot.app.screen.session.view
        await pilot.press("t", "t")
        await until(pilot, holds=lambda: view.is_on_thread and view.thread.has_new)
        await pilot.press("g", "g")
        await until(pilot, holds=lambda: "now new" not in shown(pilot.app))


@pytest.mark.slow
async def test_a_page_that_others_add_above_does_not_change_the_selected_one(
    service: RunningService, tmp_path: Path
) -> None:
    async with review(service, tmp_path) as pilot, somebody(service, "mia") as (mia,):
        await pilot.press("}", "}")
        view = pilot.app.screen.session.view
        item, total = view.item, len(pilot.app.screen.session.model.items)
        page = InsertPage(title="Added above", document=Document(markdown="New."), at=0)
        await mia.send(EditChangeRequestContent(**AUTH, changes=(page,), compat=False))
        model = pilot.app.screen.session.model
        await until(pilot, shows="Added above", holds=lambda: model.items[0].title == "Added above")
        assert len(model.items) == total + 1
        assert view.items.cursor == model.items.index(item) + 1
        assert view.item == item


@pytest.mark.slow
async def test_a_hidden_review_requests_nothing(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[float] = []

    async def counted(seconds: float) -> None:
        await asyncio.sleep(seconds)
        turns.append(seconds)

    monkeypatch.setattr(live_updates, "sleep", counted)
    async with review(service, tmp_path) as pilot, somebody(service, "mia") as (mia,):
        hidden_screen = pilot.app.screen
        await pilot.press("@")
        await until(pilot, holds=lambda: not hidden_screen.is_shown)
        before = len(turns)
        await until(pilot, holds=lambda: len(turns) > before + 1)  # one may have begun before
        hidden = polls(pilot)
        await mia.send(PostComment(**AUTH, body=Document(markdown="While it is hidden")))
        await until(pilot, holds=lambda: len(turns) > before + 5)
        assert polls(pilot) == hidden
        await pilot.press("q", "g", "g")
        await until(pilot, shows="While it is hidden")


@pytest.mark.slow
async def test_polling_stops_offline_and_begins_again(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path) as pilot, somebody(service, "mia") as (mia,):
        service.stop()
        await until(pilot, shows="offline")
        service.start()
        await until(pilot, shows="live")
        await mia.send(PostComment(**AUTH, body=Document(markdown="After the gap")))
        await pilot.press("g", "g")
        await until(pilot, shows="After the gap")
