"""Eight clients merge, comment and edit concurrently in two processes of the service; the result is consistent."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.service.factories import World, insert, plant_world, rewrite
from tests.service.invariants import require_complete
from tests.service.server import line, serving

from presscheck.api.change_requests import (
    ChangeRequest,
    CreateChangeRequest,
    GetChangeRequest,
    ListChangeRequests,
    ListContributors,
    MergeChangeRequest,
    PullChangeRequest,
)
from presscheck.api.comments import DeleteComment, Document, ListComments, PostComment, UpdateComment
from presscheck.api.content import GetChangeRequestRevision, ListPages
from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.client.client import Client, Timeouts
from presscheck.service.db.engine import Database

pytestmark = pytest.mark.engines

PEOPLE = 8
ROUNDS = int(os.environ.get("PRESSCHECK_CASES", "1"))
WHO = ("admin", "create", "edit")
PATIENT = Timeouts(read=120)


class Person:
    """A client with its own connections, which records acknowledged writes."""

    def __init__(self, world: World, client: Client, number: int, shared: ChangeRequest) -> None:
        self.client = client
        self.number = number
        self.shared = {"space_id": world.space, "change_request_id": shared.id}
        self.space = world.space
        self.chance = random.Random(number)
        self.titles: list[str] = []
        self.comments: Counter[str] = Counter()
        self.merges: list[str] = []
        self.numbers: list[int] = []

    async def work(self) -> None:
        for turn in range(ROUNDS):
            await self._own_branch(turn)
            await self._shared_branch(turn)

    async def _own_branch(self, turn: int) -> None:
        """Create and merge a change request that rewrites the page "guide" and adds a page."""
        draft = await self.client.send(CreateChangeRequest(space_id=self.space, subject=f"{self.number}.{turn}"))
        self.numbers.append(draft.number)
        here = {"space_id": self.space, "change_request_id": draft.id}
        title = f"Page {self.number}.{turn}"
        lines = "First.\n\nSecond.\n\n" + f"Said by {self.number} in turn {turn}.\n\nThird.\n"
        edits = (insert(title), rewrite("guide", lines))
        await self.client.send(EditChangeRequestContent(**here, changes=edits, compat=False))
        await self._comment(here, draft.id)
        if self.chance.random() < 0.5:
            await self.client.send(PullChangeRequest(**here))
        result = await self.client.send(MergeChangeRequest(**here))
        self.merges.append(result.revision)
        self.titles.append(title)

    async def _shared_branch(self, turn: int) -> None:
        """Edit the shared change request and comment on it; delete one comment, resolve another in odd turns."""
        edit = insert(f"Shared {self.number}.{turn}")
        await self.client.send(EditChangeRequestContent(**self.shared, changes=(edit,), compat=False))
        kept = await self._comment(self.shared, "shared")
        gone = await self._comment(self.shared, "shared")
        await self.client.send(DeleteComment(**self.shared, comment_id=gone))
        self.comments["shared"] -= 1
        if turn % 2:
            await self.client.send(UpdateComment(**self.shared, comment_id=kept, resolved=True))
            self.comments["shared"] -= 1

    async def _comment(self, here: dict[str, str], on: str) -> str:
        made = await self.client.send(PostComment(**here, body=Document(markdown=f"Says {self.number}")))
        self.comments[on] += 1
        return made.id


@pytest.mark.slow
@pytest.mark.timeout(240 + 40 * ROUNDS)
async def test_concurrent_users_leave_consistent_data(tmp_path: Path, database_url: str) -> None:
    world = plant_world(database_url, "http://127.0.0.1:1")
    options = ("--port", "0", "--workers", "2", "--database", database_url)
    async with AsyncExitStack() as stack:
        address = line(stack.enter_context(serving(tmp_path, *options)))
        people = [Client(address, world.tokens[WHO[number % 3]], timeout=PATIENT) for number in range(PEOPLE)]
        clients = [await stack.enter_async_context(one) for one in people]
        shared = await clients[0].send(CreateChangeRequest(space_id=world.space, subject="For all"))
        crowd = [Person(world, client, number, shared) for number, client in enumerate(clients)]
        await asyncio.gather(*(person.work() for person in crowd))
        await require_agreement(clients[0], world, shared, crowd)
    database = Database(database_url)
    with database.snapshot() as session:
        require_complete(session, tmp_path, world.space)
    database.close()


async def require_agreement(client: Client, world: World, shared: ChangeRequest, crowd: list[Person]) -> None:
    """Compare the data of the service with the responses that the clients got."""
    found: list[ChangeRequest] = []
    for status in ("draft", "open", "merged"):
        listing = ListChangeRequests(space_id=world.space, status=status, limit=1000)
        found += [one async for one in client.every(listing)]
    merged = [one for one in found if one.status == "merged"]
    numbers = [shared.number, *(number for person in crowd for number in person.numbers)]
    assert sorted(numbers) == sorted(one.number for one in found) == list(range(1, len(numbers) + 1))
    assert sorted(one.revision_merged or "" for one in merged) == sorted(
        merge for each in crowd for merge in each.merges
    )

    pages = await client.send(ListPages(space_id=world.space))
    titles = Counter(page.title for page in pages.pages)
    assert titles == Counter(["Start", "Guide", "Reference", *(title for each in crowd for title in each.titles)])

    here = {"space_id": world.space, "change_request_id": shared.id}
    now = await client.send(GetChangeRequest(**here))
    comments = [one async for one in client.every(ListComments(**here, limit=1000))]
    still_open = sum(person.comments["shared"] for person in crowd)
    assert now.comments == still_open == sum(comment.status == "open" for comment in comments)
    assert len({comment.id for comment in comments}) == len(comments) == PEOPLE * ROUNDS
    took_part = (await client.send(ListContributors(**here))).items
    assert sum(one.count for one in took_part if one.action_type == "edit") == PEOPLE * ROUNDS
    assert sum(one.count for one in took_part if one.action_type == "comment") == 2 * PEOPLE * ROUNDS
    written = await client.send(GetChangeRequestRevision(**here))
    added = Counter(page.title for page in written.pages if page.title.startswith("Shared"))
    assert added == Counter(f"Shared {person.number}.{turn}" for person in crowd for turn in range(ROUNDS))
