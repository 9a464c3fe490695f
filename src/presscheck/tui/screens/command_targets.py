"""Stored spaces, pages, change requests and sites as choices, and commands that first ask for one of them.

A command without a handler on the current screen asks for its target, goes there, and runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from presscheck.api.content import ListPages, RevisionPage
from presscheck.api.operation import ALL
from presscheck.api.organizations import ListOrganizations
from presscheck.api.sites import ListSites, Site
from presscheck.api.spaces import ListSpaces
from presscheck.api.users import GetCurrentUser
from presscheck.documents.pages.tree import flatten
from presscheck.engine.inbox.views import listings_of
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import Command, where
from presscheck.tui.places import Place
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.spaces import Space
    from presscheck.tui.app_context import AppContext
    from presscheck.tui.ui.screen import BaseScreen

MANY = 2000
"""Maximum number of items that are read from a listing."""
CLOSED = ("merged", "archived")
Item = tuple[Choice, Place]
"""A choice, and the place to go to when it is chosen."""
_NOUNS = {"cr": "a change request", "space": "a space", "page": "a page", "site": "a site"}


def run_anywhere(screen: BaseScreen, command: Command) -> None:
    """Run a command; if the screen lacks it, first choose its target and go there."""
    if screen.command_table.command(command.name):
        screen.run_command(command)
        screen.refresh_status_bars()
    else:
        screen.invoke(lambda: _run_elsewhere(screen, command))


async def _run_elsewhere(screen: BaseScreen, command: Command) -> None:
    """Choose the target of a command, go there, and run the command.

    If the command belongs to a screen that opens from the target, open that screen instead. For a command on a row of a
    list, such as the inbox, only go to the list: its cursor may be on any row.
    """
    app, there = screen.app_context, where(command)
    keys = app.keymap.label(command.name)
    items = [item for kind in there.targets for item in stored_items(app, kind)]
    if items:
        nouns = " or ".join(_NOUNS[kind] for kind in there.targets)
        places = {choice.key: place for choice, place in items}
        title = f"{command.title}: choose {nouns}"
        chosen = await choose(screen, title, [choice for choice, _ in items], ranked=True)
        if chosen:
            await app.go(replace(places[chosen], command=there.opener or command.name))
    elif there.kind and there.kind != "review":
        await app.go(Place(there.kind))
        app.notify(f"{keys} ({command.title}) works here")
    else:
        app.notify(f"{keys} ({command.title}) works {there.words}")


def stored_items(app: AppContext, kind: str) -> Iterator[Item]:
    """Yield the stored spaces, change requests, pages or sites as choices, with their places.

    Args:
        app: the app.
        kind: `space`, `cr`, `page` or `site`; empty for all except sites.
    """
    organizations = app.engine.known(ListOrganizations())
    for organization in organizations.value.items if organizations else ():
        spaces = app.engine.window(ListSpaces(organization_id=organization.id), 0, MANY).items
        titles = {space.id: sanitize(space.title) for space in spaces}
        if kind in ("", "space"):
            yield from (_space_item(space, titles) for space in spaces)
        if kind in ("", "cr"):
            yield from (_request_item(request, titles) for request in _requests(app, organization.id))
        if kind == "site":
            sites = app.engine.known(ListSites(organization_id=organization.id, limit=ALL))
            yield from map(_site_item, sites.value.items if sites else ())
        for space in spaces if kind in ("", "page") else ():
            pages = app.engine.known(ListPages(space_id=space.id))
            for page in flatten(pages.value.pages if pages else ()):
                if page.type == "document":
                    yield _page_item(space, page, titles)


def numbered_requests(app: AppContext, space: str, number: int, *, here: str) -> list[Item]:
    """Return the change requests with a number: open before closed, and the current space before other spaces.

    Args:
        app: the app.
        space: the id or title of a space or, if no space has this title, a part of it; empty for all spaces.
        number: the number.
        here: the id of the current space; empty for none.
    """
    name, exact, similar = space.casefold(), list[Item](), list[Item]()
    for choice, place in stored_items(app, "cr"):
        if not choice.label.startswith(f"#{number} "):
            continue
        title = choice.note
        for status in CLOSED:
            title = title.removesuffix(f" · {status}")
        if name in ("", title.casefold(), place.ids[0].casefold()):
            exact.append((choice, place))
        elif name in title.casefold():
            similar.append((choice, place))
    return sorted(exact or similar, key=lambda item: (item[0].note.endswith(CLOSED), item[1].ids[0] != here))


def _requests(app: AppContext, organization_id: str) -> list[ChangeRequest]:
    """Return the stored change requests of the inbox, closed ones last."""
    me = app.engine.known(GetCurrentUser())
    listings = listings_of(organization_id, me.value.id if me else "")
    requests = (request for listing in listings for request in app.engine.window(listing, 0, MANY).items)
    # an open change request is more likely meant than a closed one with the same number in another space
    return sorted({request.id: request for request in requests}.values(), key=_is_closed)


def _is_closed(request: ChangeRequest) -> bool:
    return request.status in CLOSED


def _space_item(space: Space, titles: dict[str, str]) -> Item:
    return Choice(f"space {space.id}", titles[space.id], "space"), Place.page(space.id)


def _request_item(request: ChangeRequest, titles: dict[str, str]) -> Item:
    label = f"#{request.number} {sanitize(request.subject) or '(no subject)'}"
    note = titles.get(request.space, "change request")
    note += f" · {request.status}" if _is_closed(request) else ""
    return Choice(f"cr {request.id}", label, note), Place.review(request.space, request.id)


def _page_item(space: Space, page: RevisionPage, titles: dict[str, str]) -> Item:
    choice = Choice(f"page {space.id} {page.id}", sanitize(page.title), titles[space.id])
    return choice, Place.page(space.id, page.id)


def _site_item(site: Site) -> Item:
    return Choice(f"site {site.id}", sanitize(site.title) or "(no title)", "site"), Place.site(site.id)
