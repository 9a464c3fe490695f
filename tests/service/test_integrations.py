"""Integrations: published scripts that run in a process of their own, their events, and their limits."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from lzstring import LZString
from tests.running_service import LOOPBACK, RunningService, running_service
from tests.service.factories import World, plant_world
from tests.service.integration_scripts import LISTENER, MODULE
from tests.web_server import web_server

from presscheck.service.db.engine import Database
from presscheck.service.db.ids import new_id
from presscheck.service.integrations import script_process
from presscheck.service.integrations.event_delivery import DeliveryLog
from presscheck.service.integrations.outbound_http import Outgoing
from presscheck.service.integrations.script_runner import ScriptConfig, run_script
from presscheck.service.jobs.queue import OutboundConfig
from presscheck.service.models.organizations import MemberRow, OrganizationRow

LIMITS = ScriptConfig(processor_seconds=1, seconds=8)
COUNTER = {"componentId": "counter", "props": {"size": 2}, "context": {"theme": "dark", "type": "document"}}
EVENT = {"eventId": "e1", "type": "ui_render", "componentId": "c", "props": {}, "context": {}}


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service whose scripts may use little."""
    outside = OutboundConfig(allowed=LOOPBACK.allowed, scripts=LIMITS)
    with running_service(tmp_path_factory.mktemp("scripted"), outside=outside) as running:
        yield running


@pytest.fixture
async def here(scripted: RunningService) -> AsyncIterator[World]:
    planted = plant_world(scripted.database_url, scripted.base_url)
    yield planted
    for client in planted.clients.values():
        await client.aclose()


class Publisher:
    """HTTP calls of one user for one integration."""

    def __init__(self, world: World, role: str = "admin", name: str | None = None) -> None:
        headers = {"authorization": f"Bearer {world.tokens[role]}"}
        self.http = httpx.AsyncClient(base_url=f"{world.base_url}/v1", headers=headers, timeout=60)
        self.world = world
        self.name = name or f"lamp-{new_id()}"
        self.at = f"/integrations/{self.name}"

    async def publish(self, script: str, **more: Any) -> None:
        details = {"title": "Lamp", "description": "", "scopes": [], "organization": self.world.organization}
        response = await self.http.post(self.at, json={**details, "script": script, **more})
        assert response.status_code == 200, response.text

    async def install(self) -> dict[str, Any]:
        response = await self.http.post(f"{self.at}/installations", json={"organization": self.world.organization})
        assert response.status_code == 201, response.text
        return response.json()

    async def render(self, **more: Any) -> httpx.Response:
        return await self.http.post(f"{self.at}/render", json={**COUNTER, **more})

    async def events(self, count: int) -> list[dict[str, Any]]:
        """The events with their logs, newest first, once there are so many."""
        for _ in range(1000):
            found = (await self.http.get(f"{self.at}/events")).json()["items"]
            if len(found) >= count:
                return [(await self.http.get(f"{self.at}/events/{event['id']}")).json() for event in found]
            await asyncio.sleep(0.02)
        raise AssertionError(found)


def messages(traced: dict[str, Any]) -> list[str]:
    return [log["message"] for log in traced["trace"]["logs"]]


async def test_a_component_renders_and_takes_an_action(here: World) -> None:
    lamp = Publisher(here)
    await lamp.publish(MODULE)
    first = await lamp.render()
    assert first.status_code == 200, first.text
    assert first.json()["state"] == {"count": 0} and first.json()["props"] == {"size": 2}
    assert first.json()["element"]["children"][0]["label"] == "Count: 0"
    action = first.json()["element"]["children"][0]["onPress"]
    second = await lamp.render(state=first.json()["state"], action=action)
    assert second.json()["state"] == {"count": 1}
    packed = LZString().compressToEncodedURIComponent(json.dumps({**COUNTER, "state": {"count": 4}}))
    by_get = await lamp.http.get(f"{lamp.at}/render", params={"request": packed})
    assert by_get.json()["element"]["children"][0]["label"] == "Count: 4"
    newest, *_ = await lamp.events(3)
    assert newest["event"]["status"] == "success"
    assert newest["event"]["payload"]["type"] == "ui_render"
    sent, written, late, response = messages(newest)
    assert sent == "Sent ui_render to the script of version 1."
    assert (written, late) == ("handling ui_render", "finished late")
    assert response.startswith('Response: 200, application/json: {"type":"element","state":{"count":4}')
    assert [log["level"] for log in newest["trace"]["logs"]] == ["info", "info", "warn", "info"]


