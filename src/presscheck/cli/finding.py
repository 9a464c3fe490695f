"""`presscheck search` and `presscheck open`: from words, an id or an address to the thing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.organizations import SearchOrganization
from presscheck.api.spaces import Space
from presscheck.cli import addressing
from presscheck.cli.session import Session, asking, has_screen
from presscheck.cli.sites import open_address
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.wiring import open_app

if TYPE_CHECKING:
    from presscheck.tui.app import PresscheckApp


@click.command()
@click.argument("text")
@click.option("--org", metavar="ORG", help="The organization, by title or id.")
@click.option("--limit", type=click.IntRange(0), default=0, help="At most so many spaces; 0 is all.")
@asking
async def search(session: Session, text: str, org: str | None, limit: int) -> None:
    """Print the pages that a text is found in."""
    owner = await addressing.organization(session, org)
    found = await session.all(SearchOrganization(organization_id=owner.id, query=text), limit)
    if session.json:
        session.show(found)
        return
    rows = [
        {"space": space.title, "path": page.path, "title": page.title, "address": page.urls.app}
        for space in found
        for page in space.pages
    ]
    session.show(rows, ("space", "path", "title", "address"))


@click.command("open")
@click.argument("what", metavar="URL-OR-ID")
@click.option("--web", is_flag=True, help="In the browser.")
@asking
async def open_thing(session: Session, what: str, *, web: bool) -> None:
    """Open a change request or a space in the app, found by address, id or title.

    Without a terminal its address is printed.
    """
    try:
        thing = await addressing.change_request(session, what)
    except InvalidArgument as error:
        try:
            thing = await addressing.space(session, what)
        except PresscheckError:
            raise error from None
    address = thing.urls.app or thing.urls.location
    if session.json:
        session.show(thing)
    elif has_screen() and not web:
        session.then = partial(open_app, session.profile, first=_way_to(thing))
    elif address:
        open_address(address)
    else:
        session.show(thing)


def _way_to(thing: ChangeRequest | Space) -> Callable[[PresscheckApp], Any]:
    if isinstance(thing, ChangeRequest):
        return lambda app: app.open_review(thing.space, thing.id)
    return lambda app: app.open_page(thing.id)
