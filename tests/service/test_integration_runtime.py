"""The environment of integration scripts, their access to the API with limited tokens, and their endpoints."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from tests.running_service import LOOPBACK, RunningService, running_service
from tests.service.factories import World, plant_world
from tests.service.integration_scripts import CALLING, ENDPOINT, ENVIRONMENT, RUNTIME, UPDATING
from tests.service.publisher import Publisher, messages
from tests.service.web_pages import published

from presscheck.api.published_sites import GetPublishedSite
from presscheck.api.site_settings import UpdateAdaptiveSchema
from presscheck.service.http import request_body
from presscheck.service.integrations.outbound_http import Outgoing, OutgoingRefused
from presscheck.service.integrations.script_runner import ScriptConfig
from presscheck.service.jobs.queue import OutboundConfig

SCOPES = ["space:metadata:read", "space:content:read", "site:metadata:read"]
BETA = {"type": "boolean", "description": "Beta"}
SCHEMA = {"type": "object", "properties": {"isBeta": BETA}, "additionalProperties": False}
SECRETS = {"KEY": "correct horse battery"}


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service whose scripts may reach one host."""
    scripts = ScriptConfig(processor_seconds=1, seconds=10, hosts=("localhost",))
    outside = OutboundConfig(allowed=LOOPBACK.allowed, scripts=scripts)
    with running_service(tmp_path_factory.mktemp("scripted"), outside=outside) as running:
        yield running


@pytest.fixture
async def here(scripted: RunningService) -> AsyncIterator[World]:
    planted = plant_world(scripted.database_url, scripted.base_url)
    yield planted
    for client in planted.clients.values():
        await client.aclose()


@pytest.fixture
async def lamp(here: World) -> AsyncIterator[Publisher]:
    lamp = Publisher(here)
    yield lamp
    await lamp.http.aclose()


async def drawn(lamp: Publisher, component: str, props: dict[str, Any], **place: str) -> dict[str, Any]:
    context = {"type": "document", "theme": "dark", **place}
    response = await lamp.http.post(
        f"{lamp.at}/render", json={"componentId": component, "props": props, "context": context}
    )
    assert response.status_code == 200, response.text
    return response.json()["element"]


async def answers(lamp: Publisher, *calls: tuple[Any, ...], **place: str) -> list[tuple[int, str]]:
    element = await drawn(lamp, "calling", {"calls": calls}, **place)
    return [(status, text) for status, text in element["answers"]]


@pytest.mark.slow
async def test_environment_matches_the_platform_and_stays_secret(here: World, lamp: Publisher) -> None:
    await lamp.publish(ENVIRONMENT, scopes=SCOPES, secrets=SECRETS, summary="A lamp.")
    await lamp.publish(ENVIRONMENT, scopes=SCOPES, summary="A lamp.")  # keeps the secrets
    installed = await lamp.install()
    _, at = await published(here)
    element = await drawn(lamp, "environment", {}, spaceId=here.space)
    known = (await lamp.http.get(lamp.at)).json()
    integration = element["integration"]
    assert integration["permissions"] == {"admin": False}, "the caller has no influence"
    assert integration["owner"].pop("permissions") != known["owner"].pop("permissions")
    assert integration | {"permissions": known["permissions"]} == known
    assert integration["urls"]["publicContentEndpoint"] == f"{here.base_url}/integrations/{lamp.name}"
    assert element["apiEndpoint"] == here.base_url
    assert element["installation"]["id"] == installed["id"]
    assert element["spaceInstallation"]["space"] == here.space
    assert element["spaceInstallation"]["urls"]["publicEndpoint"].endswith(f"/spaces/{here.space}")
    assert "siteInstallation" not in element
    tokens, signing, secrets = element["lengths"]
    assert [name for name, length in tokens if length > 100] == ["integration", "installation"]
    assert signing == [["integration", 64], ["installation", 64]]
    assert secrets == [["KEY", len(SECRETS["KEY"])]]
    assert element["leaked"] == ["[redacted]"] * 2
    in_site = await drawn(lamp, "environment", {}, siteId=at["site_id"])
    assert in_site["siteInstallation"]["site"] == at["site_id"] and "spaceInstallation" not in in_site
    for traced in await lamp.events(3):
        text = json.dumps(traced)
        assert SECRETS["KEY"] not in text and "eyJ" not in text, text
    assert SECRETS["KEY"] not in (await lamp.http.get(lamp.at)).text


