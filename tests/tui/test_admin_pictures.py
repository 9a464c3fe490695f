"""Snapshots of administration and integrations: their screens, and a sample of the states of the families."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.engine.failing_service import answer
from tests.running_service import RunningService
from tests.service_users import say, somebody, token_of
from tests.stalling_proxy import holding_back
from tests.tui.admin import family, go_to
from tests.tui.app_driver import app_on, noon, until
from tests.tui.lamp_integration import lamp
from tests.tui.snapshot_setup import LOOK_NAMES, LOOKS, at_noon, rested

from presscheck.api.comments import Document, PostSpaceComment, PostSpaceReply
from presscheck.api.content import ListPages
from presscheck.api.conversations import IngestConversations, ListIssuesClusters, NewConversation
from presscheck.api.integrations import InstallIntegration
from presscheck.api.openapi import CreateOpenAPISpec, GetOpenAPISpec, SpecSource
from presscheck.api.organizations import UpdateMember
from presscheck.client.client import Client
from presscheck.documents.pages.tree import flatten
from presscheck.tui.places import Place

__all__ = ["at_noon"]

ORG = {"organization_id": "tallowick"}
SPECIFICATION = """openapi: 3.1.0
info: {title: Parcels, version: "2026-03"}
paths:
  /parcels:
    get:
      tags: [Parcels]
      summary: List parcels
      parameters: [{name: since, in: query, schema: {type: string, format: date-time}}]
      responses: {"200": {description: The parcels}}
    post: {tags: [Parcels], summary: Send a parcel, responses: {"201": {description: The parcel}}}
  /parcels/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get: {tags: [Parcels], summary: Get a parcel, responses: {"200": {description: The parcel}}}
    delete: {tags: [Parcels], summary: Cancel a parcel, deprecated: true, responses: {"204": {description: Canceled}}}
  /labels/{id}/print:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    post: {tags: [Labels], summary: Print a label, responses: {"202": {description: Queued}}}
components:
  schemas:
    Parcel: {type: object, properties: {id: {type: string}, grams: {type: integer}}}
