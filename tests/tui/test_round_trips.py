"""The number of sequential requests until the first page of a change request is shown."""

import threading
from collections import Counter
from pathlib import Path

import pytest
from tests.running_service import running_service
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, running, until

from presscheck.api.change_requests import ListOrganizationChangeRequests
from presscheck.client.client import Client
from presscheck.tui.places import Place

SUBJECT = "Rewrite the auth guide"
BESIDE = (
    "/user",
    "/orgs",
    "/spaces/api ",
    "/spaces/api?",
    "/reviews",
    "/requested-reviewers",
    "/comments",
    "/content/pages",
    "/content ",
)
"""Other requests of the app. They are held back, as the first page must not depend on their responses."""


def pages(paths: list[str]) -> list[str]:
    """Return the page ids in the requests for page texts. The text before and after the change are two requests."""
    return [path.rpartition("/")[2] for path in paths if "/page/" in path]


@pytest.mark.slow
async def test_the_first_page_is_read_after_three_round_trips(tmp_path: Path) -> None:
    """Read the change request, its changes, and then both texts of the page at the same time."""
    with running_service(tmp_path, sample=True) as service:
        async with Client(service.base_url, service.token) as client:
            listing = ListOrganizationChangeRequests(organization_id="tallowick", status="open", limit=1000)
            request = next(one for one in (await client.send(listing)).items if one.subject == SUBJECT)
        origin, here = service.base_url, f"/v1/spaces/{request.space}/change-requests"
        path = [f"{here}/{request.number}", f"{here}/{request.id}/changes?limit=1000"]
        asked, answered = list[str](), list[str]()
        with holding_back(service, tmp_path, *BESIDE, asked=asked, answered=answered) as service.base_url:
            async with running(app_on(service, tmp_path / "home", sync=False)) as pilot:
                await until(pilot, holds=lambda: bool(asked))
                await pilot.app.go(Place.review(request.space, str(request.number)))
                await until(pilot, shows="carries the rights of the member")
                assert answered[:2] == path
                # the timeline loads revisions and contributors at the same time
                timeline = ("/revisions/", "/contributors")
                others = [one for one in answered[2:] if "/page/" in one or not any(part in one for part in timeline)]
                assert len(pages(answered)) == len(others) > 1
        service.base_url, asked = origin, []
        texts = threading.Event()
        with holding_back(service, tmp_path, "/page/", until=texts, asked=asked) as service.base_url:
            async with running(app_on(service, tmp_path / "other", sync=False)) as pilot:
                await until(pilot, shows="Needs me")
                await pilot.app.go(Place.review(request.space, str(request.number)))
                await until(pilot, holds=lambda: 2 in Counter(pages(asked)).values())
                texts.set()
                await until(pilot, shows="carries the rights of the member")
