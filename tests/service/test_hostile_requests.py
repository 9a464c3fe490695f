"""Hostile requests: the service always responds in its own format, and never with a server error."""

import base64
import json
import os
import random
import socket
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from tests.hostile_strings import HOSTILE
from tests.running_service import RunningService
from tests.service.factories import World
from tests.service.web_pages import published

from presscheck.api.operation import Operation
from presscheck.service.handlers import all_handlers

VALUES: list[Any] = [
    None, True, 0, -1, 2**70, 1e308, "", "x", "\u0000", "\ud800", "é" * 10, "a" * 3000, [], {}, ["x"], [None],
    {"markdown": "x"}, {"markdown": "# T\n\nx"}, {"document": {}}, {"document": None}, "draft", "approved", {"x": {}},
    [{"operation": "insert_page", "document": {"markdown": "# a"}}],
    [{"operation": "update_page", "page": "guide", "at": 10**6, "into": "guide"}],
    [{"operation": "insert_files", "files": [{"name": "../a", "base64": "YQ=="}]}],
    {"type": "rules", "rules": [{"rule": "custom"}]}, {"before": {"type": "space", "space": "x"}},
]  # fmt: skip
TEXTS = ["1", "x", "null", "", "true", "open", "é", "\u0000", "a" * 2000, "W10", "WzEsMl0", "WyJhIiwiYiJd"]
PLACES = ["%00", "é", "..", "a" * 5000, "%2e%2e%2f", "-1", "9" * 20, "٣"]
CASES = int(os.environ.get("PRESSCHECK_CASES", "1"))
ENDING = {"DeleteSpace", "MergeChangeRequest", "TransferSpace", "RemoveMember", "UpdateMember"}
"""Operations that would remove the data of the other operations."""


def request(chance: random.Random, operation: type[Operation[Any]], known: dict[str, str]) -> dict[str, Any]:
    path = operation.route.partition(" ")[2]
    for field in operation.path_fields():
        place = known.get(field, "none") if chance.random() < 0.9 else chance.choice(PLACES)
        path = path.replace("{" + field + "}", quote(place, safe="%"))
    names = [field.alias or name for name, field in operation.model_fields.items() if name not in known]
    chosen = [name for name in names if chance.random() < 0.6]
    found = {"method": operation.method(), "url": "/v1" + path}
    if operation.method() in ("GET", "DELETE"):
        return found | {"params": {name: chance.choice(TEXTS) for name in chosen}}
    return found | {"content": json.dumps({name: chance.choice(VALUES) for name in chosen}).encode()}


@pytest.mark.engines
@pytest.mark.slow
@pytest.mark.attack("invented requests")
@pytest.mark.parametrize("seed", range(CASES))
async def test_garbage_is_refused_without_server_errors(world: World, seed: int) -> None:
    chance = random.Random(seed)
    draft = await world.draft()
    known = {
        "space_id": world.space,
        "change_request_id": draft.id,
        "organization_id": world.organization,
        "page_id": "guide",
        "page_path": "guide",
        "user_id": world.users["edit"],
    }
    operations = sorted(all_handlers(), key=lambda one: one.__name__)
    headers = {"authorization": f"Bearer {world.tokens['admin']}"}
    statuses: set[int] = set()
    async with httpx.AsyncClient(base_url=world.base_url, headers=headers) as http:
        for operation in operations:
            if operation.__name__ in ENDING:
                continue
            response = await http.request(**request(chance, operation, known))
            statuses.add(response.status_code)
            assert response.status_code < 500, operation.__name__
            if response.status_code >= 400:
                assert response.json()["error"]["code"] == response.status_code
    assert {200, 400, 404} <= statuses


