"""Requests on the wire, and successful responses."""

import asyncio
import gzip
import weakref
import zlib
from pathlib import Path

import pytest
from httpx import Headers
from tests.bait import Bait
from tests.table import each_case

from presscheck import __version__
from presscheck.api.change_requests import ChangeRequest, ListContributors, ListOrganizationChangeRequests
from presscheck.api.comments import DeleteComment, Document, ListComments, PostComment
from presscheck.api.spaces import GetSpace, ListSpaces
from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client
from presscheck.client.request_priority import RequestRecord
from presscheck.client.responses import KNOWN_OVERHEAD, KnownResponses, Reply
from presscheck.errors import ConfigurationError, MalformedAnswer, NetworkError

from .conftest import QUICK, TOKEN, Exchanged, FaultServer, http

USER = {"object": "user", "id": "u1", "displayName": "Ada", "somethingNew": [1]}
DELETE = DeleteComment(space_id="s", change_request_id="1", comment_id="c")


async def test_a_read(server: FaultServer, client: Client) -> None:
    server.script = [http(200, USER)]
    user = await client.send(GetCurrentUser())
    assert (user.id, user.display_name, user.model_extra) == ("u1", "Ada", {"somethingNew": [1]})
    [asked] = server.asked
    assert (asked.method, asked.target) == ("GET", "/v1/user")
    assert asked.headers["authorization"] == f"Bearer {TOKEN}"
    assert asked.headers["accept"] == "application/json"
    assert asked.headers["user-agent"] == f"presscheck/{__version__}"
    assert "content-type" not in asked.headers


async def test_cookies_are_not_stored(server: FaultServer, client: Client) -> None:
    server.script = [http(200, USER, set_cookie="who=ada; Path=/"), http(200, USER)]
    for _ in range(2):
        await client.send(GetCurrentUser())
    assert [asked.headers.get("cookie") for asked in server.asked] == [None, None]


async def test_ids_and_queries_are_encoded(server: FaultServer, client: Client) -> None:
    server.script = [http(200, {"items": []})]
    await client.send(ListComments(space_id="a/b", change_request_id="ü", authors=("x&y", "z"), status="open"))
    assert server.asked[0].target == (
        "/v1/spaces/a%2Fb/change-requests/%C3%BC/comments?status=open&authors=x%26y&authors=z"
    )


async def test_a_write(server: FaultServer, client: Client) -> None:
    server.script = [http(200, {"id": "c1", "postedBy": {"id": "u"}})]
    body = Document(markdown="schön 📖")
    comment = await client.send(PostComment(space_id="s", change_request_id="1", body=body, page="p"))
    assert comment.id == "c1"
    [asked] = server.asked
    assert asked.headers["content-type"] == "application/json"
    assert asked.json() == {"body": {"markdown": "schön 📖"}, "page": "p"}


@pytest.mark.parametrize(
    "answer",
    [
        http(204),
        http(205),
        http(202),
        b"HTTP/1.1 205 Reset\r\n\r\nthis is not a body",
        b"HTTP/1.1 204 No\r\ncontent-type: text/html\r\n\r\n",
    ],
)
async def test_an_empty_success_response_is_none(server: FaultServer, client: Client, answer: bytes) -> None:
    server.script = [answer, http(200, USER)]
    assert await client.send(DELETE) is None
    assert (await client.send(GetCurrentUser())).id == "u1"


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b'{"id": "u1"}', mtime=0)),
        ("deflate", zlib.compress(b'{"id": "u1"}')),
        ("identity", b'{"id":"u1"}'),
    ],
)
async def test_compressed_answers(server: FaultServer, client: Client, encoding: str, packed: bytes) -> None:
    server.script = [http(200, packed, content_encoding=encoding)]
    assert (await client.send(GetCurrentUser())).id == "u1"


async def test_connections_are_kept_and_bounded(server: FaultServer) -> None:
    server.script = [http(200, USER)]
    async with Client(server.address, TOKEN, connections=3) as client:
        await asyncio.gather(*(client.send(GetCurrentUser()) for _ in range(40)))
    assert len(server.asked) == 40
    assert server.most_open <= 3
    assert server.connections <= 3


