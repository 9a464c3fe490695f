"""`presscheck search` and `presscheck open`: from words, an id or an address to the thing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from pydantic.alias_generators import to_camel

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import Space
from presscheck.cli import lookup
from presscheck.cli.output import talk
from presscheck.cli.session import MOST, Session, asking, has_screen
from presscheck.cli.sites import open_address
from presscheck.engine.engine import Hit
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.wiring import open_app

if TYPE_CHECKING:
    from presscheck.tui.app import PresscheckApp

READING = 60.0
"""Seconds in which what came lately is read up before it is searched."""


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--org", metavar="ORG", help="Only in this organization, by title or id.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="Maximum number of results.")
@click.option("--offline", is_flag=True, help="Search only cached data, without a request.")
@asking
async def search(session: Session, words: tuple[str, ...], org: str | None, limit: int, *, offline: bool) -> None:
    """Print the pages, change requests and comments that have all WORDS, each as it is or as a beginning.

    What stands between quotation marks is looked for as it stands: presscheck search '"read the docs"'. What is known
    here comes first, then the pages that only the service finds.
    """
    owner = await _owner(session, org, offline=offline)
    answers = session.engine.search(
        " ".join(words), limit=limit, organization=owner, index_timeout=READING, local_only=offline
    )
    found = [seen async for seen in answers][-1]
    if session.json:
        session.show([_as_json(hit) for hit in found.value])
    else:
        session.show([_as_row(hit) for hit in found.value], ("kind", "space", "title", "path", "excerpt"))
    if found.state == "failed" and found.error:
        raise found.error
    if found.error:
        talk("Offline: showing results from the cache.")


async def _owner(session: Session, named: str | None, *, offline: bool) -> str | None:
    """The id of the organization that was named; None where all are meant."""
    name = named or session.profile.organization
    if not name:
        return None
    if not offline:
        return (await lookup.organization(session, name)).id
    asked = (ListOrganizations(limit=MOST), ListOrganizations())
    known = [seen for one in asked if (seen := session.engine.known(one))]
    return lookup.pick(list(known[0].value.items) if known else [], name, "--org").id


def _as_json(hit: Hit) -> dict[str, str]:
    return {to_camel(name): value for name, value in asdict(hit).items()}


def _as_row(hit: Hit) -> dict[str, str]:
    return asdict(hit) | {"space": hit.space_title or hit.space}


@click.command("open")
@click.argument("what", metavar="URL-OR-ID")
@click.option("--web", is_flag=True, help="Open it in the browser.")
@asking
async def open_thing(session: Session, what: str, *, web: bool) -> None:
    """Open a change request or a space in the app, found by address, id or title.

    Without a terminal its address is printed.
    """
    try:
        thing = await lookup.change_request(session, what)
    except InvalidArgument as error:
        try:
            thing = await lookup.space(session, what)
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
