"""Client of the sign-in by browser: metadata, polling, unusable responses and lost connections."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import pytest
from tests.client.conftest import QUICK, Exchanged, FaultServer, http

from presscheck.client.oauth import DEVICE_GRANT, LONGEST_TIME, METADATA_PATH, DeviceCode, OAuthClient, SignInEndpoints
from presscheck.errors import MalformedAnswer, NetworkError, NotSignedIn, NotSupported

TOKENS = {"access_token": "a1", "token_type": "Bearer", "expires_in": 60, "refresh_token": "r1", "scope": "write"}
DEVICE = {"device_code": "d1", "user_code": "BCDF-GHJK", "verification_uri": "https://docs.example/device"}
PENDING = http(400, {"error": "authorization_pending"})


class Pauses:
    """A replacement for `sleep` that records the pauses instead of waiting."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def client_of(server: FaultServer, pauses: Pauses | None = None) -> OAuthClient:
    return OAuthClient(server.address, timeouts=QUICK, pause=pauses or Pauses())


def endpoints_of(server: FaultServer) -> SignInEndpoints:
    return SignInEndpoints(*(f"{server.address}/oauth/{name}" for name in ("token", "device", "authorize", "revoke")))


async def drop(exchanged: Exchanged) -> None:
    exchanged.reset()


def metadata(server: FaultServer, **changed: str) -> dict[str, str]:
    return {"issuer": server.address, "token_endpoint": f"{server.address}/token", **changed}


async def waited(server: FaultServer, pauses: Pauses, seconds: float = 100) -> tuple[Any, list[str]]:
    reports: list[str] = []
    device = DeviceCode("d1", "BCDF-GHJK", "https://docs.example", "https://docs.example", seconds, 2)
    async with client_of(server, pauses) as client:
        return await client.wait(endpoints_of(server), device, reports.append), reports


async def test_metadata_names_the_endpoints(server: FaultServer) -> None:
    server.script = [http(200, metadata(server, device_authorization_endpoint=f"{server.address}/device"))]
    async with client_of(server) as client:
        found = await client.endpoints()
    assert (found.token, found.device, found.revocation) == (f"{server.address}/token", f"{server.address}/device", "")
    assert server.asked[0].target == METADATA_PATH
    assert "authorization" not in server.asked[0].headers


@pytest.mark.parametrize("answer", [http(404, {"error": {}}), http(200, b"<p>", kind="text/html"), http(200, {})])
async def test_a_service_without_metadata_offers_no_sign_in(server: FaultServer, answer: bytes) -> None:
    server.script = [answer]
    async with client_of(server) as client:
        with pytest.raises(NotSupported, match=r"does not offer sign-in by browser\. A personal access token works"):
            await client.endpoints()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"issuer": "https://other.example"}, "signs in for https://other.example"),
        ({"token_endpoint": "https://attacker.example/token"}, "another host"),
        ({"device_authorization_endpoint": "https://attacker.example/device"}, "another host"),
        ({"revocation_endpoint": "https://attacker.example/revoke"}, "another host"),
    ],
)
async def test_nothing_is_sent_to_another_host(server: FaultServer, changed: dict[str, str], message: str) -> None:
    server.script = [http(200, metadata(server, **changed))]
    async with client_of(server) as client:
        with pytest.raises(MalformedAnswer, match=message):
            await client.endpoints()


async def test_a_redirect_is_not_followed(server: FaultServer) -> None:
    server.script = [http(307, {"error": "x"}, location="https://attacker.example/")]
    async with client_of(server) as client:
        with pytest.raises(NotSignedIn, match="refused the sign-in"):
            await client.refresh(f"{server.address}/token", "r1")
    assert len(server.asked) == 1


async def test_polling_waits_for_the_interval_and_slows_down(server: FaultServer) -> None:
    pauses = Pauses()
    server.script = [PENDING, http(400, {"error": "slow_down"}), PENDING, http(200, TOKENS)]
    tokens, reports = await waited(server, pauses)
    assert pauses.seconds == [2, 2, 7, 7]
    assert (tokens.access, tokens.refresh, tokens.seconds, tokens.scope, reports) == ("a1", "r1", 60, "write", [])
    assert "a1" not in repr(tokens) and "r1" not in repr(tokens)
    assert parse_qs(server.asked[0].body.decode()) == {
        "client_id": ["presscheck"],
        "grant_type": [DEVICE_GRANT],
        "device_code": ["d1"],
    }


