"""The sample workspace as a child: two of them do not get in each other's way, and nothing is left behind."""

from pathlib import Path

import pytest

from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client
from presscheck.demo import demo_service
from presscheck.errors import ConfigurationError
from presscheck.paths import Places


async def answers(base_url: str, token: str | None) -> str:
    client = Client(base_url, token or "")
    try:
        return (await client.send(GetCurrentUser())).id
    finally:
        await client.aclose()


async def test_two_demos_at_once_each_have_a_service_on_the_same_workspace(tmp_path: Path) -> None:
    where = Places(tmp_path / "config", tmp_path / "cache", tmp_path / "state", tmp_path / "data")
    with demo_service(where=where) as one:
        first = await answers(one.base_url, one.token)
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
