"""Background jobs: results, failures, and takeover from a dead worker."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from tests.running_service import LOOPBACK, RunningService, running_service
from tests.service.engines import NAMES, new_database
from tests.service.factories import World, plant_world, rewrite
from tests.service.jobs import imported, processed, until
from tests.web_server import WebServer, web_server

from presscheck.api.change_requests import GetChangeRequest, MergeChangeRequest
from presscheck.api.content import GetChangeRequestPageByPath, GetPage
from presscheck.api.conversations import IngestConversations, ListIssuesClusters, Message, NewConversation
from presscheck.api.imports import FilesSource, ImportTarget, StartImport, WebsiteSource
from presscheck.api.integrations import (
    InstallIntegration,
    ListIntegrationEvents,
    PublishIntegration,
    SetDevelopmentMode,
)
from presscheck.api.openapi import CreateOpenAPISpec, GetOpenAPISpec, SpecSource
from presscheck.api.spaces import DeleteSpace, GetSpace, TransferSpace, UpdateSpace
from presscheck.api.translations import (
    CreateTranslation,
    DeleteTranslation,
    GetTranslation,
    ListTranslations,
    RunTranslation,
    SourceToTranslate,
    UpdateTranslation,
)
from presscheck.errors import Conflict, Forbidden, NotFound
from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import moment_text, new_id, system_clock
from presscheck.service.integrations.outbound_http import Outgoing
from presscheck.service.jobs import worker
from presscheck.service.jobs.queue import (
    RUNNERS,
    JobBudget,
    JobCancelled,
    JobContext,
    JobLimits,
    OutboundConfig,
    cancel_jobs,
    enter_job,
    runs,
)
from presscheck.service.jobs.worker import MOST_AT_ONCE, MOST_PER_ORGANIZATION, Workers
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.jobs import JobRow
from presscheck.service.models.organizations import MemberRow, OrganizationRow
from presscheck.service.models.spaces import SpaceRow

SITE = {
    "/robots.txt": "User-agent: *\nDisallow: /secret/\n",
    "/docs/": """<html><head><title>Lamps – Acme</title></head><body><nav><a href="/nowhere">x</a></nav><main>
      <h1>Lamps</h1><p>See <a href="oil/wick#trim">the wick</a>, <a href="/secret/">secret</a> and
      <a href="https://example.org/">elsewhere</a>. {% hint %}</p>
      <pre><code class="language-sh">lamp --on</code></pre><script>alert(1)</script></main></body></html>""",
    "/docs/oil/wick": "<article><h1>The wick</h1><ul><li>Trim</li><li>Light</li></ul><img src='a.png'></article>",
    "/secret/": "<h1>Secret</h1>",
    "/moved": "-> /docs/",
}
SPEC = {"openapi": "3.1.0", "info": {"title": "Lamps", "version": "1"}, "paths": {}}


@pytest.fixture(scope="module", params=NAMES)
def open_service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that may reach websites on this machine, with a translator that returns upper case."""
    shout = "import sys; print(sys.stdin.read().upper(), end='')"
    outside = OutboundConfig(allowed=LOOPBACK.allowed, translator=(sys.executable, "-c", shout))
    url = new_database(request)
    with running_service(tmp_path_factory.mktemp("open"), database_url=url, outside=outside) as running:
        yield running


@pytest.fixture
async def here(open_service: RunningService) -> AsyncIterator[World]:
    planted = plant_world(open_service.database_url, open_service.base_url)
    yield planted
    for client in planted.clients.values():
        await client.aclose()


@pytest.fixture
def website() -> Iterator[WebServer]:
    with web_server(SITE) as server:
        yield server


def organization_of(world: World, *roles: str) -> str:
    """Create a second organization with users of the world, who have the same roles in it. Returns its id."""
    database, now = Database(world.database_url), moment_text(system_clock())
    row = OrganizationRow(id=new_id(), title="Other", created_at=now)
    with database.writing.begin() as session:
        session.add(row)
        for role in roles:
            user = world.users[role]
            session.add(MemberRow(organization_id=row.id, user_id=user, role=role, joined_at=now))
    database.close()
    return row.id


