"""`presscheck inbox`: the first view that has something in it, one line for each change request, or as JSON.

The views are those of the app: the built-in ones by id or title, the person's own by their names.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click
from click.shell_completion import CompletionItem

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.spaces import ListSpaces
from presscheck.api.users import GetCurrentUser
from presscheck.cli.output import as_json, talk
from presscheck.cli.session import Session, asking
from presscheck.cli.watch import watch_events
from presscheck.config.saved_views import SavedView, same_name
from presscheck.config.validation import read_views
from presscheck.engine.engine import Engine
from presscheck.engine.inbox.event_log import PAUSE
from presscheck.engine.inbox.views import Group, View, all_views, arranged, facts, judge, listing_of, newest
from presscheck.engine.shared_calls import reviewers_of, reviews_of
from presscheck.errors import InvalidArgument
from presscheck.paths import places
from presscheck.text.relative_time import now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import plain
from presscheck.tui.screens.inbox.row_renderer import request_row

WIDE = 120
"""Columns where there is no terminal that has a width."""
MOST = 50
"""Rows that are read of a view."""


@dataclass(frozen=True)
class Shown:
    """The inbox of an organization: how many each view has, and the change requests of one of them."""

    organization: Organization
    views: tuple[View, ...]
    counts: dict[str, int]
    view: View | None
    requests: tuple[ChangeRequest, ...]
    headings: dict[int, str]
    """Titles above requests, by the number of the request; none where the view is not grouped."""
    spaces: dict[str, str]
    """Titles by id."""
    me: str


class ViewName(click.ParamType[str]):
    """The name of a view, built in or of the person's own; it becomes the view's id."""

    name = "name"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The id of the view that is called so."""
        known = all_views(own_views())
        found = next((one.id for one in known if any(same_name(value, name) for name in (one.id, one.title))), None)
        return found or self.fail(f"unknown view {value!r}; known: {', '.join(one.id for one in known)}", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The views that begin so."""
        names = (one.id for one in all_views(own_views()))
        return [CompletionItem(name) for name in names if name.lower().startswith(incomplete.lower())]


@click.command()
@click.option("--view", type=ViewName(), help="View to print: a built-in id or the name of a saved view.")
@click.option("--watch", is_flag=True, help="Print new events as they happen, one line each, until ctrl+c.")
@click.option(
    "--interval",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="With --watch: seconds between checks (default 60).",
)
@asking
async def inbox(session: Session, view: str | None, *, watch: bool, interval: float | None) -> None:
    """Print the inbox: the first view that is not empty."""
    if not watch and interval is not None:
        raise InvalidArgument("--interval", "requires --watch")
    if not watch:
        await print_inbox(session, view)
        return
    if view is not None:
        raise InvalidArgument("--view", "cannot be combined with --watch")
    await watch_events(session, interval or PAUSE)


async def print_inbox(session: Session, view: str | None = None) -> None:
    """Print a view of each organization."""
    saved, mistakes = read_views(places().config_file, judge)
    for mistake in mistakes:
        talk(f"skipped: {mistake}")
    found: list[dict[str, Any]] = []
    for organization in (await session.read(ListOrganizations())).items:
        shown = await _shown(session.engine, organization, all_views(saved), view)
        if session.json:
            found.append(_as_json(session.engine, shown))
        else:
            for line in _lines(session.engine, shown):
                sys.stdout.write(line.rstrip() + "\n")
    if session.json:
        session.show(found)


def own_views() -> tuple[SavedView, ...]:
    """The views that the person keeps, as far as they are right."""
    return read_views(places().config_file, judge)[0]


async def _shown(engine: Engine, organization: Organization, views: tuple[View, ...], wanted: str | None) -> Shown:
    """Bring the views into the store, and of the one that is shown all that a row tells."""
    me = (await engine.read(GetCurrentUser())).id
    spaces = {
        one.id: one.title for one in (await engine.read(ListSpaces(organization_id=organization.id, limit=1000))).items
    }
    found = {view.id: await _groups(engine, view, organization.id, me, spaces) for view in views}
    counts = {name: sum(len(group.places) for group in groups) for name, groups in found.items()}
    view = next((one for one in views if (one.id == wanted if wanted else counts[one.id])), None)
    requests: list[ChangeRequest] = []
    headings: dict[int, str] = {}
    for group in found[view.id] if view else ():
        kept = group.places[: MOST - len(requests)]
        if view and kept:
            headings |= {len(requests): group.title} if group.title is not None else {}
            known = engine.rows(listing_of(view, "", organization.id, me), kept)
            requests += [known[place] for place in kept if place in known]
    for request in requests:
        await asyncio.gather(engine.read(reviews_of(request)), engine.read(reviewers_of(request)))
    return Shown(organization, views, counts, view, tuple(requests), headings, spaces, me)


async def _groups(
    engine: Engine, view: View, organization: str, me: str, spaces: Mapping[str, str]
) -> tuple[Group, ...]:
    """What a view shows, as places in its listing, which is brought into the store."""
    listing = listing_of(view, "", organization, me)
    total = await _bring_in(engine, listing)
    if view.saved is None:
        return (Group(None, tuple(range(total))),)
    return await arranged(engine, view, listing, view.query, spaces, now())


def _lines(engine: Engine, shown: Shown) -> list[str]:
    lines = [
        sanitize(shown.organization.title),
        "  ".join(f"{sanitize(view.title)} {shown.counts[view.id]}" for view in shown.views),
    ]
    if shown.view is None:
        return [*lines, "Inbox is empty."]
    lines += ["", sanitize(shown.view.title)]
    columns = max(100, shutil.get_terminal_size((120, 24)).columns) if sys.stdout.isatty() else WIDE
    for number, request in enumerate(shown.requests):
        if number in shown.headings:
            lines += ["", sanitize(shown.headings[number])]
        title = sanitize(shown.spaces.get(request.space, ""))
        lines.append(plain(request_row(request, facts(engine, request, shown.me), title, columns, now())))
    return lines if shown.requests else [*lines, shown.view.empty]


def _as_json(engine: Engine, shown: Shown) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for request in shown.requests:
        reviews, asked = engine.known(reviews_of(request)), engine.known(reviewers_of(request))
        more: dict[str, Any] = {
            "spaceTitle": shown.spaces.get(request.space),
            "reviews": newest(reviews.value.items) if reviews else (),
            "requestedReviewers": asked.value.items if asked else (),
        }
        rows.append(as_json(request) | as_json(more))
    return {
        "organization": {"id": shown.organization.id, "title": shown.organization.title},
        "counts": shown.counts,
        "view": shown.view.id if shown.view else None,
        "changeRequests": rows,
    }


async def _bring_in(engine: Engine, listing: ListOrganizationChangeRequests) -> int:
    """Bring a listing into the store; how many it has."""
    total, error = 0, None
    async for seen in engine.watch_listing(listing):
        total, error = seen.value, seen.error
        if seen.state != "cached" and engine.window(listing, 0, 0).complete:
            break
        if error:
            break
    if error and not engine.window(listing, 0, 0).age:
        raise error
    return total