@pytest.mark.slow
@pytest.mark.attack("other organizations")
async def test_script_reads_only_what_its_scopes_permit_in_its_organization(here: World, lamp: Publisher) -> None:
    await lamp.publish(CALLING, scopes=SCOPES, visibility="public")
    installed = await lamp.install()
    _, at = await published(here)
    other = plant_world(here.database_url, here.base_url)
    stranger = Publisher(other, name=lamp.name)
    in_other = await stranger.install()
    _, other_at = await published(other)
    organization = f"/orgs/{here.organization}"
    calls: dict[tuple[str, str], int] = {
        ("GET", f"/spaces/{here.space}"): 200,
        ("GET", f"/spaces/{here.space}/content"): 200,
        ("GET", f"/spaces/{here.space}/content/pages"): 200,
        ("GET", f"{organization}/sites/{at['site_id']}"): 200,
        ("GET", f"{lamp.at}/installations"): 200,
        ("GET", f"{lamp.at}/installations/{installed['id']}"): 200,
        ("GET", f"{lamp.at}/spaces"): 200,
        ("GET", f"{lamp.at}/sites?extended=true"): 200,
        ("GET", f"/spaces/{other.space}"): 404,
        ("GET", f"/spaces/{other.space}/content"): 404,
        ("GET", f"/orgs/{other.organization}/sites/{other_at['site_id']}"): 404,
        ("GET", f"{organization}/sites/{other_at['site_id']}"): 404,
        ("GET", f"{lamp.at}/installations/{in_other['id']}"): 404,
        ("GET", "/user"): 403,
        ("GET", organization): 403,
        ("GET", f"{organization}/members"): 403,
        ("GET", f"/spaces/{here.space}/change-requests"): 403,
        ("PATCH", f"/spaces/{here.space}"): 403,
        ("DELETE", f"/spaces/{here.space}"): 403,
        ("POST", f"{lamp.at}/render"): 403,
    }
    shown = await answers(lamp, *calls, spaceId=here.space)
    assert {call: status for call, (status, _) in zip(calls, shown, strict=True)} == calls, shown
    listed = json.loads(shown[4][1])["items"]
    assert [item["id"] for item in listed] == [installed["id"]]
    [site] = json.loads(shown[7][1])["items"]
    assert isinstance(site["site"], dict), "a whole site needs a scope"
    await here.admin.send(UpdateAdaptiveSchema(**at, json_schema=SCHEMA))
    await lamp.publish(CALLING, scopes=["space:metadata:read", "site:adaptive:read"], visibility="public")
    paths = (
        f"/spaces/{here.space}/content",
        f"{lamp.at}/spaces?extended=true",
        f"{lamp.at}/sites?extended=true",
        f"{organization}/sites/{at['site_id']}/adaptive-schema",
    )
    shown = await answers(lamp, *(("GET", path) for path in paths), spaceId=here.space)
    assert [status for status, _ in shown] == [403, 200, 200, 200], shown
    space, site, schema = [json.loads(text) for _, text in shown[1:]]
    assert isinstance(space["items"][0]["space"], dict) and isinstance(site["items"][0]["site"], str)
    assert schema["jsonSchema"] == SCHEMA
    for client in (stranger.http, *other.clients.values()):
        await client.aclose()


