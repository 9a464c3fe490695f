"""Sign-in with a browser, over a socket: device codes, authorization codes with PKCE, refresh, revocation, attacks."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from sqlalchemy import select
from tests.browser_sign_in import CALLBACK, SetClock, SignInSite
from tests.running_service import RunningService, running_service
from tests.service.factories import World
from tests.service.jobs import until

from presscheck.api.change_requests import CreateChangeRequest, ListChangeRequests
from presscheck.api.operation import every_operation
from presscheck.api.organizations import UpdateLastSeen, UpdateOrganization
from presscheck.client.client import Client
from presscheck.errors import Forbidden, NotSignedIn
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import hash_token, moment_text, system_clock
from presscheck.service.handlers import all_handlers
from presscheck.service.http.operations import READ_ONLY_OPERATIONS
from presscheck.service.jobs.worker import HOUSEKEEPING
from presscheck.service.models.jobs import JobRow
from presscheck.service.models.oauth import BrowserSignInRow, RefreshTokenRow
from presscheck.service.models.organizations import TokenRow
from presscheck.service.oauth.endpoints import MOST_FAILURES
from presscheck.service.oauth.server import ACCESS_SECONDS, CODE_SECONDS, DEVICE_SECONDS, REFRESH_LIFETIME
from presscheck.service.server.api_tokens import ID_LENGTH, revoke_token


@pytest.fixture
def site(world: World) -> Iterator[SignInSite]:
    """The service on each engine; its user is an admin of an organization."""
    with httpx.Client() as browser:
        yield SignInSite(world.base_url, world.tokens["admin"], browser)


@pytest.fixture(scope="module")
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(scope="module")
def timed_service(tmp_path_factory: pytest.TempPathFactory, clock: SetClock) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("service"), clock=clock) as running:
        yield running


@pytest.fixture
def timed(timed_service: RunningService, clock: SetClock) -> Iterator[SignInSite]:
    """A service whose clock the tests set."""
    clock.pass_by(3600)  # so that failures of earlier tests no longer count
    with httpx.Client() as browser:
        yield SignInSite(timed_service.base_url, timed_service.token, browser)


def test_a_device_gets_tokens_after_approval_and_only_once(site: SignInSite) -> None:
    device = site.device()
    assert device["verification_uri"] == f"{site.base_url}/device"
    assert site.poll(device)["error"] == "authorization_pending"
    typed = device["user_code"].lower().replace("-", " ")
    assert (
        "may read and write content" in site.browser.get(device["verification_uri"], params={"user_code": typed}).text
    )
    site.decide(device["verification_uri_complete"])
    tokens = site.poll(device)
    assert (tokens["scope"], tokens["expires_in"]) == ("write", ACCESS_SECONDS)
    assert site.user(tokens["access_token"]) == 200
    assert site.poll(device)["error"] == "invalid_request"
    assert site.user(tokens["access_token"]) == 401, "a second use of the code revokes the tokens"


def test_a_denied_device_gets_no_tokens(site: SignInSite) -> None:
    device = site.device()
    assert "Denied" in site.decide(device["verification_uri_complete"], "", "deny").text
    assert site.poll(device)["error"] == "access_denied"
    assert site.browser.get(device["verification_uri_complete"]).status_code == 404, "a decision is final"


def test_device_that_polls_too_fast_has_to_slow_down(timed: SignInSite, clock: SetClock) -> None:
    device = timed.device()
    assert timed.poll(device)["error"] == "authorization_pending"
    assert timed.poll(device)["error"] == "slow_down"
    clock.pass_by(device["interval"] + 1)
    assert timed.poll(device)["error"] == "slow_down", "the interval is longer now"
    clock.pass_by(device["interval"] + 11)
    assert timed.poll(device)["error"] == "authorization_pending"


def test_codes_and_tokens_expire(timed: SignInSite, clock: SetClock) -> None:
    device, approved, code, tokens = timed.device(), timed.device(), timed.code(), timed.signed_in()
    timed.decide(approved["verification_uri_complete"])
    clock.pass_by(CODE_SECONDS)
    assert timed.exchange(code)["error"] == "invalid_grant"
    clock.pass_by(DEVICE_SECONDS)
    assert timed.poll(device)["error"] == timed.poll(approved)["error"] == "expired_token"
    assert timed.browser.get(device["verification_uri_complete"]).status_code == 404
    assert timed.user(tokens["access_token"]) == 200
    clock.pass_by(ACCESS_SECONDS)
    assert timed.user(tokens["access_token"]) == 401
    renewed = timed.refresh(tokens["refresh_token"])
    assert timed.user(renewed["access_token"]) == 200
    clock.pass_by(REFRESH_LIFETIME.total_seconds())
    assert timed.refresh(renewed["refresh_token"])["error"] == "invalid_grant"


def test_authorization_code_can_be_exchanged_once(site: SignInSite) -> None:
    page = site.browser.get(site.authorize_url())
    assert "form-action 'self' http://127.0.0.1:4711;" in page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    response = site.decide(site.authorize_url())
    location = urlsplit(response.headers["location"])
    assert f"{location.scheme}://{location.netloc}{location.path}" == CALLBACK
    assert response.headers["referrer-policy"] == "no-referrer"
    query = parse_qs(location.query)
    assert query["state"] == ["s1"]
    tokens = site.exchange(query["code"][0])
    assert site.user(tokens["access_token"]) == 200
    assert site.exchange(query["code"][0])["error"] == "invalid_grant"
    assert site.user(tokens["access_token"]) == 401, "a second use of the code revokes the tokens"
    assert site.refresh(tokens["refresh_token"])["error"] == "invalid_grant"


@pytest.mark.parametrize(
    "changed",
    [{"code_verifier": "w" * 43}, {"code_verifier": ""}, {"redirect_uri": "http://127.0.0.1:4712/callback"}],
)
def test_authorization_code_needs_its_verifier_and_redirect_uri(site: SignInSite, changed: dict[str, str]) -> None:
    assert site.exchange(site.code(), **changed)["error"] in ("invalid_grant", "invalid_request")


def test_device_codes_and_authorization_codes_are_not_interchangeable(site: SignInSite) -> None:
    device = site.device()
    assert site.exchange(device["device_code"])["error"] == "invalid_grant"
    assert site.poll({"device_code": site.code()})["error"] == "invalid_request"


@pytest.mark.parametrize(
    "redirect_uri",
    [
        "https://attacker.example/callback",
        "http://127.0.0.1.attacker.example:80/callback",
        "http://127.0.0.1@attacker.example:80/callback",
        "http://127.0.0.1:80/elsewhere",
        "http://127.0.0.1:80/callback#a",
        "http://127.0.0.1:80/callback?a=b",
        "http://127.0.0.1:80\\@attacker.example/callback",
        "http://127.0.0.1/callback",
        "http://localhost:80/callback",
        "javascript:alert(1)",
        "",
    ],
)
def test_other_redirect_uris_are_refused(site: SignInSite, redirect_uri: str) -> None:
    response = site.browser.get(site.authorize_url(redirect_uri=redirect_uri))
    assert (response.status_code, "location" in response.headers, "<form" in response.text) == (400, False, False)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"scope": "everything"}, "invalid_scope"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": "", "code_challenge_method": ""}, "invalid_request"),
    ],
)
def test_error_of_an_invalid_request_is_sent_to_the_client(
    site: SignInSite, changed: dict[str, str], error: str
) -> None:
    location = site.browser.get(site.authorize_url(**changed)).headers["location"]
    query = parse_qs(urlsplit(location).query)
    assert location.startswith(CALLBACK) and (query["error"], query["state"]) == ([error], ["s1"])


def test_repeated_parameter_is_refused(site: SignInSite) -> None:
    response = site.browser.get(site.authorize_url() + "&redirect_uri=https://attacker.example/")
    assert (response.status_code, "given twice" in response.text) == (400, True)


def test_form_is_accepted_only_from_its_browser_and_origin(site: SignInSite) -> None:
    device = site.device()
    page = site.browser.get(device["verification_uri_complete"]).text
    found = re.search('name="request" value="([^"]+)"', page)
    form = {"request": found[1] if found else "", "token": site.token, "decision": "approve"}
    url = device["verification_uri"]
    assert httpx.post(url, data=form).status_code == 403, "another browser"
    assert site.browser.post(url, data=form, headers={"origin": "https://attacker.example"}).status_code == 403
    assert site.browser.post(url, data={**form, "request": "x"}).status_code == 403
    assert site.poll(device)["error"] == "authorization_pending"
    assert site.browser.post(url, data=form, headers={"origin": site.base_url}).status_code == 200


def test_only_personal_tokens_approve_a_sign_in(timed: SignInSite) -> None:
    narrow = timed.signed_in("read")
    device = timed.device("admin")
    for token in ("", "wrong", narrow["access_token"], narrow["refresh_token"]):
        refused = timed.decide(device["verification_uri_complete"], token)
        assert (refused.status_code, "not a valid personal access token" in refused.text) == (403, True)
    assert timed.poll(device)["error"] == "authorization_pending"


def test_user_codes_cannot_be_guessed(timed: SignInSite, clock: SetClock) -> None:
    device = timed.device()
    for number in range(MOST_FAILURES):
        wrong = timed.browser.get(f"{timed.base_url}/device", params={"user_code": f"BBBB-BBB{'BCDFGHJKLM'[number]}"})
        assert wrong.status_code == 404
    assert timed.browser.get(device["verification_uri_complete"]).status_code == 429, "even the right code"
    clock.pass_by(DEVICE_SECONDS)
    assert timed.browser.get(timed.device()["verification_uri_complete"]).status_code == 200


def test_refresh_token_can_be_used_once(site: SignInSite) -> None:
    first = site.signed_in("read")
    second = site.refresh(first["refresh_token"])
    assert (second["scope"], site.user(second["access_token"])) == ("read", 200)
    assert site.user(first["access_token"]) == 200, "other processes still use it"
    assert site.refresh(first["refresh_token"])["error"] == "invalid_grant"
    assert site.user(second["access_token"]) == 401, "a second use revokes all tokens of the sign-in"
    assert site.refresh(second["refresh_token"])["error"] == "invalid_grant"


def test_refresh_does_not_widen_the_scope(site: SignInSite) -> None:
    tokens = site.signed_in("read")
    fields = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "scope": "admin"}
    assert site.post("token", **fields)["error"] == "invalid_scope"


@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
def test_revoking_a_token_ends_only_its_sign_in(site: SignInSite, which: str) -> None:
    tokens, others = site.signed_in(), site.signed_in()
    assert site.post("revoke", token=tokens[which])["status"] == 200
    assert site.user(tokens["access_token"]) == 401
    assert site.refresh(tokens["refresh_token"])["error"] == "invalid_grant"
    assert site.user(others["access_token"]) == 200


def test_the_operator_revokes_a_whole_sign_in(site: SignInSite, world: World) -> None:
    tokens = site.signed_in()
    database = Database(world.database_url)
    database.write(lambda session: revoke_token(session, hash_token(tokens["access_token"])[:ID_LENGTH]))
    database.close()
    assert site.user(tokens["access_token"]) == 401
    assert site.refresh(tokens["refresh_token"])["error"] == "invalid_grant"


def test_revocation_endpoint_does_not_revoke_personal_tokens(site: SignInSite) -> None:
    assert site.post("revoke", token=site.token)["status"] == site.post("revoke", token="unknown")["status"] == 200
    assert site.user(site.token) == 200


async def test_a_scope_limits_what_its_user_may_do(site: SignInSite, world: World) -> None:
    calls = {
        "read": ListChangeRequests(space_id=world.space),
        "write": CreateChangeRequest(space_id=world.space, subject="Better"),
        "admin": UpdateOrganization(organization_id=world.organization, title="Renamed"),
    }
    for number, scope in enumerate(calls):
        async with Client(world.base_url, site.signed_in(scope)["access_token"]) as client:
            for needed, call in enumerate(calls.values()):
                if needed <= number:
                    await client.send(call)
                else:
                    with pytest.raises(Forbidden, match="sign in again with a wider scope"):
                        await client.send(call)


WRITES_OF_CONTENT = [
    "change_requests",
    "collections",
    "comments",
    "content_changes",
    "conversations",
    "external_links",
    "imports",
    "openapi",
    "site_findings",
    "spaces",
    "translations",
]
"""Modules of the API whose writes the scope `write` permits; a copy that is independent of the service on purpose."""


@pytest.mark.attack("authorization matrix")
def test_each_operation_needs_its_scope(site: SignInSite) -> None:
    all_handlers()
    deviations: list[str] = []
    tokens = {scope: site.signed_in(scope)["access_token"] for scope in ("read", "write", "admin")}
    for operation in every_operation():
        is_read = operation.is_read() or operation in READ_ONLY_OPERATIONS
        is_content = operation.__module__.rpartition(".")[2] in WRITES_OF_CONTENT or operation is UpdateLastSeen
        least = "read" if is_read or operation is UpdateLastSeen else "write" if is_content else "admin"
        url = f"{site.base_url}/v1" + re.sub(r"\{\w+\}", "none", operation.route.partition(" ")[2])
        for scope, token in tokens.items():
            headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
            response = site.browser.request(operation.method(), url, headers=headers)
            is_refused = response.status_code == 403 and "Your sign-in" in response.text
            if is_refused is not ([*tokens].index(scope) < [*tokens].index(least)):
                deviations.append(f"{operation.__name__} with {scope}: {response.status_code}")
    assert deviations == []


async def test_scope_does_not_extend_the_permissions_of_its_user(site: SignInSite, world: World) -> None:
    site.token = world.tokens["read"]
    async with Client(world.base_url, site.signed_in("admin")["access_token"]) as client:
        with pytest.raises(Forbidden):
            await client.send(UpdateOrganization(organization_id=world.organization, title="Renamed"))


async def test_secrets_are_neither_stored_nor_logged(
    site: SignInSite, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    device = site.device()
    site.decide(device["verification_uri_complete"])
    tokens, code = site.poll(device), site.code()
    by_code = site.exchange(code)
    secrets = {
        device["device_code"],
        device["user_code"],
        code,
        site.token,
        *(answer[name] for answer in (tokens, by_code) for name in ("access_token", "refresh_token")),
    }
    database = Database(world.database_url)
    with database.snapshot() as session:
        stored = "".join(
            str(tuple(row))
            for table in (BrowserSignInRow, RefreshTokenRow, TokenRow)
            for row in session.execute(select(table.__table__))
        )
    database.close()
    own = "".join(
        f"{record.getMessage()} {record.__dict__}"
        for record in caplog.records
        if record.name.startswith(("presscheck", "authlib"))
    )
    assert [secret for secret in secrets if secret in stored + own] == []


async def test_expired_codes_and_tokens_are_deleted(site: SignInSite, world: World) -> None:
    expired, kept = site.signed_in(), site.signed_in()
    database = Database(world.database_url)

    def keys() -> set[str]:
        with database.snapshot() as session:
            return {
                row
                for column in (BrowserSignInRow.sha256, RefreshTokenRow.sha256, TokenRow.sha256)
                for row in session.scalars(select(column))
            }

    with database.writing.begin() as session:
        token = session.get_one(TokenRow, hash_token(expired["access_token"]))
        refresh = session.get_one(RefreshTokenRow, hash_token(expired["refresh_token"]))
        rows = (token, refresh, session.get_one(BrowserSignInRow, token.sign_in))
        gone = {row.sha256 for row in rows}
        for row in rows:
            row.expires_at = "2026-01-01T00:00:00.000Z"
        session.get_one(JobRow, HOUSEKEEPING).run_at = moment_text(system_clock())
    await world.draft()

    async def left() -> set[str]:
        return gone & keys()

    await until(left, lambda found: not found)
    assert {hash_token(kept[name]) for name in ("access_token", "refresh_token")} <= keys()
    database.close()


def test_other_clients_are_refused(site: SignInSite) -> None:
    assert site.post("device", client_id="other")["error"] == "invalid_client"
    assert "<form" not in site.browser.get(site.authorize_url(client_id="other")).text
    assert (
        site.post("token", client_id="other", grant_type="refresh_token", refresh_token="x")["error"]
        == "invalid_client"
    )


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"{}"),
        ("application/x-www-form-urlencoded", b"a=%ff"),
        ("application/x-www-form-urlencoded", b"client_id=presscheck&scope=%00"),
        ("application/x-www-form-urlencoded", b'client_id="&grant_type="'),
        ("application/x-www-form-urlencoded", b"&".join(b"a%d=b" % number for number in range(50))),
        ("application/x-www-form-urlencoded", b""),
    ],
)
def test_an_unusable_form_is_refused(site: SignInSite, kind: str, body: bytes) -> None:
    for endpoint in ("device", "token", "revoke", "authorize"):
        url = f"{site.base_url}/oauth/{endpoint}"
        assert httpx.post(url, content=body, headers={"content-type": kind}).status_code in (400, 403)


async def test_token_of_a_revoked_sign_in_is_not_signed_in(site: SignInSite) -> None:
    tokens = site.signed_in()
    async with Client(site.base_url, tokens["access_token"]) as client:
        site.post("revoke", token=tokens["refresh_token"])
        with pytest.raises(NotSignedIn):
            await client.send(ListChangeRequests(space_id="x"))
