"""Reviews from the inbox: a pending review counts at once, and one text requests changes on all marked rows."""

from pathlib import Path

import pytest
from tests.engine.live_engine import running_engine
from tests.running_service import RunningService
from tests.service_users import somebody
from tests.tui.app_driver import app_on, inbox_loaded, pick, running, until

from presscheck.api.change_requests import GetChangeRequest, ListReviews, SubmitReview, UpdateChangeRequest
from presscheck.engine.engine import PENDING

LIMITS = {"space_id": "api", "change_request_id": "4"}


async def test_a_review_in_the_outbox_counts_at_once(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path) as engine:
        request = await engine.read(GetChangeRequest(**LIMITS))
        assert engine.own_reviews() == {}
        engine.write(SubmitReview(space_id="api", change_request_id=request.id, status="approved"), hold=600)
        assert engine.own_reviews() == {request.id: PENDING}


@pytest.mark.slow
async def test_changes_are_requested_on_all_marked_rows_with_one_text(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "noor") as (noor,):
        await inbox_loaded(pilot)
        await pilot.press("space", "space", "A")
        await pick(pilot, "Request changes")
        await until(pilot, shows="Request changes on all marked")
        await pilot.press(*"No dates", "ctrl+s")
        await until(pilot, shows="Request changes: 2 change requests?")
        await noor.send(UpdateChangeRequest(space_id="api", change_request_id="5", status="archived"))
        await pilot.press("y")
        await until(pilot, shows="1 done · 1 failed")
        await until(pilot, shows="Change request #5 is archived.")
        await noor.send(UpdateChangeRequest(space_id="api", change_request_id="5", status="open"))
        await pilot.press("s")
        await until(pilot, shows="2 done")
        for at in ({"space_id": "api", "change_request_id": "5"}, {"space_id": "runbook", "change_request_id": "3"}):
            [review] = [
                review
                for review in (await noor.send(ListReviews(**at, format="markdown"))).items
                if review.reviewer.id == "robin"
            ]
            assert review.status == "changes-requested"
            assert review.comment
            assert (review.comment.body.markdown or "").strip() == "No dates"
