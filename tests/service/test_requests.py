"""HTTP errors and conditional requests: statuses, headers and messages."""

import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.service.factories import World
from tests.table import each_case

from presscheck.service import app


@pytest.fixture
def http(world: World) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {world.tokens['admin']}"}
    with httpx.Client(base_url=f"{world.base_url}/v1", headers=headers) as client:
        yield client


def refusal(response: httpx.Response) -> tuple[int, str]:
    error = response.json()["error"]
    assert error["code"] == response.status_code
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-request-id"]
    return response.status_code, error["message"]


@pytest.mark.attack("invented requests")
@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", "Basic YTpi", "Bearer \xff"])
def test_missing_or_invalid_token_gets_401(world: World, header: str) -> None:
    address = f"{world.base_url}/v1/spaces/{world.space}/content"
    response = httpx.get(address, headers=[(b"authorization", header.encode("latin-1"))])
    assert refusal(response)[0] == 401
    assert response.headers["www-authenticate"] == "Bearer"


def test_unknown_paths_and_methods(http: httpx.Client) -> None:
    assert refusal(http.get("/nothing"))[0] == 404
    assert refusal(http.get("/spaces/s/content/"))[0] == 404
    wrong = http.post("/spaces/s/content")
    assert refusal(wrong)[0] == 405
    assert "GET" in wrong.headers["allow"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?limit=1001", "limit"),
        ("?limit=x", "limit"),
        ("?status=unheard", "status"),
        ("?colour=red", "colour"),
        ("?requested_reviewer=x", "requested_reviewer"),
    ],
)
def test_error_for_an_invalid_parameter_names_it(world: World, http: httpx.Client, query: str, field: str) -> None:
    status, message = refusal(http.get(f"/spaces/{world.space}/change-requests{query}"))
    assert (status, field in message) == (400, True)


@pytest.mark.attack("invented requests")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "JSON"),
        (b"\xff", "JSON"),
        (b"[]", "object"),
        (b'{"colour": 1}', "colour"),
        (b'{"subject": 5}', "subject"),
        (b'{"space_id": "x"}', "space_id"),
        (b'{"subject": "a\\u0000"}', "subject"),
        (b'{"subject": "\\ud800"}', "subject"),
        (b'{"subject": NaN}', "JSON"),
        (b'{"subject": ' + b"[" * 100_000, "JSON"),
        (b'{"subject": ' + b"[" * 200 + b"]" * 200 + b"}", "deep"),
    ],
)
def test_error_for_an_invalid_body_has_its_reason(world: World, http: httpx.Client, body: bytes, words: str) -> None:
    status, message = refusal(http.post(f"/spaces/{world.space}/change-requests", content=body))
    assert (status, words in message) == (400, True)


def test_invalid_list_items_are_refused(world: World, http: httpx.Client) -> None:
    number = http.post(f"/spaces/{world.space}/change-requests", json={}).json()["number"]
    address = f"/spaces/{world.space}/change-requests/{number}/content"
    wrong: list[Any] = [[], [{"operation": "paint"}], [{"operation": "update_page"}], [{}], "x"]
    for changes in wrong:
        assert refusal(http.post(address, json={"changes": changes}))[0] == 400


@pytest.mark.attack("deep and huge JSON and YAML")
def test_the_body_size_is_limited_with_or_without_content_length(
    world: World, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "MAX_BODY", 1 << 20)
    address = f"/spaces/{world.space}/change-requests"
    host, port = world.base_url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(
            f"POST /v1{address} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {(1 << 20) + 1}\r\n\r\n".encode("ascii")
        )
        assert connection.recv(12) == b"HTTP/1.1 413"
    endless = (b"x" * (1 << 16) for _ in range(17))
    assert refusal(http.post(address, content=endless))[0] == 413


def test_absent_fields_are_omitted(world: World, http: httpx.Client) -> None:
    response = http.post(f"/spaces/{world.space}/change-requests", json={})
    made = response.json()
    assert http.get(response.headers["location"]).json() == made
    assert None not in made.values()
    assert {"mergedBy", "description", "revisionMerged"}.isdisjoint(made)
    assert {"object", "outdated", "comments", "createdBy", "revisionInitial"} <= set(made)


@each_case(
    ("path", "body", "field"),
    [
        ("/spaces/{space}", {"editMode": "q"}, "editMode"),
        ("/spaces/{space}", {"editMode": None}, "editMode"),
        ("/orgs/{organization}", {"emailDomains": 1}, "emailDomains"),
        ("/orgs/{organization}", {"inviteLinks": None}, "inviteLinks"),
    ],
)
def test_errors_use_the_field_names_of_the_request(
    http: httpx.Client, world: World, path: str, body: Any, field: str
) -> None:
    status, message = refusal(http.patch(path.format(space=world.space, organization=world.organization), json=body))
    assert (status, message.partition(":")[0]) == (400, field)


def test_repeated_read_gets_304_until_a_change(world: World, http: httpx.Client) -> None:
    path = f"/spaces/{world.space}"
    first = http.get(path)
    known = {"if-none-match": first.headers["etag"]}
    again = http.get(path, headers=known)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert http.get(path, headers={"if-none-match": f'"other", W/{first.headers["etag"]}'}).status_code == 304
    assert http.get(path, headers={"if-none-match": "*"}).status_code == 200
    http.patch(path, json={"title": "Another title"}).raise_for_status()
    changed = http.get(path, headers=known)
    assert (changed.status_code, changed.json()["title"]) == (200, "Another title")


def test_304_requires_authentication(world: World, http: httpx.Client) -> None:
    known = {"if-none-match": http.get(f"/spaces/{world.space}").headers["etag"]}
    assert httpx.get(f"{world.base_url}/v1/spaces/{world.space}", headers=known).status_code == 401
