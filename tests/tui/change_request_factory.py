"""Change requests of other users, for tests that need their own page."""

from typing import Any, NamedTuple

from tests.running_service import RunningService
from tests.service_users import say, token_of

from presscheck.api.change_requests import CreateChangeRequest, MergeChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import ListChangeRequestPages
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage, UpdatePage


class Begun(NamedTuple):
    """A change request: the token of its author, its ids, and the id of its page."""

    token: str
    at: dict[str, Any]
    page: str


async def begun(service: RunningService, subject: str, text: str, *, title: str = "Lasting", by: str = "mia") -> Begun:
    """Create a change request that adds a page."""
    token = token_of(service, by)
    [made] = await say(service, token, CreateChangeRequest(space_id="guides", subject=subject))
    at = {"space_id": "guides", "change_request_id": made.id}
    page = InsertPage(title=title, document=Document(markdown=text))
    _, _, tree = await say(
        service,
        token,
        EditChangeRequestContent(**at, changes=(page,), compat=False),
        UpdateChangeRequest(**at, status="open"),
        ListChangeRequestPages(**at),
    )
    return Begun(token, at, next(one.id for one in tree.pages if one.title == title))


async def edited(service: RunningService, subject: str, before: str, after: str, *, title: str = "Lasting") -> Begun:
    """Create a page on main, and a change request that edits it."""
    live = await begun(service, f"Before {subject}"[:100], before, title=title)
    await say(service, live.token, MergeChangeRequest(**live.at))
    [made] = await say(service, live.token, CreateChangeRequest(space_id="guides", subject=subject))
    at = {"space_id": "guides", "change_request_id": made.id}
    found = Begun(live.token, at, live.page)
    await rewritten(service, found, after)
    await say(service, live.token, UpdateChangeRequest(**at, status="open"))
    return found


async def rewritten(service: RunningService, one: Begun, text: str) -> None:
    """Replace the text of the page, as its author."""
    change = UpdatePage(page=one.page, document=Document(markdown=text))
    await say(service, one.token, EditChangeRequestContent(**one.at, changes=(change,), compat=False))