async def test_polling_reports_a_lost_connection_and_continues(server: FaultServer) -> None:
    pauses = Pauses()
    server.script = [PENDING, drop, drop, PENDING, http(200, TOKENS)]
    tokens, [lost, back] = await waited(server, pauses)
    assert pauses.seconds == [2, 2, 4, 8, 2]
    assert tokens.access == "a1" and lost.endswith("; still waiting") and back.endswith("responds again")


@pytest.mark.parametrize(
    "answer", [http(503, {"error": "restarting"}), http(502, b"<p>", kind="text/html"), http(429, {"error": {}})]
)
async def test_sign_in_continues_after_a_restart_of_the_service(server: FaultServer, answer: bytes) -> None:
    server.script = [answer, http(200, TOKENS), answer]
    tokens, [lost, back] = await waited(server, Pauses())
    assert tokens.access == "a1" and "is not available (status" in lost and "responds again" in back
    async with client_of(server) as client:
        with pytest.raises(NetworkError, match="is not available"):
            await client.refresh(f"{server.address}/token", "r1")


async def test_a_lifetime_is_limited(server: FaultServer) -> None:
    server.script = [http(200, {**TOKENS, "expires_in": 10**400})]
    tokens, _ = await waited(server, Pauses())
    assert tokens.seconds == LONGEST_TIME


async def test_a_code_expires_while_the_connection_is_lost(server: FaultServer) -> None:
    pauses = Pauses()
    server.script = [drop]
    with pytest.raises(NotSignedIn, match="The code has expired: start the sign-in again"):
        await waited(server, pauses, seconds=20)
    assert sum(pauses.seconds) < 60


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("access_denied", "The sign-in was denied in the browser"),
        ("expired_token", "The code has expired"),
        ("invalid_client", "does not know presscheck"),
        ("teapot", "refused the sign-in: teapot"),
        ("", "refused the sign-in: status 400"),
    ],
)
async def test_refusal_has_a_clear_message(server: FaultServer, error: str, message: str) -> None:
    server.script = [http(400, {"error": error})]
    with pytest.raises(NotSignedIn, match=message):
        await waited(server, Pauses())


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {**TOKENS, "access_token": 3},
        {**TOKENS, "access_token": "a\ud800"},
        {**TOKENS, "access_token": "a\r\nx: y"},
        {**TOKENS, "refresh_token": "\ud800"},
        {**TOKENS, "token_type": "mac"},
        [1],
    ],
)
async def test_unusable_tokens_are_refused(server: FaultServer, answer: Any) -> None:
    server.script = [http(200, answer)]
    with pytest.raises(MalformedAnswer, match="invalid response to the sign-in"):
        await waited(server, Pauses())


@pytest.mark.parametrize(
    "changed",
    [
        {"verification_uri": "javascript:alert(1)"},
        {"verification_uri": "https://docs.example/\x1b[2J"},
        {"user_code": "\x1b]52;c;\x07"},
        {"user_code": "B" * 33},
        {"device_code": ""},
        {"device_code": "\ud800"},
    ],
)
async def test_an_unusable_code_is_not_shown(server: FaultServer, changed: dict[str, str]) -> None:
    server.script = [http(200, {**DEVICE, **changed})]
    async with client_of(server) as client:
        with pytest.raises(MalformedAnswer):
            await client.request_device(endpoints_of(server), "write")


async def test_a_device_has_defaults(server: FaultServer) -> None:
    server.script = [
        http(200, {**DEVICE, "interval": -1, "expires_in": 10**9, "verification_uri_complete": "file:///"})
    ]
    async with client_of(server) as client:
        device = await client.request_device(endpoints_of(server), "write")
    assert (device.interval, device.seconds, device.complete_url) == (5, 1800, DEVICE["verification_uri"])


async def test_response_with_another_state_sends_no_code(server: FaultServer) -> None:
    async with client_of(server) as client:
        request = client.request_code(endpoints_of(server), "write", "http://127.0.0.1:1/callback")
        for answer in ({"code": "c", "state": "wrong"}, {"code": "c"}, {"error": "access_denied"}):
            with pytest.raises(NotSignedIn, match="state mismatch"):
                await client.exchange(endpoints_of(server), request, answer, "http://127.0.0.1:1/callback")
        with pytest.raises(NotSignedIn, match="denied in the browser"):
            denied = {"error": "access_denied", "state": request.state}
            await client.exchange(endpoints_of(server), request, denied, "http://127.0.0.1:1/callback")
    assert server.asked == []


async def test_errors_do_not_contain_the_token(server: FaultServer) -> None:
    server.script = [drop]
    async with client_of(server) as client:
        with pytest.raises(NetworkError) as caught:
            await client.refresh(f"{server.address}/token", "marker-r1")
    assert "marker-r1" not in repr(caught.value) and caught.value.__context__ is None