async def test_the_script_knows_the_installation_where_the_caller_is_a_member_only(here: World) -> None:
    lamp = Publisher(here)
    await lamp.publish(MODULE, visibility="public")
    installed = await lamp.install()
    configuration = {"configuration": {"label": "Lamps"}}
    await lamp.http.patch(f"{lamp.at}/installations/{installed['id']}", json=configuration)
    stranger = Publisher(plant_world(here.database_url, here.base_url), name=lamp.name)
    for context in (
        {"type": "document", "spaceId": here.space, "theme": "dark", "editable": True},
        {"type": "configuration_account", "organizationId": here.organization, "theme": "dark"},
    ):
        shown = (await lamp.render(context=context)).json()["element"]["children"][0]["label"]
        hidden = (await stranger.render(context=context)).json()["element"]["children"][0]["label"]
        assert (shown, hidden) == ("Lamps: 0", "Count: 0")


async def test_installing_updating_and_removing_are_events_of_the_script(here: World) -> None:
    lamp = Publisher(here)
    await lamp.publish(LISTENER)
    installed = await lamp.install()
    at = f"{lamp.at}/installations/{installed['id']}"
    assert (await lamp.http.patch(at, json={"configuration": {"bright": True}})).status_code == 200
    assert (await lamp.http.delete(at)).status_code == 204
    events = await lamp.events(3)
    deleted, updated, created = (traced["event"]["payload"] for traced in events)
    assert (created["type"], created["status"]) == ("installation_setup", "active")
    assert (updated["type"], updated["previous"]) == (
        "installation_setup",
        {"status": "active", "configuration": {}},
    )
    assert (deleted["type"], deleted["previous"]) == ("installation_deleted", {"configuration": {"bright": True}})
    assert {traced["event"]["installationId"] for traced in events} == {installed["id"]}
    for traced in events:
        assert traced["event"]["status"] == "success"
        assert messages(traced)[-1] == "Response: 200, text/plain: OK"


