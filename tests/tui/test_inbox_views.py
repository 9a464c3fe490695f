"""The views of the inbox: which reviews count in them."""

from pathlib import Path

from tests.engine.live_engine import running_engine
from tests.running_service import RunningService

from presscheck.api.change_requests import GetChangeRequest, SubmitReview
from presscheck.engine.engine import PENDING

LIMITS = {"space_id": "api", "change_request_id": "4"}


async def test_a_review_in_the_outbox_counts_at_once(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path) as engine:
        request = await engine.read(GetChangeRequest(**LIMITS))
        assert engine.own_reviews() == {}
        engine.write(SubmitReview(space_id="api", change_request_id=request.id, status="approved"), hold=600)
        assert engine.own_reviews() == {request.id: PENDING}