"""
SUMMARY = "A lamp beside each page shows whether people find what they look for."
PARTS = (
    {"role": "user", "body": "I cannot find how a label is printed twice. Where is that?"},
    {"role": "assistant", "body": "Open **Labels**, choose the label, then *Print again*. It needs the role sender."},
    {"role": "user", "body": "There is no *Print again* in my list. The guide does not mention a role either."},
)
TALK = {
    "id": "talk",
    "subject": "Printing a label twice",
    "parts": PARTS,
    "metadata": {"url": "https://desk.example/7"},
}


async def prepared(service: RunningService) -> None:
    """Create everything that the pictures show and the sample workspace lacks."""
    async with Client(service.base_url, service.token) as client, somebody(service, "mia", "ada") as (mia, ada):
        await client.send(lamp(summary=SUMMARY))
        await client.send(InstallIntegration(integration_name="lamp", organization="tallowick"))
        for name, title, more in (
            ("torch", "Torch", {"description": "Counts who reads which page", "categories": ("analytics",)}),
            ("buoy", "Buoy", {"description": "Posts published changes to a channel", "visibility": "private"}),
        ):
            await client.send(lamp(name, title=title, summary=None, **more))
        await client.send(CreateOpenAPISpec(**ORG, slug="parcels", source=SpecSource(text=SPECIFICATION)))
        talk = NewConversation.model_validate(TALK)
        await client.send(IngestConversations(**ORG, conversations=(talk,)))
        pages = flatten((await client.send(ListPages(space_id="api"))).pages)
        page = next(page.id for page in pages if page.title == "Overview")
        at = {"space_id": "api", "page": page}
        body = Document(markdown="> Answers are JSON; moments are in UTC.\n\nSince when? The changelog says May.")
        first = await mia.send(PostSpaceComment(**at, body=body))
        await ada.send(PostSpaceReply(space_id="api", comment_id=first.id, body=Document(markdown="Since April.")))
        await ada.send(PostSpaceComment(**at, body=Document(markdown="> A text that is gone\n\nIs this still so?")))
        async with asyncio.timeout(60):  # jobs of the service
            while (await client.send(GetOpenAPISpec(**ORG, spec_slug="parcels"))).processing_state != "complete":  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            while not (await client.send(ListIssuesClusters(**ORG))).items:  # noqa: ASYNC110
                await asyncio.sleep(0.05)


pytestmark = pytest.mark.service(shared=True, clock=noon, on_a_path=True, prepare=prepared)


@pytest.fixture
def bare(shared_service: Callable[..., RunningService]) -> RunningService:
    return shared_service(clock=noon, on_a_path=True)


async def catalog(pilot: Any) -> None:
    await family(pilot, "Integrations")
    await until(pilot, shows="Lights up pages")


async def integration(pilot: Any) -> None:
    await catalog(pilot)
    await go_to(pilot, "Lamp")
    await pilot.press("enter")
    await until(pilot, shows="it needs settings: Token")


async def transcript(pilot: Any) -> None:
    await family(pilot, "Conversations")
    await until(pilot, shows="Printing a label twice")
    await pilot.press("enter")
    await until(pilot, shows="does not mention a role")


async def specification(pilot: Any) -> None:
    await family(pilot, "OpenAPI")
    await until(pilot, shows="parcels")
    await pilot.press("enter")
    await until(pilot, shows="Print a label")


Driven = Callable[[Any], Awaitable[None]]


def name_of(value: Any) -> str:
    return getattr(value, "__name__", str(value))


@pytest.mark.parametrize(("size", "theme"), LOOKS, ids=LOOK_NAMES)
@pytest.mark.parametrize("drive", [catalog, integration, transcript], ids=name_of)
def test_it_looks_as_it_did(
    drive: Driven, size: tuple[int, int], theme: str, service: RunningService, tmp_path: Path, snap_compare: Any
) -> None:
    app = app_on(service, tmp_path, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot)))


async def shown_family(pilot: Any, title: str, text: str) -> None:
    """Open a family that has no rows, and wait for a text."""
    await until(pilot, shows="live")
    await pilot.press("g", "a")
    await until(pilot, holds=lambda: pilot.app.screen.organization)
    pilot.app.screen.go_to(Place.family(title))
    await until(pilot, shows=text)


async def teams_forbidden(pilot: Any) -> None:
    await shown_family(pilot, "Teams", "not permitted")


async def integrations_empty(pilot: Any) -> None:
    await family(pilot, "Integrations")
    await until(pilot, shows="No integrations yet.")


async def imports_failed(pilot: Any) -> None:
    await shown_family(pilot, "Imports", "Could not load the imports")


async def teams_offline(pilot: Any, service: RunningService) -> None:
    await family(pilot, "Members")
    service.stop()
    await pilot.press("ctrl+r")
    await until(pilot, shows="offline")
    pilot.app.screen.go_to(Place.family("Teams"))
    await until(pilot, shows="not in the cache")


async def specification_read_only(pilot: Any) -> None:
    await specification(pilot)
    await pilot.press("e")
    await until(pilot, shows="this profile is read-only")


PAPER, INK = LOOKS


@pytest.mark.parametrize(
    ("state", "look"),
    [
        ("teams forbidden", PAPER),
        ("integrations empty", INK),
        ("imports failed", PAPER),
        ("teams offline", INK),
        ("specification read-only", PAPER),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_a_state_looks_as_it_did(
    state: str,
    look: tuple[tuple[int, int], str],
    service: RunningService,
    bare: RunningService,
    tmp_path: Path,
    snap_compare: Any,
) -> None:
    size, theme = look

    def compare(app: Any, drive: Driven) -> bool:
        return bool(snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot))))

    if state == "teams forbidden":
        asyncio.run(say(service, service.token, UpdateMember(**ORG, user_id="luz", role=None)))
        assert compare(app_on(service, tmp_path, theme=theme, token=token_of(service, "luz")), teams_forbidden)
    elif state == "integrations empty":
        assert compare(app_on(bare, tmp_path, theme=theme), integrations_empty)
    elif state == "imports failed":
        failed = answer(500, {"error": {"code": 500, "message": "The database is full."}})
        with holding_back(service, tmp_path, "/imports", answer=failed) as address:
            assert compare(app_on(service, tmp_path, theme=theme, base_url=address), imports_failed)
    elif state == "teams offline":
        try:
            assert compare(app_on(service, tmp_path, theme=theme), lambda pilot: teams_offline(pilot, service))
        finally:
            service.start()
    else:
        assert compare(app_on(service, tmp_path, theme=theme, read_only=True), specification_read_only)
