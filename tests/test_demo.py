"""`demo_service`: two demos can run at the same time, and their sockets are removed."""

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
    """Open the links of a demo in a browser. Returns the link of a change request."""
    async with httpx.AsyncClient() as browser, Client(demo.base_url, demo.token or "") as client:
        request = await client.send(GetChangeRequest(space_id="api", change_request_id="5"))
        pdf = await client.send(GetChangeRequestPDF(space_id="api", change_request_id="5"))
        assert (await browser.get(pdf.url, timeout=60)).content.startswith(b"%PDF")
        assert "presscheck open" in (await browser.get(request.urls.app)).text
        assert (await browser.get(request.urls.location)).status_code == 401, "the API requires a token"
        return request.urls.app


@pytest.mark.slow
async def test_two_demos_run_separate_services_on_one_workspace(tmp_path: Path) -> None:
    where = Places(tmp_path / "config", tmp_path / "cache", tmp_path / "state", tmp_path / "data")
    with demo_service(where=where) as demo:
        user_id = await answers(demo.base_url, demo.token)
        address = await opened_in_a_browser(demo)
        with demo_service(where=where) as second_demo:
            assert second_demo.base_url != demo.base_url
            assert await answers(second_demo.base_url, second_demo.token) == user_id
            with (
                pytest.raises(ConfigurationError, match="another demo is running"),
                demo_service(where=where, fresh=True),
            ):
                pass
        assert await answers(demo.base_url, demo.token) == user_id, "the end of the second demo does not stop the first"
    assert not [*tmp_path.rglob("*.sock")]
    with demo_service(where=where) as restarted:
        assert restarted.base_url == demo.base_url, "the address is remembered"
        async with Client(restarted.base_url, restarted.token or "") as client:
            request = await client.send(GetChangeRequest(space_id="api", change_request_id="5"))
        assert request.urls.app == address, "addresses stay the same"


async def test_error_names_the_reason_if_the_service_does_not_start(tmp_path: Path) -> None:
    where = Places(tmp_path / "config", tmp_path / "cache", tmp_path / "state", tmp_path / "data")
    (tmp_path / "data" / "demo").mkdir(parents=True)
    (tmp_path / "data" / "demo" / "service.sqlite").write_bytes(b"no database" * 100)
    with (
        pytest.raises(ConfigurationError, match=r"could not open the database .*: file is not a database"),
        demo_service(where=where) as demo,
    ):
        await answers(demo.base_url, demo.token)
