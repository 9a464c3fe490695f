"""`presscheck search` and `presscheck open`."""

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
from presscheck.cli.session import Session, has_terminal, with_session
from presscheck.cli.site.commands import open_url
from presscheck.engine.engine import Hit
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.tui.places import Place
from presscheck.wiring import open_app

if TYPE_CHECKING:
    from presscheck.tui.app import PresscheckApp

INDEX_TIMEOUT = 60.0
"""Maximum seconds to index recently cached content before the search."""


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--org", metavar="ORG", help="Search only this organization, by title or id.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="NUMBER",
    default=50,
    show_default=True,
    help="Maximum number of results.",
)
@click.option("--offline", is_flag=True, help="Search cached data only.")
@with_session
async def search(session: Session, words: tuple[str, ...], org: str | None, limit: int, *, offline: bool) -> None:
    """Search pages, change requests and comments.

    Finds content that contains all WORDS or words that start with them. Search for an exact phrase with double
    quotes: presscheck search '"read the docs"'. Results from the cache come first, then those of the service.
    """
    owner = await _owner(session, org, offline=offline)
    answers = session.engine.search(
        " ".join(words), limit=limit, organization=owner, index_timeout=INDEX_TIMEOUT, local_only=offline
    )
    results = [results async for results in answers][-1]
    if session.json:
        session.show([_as_json(hit) for hit in results.value])
    else:
        session.show([_as_row(hit) for hit in results.value], ("kind", "space", "title", "path", "excerpt"))
    if results.state == "failed" and results.error:
        raise results.error
    if results.error:
        session.print_offline("showing results from the cache")


async def _owner(session: Session, named: str | None, *, offline: bool) -> str | None:
    """Return the id of the given organization, or None for all organizations."""
    name = named or session.profile.organization
    if not name:
        return None
    if not offline:
        return (await lookup.organization(session, name)).id
    listings = (ListOrganizations(limit=ListOrganizations.max_page_size()), ListOrganizations())
    known = [cached for listing in listings if (cached := session.engine.known(listing))]
    return lookup.pick(list(known[0].value.items) if known else [], name, "--org").id


def _as_json(hit: Hit) -> dict[str, str]:
    return {to_camel(name): value for name, value in asdict(hit).items()}


def _as_row(hit: Hit) -> dict[str, str]:
    return asdict(hit) | {"space": hit.space_title or hit.space}


@click.command("open")
@click.argument("target", metavar="URL-OR-ID")
@click.option("--web", is_flag=True, help="Open it in the browser instead.")
@with_session
async def open_thing(session: Session, target: str, *, web: bool) -> None:
    """Open a change request or a space in the app.

    URL-OR-ID is a URL, an id, SPACE#NUMBER, or the title of a space. Without a terminal, prints the URL.
    """
    try:
        thing = await lookup.change_request(session, target)
    except InvalidArgument as error:
        try:
            thing = await lookup.space(session, target)
        except PresscheckError:
            raise error from None
    url = thing.urls.app or thing.urls.location
    if session.json:
        session.show(thing)
    elif has_terminal() and not web:
        session.on_close = partial(open_app, session.profile, first=_open_in_app(thing))
    elif url:
        open_url(url)
    else:
        session.show(thing)


def _open_in_app(thing: ChangeRequest | Space) -> Callable[[PresscheckApp], Any]:
    place = Place.review(thing.space, thing.id) if isinstance(thing, ChangeRequest) else Place.page(thing.id)
    return lambda app: app.go(place)