async def test_a_website_is_imported_into_a_change_request(here: World, website: WebServer) -> None:
    run = await imported(here, WebsiteSource(url=f"{website.url}/moved"), page="guide")
    assert (run.status, run.reason) == ("completed", None)
    assert [page.source_url.removeprefix(website.url) for page in run.pages] == ["/docs/", "/docs/oil/wick"]
    at = {"space_id": here.space, "change_request_id": run.target["changeRequest"]}
    change = await here.admin.send(GetChangeRequest(**at))
    assert (change.status, change.subject) == ("draft", "Import from 127.0.0.1")
    first = await here.admin.send(GetChangeRequestPageByPath(**at, page_path="guide/docs"))
    assert first.title == "Lamps" and first.markdown
    assert "[the wick](/guide/docs/wick#trim)" in first.markdown, "links to imported pages must be rewritten"
    assert "[elsewhere](https://example.org/)" in first.markdown
    assert "```sh\nlamp --on\n```" in first.markdown
    assert "alert" not in first.markdown and "nowhere" not in first.markdown
    assert "{% hint" not in first.markdown, "text must not become a tag"
    second = await here.admin.send(GetChangeRequestPageByPath(**at, page_path="guide/docs/wick"))
    assert second.markdown == f"# The wick\n\n- Trim\n- Light\n\n![]({website.url}/docs/oil/a.png)\n"
    assert "/secret/" not in website.asked, "robots.txt must be obeyed"


async def test_files_are_imported(here: World, tmp_path: Path) -> None:
    with web_server({"/a.md": "# A\n\nText.\n", "/b.txt": "Plain.\n"}, "text/plain") as server:
        run = await imported(here, FilesSource(files=(f"{server.url}/a.md", f"{server.url}/b.txt")))
    assert run.status == "completed"
    at = {"space_id": here.space, "change_request_id": run.target["changeRequest"]}
    page = await here.admin.send(GetChangeRequestPageByPath(**at, page_path="a"))
    assert page.markdown == "# A\n\nText.\n"


@pytest.mark.parametrize(
    ("path", "reason"),
    [("/gone", "responded with 404"), ("/secret/", "robots.txt disallows crawling"), ("/loop", "redirects")],
)
async def test_a_failed_import_has_a_reason(here: World, website: WebServer, path: str, reason: str) -> None:
    website.pages["/loop"] = "-> /loop"
    run = await imported(here, WebsiteSource(url=website.url + path))
    assert run.status == "failed" and reason in run.reason


async def test_import_into_an_unknown_change_request_is_refused(here: World, website: WebServer) -> None:
    for unknown in ("none", ""):
        with pytest.raises(NotFound):
            await imported(here, WebsiteSource(url=website.url), changeRequest=unknown)


async def test_an_import_requires_the_edit_role(here: World, website: WebServer) -> None:
    start = StartImport(
        organization_id=here.organization, source=WebsiteSource(url=website.url), target=ImportTarget(space=here.space)
    )
    with pytest.raises(Forbidden):
        await here.clients["read"].send(start)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "169.254.169.254", "[::ffff:10.0.0.1]", "0.0.0.0",
    "[fec0::1]", "[64:ff9b:1::7f00:1]", "[::7f00:1]", "[::ffff:0:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
])  # fmt: skip
@pytest.mark.attack("forbidden outgoing addresses")
async def test_private_addresses_are_refused(world: World, host: str) -> None:
    at = {"organization_id": world.organization}
    await world.admin.send(CreateOpenAPISpec(**at, slug="s", source=SpecSource(url=f"http://{host}:1/")))
    ask = GetOpenAPISpec(**at, spec_slug="s")
    found = await until(lambda: world.admin.send(ask), lambda one: one.processing_state == "complete")
    assert found.last_process_error_code == "FETCH_ERROR"
    assert found.last_processed_errors and "private network" in found.last_processed_errors[0].message