@pytest.mark.slow
@pytest.mark.attack("other organizations")
async def test_new_scopes_of_a_version_need_the_approval_of_an_admin(here: World, lamp: Publisher) -> None:
    other = plant_world(here.database_url, here.base_url)
    stranger = Publisher(other, name=lamp.name)
    await lamp.publish(CALLING, scopes=["space:metadata:read"], visibility="public")
    await lamp.install()
    installed = await stranger.install()
    at = f"{lamp.at}/installations/{installed['id']}"
    calls = (("GET", f"/spaces/{other.space}"), ("GET", f"/spaces/{other.space}/content"))
    for scopes in (["space:metadata:read", "space:content:read"], ["space:content:read"]):
        await lamp.publish(CALLING, scopes=scopes, visibility="public")
        assert (await stranger.http.get(at)).json()["status"] == "pending"
        shown = await answers(stranger, *calls, spaceId=other.space)
        assert [status for status, _ in shown] == [200 if len(scopes) > 1 else 403, 403], shown
        own = await answers(lamp, ("GET", f"/spaces/{here.space}/content"), spaceId=here.space)
        assert own[0][0] == 200, "the publisher has agreed for the own organization"
    await stranger.install()
    assert (await stranger.http.get(at)).json()["status"] == "active"
    shown = await answers(stranger, *calls, spaceId=other.space)
    assert [status for status, _ in shown] == [403, 200]
    again = await stranger.http.post(f"{lamp.at}/installations", json={"organization": other.organization})
    assert again.status_code == 409
    await stranger.http.aclose()
    for client in other.clients.values():
        await client.aclose()


@pytest.mark.slow
async def test_script_uses_only_its_own_token_which_ends_with_the_installation(here: World, lamp: Publisher) -> None:
    leaking = CALLING.replace(
        "const answers = [];", "const answers = [[1, [...context.environment.apiTokens.installation]]];"
    )
    await lamp.publish(leaking, scopes=SCOPES)
    installed = await lamp.install()
    [(_, leaked)] = await answers(lamp, spaceId=here.space)
    token = "".join(leaked)
    headers = {"authorization": f"Bearer {token}"}
    at = f"/spaces/{here.space}"
    assert (await lamp.http.get(at, headers=headers)).status_code == 200
    forged = f"{token[:-4]}{'AAAA' if token[-4:] != 'AAAA' else 'BBBB'}"
    assert (await lamp.http.get(at, headers={"authorization": f"Bearer {forged}"})).status_code == 401
    await lamp.publish(CALLING.replace("${environment.apiTokens.installation}", here.tokens["admin"]), scopes=SCOPES)
    [(status, text)] = await answers(lamp, ("GET", "/user"), spaceId=here.space)
    assert (status, "tokens of the environment only" in text) == (0, True), "it reaches the service with no other token"
    await lamp.http.delete(f"{lamp.at}/installations/{installed['id']}")
    assert (await lamp.http.get(at, headers=headers)).status_code == 401


@pytest.mark.slow
async def test_an_event_listener_updates_its_installation_once(here: World, lamp: Publisher) -> None:
    await lamp.publish(CALLING, scopes=SCOPES)
    installed = await lamp.install()
    [traced] = await lamp.events(1)
    assert "updated 200" in messages(traced)
    shown = (await lamp.http.get(f"{lamp.at}/installations/{installed['id']}")).json()
    assert shown["configuration"] == {"known": True}
    await asyncio.sleep(0.5)
    assert len(await lamp.events(1)) == 1, "the update of a script is no event for it"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["space", "site"])
async def test_an_event_listener_updates_its_settings_in_a_place_once(here: World, lamp: Publisher, kind: str) -> None:
    _, site = await published(here)
    place = here.space if kind == "space" else site["site_id"]
    await lamp.publish(UPDATING.replace("KIND", kind), scopes=[])
    installed = await lamp.install()
    at = f"{lamp.at}/installations/{installed['id']}"
    assert (await lamp.http.patch(at, json={f"{kind}_selection": "selected"})).status_code == 200
    fields = {"space": place} if kind == "space" else {"siteId": place}
    assert (await lamp.http.post(f"{at}/{kind}s", json=fields)).status_code in (200, 201)
    await lamp.events(3)
    assert (await lamp.http.get(f"{at}/{kind}s/{place}")).json()["configuration"] == {"known": True}
    await asyncio.sleep(0.5)
    assert len(await lamp.events(3)) == 3, "the update of a script is no event for it"