async def test_a_unix_socket(tmp_path: Path) -> None:
    server = FaultServer(script=[http(200, USER)])
    async with server.listening(tmp_path / "s.sock"), Client(server.address, TOKEN) as client:
        assert (await client.send(GetCurrentUser())).id == "u1"
    assert server.asked[0].headers["host"] == "localhost"
    async with Client(f"unix:{tmp_path}/none.sock", TOKEN) as client:
        with pytest.raises(NetworkError, match="socket not found"):
            await client.send(GetCurrentUser())


async def test_fetch_returns_the_raw_body(server: FaultServer, client: Client) -> None:
    server.script = [http(200, b'{"id" : "u1"}')]
    assert await client.fetch(GetCurrentUser()) == b'{"id" : "u1"}'


async def test_pages_of_a_listing_are_fetched_lazily(server: FaultServer, client: Client) -> None:
    server.script = [
        http(200, {"items": [{"id": "a"}, {"id": "b"}], "next": {"page": "2"}, "count": 3}),
        http(200, {"items": [], "next": {"page": "3"}}),
        http(200, {"items": [{"id": "c"}]}),
    ]
    found = []
    async for space in client.every(ListSpaces(organization_id="o", limit=2)):
        found.append(space.id)
        assert len(server.asked) == (1 if len(found) < 3 else 3)
    assert found == ["a", "b", "c"]
    assert [asked.target.partition("?")[2] for asked in server.asked] == ["limit=2", "page=2&limit=2", "page=3&limit=2"]


async def test_a_repeated_cursor_ends_a_listing(server: FaultServer, client: Client) -> None:
    first = {"items": [{"id": "a"}], "next": {"page": "x"}}
    server.script = [http(200, first), http(200, {**first, "next": {"page": "y"}}), http(200, first)]
    assert len([space async for space in client.every(ListSpaces(organization_id="o"))]) == 3
    assert len(server.asked) == 3


async def test_long_listing_holds_only_a_few_pages_in_memory(server: FaultServer) -> None:
    def page(number: int) -> bytes:
        after = {"next": {"page": str(number + 1)}} if number < 20 else {}
        found = [{"id": f"{number}-{row}", "number": row, "subject": "x" * 40} for row in range(100)]
        return http(200, {"items": found, "count": 2000, **after})

    async def answer(connection: Exchanged) -> None:
        await connection.write(page(len(server.asked)))

    server.script = [answer]
    seen, most_held, alive = 0, 0, weakref.WeakSet[ChangeRequest]()
    # default time-outs: the server builds each page while the client waits, which takes long on a busy machine
    async with Client(server.address, TOKEN) as client:
        async for one in client.every(ListOrganizationChangeRequests(organization_id="o")):
            alive.add(one)
            seen += 1
            if seen % 50 == 0:
                most_held = max(most_held, len(alive))
    assert seen == 2000
    assert most_held <= 300


async def test_a_listing_without_pages_is_one_page(server: FaultServer, client: Client) -> None:
    server.script = [http(200, {"items": [], "next": {"page": "x"}})]
    assert [one async for one in client.every(ListContributors(space_id="s", change_request_id="1"))] == []
    assert len(server.asked) == 1


async def test_every_request_is_reported(server: FaultServer) -> None:
    heard: list[RequestRecord] = []
    server.script = [http(200, {"id": "s"}), lambda connection: connection.hang()]
    async with Client(server.address, TOKEN, timeout=QUICK, on_exchange=heard.append) as client:
        await client.send(GetSpace(space_id="s", share_key="secret"))
        with pytest.raises(NetworkError):
            await client.send(GetCurrentUser())
    assert [(one.method, one.path, one.status, one.bytes) for one in heard] == [
        ("GET", "/v1/spaces/s", 200, 11),
        ("GET", "/v1/user", None, 0),
    ]
    assert heard[1].milliseconds >= 250


async def test_redirects_within_the_origin_are_followed(server: FaultServer, client: Client) -> None:
    server.script = [http(302, location="/v1/users/u1"), http(301, location=f"{server.address}/x"), http(200, USER)]
    assert (await client.send(GetCurrentUser())).id == "u1"
    assert [asked.target for asked in server.asked] == ["/v1/user", "/v1/users/u1", "/x"]
    assert all(asked.headers["authorization"] for asked in server.asked)


