"""The MCP endpoint of published sites, called with the official SDK and with handwritten invalid messages."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import httpx2
import jwt
import pytest
from mcp import Client
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent
from tests.hostile_strings import HOSTILE
from tests.service.factories import World, insert, rewrite
from tests.service.web_pages import changed, hidden_space, published, signing, write

from presscheck.api.site_structure import AddSiteSpace
from presscheck.api.sites import AdaptiveContentChange, GetSite, PublishSite, UpdateSite
from presscheck.service.web.mcp import VERSIONS
from presscheck.service.web.published_pages import LARGEST_MESSAGE
from presscheck.service.web.reader_tools import PART

MODES: list[ConnectMode] = ["auto", "legacy"]
META = {
    "io.modelcontextprotocol/protocolVersion": VERSIONS[0],
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient() as client:
        yield client


def texts(result: CallToolResult) -> list[str]:
    assert all(isinstance(part, TextContent) for part in result.content)
    return [part.text for part in result.content if isinstance(part, TextContent)]


async def called(
    http: httpx.AsyncClient, url: str, method: str, headers: dict[str, str] | None = None, **params: Any
) -> httpx.Response:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"content-type": "application/json"} | (headers or {})
    return await http.post(f"{url}~gitbook/mcp", content=json.dumps(message), headers=headers)


async def page_of(http: httpx.AsyncClient, url: str, page: str, **headers: str) -> str:
    """Call the tool `getPage`. Returns the text of the response."""
    response = await called(http, url, "tools/call", headers, name="getPage", arguments={"url": page})
    return response.text


@pytest.mark.parametrize("mode", MODES)
async def test_clients_search_and_read_in_both_modes(world: World, mode: ConnectMode) -> None:
    url, _ = await published(world)
    await changed(world, insert("Lamps", "## Oil\n\nFill it with [paraffin](guide.md).\n"))
    async with Client(f"{url}~gitbook/mcp", mode=mode) as client:
        assert client.protocol_version == (VERSIONS[0] if mode == "auto" else VERSIONS[1])
        assert client.server_info and client.server_info.title == "Docs"
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"searchDocumentation", "getPage"}
        assert tools["getPage"].description and "“Docs”" in tools["getPage"].description
        found = await client.call_tool("searchDocumentation", {"query": "paraffin"})
        hit = {
            "title": "Lamps",
            "url": f"{url}lamps#oil",
            "where": [],
            "section": "Oil",
            "excerpt": "Fill it with paraffin.",
        }
        assert found.structured_content == {"total": 1, "results": [hit]}
        assert texts(found) == [f"Title: Lamps › Oil\nLink: {url}lamps#oil\nContent: Fill it with paraffin."]
        page = await client.call_tool("getPage", {"url": hit["url"]})
        assert texts(page) == [f"# Lamps\n\n## Oil\n\nFill it with [paraffin]({url}guide).\n"]
        unknown = await client.call_tool("getPage", {"url": f"{url}none"})
        assert unknown.is_error and "find pages with searchDocumentation" in texts(unknown)[0]
        with pytest.raises(MCPError, match="the tools are searchDocumentation, getPage"):
            await client.call_tool("deletePage", {})


async def test_page_is_found_by_several_urls_and_sent_in_parts(world: World, http: httpx.AsyncClient) -> None:
    url, _ = await published(world)
    path = httpx.URL(url).path
    for name in ("guide", "guide.md", "/guide", "guide/", f"{path}guide", f"{url}guide?a#b", f" {url}guide.md "):
        assert "First." in await page_of(http, url, name), name
    assert "Welcome" in await page_of(http, url, url) and "Welcome" in await page_of(http, url, url.rstrip("/"))
    for name in ("http://[x", "https://example.org/guide", "//guide", "javascript:alert(1)", "../guide", f"{url}none"):
        assert "Page not found" in await page_of(http, url, name), name
    lines = "".join(f"Line {number}.\n\n" for number in range(4000))
    await write(world, lines)
    async with Client(f"{url}~gitbook/mcp") as client:
        read, offset = "", 0
        while True:
            part = texts(await client.call_tool("getPage", {"url": "start", "offset": offset}))
            assert len(part[0]) <= PART
            read += part[0]
            offset = len(read)
            if len(part) == 1:
                break
            assert part[1].endswith(f"call getPage with offset {offset}.")
        assert read == f"# Start\n\n{lines.strip()}\n"
        assert (await client.call_tool("getPage", {"url": "start", "offset": offset})).is_error


async def test_arguments_are_checked_and_results_are_limited(world: World) -> None:
    url, _ = await published(world)
    await changed(world, *(insert(f"Lamp {number}", "A lantern.\n") for number in range(24)))
    async with Client(f"{url}~gitbook/mcp") as client:
        for arguments, count in (({}, 10), ({"limit": 3}, 3), ({"limit": 20}, 20)):
            found = await client.call_tool("searchDocumentation", {"query": "lantern", **arguments})
            assert isinstance(found.structured_content, dict)
            assert (len(found.structured_content["results"]), found.structured_content["total"]) == (count, 24)
        assert texts(await client.call_tool("searchDocumentation", {"query": "zzzz"})) == ["No page matches."]
        for arguments, reason in (
            ({}, "query must be a text of 1 to 512 characters."),
            ({"query": " "}, "query must be a text of 1 to 512 characters."),
            ({"query": "a" * 513}, "query must be a text of 1 to 512 characters."),
            ({"query": 1}, "query must be a text of 1 to 512 characters."),
            ({"query": "a", "limit": 21}, "limit must be an integer from 1 to 20."),
            ({"query": "a", "limit": True}, "limit must be an integer from 1 to 20."),
            ({"query": "a", "space": "b"}, "searchDocumentation has no argument 'space'; it has query, limit."),
            ({"query": "a\0"}, "Texts must not contain NUL or unpaired surrogates."),
        ):
            refused = await client.call_tool("searchDocumentation", arguments)
            assert refused.is_error and texts(refused) == [reason], arguments


@pytest.mark.attack("invented requests")
async def test_invalid_messages_get_json_rpc_errors(world: World, http: httpx.AsyncClient) -> None:
    url, _ = await published(world)
    whole = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    wrong: list[tuple[Any, int, int]] = [
        (b"", 400, -32700),
        (b"{", 400, -32700),
        (b"\xff", 400, -32700),
        (b"[" * 60_000, 400, -32700),
        (b'{"id":' + b"9" * 5_000 + b"}", 400, -32700),
        ([whole], 400, -32600),
        (7, 400, -32600),
        ({"id": 1, "method": "ping"}, 400, -32600),
        (whole | {"id": None}, 400, -32600),
        (whole | {"id": 1.5}, 400, -32600),
        (whole | {"id": True}, 400, -32600),
        (whole | {"method": 3}, 400, -32600),
        (whole | {"params": []}, 400, -32600),
        (whole | {"method": "prompts/list"}, 200, -32601),
        (whole | {"method": "tools/call", "params": {"name": ["getPage"]}}, 400, -32602),
        (whole | {"method": "tools/call", "params": {"name": "getPage", "arguments": []}}, 400, -32602),
        (whole | {"method": "tools/call", "params": {"name": "getPage", "arguments": "x"}}, 400, -32602),
        (b"{" + b" " * LARGEST_MESSAGE, 413, -32600),
    ]
    for message, status, code in wrong:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        answer = await http.post(f"{url}~gitbook/mcp", content=body, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), (body[:60], answer.text)
        assert answer.json()["jsonrpc"] == "2.0" and answer.json()["error"]["message"]
    for content_type in ("text/plain", "", "application/x-www-form-urlencoded"):
        answer = await http.post(f"{url}~gitbook/mcp", content=b"{}", headers={"content-type": content_type})
        assert answer.status_code == 415, content_type
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answer = await http.post(f"{url}~gitbook/mcp", json=notification)
    assert (answer.status_code, answer.content) == (202, b"")
    assert (await http.get(f"{url}~gitbook/mcp")).status_code == 405, "there is no stream of the server"
    assert (await http.delete(f"{url}~gitbook/mcp")).status_code == 405, "there are no sessions"
    for path in ("", "guide", "none", "~gitbook/mcp/x", "llms.txt"):
        answer = await http.post(f"{url}{path}", json=whole)
        assert (answer.status_code, answer.headers.get("allow")) == (405, "GET"), path


@pytest.mark.slow
@pytest.mark.attack("invented requests")
async def test_hostile_texts_cause_no_server_errors(world: World, http: httpx.AsyncClient) -> None:
    url, _ = await published(world)
    await changed(world, rewrite("guide", "# Guide </script>\n\nSee \x1b[2J and \u202e.\n"))
    for text in (*sorted(HOSTILE)[::8], "\ud800", "\0", "[" * 500, '"' * 500, "é" * 512):
        for name, argument in (("searchDocumentation", "query"), ("getPage", "url")):
            answer = await called(http, url, "tools/call", name=name, arguments={argument: text[:512]})
            assert answer.status_code == 200 and "result" in answer.json(), (name, text)
        answer = await called(http, url, text[:200])
        assert answer.json()["error"]["code"] == -32601
        answer = await called(http, url, "tools/call", name=text[:200], arguments={text[:200]: text})
        assert answer.json()["error"]["code"] == -32602


async def test_stateless_protocol_version_checks_its_headers(world: World, http: httpx.AsyncClient) -> None:
    url, _ = await published(world)
    headers = {"mcp-protocol-version": VERSIONS[0], "mcp-method": "tools/call", "mcp-name": "getPage"}
    params: dict[str, Any] = {"name": "getPage", "arguments": {"url": "guide"}, "_meta": META}
    answer = await called(http, url, "tools/call", headers, **params)
    result = answer.json()["result"]
    assert (
        result["resultType"] == "complete" and result["_meta"]["io.modelcontextprotocol/serverInfo"]["title"] == "Docs"
    )
    encoded = headers | {"mcp-name": "=?base64?Z2V0UGFnZQ==?="}
    assert (await called(http, url, "tools/call", encoded, **params)).status_code == 200
    for changes in ({"mcp-name": "other"}, {"mcp-name": "=?base64?!?="}, {"mcp-method": "ping"}, {"mcp-name": ""}):
        answer = await called(http, url, "tools/call", headers | changes, **params)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020), changes
    answer = await called(http, url, "tools/call", {**headers, "mcp-protocol-version": VERSIONS[1]}, **params)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)
    answer = await called(http, url, "tools/call", headers, **(params | {"_meta": {}}))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)
    for version in ("1900-01-01", 7):
        meta = META | {"io.modelcontextprotocol/protocolVersion": version}
        answer = await called(http, url, "tools/call", headers, **(params | {"_meta": meta}))
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32022)
        assert answer.json()["error"]["data"] == {"supported": [*VERSIONS], "requested": version}
    answer = await called(http, url, "nothing", headers | {"mcp-method": "nothing"}, _meta=META)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, -32601)
    for asked, version in (("2024-11-05", VERSIONS[1]), (VERSIONS[2], VERSIONS[2]), (None, VERSIONS[1])):
        answer = await called(http, url, "initialize", protocolVersion=asked, capabilities={}, clientInfo={})
        assert answer.json()["result"]["protocolVersion"] == version


@pytest.mark.attack("bad hosts")
async def test_other_origins_and_hosts_are_refused(world: World, http: httpx.AsyncClient) -> None:
    url, _ = await published(world)
    for origin, status in (
        (world.base_url, 200),
        ("https://evil.example", 403),
        ("null", 403),
        ("http://[x", 403),
        ("", 403),
        ("http://127.0.0.1.evil.example", 403),
    ):
        answer = await called(http, url, "ping", {"origin": origin})
        assert answer.status_code == status, origin
    assert (await called(http, url, "ping", {"host": "evil.example"})).status_code == 400


@pytest.mark.attack("other organizations")
async def test_only_readers_of_a_site_get_its_content(world: World, http: httpx.AsyncClient) -> None:
    url, at = await published(world)
    draft = await world.admin.send(PublishSite(**at))
    assert draft
    await world.admin.send(UpdateSite(**at, visibility="share-link"))
    shared = str((await world.admin.send(GetSite(**at))).urls.published)
    assert "First." in await page_of(http, shared, f"{shared}guide")
    assert (
        shared
        in (await called(http, shared, "tools/call", name="searchDocumentation", arguments={"query": "first"})).text
    )
    for place in (url, f"{url}none/", f"{world.base_url}/docs/none/"):
        answer = await called(http, place, "initialize")
        assert (answer.status_code, answer.json()["error"]["message"]) == (404, "Site not found."), place
    await world.admin.send(UpdateSite(**at, visibility="visitor-auth"))
    token = jwt.encode({"plan": "free"}, await signing(world, at), "HS256")
    other = jwt.encode({"plan": "free"}, "0" * 64, "HS256")
    for headers in ({}, {"authorization": f"Bearer {other}"}, {"authorization": f"Bearer {world.tokens['admin']}"}):
        answer = await called(http, url, "tools/call", headers, name="getPage", arguments={"url": "guide"})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert "First." not in answer.text and "Docs" not in answer.text
    assert "First." in await page_of(http, url, "guide", authorization=f"Bearer {token}")
    signed_in = httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"})
    async with signed_in, Client(streamable_http_client(f"{url}~gitbook/mcp", http_client=signed_in)) as client:
        assert texts(await client.call_tool("getPage", {"url": "guide"}))
    async with Client(f"{url}~gitbook/mcp?jwt_token={token}") as client:
        assert texts(await client.call_tool("getPage", {"url": "guide"}))
    await http.get(url, params={"jwt_token": token})
    assert "First." in await page_of(http, url, "guide"), "the cookie of a browser"
    assert (await called(http, url, "ping", {"origin": "https://evil.example"})).status_code == 403, (
        "despite the cookie"
    )


@pytest.mark.attack("conditional content")
async def test_conditions_use_the_claims_of_the_token(world: World, http: httpx.AsyncClient) -> None:
    url, at = await published(world, visibility="visitor-auth")
    secret = await hidden_space(world, "Only for pro")
    await world.admin.send(AddSiteSpace(**at, space_id=secret))
    await write(world, 'Open. {% if visitor.claims.plan == "pro" %}Golden.{% endif %}\n')
    await world.admin.send(UpdateSite(**at, adaptive_content=AdaptiveContentChange(enabled=True)))
    key = await signing(world, at)
    for plan, is_shown in (("free", False), ("pro", True)):
        token = {"authorization": f"Bearer {jwt.encode({'plan': plan}, key, 'HS256')}"}
        assert ("Golden" in await page_of(http, url, "start", **token)) is is_shown
        arguments = {"query": "golden"}
        found = await called(http, url, "tools/call", token, name="searchDocumentation", arguments=arguments)
        assert "No page matches" in found.text, "search is over the text without conditions"
    await world.admin.send(UpdateSite(**at, visibility="public"))
    page = await page_of(http, url, "start", **token)
    assert "Open." in page and "Golden" not in page, "on a public site, nobody has claims"
