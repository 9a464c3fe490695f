"""`presscheck inbox`: the first view that has something in it, one line for each change request, or as JSON."""

from __future__ import annotations

import asyncio
import shutil
import sys
from dataclasses import dataclass
from typing import Any

import click

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.spaces import ListSpaces
from presscheck.api.users import GetCurrentUser
from presscheck.cli.printing import as_json
from presscheck.cli.session import Session, asking
from presscheck.desk.desk import Desk
from presscheck.desk.event_log import PAUSE
from presscheck.desk.inbox import VIEWS, View, facts, newest
from presscheck.desk.questions import reviewers_of, reviews_of
from presscheck.documents.display_text import display_text
from presscheck.documents.moments import now
from presscheck.documents.spans import plain
from presscheck.errors import InvalidArgument
from presscheck.tui.screens.inbox_lines import request_row

WIDE = 120
"""Columns where there is no terminal that has a width."""
MOST = 50
"""Rows that are read of a view."""


@dataclass(frozen=True)
class Shown:
    """The inbox of an organization: how many each view has, and the change requests of one of them."""

    organization: Organization
    counts: dict[str, int]
    view: View | None
    requests: tuple[ChangeRequest, ...]
    spaces: dict[str, str]
    """Titles by id."""
    me: str


@click.command()
@click.option("--view", type=click.Choice([view.id for view in VIEWS]), help="This view, empty or not.")
@click.option("--watch", is_flag=True, help="Print each event that concerns you, one line as it happens, until ctrl+c.")
@click.option(
    "--interval",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="With --watch: between two looks; 60 if not given.",
)
@asking
async def inbox(session: Session, view: str | None, *, watch: bool, interval: float | None) -> None:
    """Print what needs you: a view of the inbox, the first one that has something in it."""
    if not watch and interval is not None:
        raise InvalidArgument("--interval", "goes with --watch only")
    if not watch:
        await print_inbox(session, view)
        return
    if view is not None:
        raise InvalidArgument("--view", "--watch tells of all that concerns you: leave it out")
    from presscheck.cli.watching import watch_events

    await watch_events(session, interval or PAUSE)


async def print_inbox(session: Session, view: str | None = None) -> None:
    """Print a view of each organization."""
    found: list[dict[str, Any]] = []
    for organization in (await session.read(ListOrganizations())).items:
        shown = await _shown(session.desk, organization, view)
        if session.json:
            found.append(_as_json(session.desk, shown))
        else:
            for line in _lines(session.desk, shown):
                sys.stdout.write(line.rstrip() + "\n")
    if session.json:
        session.show(found)


async def _shown(desk: Desk, organization: Organization, wanted: str | None) -> Shown:
    """Bring the views into the store, and of the one that is shown all that a row tells."""
    me = (await desk.read(GetCurrentUser())).id
    counts = {view.id: await _bring_in(desk, view, organization.id, me) for view in VIEWS}
    view = next((one for one in VIEWS if (one.id == wanted if wanted else counts[one.id])), None)
    spaces = await desk.read(ListSpaces(organization_id=organization.id, limit=1000))
    requests = desk.window(view.listing(organization.id, me), 0, MOST).items if view else ()
    for request in requests:
        await asyncio.gather(desk.read(reviews_of(request)), desk.read(reviewers_of(request)))
    return Shown(organization, counts, view, tuple(requests), {one.id: one.title for one in spaces.items}, me)


def _lines(desk: Desk, shown: Shown) -> list[str]:
    lines = [
        display_text(shown.organization.title),
        "  ".join(f"{view.title} {shown.counts[view.id]}" for view in VIEWS),
    ]
    if shown.view is None:
        return [*lines, "Nothing needs you."]
    lines += ["", shown.view.title]
    columns = max(100, shutil.get_terminal_size((120, 24)).columns) if sys.stdout.isatty() else WIDE
    for request in shown.requests:
        title = display_text(shown.spaces.get(request.space, ""))
        lines.append(plain(request_row(request, facts(desk, request, shown.me), title, columns, now())))
    return lines if shown.requests else [*lines, shown.view.empty]


def _as_json(desk: Desk, shown: Shown) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for request in shown.requests:
        reviews, asked = desk.known(reviews_of(request)), desk.known(reviewers_of(request))
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


async def _bring_in(desk: Desk, view: View, organization: str, me: str) -> int:
    """Bring a view into the store; how many it has."""
    total, error = 0, None
    async for seen in desk.watch_listing(view.listing(organization, me)):
        total, error = seen.value, seen.error
        if seen.state != "cached" and desk.window(view.listing(organization, me), 0, 0).complete:
            break
        if error:
            break
    if error and not desk.window(view.listing(organization, me), 0, 0).age:
        raise error
    return total