@pytest.mark.slow
async def test_a_specification_is_fetched_and_validated(here: World) -> None:
    with web_server({"/spec.yaml": "openapi: 3.0.0\ninfo: {title: T, version: '1'}\npaths: {}\n"}) as server:
        found = await processed(here, SpecSource(url=f"{server.url}/spec.yaml"))
        assert (found.last_process_error_code, found.source_url) == (None, f"{server.url}/spec.yaml")
        again = await processed(here, SpecSource(url=f"{server.url}/spec.yaml"))
        assert again.last_version == found.last_version, "unchanged content must not create a version"
        gone = await processed(here, SpecSource(url=f"{server.url}/gone"))
    assert (gone.last_process_error_code, gone.last_version) == ("FETCH_ERROR", found.last_version)


@pytest.mark.attack("deep and huge JSON and YAML")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "invalid JSON or YAML"),
        ("[]", "must be an object"),
        ("openapi: 9.9.9", "must be 2.0, 3.0 or 3.1"),
        ("openapi: 3.0.0\npaths: {}", "a required property"),
        ("a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(8)), "values"),
        (json.dumps(SPEC | {"paths": {"/x": {"$ref": "file:///etc/passwd"}}}), "points outside this document"),
        (json.dumps(SPEC | {"paths": {"/x": {"$ref": "http://127.0.0.1/x.json"}}}), "points outside this document"),
        ("[" * 5000, "nested too deep"),
        ("[" * 50_000 + "]" * 50_000, "nested too deep"),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, "nested too deep"),
        ("- " * 50_000, "nested too deep"),
        ("a: &a [*a]", "contains itself"),
        ("a: " + "9" * 6000, "too long"),
        ("a: &a {x: 1}\n" + "".join(
            f"{b}: &{b} {{<<: [{','.join(['*' + a] * 9)}]}}\n" for a, b in pairwise("abcdefghi")), "values"),
    ],
)  # fmt: skip
async def test_error_of_an_invalid_specification_is_reported(here: World, text: str, message: str) -> None:
    found = await processed(here, SpecSource(text=text))
    assert found.last_process_error_code == "PARSE_ERROR"
    assert found.last_processed_errors and message in str(found.last_processed_errors)


@pytest.mark.slow
@pytest.mark.attack("deep and huge pages")
async def test_a_page_with_deeply_nested_elements_is_left_out_of_an_import(here: World) -> None:
    with web_server({"/": '<a href="big">x</a><p>Text.</p>', "/big": "<p>x</p>" + "<b>" * 5000}) as server:
        run = await imported(here, WebsiteSource(url=server.url))
        alone = await imported(here, WebsiteSource(url=f"{server.url}/big"))
    reason = f"{server.url}/big: the elements of the page are nested too deep"
    assert (run.status, [page.source_url for page in run.pages]) == ("completed", [f"{server.url}/"])
    assert run.reason == f"1 left out, such as {reason}"
    assert (alone.status, alone.reason) == ("failed", reason)


def limit_jobs(monkeypatch: pytest.MonkeyPatch, kind: str, limits: JobLimits) -> None:
    """Set the limits of a kind of job. (The service of these tests runs in this process.)"""
    monkeypatch.setitem(RUNNERS, kind, replace(RUNNERS[kind], limits=limits))


