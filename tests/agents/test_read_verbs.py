"""The read verbs and resources of the MCP server, used with the client of the official SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents
from tests.agents.agent_client import agent, agent_process, call, outbox_of, refusal
from tests.cli.shell import Shell

from presscheck.agents.verbs import PART
from presscheck.cli.agent import read_verbs
from presscheck.cli.agent.verb_table import VERBS
from presscheck.engine.review import owners

READERS = {verb.name for verb in VERBS if verb.permission == "read"}


@pytest.mark.slow
async def test_by_default_an_agent_can_only_read(shell: Shell) -> None:
    async with agent_process(shell) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == READERS
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        for verb in VERBS:
            if verb.name not in READERS:
                assert "only read is allowed" in await refusal(client, verb.name)
    assert outbox_of(shell).rows() == ()


async def test_agent_lists_reviews_and_reads_a_change_request(shell: Shell) -> None:
    async with agent(shell) as client:
        [organization] = (await call(client, "list_reviews"))["organizations"]
        row = next(row for row in organization["items"] if row["change_request"] == "api#5")
        assert row["subject"] == {"untrusted": "Rewrite the auth guide"}
        request = await call(client, "read_change_request", change_request="api#5")
        page = next(item for item in request["changes"] if item["has_difference"])
        difference = await call(client, "read_difference", change_request="api#5", page=page["id"])
        assert "\n+A token belongs to one project." in difference["text"]["untrusted"]
        changed = await call(client, "read_page", space="api", page=page["id"], change_request="api#5")
        live = await call(client, "read_page", space="api", page="Tokens")
        assert "belongs to one project" in changed["text"]["untrusted"]
        assert "belongs to one workspace" in live["text"]["untrusted"]
        threads = await call(client, "list_threads", change_request="api#5")
        assert any(thread["replies"] for thread in threads["items"])
        blocks = await call(client, "explain_blocks", change_request="api#5")
        assert {check["subject"] for check in blocks["requirements"]} >= {"permission", "reviews", "main"}


async def test_agent_reads_the_style_guide_of_the_site_of_a_space(shell: Shell) -> None:
    async with agent(shell) as client:
        assert (await call(client, "read_style_guide", space="api"))["text"] == {"untrusted": ""}
        site = next(site["id"] for site in shell.json("site", "list") if site["title"] == "Tallowick Docs")
        shell.ok("site", "create-style-guide", site, "--template", "plain")
        text = (await call(client, "read_style_guide", space="api"))["text"]["untrusted"]
        assert text.startswith("# Plain language") and "One thought per sentence" in text
    [guide] = shell.json("org", "style-guides", "list")
    assert guide["sites"][0]["id"] == site
    shell.ok("space", "delete", guide["space"]["id"], "--yes")
    assert "plain" in shell.ok("org", "style-guides", "templates")


async def test_lists_are_read_in_parts(shell: Shell) -> None:
    async with agent(shell) as client:
        whole = await call(client, "list_pages", space="api", limit=100)
        offset, pages = 0, list[Any]()
        while offset is not None:
            part = await call(client, "list_pages", space="api", limit=4, offset=offset)
            assert len(part["items"]) <= 4
            pages += part["items"]
            offset = part["next_offset"]
        assert pages == whole["items"]
        assert len(pages) == whole["total"]


async def test_a_long_page_is_read_in_parts(shell: Shell) -> None:
    text = "".join(f"Line {number}.\n\n" for number in range(4_000))
    number = shell.json("cr", "create", "notes", "--subject", "Long")["number"]
    page = shell.json("page", "list", "notes")[0]["id"]
    shell.ok("page", "edit", f"notes#{number}", page, "--body", text)
    async with agent(shell) as client:
        offset, parts = 0, list[str]()
        while offset is not None:
            part = await call(
                client, "read_page", space="notes", page=page, change_request=f"notes#{number}", offset=offset
            )
            parts.append(part["text"]["untrusted"])
            offset = part["next_offset"]
        assert len(parts) > 1
        assert max(map(len, parts)) == PART
        assert "".join(parts).strip().endswith(text.strip())


async def test_search_and_checks_return_results(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "documentation"
    folder.mkdir()
    (folder / "README.md").write_text("# Docs\n\n[gone](missing.md)\n")
    async with agent(shell) as client:
        hits = await call(client, "search", query="token")
        assert {"untrusted": "Tokens"} in [hit["title"] for hit in hits["items"]]
        assert (await call(client, "list_spaces"))["total"] == 6
        findings = await call(client, "check_folder", path="documentation")
        assert [row["rule"] for row in findings["items"] if row["severity"] == "error"] == ["broken-link"]
        (folder / "loop").symlink_to("loop")
        for outside in ("..", "/etc", "documentation/../..", "documentation/loop", "a\0b", "x" * 300):
            assert "inside the working directory" in await refusal(client, "check_folder", path=outside)
        site = shell.json("site", "list")[0]["id"]
        assert "items" in await call(client, "check_site", site=site)


@pytest.mark.slow
async def test_resources_are_listed_and_read(shell: Shell) -> None:
    async with agent(shell) as client:
        listed = (await client.list_resources()).resources
        assert "presscheck://spaces/api/pages" in [resource.uri for resource in listed]
        for resource in listed[:3]:
            await client.read_resource(resource.uri)
        templates = {one.uri_template for one in (await client.list_resource_templates()).resource_templates}
        assert "presscheck://change-requests/{change_request}/threads{?offset}" in templates

        async def read(uri: str) -> Any:
            [part] = (await client.read_resource(uri)).contents
            assert isinstance(part, TextResourceContents)
            return json.loads(part.text)

        request = "presscheck://change-requests/api%235"
        assert (await read(request))["change_request"] == "api#5"
        changes = (await read(request))["changes"]
        page = next(item["id"] for item in changes if item["has_difference"])
        assert "+A token" in (await read(f"{request}/differences/{page}"))["text"]["untrusted"]
        assert (await read(f"{request}/threads?offset=1"))["items"] == (await read(f"{request}/threads"))["items"][1:]
        assert (await read(f"{request}/requirements"))["can_merge"]
        assert (await read("presscheck://spaces/api/pages/Tokens"))["title"] == {"untrusted": "Tokens"}
        for unknown in ("presscheck://token", "file:///etc/passwd", f"{request}/threads?offset=-1", "presscheck://"):
            with pytest.raises(MCPError):
                await client.read_resource(unknown)


WRONG_ARGUMENTS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("no_such_verb", {}, "unknown"),
    ("read_page", {}, "Field required"),
    ("read_page", {"space": "api", "page": "Tokens", "more": 1}, "Extra inputs"),
    ("read_page", {"space": "api", "page": "x" * 100_000}, "at most 300 characters"),
    ("read_page", {"space": "api", "page": "Tokens", "change_request": "guides#3"}, "another space"),
    ("list_pages", {"space": "api", "limit": 10**9}, "less than or equal to 100"),
    ("list_pages", {"space": "api", "offset": -1}, "greater than or equal to 0"),
    ("search", {"query": ["a"] * 10_000}, "valid string"),
    ("read_change_request", {"change_request": "api#99999"}, "no change request #99999"),
    ("read_change_request", {"change_request": "\x1b]0;owned\x07#1"}, "not found"),
)
"""Verbs with arguments that are rejected, and a part of the error."""


async def test_wrong_and_huge_arguments_are_errors_that_name_the_argument(shell: Shell) -> None:
    async with agent(shell) as client:
        for verb, arguments, message in WRONG_ARGUMENTS:
            words = await refusal(client, verb, **arguments)
            assert message in words
            assert len(words) < 1_000
            assert "\x1b" not in words


def test_differences_are_read_beyond_the_first_changes(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    real = owners.changes_in
    monkeypatch.setattr(owners, "changes_in", lambda request, limit=1: real(request, limit))
    changes = shell.json("agent", "read_change_request", "change_request=api#5")["changes"]
    pages = [item["id"] for item in changes if item["has_difference"]]
    assert len(pages) > 1
    for page in pages:
        assert shell.json("agent", "read_difference", "change_request=api#5", f"page={page}")["page"] == page


def test_changes_and_replies_in_answers_are_limited(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    before = shell.json("agent", "list_threads", "change_request=api#5", "state=all", "limit=100")["items"]
    whole = shell.json("agent", "read_change_request", "change_request=api#5")
    assert (whole["total"], whole["next_offset"]) == (len(whole["changes"]), None)
    assert max(one["reply_count"] for one in before) > 1
    monkeypatch.setattr(read_verbs, "ITEMS", 1)
    part = shell.json("agent", "read_change_request", "change_request=api#5")
    assert (part["changes"], part["total"], part["next_offset"]) == (whole["changes"][:1], whole["total"], 1)
    following = shell.json("agent", "read_change_request", "change_request=api#5", "offset=1")
    assert following["changes"] == whole["changes"][1:2]
    threads = shell.json("agent", "list_threads", "change_request=api#5", "state=all", "limit=100")["items"]
    assert max(len(one["replies"]) for one in threads) == 1
    assert [one["reply_count"] for one in threads] == [one["reply_count"] for one in before]
