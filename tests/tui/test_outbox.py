"""The outbox screen: pending changes are opened, edited, retried and discarded."""

import threading
from pathlib import Path

import pytest
from tests.engine.live_engine import running_engine
from tests.running_service import RunningService
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import all_sent, app_on, running, shown, until

from presscheck.api.change_requests import GetChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document, ListComments, PostComment, PostReply
from presscheck.engine.writes.pending_writes import HELD_UP
from presscheck.errors import NotFound
from presscheck.tui.screens.batch_actions import WriteItem

pytestmark = pytest.mark.service(shared=True)

PATH = {"space_id": "guides", "change_request_id": "3"}


@pytest.mark.slow
async def test_a_failed_change_is_edited_and_retried(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="live")
        engine = pilot.app.engine
        missing = {"space_id": "guides", "change_request_id": "nowhere"}
        engine.write(PostComment(**missing, body=Document(markdown="Whither?")))
        engine.write(UpdateChangeRequest(**PATH, status="open"), hold=600)
        await pilot.press("g", "x")
        await until(pilot, shows="failed")
        await pilot.press("j", "e")
        await until(pilot, shows="it contains no text to edit")
        await pilot.press("k", "e")
        await until(pilot, shows="the draft is kept")
        await pilot.press("end", *"?", "escape")
        await until(pilot, holds=lambda: "the draft is kept" not in shown(pilot.app))
        await pilot.press("e")
        await until(pilot, shows="Whither??")
        await pilot.press("ctrl+s")
        await until(pilot, shows="Whither??")
        await until(pilot, shows="failed")
        await pilot.press("delete")
        await until(pilot, shows="Discard this change?")


async def test_an_item_of_a_batch_behind_a_failed_change_is_pending(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path) as engine:
        request = await engine.read(GetChangeRequest(**PATH))
        failed = engine.write(PostReply(**PATH, comment_id="none", body=Document(markdown="To nobody")))
        with pytest.raises(NotFound):
            await failed.landed()
        item = WriteItem(engine, request, "API docs #5", PostComment(**PATH, body=Document(markdown="To all")))
        await item.run(lambda: None)
        assert (item.state, item.message) == ("pending", HELD_UP)
        assert [entry.id for entry in engine.waiting()] == [failed.id, item.outbox_row]


@pytest.mark.slow
async def test_a_change_sent_while_the_question_is_open_is_not_discarded(
    service: RunningService, tmp_path: Path
) -> None:
    answered, text = threading.Event(), "Sent after it"
    with holding_back(service, tmp_path, "POST /", until=answered) as address:
        async with running(app_on(service, tmp_path, base_url=address)) as pilot:
            await until(pilot, shows="live")
            engine = pilot.app.engine
            call = PostComment(**PATH, body=Document(markdown=text))
            number = engine.write(call, hold=600).id
            await pilot.press("g", "x")
            await until(pilot, shows=text)
            await pilot.press("-")
            await until(pilot, shows="It will not be sent")
            assert engine.rewrite(number, call), "it is due now"
            await until(pilot, holds=lambda: engine.outbox.rows()[0].state == "sending")
            await pilot.press("y")
            await until(pilot, shows="not discarded: it is already sent, or is being sent")
            assert [entry.id for entry in engine.waiting()] == [number]
            answered.set()
            await all_sent(pilot)
            assert engine.history()[0].state == "sent"
            found = await engine.read(ListComments(**PATH, format="markdown"))
            assert text in [(one.body.markdown or "").strip() for one in found.items]