HOSTILE = {
    "endless loop": ("while (true) {}", 504, "more than 1 s of processor time"),
    "endless native loop": ("new Array(2 ** 31).join('x')", 504, "more than 1 s of processor time"),
    "regular expression": ("/(a+)+$/.test('a'.repeat(40) + 'b')", 504, "more than 1 s of processor time"),
    "memory": ("const all = []; for (;;) all.push(new Uint8Array(2e9))", 502, "out of memory"),
    "small pieces of memory": ("let all = []; for (;;) all = [all, 'x'.repeat(1e5 + all.length)]", 502, "out of memory"),
    "recursion": ("function f() { return f() + 1 } f()", 502, "Maximum call stack size exceeded"),
    "throws": ("throw new Error('boom')", 502, "Error: boom"),
    "throws nothing": ("throw null", 502, "null"),
    "throws what cannot be shown": ("throw { toString() { throw 1 } }", 502, "error"),
    "syntax": ("this is no script", 502, "SyntaxError"),
    "no handler": ("0", 502, "handles no events"),
    "missing module": ("import fs from 'node:fs'; export default {}", 502, "could not load module 'node:fs'"),
    "no response": ("export default { fetch: () => new Promise(() => {}) }", 502, "never responded"),
    "not a response": ("export default { fetch: () => ({ status: 200, ok: true }) }", 502, "did not respond with a Resp"),
    "not a component": ("export default { fetch: () => Response.json({ state: {} }) }", 502, "not a component"),
    "not JSON": ("export default { fetch: () => new Response('<p>') }", 502, "not a component"),
    "not finite": ("export default { fetch: () => new Response('{\"element\": {\"a\": 1e999}}') }", 502, "not a component"),
    "not text": (
        "export default { fetch: () => new Response('{\"element\": {\"a\": \"\\\\ud800\"}}') }", 502, "not a component",
    ),
    "deep response": (
        "export default { fetch: () => new Response('{\"element\": ' + '{\"a\":'.repeat(5000) + '1' + '}'.repeat(5001)) }",
        502, "not a component",
    ),
    "large response": ("export default { fetch: () => new Response('x'.repeat(3e6)) }", 502, "response is longer"),
    "error response": ("export default { fetch: () => new Response('no', { status: 500 }) }", 502, "Response: 500"),
    "throws in the handler": ("export default { async fetch() { null.x } }", 502, "TypeError"),
    "no requests": ("export default { fetch: () => fetch('http://127.0.0.1:1/') }", 502, "turned off on this service"),
    "tampering": (
        "Promise.prototype.then = JSON.stringify = JSON.parse = Array.prototype.map = null;"
        "Object.defineProperty(Object.prototype, 'status', { get() { throw new Error('tampered') } });"
        "export default { fetch: () => new Response('{}') }", 502, "",
    ),
    "constructor of functions": (
        "const all = Object.getOwnPropertyNames(globalThis).filter((name) => /host|python|import|process/i.test(name));"
        "const get = (() => {}).constructor('return this');"
        "throw new Error(`found ${all} ${typeof get().require} ${typeof get().__host}`)", 502,
        "Error: found  undefined undefined",
    ),
}  # fmt: skip
"""Scripts that fail: the status of the response, and words in the log of the event."""


@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_script_that_fails_is_a_clean_problem_and_a_log(here: World, kind: str) -> None:
    script, status, words = HOSTILE[kind]
    lamp = Publisher(here)
    await lamp.publish(script)
    response = await lamp.render()
    assert response.status_code == status, response.text
    assert "Lamp" in response.json()["error"]["message"]
    [traced] = await lamp.events(1)
    assert traced["event"]["status"] == "failed"
    assert any(words in message for message in messages(traced)), traced
    assert sum(map(len, messages(traced))) < 40_000


async def test_console_output_is_limited_and_has_no_credentials(here: World) -> None:
    lamp = Publisher(here)
    print_all = "console.log('Authorization: Bearer abcdef123456', JSON.stringify({apiKey: 'k-1', token: 't-1'}), '\\0');"
    endless = "for (let i = 0; i < 5000; i++) console.error('x'.repeat(1e4));"
    await lamp.publish(f"{print_all}{endless}{LISTENER}")
    assert (await lamp.render()).status_code == 200
    [traced] = await lamp.events(1)
    text = " ".join(messages(traced))
    assert len(text) < 40_000 and max(map(len, messages(traced))) <= 2000
    assert "[redacted]" in text and not any(secret in text for secret in ("abcdef", "k-1", "t-1", "\0"))


async def test_a_script_of_ten_megabytes_runs(here: World) -> None:
    lamp = Publisher(here)
    padding = f"const padding = '{'x' * 10_000_000}';"
    await lamp.publish(padding + MODULE)
    assert (await lamp.render()).status_code == 200


async def test_others_go_on_while_scripts_loop(here: World) -> None:
    looping, lamp = Publisher(here), Publisher(plant_world(here.database_url, here.base_url))
    await looping.publish("while (true) {}")
    await lamp.publish(LISTENER)
    waiting = [asyncio.create_task(looping.render()) for _ in range(6)]
    await asyncio.sleep(0.3)
    assert (await lamp.http.get("/user")).status_code == 200
    assert (await lamp.render()).status_code == 200
    assert sum(task.done() for task in waiting) <= 2, "an organization runs two scripts at once"
    assert {response.status_code for response in await asyncio.gather(*waiting)} == {504}
