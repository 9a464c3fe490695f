"""`presscheck inbox`: prints a view of the inbox, as lines or as JSON.

The views are the same as in the app: built-in views by id or title, saved views by name.
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
from typing_extensions import override

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.spaces import ListSpaces
from presscheck.cli.digest import Format, digest_lines, digest_record
from presscheck.cli.output import as_json, print_message, print_text
from presscheck.cli.project import project_of
from presscheck.cli.session import Session, with_session
from presscheck.cli.watch import watch_events
from presscheck.config.project import Project, views_of
from presscheck.config.saved_views import SavedView, same_name
from presscheck.engine.engine import Engine
from presscheck.engine.inbox.digest import MAX_READ, parse_since, read_digest
from presscheck.engine.inbox.event_log import POLL_INTERVAL
from presscheck.engine.inbox.notification_settings import request_target
from presscheck.engine.inbox.query_language import is_local
from presscheck.engine.inbox.views import (
    VIEWS,
    Group,
    View,
    all_views,
    arrange_rows,
    hidden_positions,
    listing_of,
    missing_reviews,
    personal_listings,
    row_details,
    validate_view,
)
from presscheck.engine.members import user_id
from presscheck.engine.reads.substitutes import NO_USER
from presscheck.engine.review.merge_readiness import newest_reviews
from presscheck.engine.shared_calls import reviewers_of, reviews_of
from presscheck.errors import ConfigurationError, IncompleteList, InvalidArgument
from presscheck.paths import places
from presscheck.text.phrases import now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span, cut, plain
from presscheck.tui.screens.inbox.row_renderer import NO_SIGN, NaturalWidths, columns_for, request_row
from presscheck.tui.screens.notification_actions import SIGNS

WIDE = 120
"""The width of lines without a terminal, in cells."""
MAX_ROWS = 50
"""The default of `--limit`."""


@dataclass(frozen=True)
class Shown:
    """The inbox of an organization: the counts of all views, and the change requests of the printed view."""

    organization: Organization
    views: tuple[View, ...]
    counts: dict[str, int]
    view: View | None
    requests: tuple[ChangeRequest, ...]
    headings: dict[int, str]
    """Group titles by the index of the first change request below them; empty if the view is not grouped."""
    spaces: dict[str, str]
    """Titles of spaces by id."""
    me: str
    """The user id of the signed-in user."""


class ViewName(click.ParamType[str]):
    """A parameter type: the id or title of a view, converted to the id."""

    name = "name"

    @override
    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        views = _views(ctx)
        ids = (view.id for view in views if any(same_name(value, name) for name in (view.id, view.title)))
        known = ", ".join(view.id for view in views)
        return next(ids, None) or self.fail(f"unknown view {value!r}. Available: {known}", param, ctx)

    @override
    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        names = (view.id for view in _views(ctx))
        return [CompletionItem(name) for name in names if name.lower().startswith(incomplete.lower())]


def _views(context: click.Context | None) -> tuple[View, ...]:
    """Return all views. A project with an error is left out: the command itself reports the error."""
    try:
        project = project_of(context) if context else None
    except ConfigurationError:
        project = None
    return all_views(saved_views(project))


def saved_views(project: Project | None) -> tuple[SavedView, ...]:
    """Return the valid saved views of the settings file and the project."""
    return views_of(places().config_file, project, validate_view)[0]


@click.command()
@click.option("--view", type=ViewName(), help="View to print: a built-in view or a saved view.")
@click.option("--watch", is_flag=True, help="Print new events as they happen, until ctrl+c.")
@click.option(
    "--interval",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="With --watch: seconds between checks (60 by default).",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="NUMBER",
    default=MAX_ROWS,
    show_default=True,
    help="Maximum number of results.",
)
@click.option(
    "--since",
    metavar="TIME",
    help="Print what happened since then instead: today, yesterday, a weekday, an age such as 2d, or a date.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "markdown"]), help="With --since: the format (text by default)."
)
@with_session
async def inbox(
    session: Session,
    view: str | None,
    limit: int,
    *,
    watch: bool,
    interval: float | None,
    since: str | None,
    form: Format | None,
) -> None:
    """List the change requests in your inbox.

    Prints the first view that is not empty.
    """
    if not watch and interval is not None:
        raise InvalidArgument("--interval", "requires --watch")
    if since is None and form is not None:
        raise InvalidArgument("--format", "requires --since")
    if since is not None:
        if watch or view is not None:
            raise InvalidArgument("--since", f"cannot be used with {'--watch' if watch else '--view'}")
        await print_digest(session, since, form or "text", limit)
        return
    if not watch:
        await print_inbox(session, view, limit)
        return
    if view is not None:
        raise InvalidArgument("--view", "cannot be used with --watch, which prints the events of all views")
    await watch_events(session, interval or POLL_INTERVAL)


async def print_inbox(session: Session, view: str | None = None, limit: int = MAX_ROWS) -> None:
    """Print a view of each organization."""
    saved, mistakes = views_of(places().config_file, session.profile.project, validate_view)
    for mistake in mistakes:
        print_message(f"Saved view skipped: {mistake}")
    inboxes: list[dict[str, Any]] = []
    if not await user_id(session.engine):
        print_message(f"{NO_USER}. Shown are the change requests of everyone.")
    for organization in (await session.read(ListOrganizations())).items:
        shown = await fetch_inbox(session, organization, all_views(saved), view, limit)
        if session.json:
            inboxes.append(_as_json(session.engine, shown))
        else:
            for line in _lines(session.engine, shown):
                sys.stdout.write(line.rstrip() + "\n")
    if session.json:
        session.show(inboxes)


async def print_digest(session: Session, since: str, form: Format, limit: int) -> None:
    """Print what happened in each organization since a time; `since` is what the user wrote.

    Raises:
        InvalidArgument: the time is invalid.
    """
    beginning = parse_since(since, now().astimezone())
    if not await user_id(session.engine):
        print_message(f"{NO_USER}. Shown are the change requests of everyone.")
    records: list[dict[str, Any]] = []
    for organization in (await session.read(ListOrganizations())).items:
        shown = await fetch_inbox(session, organization, VIEWS, "needs-me", MAX_READ)
        digest = await read_digest(session.engine, organization.id, beginning, shown.me, shown.requests)
        if session.json:
            records.append(digest_record(organization, digest, limit))
        else:
            print_text("\n".join(digest_lines(form, organization.title, digest, shown.spaces, limit)))
    if session.json:
        session.show(records)


async def fetch_inbox(
    session: Session,
    organization: Organization,
    views: tuple[View, ...],
    chosen: str | None,
    limit: int,
    *,
    shows_hidden: bool = True,
) -> Shown:
    """Fetch all views, and the details of the first `limit` rows of the view to print.

    Args:
        session: reads the views.
        organization: the organization.
        views: the views.
        chosen: the id of the view to print; None for the first that is not empty.
        limit: the maximum number of rows.
        shows_hidden: whether views have rows that are done or snoozed; the app leaves them out of some views.
    """
    engine = session.engine
    me = await user_id(engine)
    spaces = {
        space.id: space.title
        for space in (await engine.read(ListSpaces(organization_id=organization.id, limit=1000))).items
    }
    await _fetch_reviews(session, organization.id, me)
    groups_by_view = {
        view.id: await _groups(session, view, organization.id, me, spaces, shows_hidden=shows_hidden) for view in views
    }
    counts = {name: sum(len(group.places) for group in groups) for name, groups in groups_by_view.items()}
    view = next((view for view in views if (view.id == chosen if chosen else counts[view.id])), None)
    requests: list[ChangeRequest] = []
    headings: dict[int, str] = {}
    for group in groups_by_view[view.id] if view else ():
        places = group.places[: limit - len(requests)]
        if view and places:
            headings |= {len(requests): group.title} if group.title is not None else {}
            known = engine.rows(listing_of(view, "", organization.id, me), places)
            requests += [known[place] for place in places if place in known]
    for request in requests:
        await asyncio.gather(engine.read(reviews_of(request)), engine.read(reviewers_of(request)))
    return Shown(organization, views, counts, view, tuple(requests), headings, spaces, me)


async def _groups(
    session: Session, view: View, organization: str, me: str, spaces: Mapping[str, str], *, shows_hidden: bool
) -> tuple[Group, ...]:
    """Fetch the list of a view into the store. Return its groups as positions in the list."""
    listing = listing_of(view, "", organization, me)
    total = await _fetch_list(session, listing)
    groups: tuple[Group, ...] = (Group(None, range(total)),)
    if view.is_grouped or is_local(view.query):
        groups = await arrange_rows(session.engine, view, listing, view.query, spaces, now(), me)
    hidden = () if shows_hidden else hidden_positions(session.engine, view, listing)
    if not hidden:
        return groups
    return tuple(Group(group.title, [place for place in group.places if place not in hidden]) for group in groups)


async def _fetch_reviews(session: Session, organization: str, me: str) -> None:
    """Fetch the lists and reviews that show which change requests the user reviewed."""
    open_requests = ListOrganizationChangeRequests(organization_id=organization, status="open")
    for listing in (*personal_listings(organization, me), open_requests) if me else ():
        await _fetch_list(session, listing)
    for call in missing_reviews(session.engine, organization, me):
        await session.engine.read(call)


def _lines(engine: Engine, shown: Shown) -> list[str]:
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDE
    counts = "  ".join(f"{sanitize(view.title)} {shown.counts[view.id]}" for view in shown.views)
    lines = [sanitize(shown.organization.title), plain(cut((Span(counts),), columns))]
    if shown.view is None:
        return [*lines, "The inbox is empty."]
    lines += ["", sanitize(shown.view.title)]
    titles = {request.space: sanitize(shown.spaces.get(request.space, "")) for request in shown.requests}
    natural = NaturalWidths()
    for request in shown.requests:
        natural = natural.including(request, titles[request.space], now())
    layout = columns_for(columns, natural, has_headings=False)
    for number, request in enumerate(shown.requests):
        if number in shown.headings:
            lines += ["", sanitize(shown.headings[number])]
        details = row_details(engine, request, shown.me)
        state = engine.notification_settings.state(request_target(request))
        sign = Span(SIGNS[state][0]) if state in SIGNS else NO_SIGN
        row = request_row(request, details, titles[request.space], layout, now(), sign=sign)
        lines.append(plain(cut(row, columns)))
    return lines if shown.requests else [*lines, shown.view.empty]


def _as_json(engine: Engine, shown: Shown) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for request in shown.requests:
        reviews, reviewers = engine.known(reviews_of(request)), engine.known(reviewers_of(request))
        more: dict[str, Any] = {
            "spaceTitle": shown.spaces.get(request.space),
            "reviews": newest_reviews(reviews.value.items) if reviews else (),
            "requestedReviewers": reviewers.value.items if reviewers else (),
            "notifications": engine.notification_settings.state(request_target(request)) or None,
        }
        rows.append(as_json(request) | as_json(more))
    return {
        "organization": {"id": shown.organization.id, "title": shown.organization.title},
        "counts": shown.counts,
        "view": shown.view.id if shown.view else None,
        "changeRequests": rows,
    }


async def _fetch_list(session: Session, listing: ListOrganizationChangeRequests) -> int:
    engine, total, error = session.engine, 0, None
    async for seen in engine.watch_listing(listing):
        total, error = seen.value, seen.error
        if seen.state != "cached" and engine.window(listing, 0, 0).complete:
            break
        if error:
            break
    if isinstance(error, IncompleteList):
        session.add_incomplete(error)
    elif error and engine.window(listing, 0, 0).age is None:
        raise error
    return total
