"""Error responses: their error classes and messages, without control characters."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from presscheck.api.comments import DeleteComment
from presscheck.api.spaces import GetSpace
from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client
from presscheck.errors import (
    Conflict,
    Forbidden,
    NotFound,
    NotSignedIn,
    NotSupported,
    PreconditionFailed,
    Refused,
    ServiceError,
    ServiceFailed,
    TooManyRequests,
)

from .conftest import Exchanged, FaultServer, http


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Refused),
        (401, NotSignedIn),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (405, NotSupported),
        (412, PreconditionFailed),
        (413, Refused),
        (418, Refused),
        (422, Refused),
        (429, TooManyRequests),
        (500, ServiceFailed),
        (501, NotSupported),
        (503, ServiceFailed),
        (599, ServiceFailed),
    ],
)
async def test_each_status_has_its_error_class(
    server: FaultServer, client: Client, status: int, kind: type[ServiceError]
) -> None:
    said = {"error": {"code": status, "message": "the tide is out"}}
    server.script = [http(status, said, x_request_id="r-7")]
    with pytest.raises(ServiceError) as caught:
        await client.send(GetSpace(space_id="s"))
    error = caught.value
    assert type(error) is kind
    assert (error.status, error.request, error.request_id) == (status, "GET /spaces/s", "r-7")
    assert error.message.endswith("the tide is out") or kind is NotSignedIn
    server.script = [http(200, {"id": "u1"})]
    assert (await client.send(GetSpace(space_id="s"))).id == "u1"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html><h1>502 Bad Gateway</h1>",
        b'{"error": "flat"}',
        b'{"error": {"message": 7}}',
        b'["x"]',
        b"{" * 50_000,
        b"[" * 50_000,
        b"x" * 300_000,
    ],
)
async def test_error_response_without_a_message_has_a_default_message(
    server: FaultServer, client: Client, body: bytes
) -> None:
    server.script = [http(502, body, kind="text/html")]
    with pytest.raises(ServiceFailed, match=r"^The service failed \(502\)$"):
        await client.send(GetCurrentUser())


async def test_an_error_response_with_an_incomplete_body(server: FaultServer, client: Client) -> None:
    async def half(connection: Exchanged) -> None:
        await connection.write(http(404, b"x" * 50)[:-20])
        await connection.hang()

    server.script = [half]
    with pytest.raises(NotFound):
        await client.send(GetSpace(space_id="s"))


async def test_messages_of_the_service_are_sanitized(server: FaultServer, client: Client) -> None:
    hostile = "no\x1b]0;pwned\x07\x1b[2J\r\n\u202eevil\u200b" + "x" * 5000
    server.script = [http(400, {"error": {"code": 400, "message": hostile}})]
    with pytest.raises(Refused) as caught:
        await client.send(GetCurrentUser())
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 500


async def test_request_id_is_limited_in_length(server: FaultServer, client: Client) -> None:
    for given, kept in (("r-1", "r-1"), ("x" * 500, "x" * 200)):
        server.script = [http(400, {"error": {"code": 400, "message": "No"}}, x_request_id=given)]
        with pytest.raises(Refused) as caught:
            await client.send(GetCurrentUser())
        assert caught.value.request_id == kept


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0"}, 0.0),
        ({"retry_after": "9" * 40}, 86400.0),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "-5"}, None),
        ({"date": "Tue, 01 Jan 2019 00:00:00 GMT", "retry_after": "Tue, 01 Jan 2019 00:00:30 GMT"}, 30.0),
        ({"date": "Tue, 01 Jan 2019 00:00:30 GMT", "retry_after": "Tue, 01 Jan 2019 00:00:00 GMT"}, 0.0),
        ({"date": "Tue, 01 Jan 2019 00:00:00 GMT", "x_ratelimit_reset": "1546300812"}, 12.0),
        ({"x_ratelimit_reset": "later"}, None),
        ({}, None),
    ],
)
async def test_retry_after_is_read_from_the_headers(
    server: FaultServer, client: Client, headers: dict[str, str], seconds: float | None
) -> None:
    server.script = [http(429, {"error": {"code": 429, "message": "slow down"}}, **headers)]
    with pytest.raises(TooManyRequests) as caught:
        await client.send(GetCurrentUser())
    assert caught.value.retry_after == seconds


async def test_retry_after_as_a_date_uses_the_local_clock(server: FaultServer, client: Client) -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    server.script = [http(503, retry_after=then)]
    with pytest.raises(ServiceFailed) as caught:
        await client.send(GetCurrentUser())
    assert caught.value.retry_after == pytest.approx(100, abs=5)


async def test_forbidden_deletion_names_the_missing_permission(server: FaultServer, client: Client) -> None:
    server.script = [http(403, {"error": {"code": 403, "message": "not yours"}})]
    with pytest.raises(Forbidden, match="You do not have permission to do this: not yours"):
        await client.send(DeleteComment(space_id="s", change_request_id="1", comment_id="c"))
