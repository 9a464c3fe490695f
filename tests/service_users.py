"""Somebody else at the same service: a person of the sample workspace, with a token and a client of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from tests.running_service import RunningService

from presscheck.api.change_requests import (
    CreateChangeRequest,
    MergeChangeRequest,
    RequestReviewers,
    UpdateChangeRequest,
)
from presscheck.api.changes import EditChangeRequestContent, UpdatePage
from presscheck.api.comments import Comment, Document, ListComments
from presscheck.api.content import GetChangeRequestPage, ListChangeRequestPages
from presscheck.api.operation import Operation
from presscheck.client.client import Client
from presscheck.service.database import Database
from presscheck.service.identity import system_clock
from presscheck.service.tokens import create_token

At = dict[str, str]
"""`space_id` and `change_request_id`."""


def token_of(service: RunningService, person: str) -> str:
    """A new token of a person, by id."""
    database = Database(service.database_url)
    try:
        return database.write(lambda session: create_token(session, system_clock, person, None, None))
    finally:
        database.close()


async def say(service: RunningService, token: str, *calls: Operation[Any]) -> list[Any]:
    """What somebody's calls are answered, one after another."""
    async with Client(service.base_url, token) as client:
        return [await client.send(call) for call in calls]


@asynccontextmanager
async def somebody(service: RunningService, *people: str) -> AsyncIterator[tuple[Client, ...]]:
    """A client for each of these people, by id."""
    async with AsyncExitStack() as stack:
        yield tuple(
            [await stack.enter_async_context(Client(service.base_url, token_of(service, one))) for one in people]
        )


async def threads(client: Client, at: At) -> dict[str, Comment]:
    """The threads as the service has them, by the Markdown of what began them."""
    found = await client.send(ListComments(**at, format="markdown", limit=1000))
    return {(one.body.markdown or "").strip(): one for one in found.items}


async def thread_of(client: Client, at: At, words: str) -> Comment:
    """The one thread that begins with a text in which these words stand."""
    [found] = [one for text, one in (await threads(client, at)).items() if words in text]
    return found


async def page_of(client: Client, at: At, title: str) -> Any:
    """A page as a change request has it, with its Markdown."""
    every = list((await client.send(ListChangeRequestPages(**at))).pages)
    for page in every:
        every += page.pages
    page = next(one.id for one in every if one.title == title)
    return await client.send(GetChangeRequestPage(**at, page_id=page, format="markdown"))


async def edits(client: Client, at: At, title: str, *swap: str) -> None:
    """Replace all of a page's text in a change request by one text; or, given two, the first in it by the second."""
    page = await page_of(client, at, title)
    if len(swap) == 2:
        assert page.markdown.count(swap[0]) == 1, page.markdown
    text = page.markdown.replace(*swap) if len(swap) == 2 else swap[0]
    change = UpdatePage(page=page.id, document=Document(markdown=text))
    await client.send(EditChangeRequestContent(**at, changes=(change,), compat=False))


async def opens(client: Client, space: str, subject: str, title: str, *swap: str, asks: tuple[str, ...] = ()) -> At:
    """Begin a change request that edits a page (see `edits`), open it, and ask these people; where it is."""
    made = await client.send(CreateChangeRequest(space_id=space, subject=subject))
    at = {"space_id": space, "change_request_id": made.id}
    await edits(client, at, title, *swap)
    await client.send(UpdateChangeRequest(**at, status="open"))
    if asks:
        await client.send(RequestReviewers(**at, users=asks))
    return at


async def main_moves(client: Client, space: str, title: str, *swap: str) -> None:
    """Edit a page in a change request of its own (see `edits`), and merge it."""
    await client.send(MergeChangeRequest(**await opens(client, space, "Meanwhile", title, *swap)))