@pytest.mark.parametrize(
    ("hosts", "url", "is_allowed"),
    [
        (("*.example.test",), "http://a.example.test/", True),
        (("*.example.test",), "http://example.test/", False),
        (("example.test",), "http://EXAMPLE.test./", True),
        (("example.test",), "http://notexample.test/", False),
        ((), "http://example.test/", False),
    ],
)
def test_requests_are_sent_only_to_named_hosts(hosts: tuple[str, ...], url: str, is_allowed: bool) -> None:
    client = Outgoing()
    try:
        client.request("GET", url, headers={}, hosts=hosts, seconds=1)
    except OutgoingRefused as refused:
        assert not is_allowed, refused
    except Exception:  # the host does not exist
        assert is_allowed
    finally:
        client.close()


@pytest.mark.slow
async def test_endpoints_respond_with_the_script(here: World, lamp: Publisher) -> None:
    await lamp.publish(ENDPOINT, secrets={"KEY": "client-12345"})
    installed = await lamp.install()
    base = f"{here.base_url}/integrations/{lamp.name}"
    async with httpx.AsyncClient(timeout=60) as reader:
        reader.cookies.set("visitor-1", "secret")
        for at, space in ((base, None), (f"{base}/installations/{installed['id']}/spaces/{here.space}", here.space)):
            response = await reader.post(f"{at}/echo?name=%C3%A4", content="körper".encode())
            assert response.status_code == 200, response.text
            got = response.json()
            assert (got["method"], got["name"], got["body"], got.get("space")) == ("POST", "ä", "körper", space)
            assert "cookie" not in got["headers"] and "set-cookie" not in response.headers
            assert response.headers["cache-control"] == "max-age=60"
            assert got["token"] == "[redacted]"
        moved = await reader.get(f"{base}/sign-in")
        assert (moved.status_code, moved.headers["location"]) == (302, "https://id.example.org/?client=client-12345")
        page = await reader.get(f"{base}/page")
        assert page.headers["content-security-policy"].startswith("sandbox "), "not a page of the service"
        assert page.headers["content-type"].startswith("text/html")
        for path, status in (
            ("/loop", 504),
            ("/other", 404),
            ("/installations/no/echo", 404),
            (f"/installations/{installed['id']}/spaces/no/echo", 404),
        ):
            assert (await reader.get(f"{base}{path}")).status_code == status, path
        assert (await reader.get(f"{here.base_url}/integrations/no")).status_code == 404
        odd, empty = [await reader.get(f"{base}/{path}") for path in ("foreign-letters", "nothing")]
        assert (odd.status_code, odd.text, empty.status_code, empty.content) == (200, "shown", 204, b"")
        assert (await reader.put(f"{base}/echo", content=b"x" * 2_000_000)).status_code == 413
    requests = [traced for traced in await lamp.events(2) if traced["event"]["payload"]["type"] == "fetch"]
    assert [traced["event"]["status"] for traced in requests] == ["failed"], "only the one that failed"


@pytest.mark.slow
@pytest.mark.attack("other organizations")
async def test_script_and_owner_cannot_extend_an_installation(here: World, lamp: Publisher) -> None:
    await lamp.publish(CALLING, visibility="public")
    other = plant_world(here.database_url, here.base_url)
    stranger = Publisher(other, name=lamp.name)
    at = f"{lamp.at}/installations/{(await stranger.install())['id']}"
    selected, everything = {"space_selection": "selected"}, {"space_selection": "all", "site_selection": "all"}
    assert (await stranger.http.patch(at, json=selected)).status_code == 200
    assert (await lamp.http.patch(at, json=everything)).status_code in (403, 404), "the owner of the integration"
    settings = ("PATCH", at, {"configuration": {"known": 1}})
    shown = await answers(stranger, ("PATCH", at, everything), settings, spaceId=other.space)
    assert [status for status, _ in shown] == [403, 200]
    assert (await lamp.http.patch(at, json={"configuration": {"known": 2}})).status_code == 200
    assert (await stranger.http.get(at)).json()["space_selection"] == "selected"
    await stranger.http.aclose()