def cursor(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


CURSORS = [
    "[" * 5000, json.dumps([2**70]), "[true]", '["a\\u0000"]', '["\\ud800"]', '["\\u0000", "x"]', '["\\ud800", "x"]',
    json.dumps([2**70, "x"]), json.dumps([-(2**63), "x"]), '[true, "x"]', "[1e400]", "[null]", "1",
]  # fmt: skip


@pytest.mark.engines
@pytest.mark.attack("invented requests")
@pytest.mark.parametrize(
    "place",
    ["/orgs/{}/spaces", "/orgs/{}/members", "/orgs/{}/teams", "/orgs/{}/change-requests", "/spaces/{}/content/files"],
)
async def test_invalid_cursor_is_refused(world: World, place: str) -> None:
    path = "/v1" + place.format(world.space if "content" in place else world.organization)
    headers = {"authorization": f"Bearer {world.tokens['admin']}"}
    async with httpx.AsyncClient(base_url=world.base_url, headers=headers) as http:
        for text in CURSORS:
            response = await http.get(path, params={"page": cursor(text)})
            assert response.status_code == 400, (text[:20], response.text)


@pytest.mark.attack("invented requests")
async def test_malformed_urls_and_base64_are_refused(world: World) -> None:
    draft = await world.draft()
    organization = f"/v1/orgs/{world.organization}"
    published = {"title": "Lamp", "description": "", "scopes": [], "script": "", "organization": world.organization}
    file = {"operation": "insert_files", "files": [{"name": "a", "base64": "é", "contentType": "text/plain"}]}
    calls: list[tuple[str, str, Any]] = [
        ("POST", "/v1/integrations/lamp-post", {**published, "icon": "é"}),
        ("POST", "/v1/integrations/lamp-post", {**published, "previewImages": ["a"]}),
        ("POST", f"/v1/spaces/{world.space}/change-requests/{draft.id}/content", {"changes": [file]}),
        ("POST", f"{organization}/openapi", {"slug": "lamps", "source": {"url": "http://[x"}}),
        ("PUT", f"{organization}/openapi/L%20mps", {"source": {"text": "{}"}}),
        (
            "POST",
            f"/v1/org/{world.organization}/imports",
            {"source": {"type": "website", "url": "http://[x"}, "target": {"space": world.space}},
        ),
    ]
    headers = {"authorization": f"Bearer {world.tokens['admin']}"}
    async with httpx.AsyncClient(base_url=world.base_url, headers=headers) as http:
        for method, path, body in calls:
            response = await http.request(method, path, json=body)
            assert response.status_code == 400, (path, response.text)
        response = await http.get("/v1/urls/content", params={"url": f"{world.base_url}/v1/[x"})
        assert response.status_code == 404


DEEP = "[" * 1500 + "]" * 1500
LONG = "9" * 6000
FRONT_MATTER = [
    f"x: {DEEP}", f"x: {{a: {DEEP}}}", "- " * 1500, "d: 9999-99-99", "d: 0001-01-01T00:00:00+23:59", f"x: {LONG}",
    f"x: 0x{LONG}", "x: !!bool maybe", "x: !!timestamp never", "a: &a [*a]", "x: !!int ''",
]  # fmt: skip


@pytest.mark.attack("deep and huge JSON and YAML")
async def test_hostile_front_matter_causes_no_server_error(world: World) -> None:
    for front in FRONT_MATTER:
        draft = await world.draft()
        page = {"operation": "insert_page", "title": "x", "document": {"markdown": f"---\n{front}\n---\n\n# x\n"}}
        headers = {"authorization": f"Bearer {world.tokens['admin']}"}
        path = f"/v1/spaces/{world.space}/change-requests/{draft.id}/content"
        async with httpx.AsyncClient(base_url=world.base_url, headers=headers) as http:
            response = await http.post(path, json={"changes": [page]})
        if front.startswith("d: 0001"):
            assert response.status_code == 200, front
        else:
            assert response.status_code == 400 and "front matter" in response.text, front[:100]


TAGS = [
    f'{{% columns %}}{{% column width="{LONG}%" %}}x{{% endcolumn %}}{{% endcolumns %}}',
    f'{{% @lamps/block a="{DEEP}" b="{LONG}" %}}', f'<img src="x" width="{LONG}">', f"{LONG}. x",
    f"<ol start={LONG}><li>x",
    f'<table data-view="cards"><thead><tr><th data-type="rating" data-max="{LONG}">a</th></tr></thead></table>',
    f"<table><thead><tr><th data-type='select' data-options='{DEEP}'>a</th></tr></thead></table>",
    f"> {'> ' * 1500}x", f"{'- ' * 1500}x", f"{'*' * 1500}x{'*' * 1500}", f"{'[' * 1500}x{']' * 1500}", "<b>" * 1500,
    "{% hint %}\n" * 1500 + "x\n" + "{% endhint %}\n" * 1500, "<details>\n" * 1500 + "</details>\n" * 1500,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.attack("deep and huge JSON and YAML")
async def test_hostile_markdown_causes_no_server_error(world: World) -> None:
    for markdown in TAGS:
        draft = await world.draft()
        page = {"operation": "insert_page", "title": "x", "slug": "x", "document": {"markdown": markdown}}
        headers = {"authorization": f"Bearer {world.tokens['admin']}"}
        path = f"/v1/spaces/{world.space}/change-requests/{draft.id}/content"
        async with httpx.AsyncClient(base_url=world.base_url, headers=headers, timeout=30) as http:
            response = await http.post(path, json={"changes": [page]})
            assert response.status_code in (200, 400), (markdown[:100], response.text)
            for kind in ("markdown", "document"):
                response = await http.get(f"{path}/path/x", params={"format": kind})
                assert response.status_code < 500, (markdown[:100], response.text)


@pytest.mark.attack("invented requests")
async def test_invalid_time_is_refused(world: World) -> None:
    for moment in ("9999-99-99", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", LONG):
        talk = {
            "id": "a",
            "parts": [{"type": "message", "role": "user", "body": "x"}],
            "metadata": {"createdAt": moment},
        }
        headers = {"authorization": f"Bearer {world.tokens['admin']}"}
        async with httpx.AsyncClient(base_url=world.base_url, headers=headers) as http:
            response = await http.post(f"/v1/orgs/{world.organization}/conversations", json=[talk])
        assert (response.status_code, "createdAt" in response.text) == (400, True), (moment[:50], response.text)


@pytest.mark.attack("Unicode and escape sequences")
async def test_url_with_a_non_ascii_host_is_refused(world: World) -> None:
    for url in ("http://é.example/", "http://é:1/", "http://a。b/", "http://[fe80::1%é]/", "http://١٢٧.0.0.1:1/"):
        draft = await world.draft()
        file = {"operation": "insert_files", "files": [{"name": "a", "url": url}]}
        headers = {"authorization": f"Bearer {world.tokens['admin']}"}
        async with httpx.AsyncClient(base_url=world.base_url, headers=headers, timeout=30) as http:
            path = f"/v1/spaces/{world.space}/change-requests/{draft.id}/content"
            response = await http.post(path, json={"changes": [file]})
        assert (response.status_code, "url: " in response.text) == (400, True), (url, response.text)


@pytest.mark.attack("invented requests")
async def test_claims_that_are_not_rison_are_refused(world: World) -> None:
    for claims in ("\r\x1b", "é", "(", "(!(a):1)", "(" * 5000, "1", "!f"):
        here = f"/v1/orgs/{world.organization}/sites"
        headers = {"authorization": f"Bearer {world.tokens['admin']}"}
        async with httpx.AsyncClient(base_url=world.base_url, headers=headers) as http:
            made = await http.post(here, json={"title": "Lamps", "spaces": [world.space]})
            response = await http.get(f"{here}/{made.json()['id']}/publishing/preview", params={"claims": claims})
        assert response.status_code == 400, claims[:50]
        assert response.json()["error"]["message"].startswith("claims:"), claims[:50]


async def test_null_merge_rules_count_as_absent(world: World) -> None:
    headers = {"authorization": f"Bearer {world.tokens['admin']}"}
    rule = {"rule": "require_at_least_one_review", "users": None, "message": None}
    async with httpx.AsyncClient(base_url=world.base_url + "/v1", headers=headers) as http:
        for path in (f"/spaces/{world.space}", f"/orgs/{world.organization}"):
            for rules in (None, [rule]):
                response = await http.patch(path, json={"mergeRules": {"type": "rules", "rules": rules}})
                assert response.status_code == 200, response.text
                kept = response.json()["mergeRules"]["rules"]
                assert kept == ([{"rule": rule["rule"], "users": []}] if rules else [])


@pytest.mark.engines
@pytest.mark.slow
@pytest.mark.attack("Unicode and escape sequences")
async def test_hostile_strings_are_stored_unchanged_or_refused(world: World) -> None:
    """Clients sanitize what they show; the service changes nothing, never fails, and keeps its responses intact."""
    draft = await world.draft()
    headers = {"authorization": f"Bearer {world.tokens['admin']}"}
    here = f"/v1/spaces/{world.space}/change-requests/{draft.id}"
    async with httpx.AsyncClient(base_url=world.base_url, headers=headers, timeout=30) as http:
        for text in HOSTILE[::8]:  # the others are variants of these
            subject = text[:100]
            content = json.dumps({"subject": subject}).encode("ascii")  # lone surrogates too, as escapes
            response = await http.patch(here, content=content)
            assert response.status_code in (200, 400), (text, response.text)
            if response.status_code == 200:
                assert (await http.get(here)).json()["subject"] == subject


PATHS = [
    "/files/../service.sqlite", "/files/..%2fservice.sqlite/x", "/files/%2e%2e%2ftoken/x", "/files/....//token/x",
    "/files/..%5ctoken/x", "/files//etc/passwd", "/files/%00/x", f"/files/{'0' * 64}/../../token", "/assets/../token",
    "/assets/..%2ftoken", "/docs/../token", "/docs/..%2f..%2ftoken", "/docs/x/~files/../../token",
    "/pdf/../token/x.pdf",
    "/pdf/..%2f..%2ftoken/x.pdf", "/openapi/../../token.json", "/openapi/x/..%2f..%2ftoken.json", "//etc/passwd",
    "/v1/spaces/..%2f..%2ftoken", "/integrations/../../token", "/%2e%2e/%2e%2e/etc/passwd", "/\\..\\token",
]  # fmt: skip


@pytest.mark.attack("path traversal")
@pytest.mark.parametrize("path", PATHS)
def test_urls_do_not_give_access_to_other_files(service: RunningService, path: str) -> None:
    lines = (f"GET {path} HTTP/1.1", "host: localhost", f"authorization: Bearer {service.token}", "connection: close")
    with socket.create_connection(("127.0.0.1", service.port), timeout=20) as connection:
        connection.sendall("\r\n".join((*lines, "", "")).encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.split(b" ", 2)[1] in (b"400", b"404", b"501"), answer[:300]
    assert service.token.encode() not in answer and b"SQLite format" not in answer and b"root:" not in answer


@pytest.mark.slow
@pytest.mark.attack("path traversal")
async def test_file_names_are_not_used_as_paths(world: World, service: RunningService) -> None:
    for name in ("../../evil", "/etc/evil", "..", "%2e%2e%2fevil"):
        before = {path for path in service.directory.parent.rglob("*") if "evil" in path.name}
        draft = await world.draft()
        file = {"name": name, "base64": "ZXZpbA==", "contentType": "text/plain"}
        headers = {"authorization": f"Bearer {world.tokens['admin']}"}
        async with httpx.AsyncClient(base_url=world.base_url, headers=headers) as http:
            path = f"/v1/spaces/{world.space}/change-requests/{draft.id}/content"
            change = {"operation": "insert_files", "files": [file]}
            response = await http.post(path, json={"changes": [change]}, params={"compat": "false"})
            assert response.status_code == 200, (name, response.text)
            [stored] = response.json()["insertedFiles"]
            sent = await http.get(stored["downloadURL"])
        if sent.status_code == 200:  # names such as .. lead to a path that does not exist
            assert sent.text == "evil" and "\r" not in sent.headers["content-disposition"], name
        else:
            assert sent.status_code == 404, name
        assert {path for path in service.directory.parent.rglob("*") if "evil" in path.name} == before, name


@pytest.mark.parametrize("links", [[{}], [{"label": "Home"}], [{"url": 1}], [{"url": "https://a.example"}] * 6])
async def test_links_of_an_integration_without_a_url_are_refused(world: World, links: list[Any]) -> None:
    headers = {"authorization": f"Bearer {world.tokens['admin']}"}
    manifest = {"title": "Lamp", "description": "", "scopes": [], "script": "", "organization": world.organization}
    path = f"/v1/integrations/lamp-{world.organization.lower()}"
    async with httpx.AsyncClient(base_url=world.base_url, headers=headers) as http:
        answer = await http.post(path, json=manifest | {"externalLinks": links})
        assert answer.status_code == 400, answer.text
        good = [{"url": "https://a.example", "label": "Home"}]
        answer = await http.post(path, json=manifest | {"externalLinks": good})
        assert answer.json().get("externalLinks") == good, answer.text


@pytest.mark.engines
@pytest.mark.attack("invented requests")
@pytest.mark.parametrize(
    "path",
    [
        "/integrations/%00",
        "/integrations/%00/assets/icon.png",
        "/integrations/a/installations/%00",
        "/scripts/%00/%00/a.js",
        "/openapi/%00/%00.json",
        "/docs/%00",
    ],
)
async def test_public_urls_with_nul_are_not_found(world: World, path: str) -> None:
    async with httpx.AsyncClient() as reader:
        assert (await reader.get(f"{world.base_url}{path}")).status_code == 404


@pytest.mark.engines
@pytest.mark.attack("invented requests")
async def test_pages_and_share_keys_with_nul_are_not_found(world: World) -> None:
    public, _ = await published(world)
    shared, _ = await published(world, visibility="share-link")
    shared = shared.rstrip("/").rpartition("/")[0]
    async with httpx.AsyncClient() as reader:
        for url in (f"{public}%00", f"{public}a/%00/b", f"{public}~files/%00", f"{shared}/%00/", f"{shared}/%00/a"):
            assert (await reader.get(url)).status_code == 404, url
        for url in (f"{public}?q=%00", f"{public}guide?theme=%00"):
            assert (await reader.get(url)).status_code == 200, url
