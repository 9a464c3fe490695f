"""A small workspace, and engines that sync it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.engine.live_engine import engine_on
from tests.running_service import RunningService

from presscheck.api.change_requests import CreateChangeRequest, MergeChangeRequest, SubmitReview, UpdateChangeRequest
from presscheck.api.comments import Document, PostComment, PostReply
from presscheck.api.content import ListPages
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.api.operation import Operation
from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import CreateSpace
from presscheck.client.client import Client
from presscheck.engine.engine import Progress

PAGES = 30


@dataclass(frozen=True)
class World:
    """A service with two spaces: a guide of many pages with an open change request, and an empty space.

    The fields are ids, except for the service.
    """

    service: RunningService
    guide: str
    empty: str
    request: str
    pages: tuple[str, ...]


async def planted(service: RunningService) -> World:
    client = Client(service.base_url, service.token)
    organization = (await client.send(ListOrganizations())).items[0].id
    guide, empty = [
        (await client.send(CreateSpace(organization_id=organization, title=title))).id for title in ("Guide", "Empty")
    ]
    new = tuple(InsertPage(document=Document(markdown=f"# Page {number}\n\nText.\n")) for number in range(PAGES))
    first = await begun(client, guide, "All of it", *new)
    await client.send(MergeChangeRequest(**first))
    tree = await client.send(ListPages(space_id=guide))
    pages = tuple(page.id for page in tree.pages if page.type == "document" and page.title.startswith("Page "))
    path = await begun(client, guide, "Better", rewritten(pages[0], "Better text."))
    await client.send(UpdateChangeRequest(**path, status="open"))
    comment = await client.send(PostComment(**path, body=Document(markdown="Why?")))
    await client.send(PostReply(**path, comment_id=comment.id, body=Document(markdown="Because.")))
    await client.send(SubmitReview(**path, status="approved"))
    await client.aclose()
    return World(service, guide, empty, path["change_request_id"], pages)


def rewritten(page: str, text: str) -> UpdatePage:
    return UpdatePage(page=page, document=Document(markdown=f"# Rewritten\n\n{text}\n"))


async def begun(client: Client, space: str, subject: str, *changes: Any) -> dict[str, Any]:
    """Create a change request with changes. Returns the arguments that identify it in calls."""
    request = await client.send(CreateChangeRequest(space_id=space, subject=subject))
    path = {"space_id": space, "change_request_id": request.id}
    await client.send(EditChangeRequestContent(**path, changes=changes, compat=False))
    return path


async def say(service: RunningService, *calls: Operation[Any]) -> Any:
    """Send calls as the owner. Returns the response to the last call."""
    client, answer = Client(service.base_url, service.token), None
    for call in calls:
        answer = await client.send(call)
    await client.aclose()
    return answer


async def mirror(service: RunningService, home: Path, space: str | None = None) -> Progress:
    """Sync everything, or one space, into the files in `home`. Returns the last progress."""
    engine = engine_on(service, home)
    await engine.start()
    told = [progress async for progress in engine.sync(space=space)]
    await engine.close()
    return told[-1]


def copied(home: Path, into: Path) -> Path:
    shutil.copytree(home, into)
    return into