async def test_redirects_to_files_and_other_hosts_are_refused(server: FaultServer, client: Client, bait: Bait) -> None:
    for address in (*bait.addresses[:2], f"file:{bait.file}", bait.url.removeprefix("http:")):
        server.script = [http(302, location=address)]
        with pytest.raises(MalformedAnswer, match="where your token is not sent"):
            await client.send(GetCurrentUser())
    server.script = [http(302, location=bait.file.as_uri())]
    for address in (f"{server.address}/file", *bait.addresses[1:]):
        with pytest.raises(MalformedAnswer, match="no web address"):
            await client.download(GetCurrentUser(), address)


async def test_a_redirect_loop_is_an_error(server: FaultServer, client: Client) -> None:
    server.script = [http(302, location="/v1/user")]
    with pytest.raises(MalformedAnswer, match="loop"):
        await client.send(GetCurrentUser())
    assert len(server.asked) == 5


@each_case(
    ("address", "message"),
    [
        ("http://api.example.org", "unencrypted"),
        ("ftp://example.org", "not a service URL"),
        ("example.org", "not a service URL"),
        ("https://", "not a service URL"),
        ("https://user:pass@example.org", "remove the user name and password"),
        ("https://example.org/?x=1", "not a service URL"),
        ("https://[::1", "invalid service URL"),
        ("https://example.org:port", "invalid service URL"),
        ("unix:here.sock", "must begin with /"),
    ],
)
def test_invalid_service_urls_are_rejected(address: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        Client(address, TOKEN)
    assert "pass" not in str(caught.value).replace("password", "")


@each_case(
    "address",
    [
        "https://example.org/v1/",
        "https://example.org/prefix",
        "http://127.0.0.9:80",
        "http://[::1]:8000",
        "http://localhost",
        "unix:/tmp/s",
    ],
)
async def test_valid_service_urls_are_accepted(address: str) -> None:
    await Client(address, TOKEN).aclose()


async def test_plain_http_to_another_machine_must_be_allowed() -> None:
    await Client("http://192.0.2.1", TOKEN, insecure=True).aclose()


def test_change_request_without_optional_fields_is_read() -> None:
    assert ChangeRequest.model_validate({"id": "c"}).status == "open"


async def test_repeated_read_sends_the_etag_and_a_304_returns_the_known_body(
    server: FaultServer, client: Client
) -> None:
    server.script = [http(200, USER, etag='"a"'), http(304), http(200, {**USER, "displayName": "Eve"}, etag='"b"')]
    bodies = [await client.send(GetCurrentUser()) for _ in range(3)]
    assert [user.display_name for user in bodies] == ["Ada", "Ada", "Eve"]
    assert [asked.headers.get("if-none-match") for asked in server.asked] == [None, '"a"', '"a"']
    assert server.connections == 1


async def test_a_304_without_a_known_response_is_refused(server: FaultServer, client: Client) -> None:
    server.script = [http(304)]
    with pytest.raises(MalformedAnswer):
        await client.send(GetCurrentUser())


def test_known_responses_are_limited_in_size() -> None:
    known = KnownResponses(max_size=2 * KNOWN_OVERHEAD + 25)

    def kept(names: str) -> str:
        return "".join(name for name in names if known.get(name))

    for name in "abc":
        known.resolve(name, Reply(200, Headers({"etag": name}), b"x" * 10))
    assert kept("abc") == "bc"
    known.resolve("b", Reply(304, Headers(), b""), known.get("b"))
    known.resolve("d", Reply(200, Headers({"etag": "d"}), b"x" * 10))
    assert kept("bcd") == "bd"
    known.resolve("d", Reply(200, Headers({"etag": "e" * 999}), b""))
    assert kept("bcd") == "b"


def test_a_304_returns_the_body_of_the_sent_etag_after_a_concurrent_update() -> None:
    known = KnownResponses(max_size=KNOWN_OVERHEAD + 25)
    known.resolve("a", Reply(200, Headers({"etag": "old"}), b"old"))
    sent = known.get("a")
    known.resolve("a", Reply(200, Headers({"etag": "new"}), b"new"))
    assert known.resolve("a", Reply(304, Headers(), b""), sent).body == b"old"
    known.resolve("b", Reply(200, Headers({"etag": "big"}), b"x" * 25))
    assert known.get("a") is None, "dropped"
    assert known.resolve("a", Reply(304, Headers(), b""), sent).body == b"old"
