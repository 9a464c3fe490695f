"""Other users of a service: people of the sample workspace with their own tokens and clients."""

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
from presscheck.api.comments import Comment, Document, ListComments
from presscheck.api.content import GetChangeRequestPage, ListChangeRequestPages
from presscheck.api.content_changes import EditChangeRequestContent, UpdatePage
from presscheck.api.operation import Operation
from presscheck.client.client import Client
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import system_clock
from presscheck.service.server.api_tokens import create_token

At = dict[str, str]


def token_of(service: RunningService, person: str) -> str:
    """Create a token for a user by id."""
    database = Database(service.database_url)
    try:
        return database.write(lambda session: create_token(session, system_clock, person, None, None))
    finally:
        database.close()


async def say(service: RunningService, token: str, *calls: Operation[Any]) -> list[Any]:
    """Send operations as another user, one after another. Returns the responses."""
    async with Client(service.base_url, token) as client:
        return [await client.send(call) for call in calls]


@asynccontextmanager
async def somebody(service: RunningService, *people: str) -> AsyncIterator[tuple[Client, ...]]:
    """Open a client for each user, by id."""
    async with AsyncExitStack() as stack:
        yield tuple(
            [await stack.enter_async_context(Client(service.base_url, token_of(service, person))) for person in people]
        )


async def threads(client: Client, at: At) -> dict[str, Comment]:
    """Return the threads of a change request by the Markdown of their first comments."""
    page = await client.send(ListComments(**at, format="markdown", limit=1000))
    return {(comment.body.markdown or "").strip(): comment for comment in page.items}


async def thread_of(client: Client, at: At, words: str) -> Comment:
    """Return the only thread whose first comment contains `words`."""
    [match] = [thread for text, thread in (await threads(client, at)).items() if words in text]
    return match


async def page_of(client: Client, at: At, title: str) -> Any:
    """Return a page of a change request with its Markdown, by title."""
    pages = list((await client.send(ListChangeRequestPages(**at))).pages)
    for page_ in pages:
        pages += page_.pages
    page_ = next(candidate.id for candidate in pages if candidate.title == title)
    return await client.send(GetChangeRequestPage(**at, page_id=page_, format="markdown"))


async def edits(client: Client, at: At, title: str, *swap: str) -> None:
    """Replace the text of a page in a change request by `swap[0]`; with two texts, replace the first by the second."""
    page = await page_of(client, at, title)
    if len(swap) == 2:
        assert page.markdown.count(swap[0]) == 1, page.markdown
    text = page.markdown.replace(*swap) if len(swap) == 2 else swap[0]
    change = UpdatePage(page=page.id, document=Document(markdown=text))
    await client.send(EditChangeRequestContent(**at, changes=(change,), compat=False))


async def opens(client: Client, space: str, subject: str, title: str, *swap: str, asks: tuple[str, ...] = ()) -> At:
    """Create and open a change request that edits a page (see `edits`), and request reviews. Returns its ids."""
    made = await client.send(CreateChangeRequest(space_id=space, subject=subject))
    at = {"space_id": space, "change_request_id": made.id}
    await edits(client, at, title, *swap)
    await client.send(UpdateChangeRequest(**at, status="open"))
    if asks:
        await client.send(RequestReviewers(**at, users=asks))
    return at


async def main_moves(client: Client, space: str, title: str, *swap: str) -> None:
    """Edit a page in a new change request (see `edits`) and merge it."""
    await client.send(MergeChangeRequest(**await opens(client, space, "Meanwhile", title, *swap)))
