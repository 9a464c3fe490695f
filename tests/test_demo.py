"""The sample workspace as a child: two of them do not get in each other's way, and nothing is left behind."""

from pathlib import Path

import httpx
import pytest

from presscheck.api.change_requests import GetChangeRequest, GetChangeRequestPDF
from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client
from presscheck.config.profile import Profile
from presscheck.demo import demo_service
from presscheck.errors import ConfigurationError
from presscheck.paths import Places


async def answers(base_url: str, token: str | None) -> str:
    client = Client(base_url, token or "")
    try:
        return (await client.send(GetCurrentUser())).id
    finally:
        await client.aclose()


async def opened_in_a_browser(demo: Profile) -> str:
    """Open the addresses of a demo, and return the one of a change request."""
    async with httpx.AsyncClient() as browser, Client(demo.base_url, demo.token or "") as client:
        request = await client.send(GetChangeRequest(space_id="api", change_request_id="5"))
        pdf = await client.send(GetChangeRequestPDF(space_id="api", change_request_id="5"))
        assert (await browser.get(pdf.url, timeout=60)).content.startswith(b"%PDF")
        assert "presscheck open" in (await browser.get(request.urls.app)).text
        assert (await browser.get(request.urls.location)).status_code == 401, "the API wants the token here, too"
        return request.urls.app


@pytest.mark.slow
async def test_two_demos_at_once_each_have_a_service_on_the_same_workspace(tmp_path: Path) -> None:
    where = Places(tmp_path / "config", tmp_path / "cache", tmp_path / "state", tmp_path / "data")
    with demo_service(where=where) as one:
        first = await answers(one.base_url, one.token)
        address = await opened_in_a_browser(one)
        with demo_service(where=where) as two:
            assert two.base_url != one.base_url
            assert await answers(two.base_url, two.token) == first
            with (
                pytest.raises(ConfigurationError, match="another demo is running"),
                demo_service(where=where, fresh=True),
            ):
                pass
        assert await answers(one.base_url, one.token) == first, "the end of one leaves the other alone"
    assert not [*tmp_path.rglob("*.sock")]
    with demo_service(where=where) as again:
        assert again.base_url == one.base_url, "what is remembered of it is found again"
        async with Client(again.base_url, again.token or "") as client:
            request = await client.send(GetChangeRequest(space_id="api", change_request_id="5"))
        assert request.urls.app == address, "addresses stay the same"


async def test_reason_of_a_service_that_does_not_start(tmp_path: Path) -> None:
    where = Places(tmp_path / "config", tmp_path / "cache", tmp_path / "state", tmp_path / "data")
    (tmp_path / "data" / "demo").mkdir(parents=True)
    (tmp_path / "data" / "demo" / "service.sqlite").write_bytes(b"no database" * 100)
    with (
        pytest.raises(ConfigurationError, match=r"could not open the database .*: file is not a database"),
        demo_service(where=where) as demo,
    ):
        await answers(demo.base_url, demo.token)