@pytest.mark.slow
@pytest.mark.attack("endless jobs")
async def test_import_of_a_slow_website_stops_at_its_time_limit(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    limit_jobs(monkeypatch, "import", JobLimits(seconds=3))
    links = "".join(f'<a href="/{number}">x</a>' for number in range(100))
    pages = {f"/{number}": "<p>x</p>" for number in range(100)}
    with web_server({"/robots.txt": "User-agent: *\nCrawl-delay: 2", "/": links, **pages}) as server:
        run = await imported(here, WebsiteSource(url=server.url))
    assert (run.status, run.reason) == ("completed", "stopped after 3 seconds, the limit of this kind of job")
    assert 1 <= len(run.pages) <= 2


@pytest.mark.attack("endless jobs")
async def test_import_stops_at_its_limit_of_bytes(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    limit_jobs(monkeypatch, "import", JobLimits(most_bytes=3 * 1024 * 1024))
    with web_server({"/": '<a href="/b">x</a>', "/b": "<p>" + "x" * 4_000_000}) as server:
        run = await imported(here, WebsiteSource(url=server.url))
        reason = "stopped after 3 MB were read, the limit of this kind of job"
        assert (run.status, run.reason, len(run.pages)) == ("completed", reason, 1)
        files = await imported(here, FilesSource(files=(f"{server.url}/b", f"{server.url}/")))
        assert (files.status, files.reason) == ("failed", reason)


@pytest.mark.slow
@pytest.mark.attack("endless jobs")
async def test_translation_has_a_time_limit(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    limit_jobs(monkeypatch, "translation", JobLimits(seconds=0))
    at = {"organization_id": here.organization}
    source = SourceToTranslate(space=here.space, language="en")
    begun = await here.admin.send(CreateTranslation(**at, source=source, language="de"))
    ask = GetTranslation(**at, translation_id=begun.id)
    failed = await until(lambda: here.admin.send(ask), lambda one: "failure" in (one.stats.model_extra or {}))
    assert "stopped after 0 seconds" in (failed.stats.model_extra or {})["failure"]


@pytest.mark.slow
@pytest.mark.attack("endless jobs")
async def test_a_crawl_delay_has_a_limit(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    limit_jobs(monkeypatch, "import", JobLimits(seconds=20))
    with web_server({"/robots.txt": "User-agent: *\nCrawl-delay: " + "9" * 5000, "/": "<p>x</p>"}) as server:
        run = await imported(here, WebsiteSource(url=server.url))
    assert (run.status, run.reason) in (("completed", None), ("failed", f"{server.url}/robots.txt is invalid"))


@pytest.mark.slow
@pytest.mark.attack("deep and huge pages")
async def test_translation_that_is_too_large_for_a_page_fails(here: World) -> None:
    draft = await here.draft()
    await here.edit(draft, rewrite("guide", "ß" * 300_000))  # in upper case, each is two characters
    await here.admin.send(MergeChangeRequest(space_id=here.space, change_request_id=draft.id))
    at = {"organization_id": here.organization}
    source = SourceToTranslate(space=here.space, language="en")
    begun = await here.admin.send(CreateTranslation(**at, source=source, language="de"))
    ask = GetTranslation(**at, translation_id=begun.id)
    failed = await until(lambda: here.admin.send(ask), lambda one: "failure" in (one.stats.model_extra or {}))
    reason = "the translation of “Guide” is too large: 600,001 characters, at most 500,000 are allowed"
    assert (failed.stats.model_extra or {})["failure"] == reason


@pytest.mark.slow
@pytest.mark.attack("other organizations")
async def test_translation_is_updated_while_its_source_is_in_the_organization(here: World) -> None:
    at = {"organization_id": here.organization}
    source = SourceToTranslate(space=here.space, language="en")
    begun = await here.admin.send(CreateTranslation(**at, source=source, language="de"))
    ask = GetTranslation(**at, translation_id=begun.id)
    done = await until(lambda: here.admin.send(ask), lambda one: one.status == "completed")
    assert done.result
    page = await here.admin.send(GetPage(space_id=done.result.space, page_id="guide"))
    assert (page.title, page.markdown) == ("GUIDE", "# GUIDE\n\nFIRST.\n\nSECOND.\n\nTHIRD.\n")
    space = await here.admin.send(GetSpace(space_id=done.result.space))
    assert (space.title, space.language) == ("Manual (de)", "de")
    assert done.stats.latest_pages == 3 and done.stats.model_extra == {"copiedOnly": False}
    await here.admin.send(RunTranslation(**at, translation_id=begun.id))
    again = await until(lambda: here.admin.send(ask), lambda one: one.stats.runs == 2)
    assert again.result and again.result.space == done.result.space and again.result.revision != done.result.revision
    elsewhere = organization_of(here, "create", "admin")
    given = await here.admin.send(TransferSpace(space_id=done.result.space, organization=elsewhere))
    await here.admin.send(RunTranslation(**at, translation_id=begun.id))
    third = await until(lambda: here.admin.send(ask), lambda one: one.stats.runs == 3)
    assert third.result and third.result.space != given.id, "a run does not write into another organization"
    assert (await here.admin.send(GetSpace(space_id=given.id))).revision == given.revision
    await here.admin.send(TransferSpace(space_id=here.space, organization=elsewhere))
    for role in ("admin", "create"):
        with pytest.raises(Conflict, match="another organization"):
            await here.clients[role].send(RunTranslation(**at, translation_id=begun.id))
    database = Database(here.database_url)
    with database.writing.begin() as session:  # as if the run had been started before the transfer
        enter_job(session, "translation", begun.id, now=moment_text(system_clock()), organization_id=here.organization)
    database.close()
    failed = await until(lambda: here.admin.send(ask), lambda one: "failure" in (one.stats.model_extra or {}))
    assert "another organization" in (failed.stats.model_extra or {})["failure"]
    assert failed.stats.runs == 3 and failed.result == third.result


@pytest.mark.attack("other organizations")
async def test_translation_is_hidden_from_users_who_see_neither_space(here: World) -> None:
    at = {"organization_id": here.organization}
    await here.admin.send(UpdateSpace(space_id=here.space, default_level=None))
    source = SourceToTranslate(space=here.space, language="en")
    begun = await here.admin.send(CreateTranslation(**at, source=source, language="de"))
    ask = GetTranslation(**at, translation_id=begun.id)
    done = await until(lambda: here.admin.send(ask), lambda one: one.status == "completed")
    assert done.result
    creator, named = here.clients["create"], at | {"translation_id": begun.id}
    assert (await creator.send(ListTranslations(**at))).items == ()
    for call in (ask, RunTranslation(**named), UpdateTranslation(**named, instructions={"nodes": []})):
        with pytest.raises(NotFound):
            await creator.send(call)
    await creator.send(DeleteTranslation(**named))
    assert (await here.admin.send(ask)).id == begun.id
    await here.admin.send(UpdateSpace(space_id=done.result.space, default_level="read"))
    assert [one.id for one in (await creator.send(ListTranslations(**at))).items] == [begun.id]
    with pytest.raises(NotFound, match="Space"):
        await creator.send(RunTranslation(**named))
    await here.admin.send(UpdateSpace(space_id=here.space, default_level="inherit"))
    with pytest.raises(Forbidden, match="edit"):
        await creator.send(RunTranslation(**named))


@pytest.mark.slow
async def test_similar_issues_form_one_cluster(here: World) -> None:
    said = {
        "a": "How do I refill the oil of my lamp? It is empty.",
        "b": "My lamp is empty, how can I refill oil?",
        "c": "The invoice has a wrong address.",
    }
    talks = tuple(NewConversation(id=key, parts=(Message(role="user", body=text),)) for key, text in said.items())
    at = {"organization_id": here.organization}
    await here.admin.send(IngestConversations(**at, conversations=talks))
    ask = ListIssuesClusters(**at, order_by="issues")
    found = await until(lambda: here.admin.send(ask), lambda page: page.items)
    assert [(item.label, item.stats.issues) for item in found.items] == [
        ("How do I refill the oil of my lamp?", 2),
        ("The invoice has a wrong address.", 1),
    ]
    assert found.items[0].weekly_pulse[-1] == 2 and found.items[0].sources == {"email": 2}
    await here.admin.send(IngestConversations(**at, conversations=talks[2]))
    again = await until(lambda: here.admin.send(ask), lambda page: page.items)
    assert sum(item.stats.issues for item in again.items) == 3, "a repeated conversation must count once"


@pytest.mark.slow
async def test_slow_deliveries_delay_only_deliveries_of_their_organization(here: World, website: WebServer) -> None:
    slow, fast = here, plant_world(here.database_url, here.base_url)
    details: dict[str, Any] = {"title": "Lamp post", "description": "x", "scopes": (), "script": "0"}
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(20)
        for number in range(6):
            own = {"integration_name": f"slow-{number}-{slow.organization}"}
            await slow.admin.send(PublishIntegration(**own, **details, organization=slow.organization))
            tunnel = f"http://127.0.0.1:{silent.getsockname()[1]}/"
            await slow.admin.send(SetDevelopmentMode(**own, tunnel_url=tunnel))
            await slow.admin.send(InstallIntegration(**own, organization=slow.organization))
        own = {"integration_name": f"fast-{fast.organization}"}
        await fast.admin.send(PublishIntegration(**own, **details, organization=fast.organization))
        await fast.admin.send(SetDevelopmentMode(**own, tunnel_url=website.url))
        await fast.admin.send(InstallIntegration(**own, organization=fast.organization))
        await until(lambda: fast.admin.send(ListIntegrationEvents(**own)), lambda page: page.items)
        found = await processed(slow, SpecSource(text=json.dumps(SPEC)))
        assert found.last_process_error_code is None
        slowly = {"integration_name": f"slow-5-{slow.organization}"}
        assert not (await slow.admin.send(ListIntegrationEvents(**slowly))).items
    for client in fast.clients.values():
        await client.aclose()


class Moment:
    """A manual clock."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 20, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.mark.slow
async def test_deleted_spaces_are_removed_after_seven_days(tmp_path: Path) -> None:
    clock = Moment()
    with running_service(tmp_path, clock=clock) as service:
        world = plant_world(service.database_url, service.base_url)
        await world.admin.send(DeleteSpace(space_id=world.space))
        clock.now += timedelta(days=6, hours=23)
        database = Database(service.database_url)

        async def next_cleanup() -> str:
            with database.snapshot() as session:
                is_waiting = JobRow.id == "sweep", JobRow.state == "waiting"
                return session.scalar(select(JobRow.run_at).where(*is_waiting)) or ""

        # the cleanup must not run while the clock changes
        assert await until(next_cleanup, lambda moment: moment > moment_text(clock()))
        assert (await world.admin.send(GetSpace(space_id=world.space))).deleted_at
        clock.now += timedelta(hours=2)

        async def left() -> int:
            with database.snapshot() as session:
                spaces = session.scalar(select(func.count()).select_from(SpaceRow)) or 0
                return spaces + (session.scalar(select(func.count()).select_from(RevisionRow)) or 0)

        assert await until(left, lambda count: count == 0) == 0
        database.close()
        for client in world.clients.values():
            await client.aclose()


@pytest.mark.engines
@pytest.mark.slow
def test_job_of_a_dead_worker_is_taken_by_one_other_worker(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "LEASE", 2.0)
    database, clock, done = Database(database_url), Moment(), list[str]()
    runs("test")(lambda work: done.append(work.about))

    def plant(session: Session) -> None:
        early = (clock() - timedelta(minutes=5)).isoformat()
        for number in range(20):
            state = {"state": "running", "lease": f"dead {number}"} if number % 2 else {"state": "waiting"}
            row = JobRow(id=str(number), kind="test", about=str(number), run_at=early, created_at=early, progress={})
            for name, value in state.items():
                setattr(row, name, value)
            session.add(row)

    database.write(plant)
    workers = [Workers(database, DiskBlobStore(tmp_path), clock, OutboundConfig()) for _ in range(2)]
    try:
        for one in workers:
            one.start()
        deadline = datetime.now(UTC) + timedelta(seconds=20)
        while len(done) < 20 and datetime.now(UTC) < deadline:
            time.sleep(0.02)
    finally:
        for one in workers:
            one.stop()
        RUNNERS.pop("test")
    assert sorted(done, key=int) == [str(number) for number in range(20)]
    with database.snapshot() as session:
        assert set(session.scalars(select(JobRow.state).where(JobRow.kind == "test"))) == {"done"}
    database.close()


@pytest.mark.engines
def test_a_worker_stops_when_another_has_taken_its_job(database_url: str, tmp_path: Path) -> None:
    database, is_ending = Database(database_url), list[bool]()
    row = {"id": "j", "kind": "test", "about": "thing", "run_at": "2", "created_at": "2", "progress": {}}
    database.write(lambda session: session.add(JobRow(**row, state="running", lease="first")))
    files, outside = DiskBlobStore(tmp_path), OutboundConfig()
    works = [
        JobContext(
            job,
            "thing",
            lease,
            database,
            files,
            Moment(),
            Outgoing(()),
            outside,
            lambda: bool(is_ending),
            JobBudget(JobLimits()),
        )
        for job, lease in (("j", "first"), ("j", "second"), ("k", "first"))
    ]
    works[0].require_running()
    for work in works[1:]:
        with pytest.raises(JobCancelled, match="cancelled"):
            work.require_running()
    is_ending.append(True)
    with pytest.raises(JobCancelled, match="shutting down"):
        works[0].require_running()
    is_ending.clear()
    database.write(lambda session: cancel_jobs(session, "thing", "3"))
    with pytest.raises(JobCancelled, match="cancelled"):
        works[0].require_running()
    database.close()


@pytest.mark.slow
def test_failing_job_is_retried_before_it_fails(database_url: str, tmp_path: Path) -> None:
    database, clock, tries, given_up = Database(database_url), Moment(), list[int](), list[str]()

    def fail(work: JobContext) -> None:
        tries.append(1)
        raise ConnectionError("no luck")

    runs("test", failed=lambda _session, about, reason, _now: given_up.append(f"{about}: {reason}"))(fail)
    start = clock().isoformat()
    database.write(
        lambda session: session.add(
            JobRow(id="j", kind="test", about="thing", run_at=start, created_at=start, progress={})
        )
    )
    workers = Workers(database, DiskBlobStore(tmp_path), clock, OutboundConfig())
    workers.start()
    deadline = datetime.now(UTC) + timedelta(seconds=20)
    while not given_up and datetime.now(UTC) < deadline:
        clock.now += timedelta(seconds=21)  # longer than the pauses between attempts
        workers.wake()
        time.sleep(0.02)
    workers.stop()
    RUNNERS.pop("test")
    assert (len(tries), given_up) == (3, ["thing: ConnectionError: no luck"])
    database.close()


@pytest.mark.engines
@pytest.mark.slow
def test_job_fails_if_its_process_ended_in_each_attempt(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not taken a fourth time, as it would end every later process too. A recurring job runs again later."""
    monkeypatch.setattr(worker, "LEASE", 0.5)
    database, clock, tries, given_up = Database(database_url), Moment(), list[str](), list[str]()
    runs("test", failed=lambda _session, about, reason, _now: given_up.append(f"{about}: {reason}"))(
        lambda work: tries.append(work.about)
    )
    runs("recurring", again=timedelta(hours=1))(lambda work: tries.append(work.about))
    early = (clock() - timedelta(minutes=5)).isoformat()

    def plant(session: Session) -> None:
        for kind, about, attempts in (("test", "spent", 3), ("test", "left", 2), ("recurring", "spent sweep", 3)):
            session.add(
                JobRow(
                    id=about, kind=kind, about=about, state="running", attempts=attempts, lease=f"dead {about}",
                    run_at=early, created_at=early, progress={},
                )
            )  # fmt: skip

    def jobs() -> dict[str, tuple[str, int]]:
        with database.snapshot() as session:
            kinds = JobRow.kind.in_(("test", "recurring"))
            return {row.id: (row.state, row.attempts) for row in session.scalars(select(JobRow).where(kinds))}

    database.write(plant)
    workers = Workers(database, DiskBlobStore(tmp_path), clock, OutboundConfig())
    workers.start()
    try:
        deadline = time.monotonic() + 20
        while "running" in {state for state, _ in jobs().values()} and time.monotonic() < deadline:
            time.sleep(0.02)
        assert jobs() == {"spent": ("failed", 3), "left": ("done", 3), "spent sweep": ("waiting", 0)}
        assert tries == ["left"]
        # PostgreSQL may run a transaction again
        assert set(given_up) == {"spent: The service process ended during each of 3 attempts."}
        clock.now += timedelta(hours=2)
        workers.wake()
        while len(tries) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert tries == ["left", "spent sweep"]
    finally:
        workers.stop()
        RUNNERS.pop("test")
        RUNNERS.pop("recurring")
        database.close()


@pytest.mark.engines
def test_jobs_of_unknown_kinds_are_left_to_newer_processes(database_url: str, tmp_path: Path) -> None:
    """During an upgrade, a newer process may queue them in the same database."""
    database, done, now = Database(database_url), list[str](), moment_text(system_clock())
    runs("known")(lambda job: done.append(job.about))

    def plant(session: Session) -> None:
        for number in range(2 * MOST_AT_ONCE):
            enter_job(session, "newer", f"{number}", now=now, organization_id=None)
        enter_job(session, "known", "last", now=now, organization_id=None)

    database.write(plant)
    workers = Workers(database, DiskBlobStore(tmp_path), system_clock, OutboundConfig())
    workers.start()
    try:
        deadline = time.monotonic() + 10
        while not done and time.monotonic() < deadline:
            time.sleep(0.02)
        assert done == ["last"]
        with database.snapshot() as session:
            newer = select(JobRow.state, JobRow.attempts).where(JobRow.kind == "newer").distinct()
            assert [(*row,) for row in session.execute(newer)] == [("waiting", 0)]
    finally:
        workers.stop()
        RUNNERS.pop("known")
        database.close()


@pytest.mark.engines
def test_organizations_do_not_wait_for_jobs_of_others(database_url: str, tmp_path: Path) -> None:
    database, done, go_on = Database(database_url), list[str](), threading.Event()

    def work(job: JobContext) -> None:
        if job.about.startswith("slow"):
            go_on.wait(30)
        done.append(job.about)

    for kind in ("first", "second", "third"):
        runs(kind)(work)
    now = moment_text(system_clock())

    def plant(session: Session) -> None:
        for organization in ("a", "b"):
            session.add(OrganizationRow(id=organization, title=organization, created_at=now))
        session.flush()
        # nearly all of one kind, of which only one may run at a time
        for number, kind in enumerate((*["first"] * 28, "second", "third")):
            enter_job(session, kind, f"slow {number}", now=now, organization_id="a")
        enter_job(session, "first", "quick", now=now, organization_id="b")

    def running() -> list[str]:
        with database.snapshot() as session:
            return [
                *session.scalars(select(JobRow.kind).where(JobRow.state == "running", JobRow.organization_id == "a"))
            ]

    database.write(plant)
    workers = Workers(database, DiskBlobStore(tmp_path), system_clock, OutboundConfig())
    workers.start()
    try:
        deadline = time.monotonic() + 20
        while "quick" not in done and time.monotonic() < deadline:
            time.sleep(0.02)
        assert done == ["quick"]
        while len(running()) < MOST_PER_ORGANIZATION and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)  # free threads look for more jobs meanwhile
        assert len(running()) == len(set(running())) == MOST_PER_ORGANIZATION
        go_on.set()
        while len(done) < 31 and time.monotonic() < deadline:
            workers.wake()
            time.sleep(0.02)
        assert len(done) == len(set(done)) == 31
    finally:
        go_on.set()
        workers.stop()
        for kind in ("first", "second", "third"):
            RUNNERS.pop(kind)
        database.close()