@pytest.mark.slow
@pytest.mark.attack("other organizations")
async def test_name_of_an_integration_does_not_give_access_to_keys_of_others(here: World, lamp: Publisher) -> None:
    await lamp.publish(ENDPOINT)
    installed = await lamp.install()
    other = plant_world(here.database_url, here.base_url)
    thief, heir = Publisher(other, name=installed["id"]), Publisher(other, name=lamp.name)
    await thief.publish(ENDPOINT)
    async with httpx.AsyncClient(timeout=60) as reader:
        base = f"{here.base_url}/integrations"
        keys = (await reader.get(f"{base}/{lamp.name}/installations/{installed['id']}/keys")).json()
        stolen = (await reader.get(f"{base}/{thief.name}/keys")).json()
        assert len(keys) == 2 and len(stolen) == 1 and stolen[0] not in keys
        await lamp.http.delete(lamp.at)
        await heir.publish(ENDPOINT)
        assert (await reader.get(f"{base}/{lamp.name}/keys")).json()[0] not in keys, "a name that was given up"
    await thief.http.aclose()
    await heir.http.aclose()


@pytest.mark.slow
@pytest.mark.attack("half-sent and slow requests")
async def test_incomplete_request_runs_no_script(
    here: World, lamp: Publisher, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_body, "LONGEST_SENDING", 0.5)
    await lamp.publish(ENDPOINT)
    host, port = here.base_url.removeprefix("http://").split(":")
    head = f"POST /integrations/{lamp.name}/loop HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 100\r\n\r\nabc"
    for is_closed in (True, False):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(head.encode())
        await writer.drain()
        if not is_closed:
            assert (await asyncio.wait_for(reader.readline(), 5)).split()[1] == b"408"
        writer.close()
        await writer.wait_closed()
    await asyncio.sleep(0.5)
    assert not [record for record in caplog.records if record.exc_info]
    assert not (await lamp.http.get(f"{lamp.at}/events")).json()["items"]


@pytest.mark.slow
@pytest.mark.attack("endless jobs")
async def test_requests_of_visitors_do_not_block_other_scripts(here: World, lamp: Publisher) -> None:
    endpoints = [Publisher(here) for _ in range(2)]
    for other in endpoints:
        await other.publish(ENDPOINT)
    waiting = RUNTIME + "const wait = () => new Promise(() => setTimeout(() => {}, 8000));\n"
    waiting += "export default createIntegration({ fetch_published_script: wait });"
    await lamp.publish(waiting, scopes=["site:script:inject"])
    await lamp.install()
    urls = [f"{here.base_url}/integrations/{other.name}/wait" for other in endpoints]
    for _ in range(2):
        _, at = await published(here)
        site = await here.admin.send(GetPublishedSite(**at))
        urls += [script.script for script in site.scripts]
    calling = Publisher(here)
    await calling.publish(CALLING)
    async with httpx.AsyncClient(timeout=60) as reader:
        calls = [asyncio.create_task(reader.get(url)) for url in urls]
        await asyncio.sleep(1.5)
        begun = time.monotonic()
        assert (await reader.get(f"{here.base_url}/healthz")).status_code == 200
        await drawn(calling, "calling", {"calls": []})
        assert time.monotonic() - begun < 4
        await asyncio.gather(*calls)
    for other in (*endpoints, calling):
        await other.http.aclose()


@pytest.mark.slow
@pytest.mark.attack("other organizations")
async def test_the_endpoints_of_an_organization_do_not_delay_others(here: World, lamp: Publisher) -> None:
    stranger = Publisher(plant_world(here.database_url, here.base_url))
    slow = [lamp, Publisher(here), Publisher(here)]
    for publisher in (*slow, stranger):
        await publisher.publish(ENDPOINT)
    async with httpx.AsyncClient(timeout=60) as reader:
        urls = [f"{here.base_url}/integrations/{publisher.name}" for publisher in slow]
        calls = [asyncio.create_task(reader.get(f"{url}/wait")) for url in urls]
        await asyncio.sleep(1)
        begun = time.monotonic()
        answer = await reader.get(f"{here.base_url}/integrations/{stranger.name}/echo")
        assert (answer.status_code, time.monotonic() - begun < 4) == (200, True)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    for publisher in (*slow[1:], stranger):
        await publisher.http.aclose()
