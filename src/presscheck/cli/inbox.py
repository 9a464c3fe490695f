"""`presscheck inbox`: prints a view of the inbox, as lines or as JSON.

The views are the same as in the app: built-in views by id or title, saved views by name.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

import click
from click.shell_completion import CompletionItem
from typing_extensions import override

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.cli.digest import Format, digest_lines, digest_record
from presscheck.cli.exit_codes import exit_code, report_errors
from presscheck.cli.json_filter import json_option
from presscheck.cli.output import as_json, print_json, print_message, print_text
from presscheck.cli.project import project_of
from presscheck.cli.session import (
    Session,
    chosen_profile,
    is_offline,
    load_profile,
    open_session,
    profile_option,
    run_with_session,
)
from presscheck.cli.watch import watch_events
from presscheck.config.profile import load_other, profile_name
from presscheck.config.project import Project, views_of
from presscheck.config.saved_views import SavedView, same_name
from presscheck.engine.engine import Engine
from presscheck.engine.inbox.digest import MAX_READ, parse_since, read_digest
from presscheck.engine.inbox.event_log import POLL_INTERVAL
from presscheck.engine.inbox.notification_settings import request_target
from presscheck.engine.inbox.organization_inbox import cached_views, fetch_views
from presscheck.engine.inbox.views import (
    VIEWS,
    View,
    all_views,
    row_details,
    validate_view,
)
from presscheck.engine.members import user_id
from presscheck.engine.profiles import inbox_profiles
from presscheck.engine.reads.substitutes import NO_USER
from presscheck.engine.review.merge_readiness import newest_reviews
from presscheck.engine.shared_calls import reviewers_of, reviews_of
from presscheck.errors import ConfigurationError, InvalidArgument, PresscheckError
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
@click.option(
    "--all-profiles",
    is_flag=True,
    help="Print the inboxes of the profiles in inbox_profiles; without this setting, of all profiles.",
)
@json_option
@profile_option
@click.pass_context
@report_errors
def inbox(context: click.Context, /, *, all_profiles: bool, as_json: bool, **given: Any) -> None:
    """List the change requests in your inbox.

    Prints the first view that is not empty.
    """
    if not all_profiles:
        _run_inbox(as_json=as_json, **given)
        return
    options = {"watch": "--watch", "interval": "--interval", "since": "--since", "form": "--format"}
    other = next((option for name, option in options.items() if given[name] not in (None, False)), None)
    if other:
        raise InvalidArgument("--all-profiles", f"cannot be used with {other}")
    code = asyncio.run(_print_all_profiles(context, given["view"], given["limit"], as_json=as_json))
    context.exit(code)


@run_with_session
async def _run_inbox(
    session: Session,
    view: str | None,
    limit: int,
    *,
    watch: bool,
    interval: float | None,
    since: str | None,
    form: Format | None,
) -> None:
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
    if not await user_id(session.engine):
        print_message(f"{NO_USER}. Shown are the change requests of everyone.")
    inboxes: list[dict[str, Any]] = []
    async for shown in _inboxes(session, all_views(saved), view, limit):
        if session.json:
            inboxes.append(_as_json(session.engine, shown))
        else:
            print_text("\n".join(line.rstrip() for line in _lines(session.engine, shown)))
    if session.json:
        session.show(inboxes)


async def _inboxes(session: Session, views: tuple[View, ...], view: str | None, limit: int) -> AsyncIterator[Shown]:
    for organization in (await session.read(ListOrganizations())).items:
        yield await fetch_inbox(session, organization, views, view, limit)


@dataclass
class _ProfileOutput:
    """The output of a profile: JSON records or lines, messages for stderr, and the error if it could not be read."""

    name: str
    records: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    lines: list[str] = field(default_factory=list[str])
    messages: list[str] = field(default_factory=list[str])
    error: PresscheckError | None = None


async def _print_all_profiles(context: click.Context, view: str | None, limit: int, *, as_json: bool) -> int:
    """Print the inboxes of several profiles, which are read concurrently. Return the exit code.

    A profile that cannot be read gets a line on stderr. The first of them decides the exit code.
    """
    project = project_of(context)
    views = all_views(saved_views(project))
    current = profile_name(chosen_profile(context), dict(os.environ))

    async def read(name: str) -> _ProfileOutput:
        output = _ProfileOutput(name)
        try:
            if name == current:
                profile = await asyncio.to_thread(load_profile, context)
            else:
                profile = await asyncio.to_thread(load_other, places().config_file, name, project=project)
                profile = replace(profile, offline=is_offline(context))
            async with open_session(profile, as_json=as_json, report=output.messages.append) as session:
                await session.run(_read_profile(session, views, view, limit, output))
        except PresscheckError as error:
            output.error = error
        return output

    outputs = await asyncio.gather(*map(read, inbox_profiles(places(), current)))
    if as_json:
        print_json([record for output in outputs for record in output.records])
    elif any(output.lines for output in outputs):
        print_text("\n\n".join("\n".join(output.lines) for output in outputs if output.lines))
    for output in outputs:
        for message in (*output.messages, *([output.error.message] if output.error else ())):
            print_message(f"{output.name}: {message}")
    return next((exit_code(output.error) for output in outputs if output.error), 0)


async def _read_profile(
    session: Session, views: tuple[View, ...], view: str | None, limit: int, output: _ProfileOutput
) -> None:
    async for shown in _inboxes(session, views, view, limit):
        if session.json:
            output.records.append({"profile": output.name, **_as_json(session.engine, shown)})
        else:
            title, *lines = (line.rstrip() for line in _lines(session.engine, shown))
            output.lines += [*([""] if output.lines else []), f"{sanitize(output.name)} · {title}", *lines]


async def print_digest(session: Session, since: str, form: Format, limit: int) -> None:
    """Print what happened in each organization since a time, such as `2d`.

    Raises:
        InvalidArgument: `since` is not a time.
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
        session: the session.
        organization: the organization.
        views: the views.
        chosen: the id of the view to print; None for the first that is not empty.
        limit: the maximum number of rows.
        shows_hidden: whether all views include done and snoozed rows; in the app, some views leave them out.
    """
    engine = session.engine
    me = await user_id(engine)
    if incomplete := await fetch_views(engine, organization.id, views, me):
        session.add_incomplete(incomplete)
    inbox = await cached_views(engine, organization, views, me, shows_hidden=shows_hidden)
    counts = {view.id: inbox.count(view) for view in views}
    view = next((view for view in views if (view.id == chosen if chosen else counts[view.id])), None)
    requests, headings = inbox.rows(engine, view, limit) if view else ([], {})
    for request in requests:
        await asyncio.gather(engine.read(reviews_of(request)), engine.read(reviewers_of(request)))
    return Shown(organization, views, counts, view, tuple(requests), headings, dict(inbox.spaces), me)


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
