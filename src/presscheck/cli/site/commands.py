"""`presscheck site`: manages, checks and publishes sites."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import click

from presscheck.api.site_events import RANGES, AggregateSiteEvents, EventOrder, Range
from presscheck.api.site_settings import GetPreview
from presscheck.api.site_structure import (
    AddSiteSpace,
    GetSiteStructure,
    SortSiteStructure,
    StructureItemPointer,
    StructurePosition,
)
from presscheck.api.sites import (
    Checkout,
    CreateSite,
    DeleteSite,
    GetSite,
    ListSites,
    PublishSite,
    Site,
    UnpublishSite,
    UpdateSite,
)
from presscheck.cli import lookup
from presscheck.cli.operations.command_factory import CommandSpec, add, sends
from presscheck.cli.output import print_message, print_text
from presscheck.cli.prose_checks import chosen_checks, with_option
from presscheck.cli.session import Session, confirm, org_option, site_argument, with_session, yes_option
from presscheck.cli.site.build import build
from presscheck.cli.site.check_reports import junit, sarif
from presscheck.cli.site.config import config
from presscheck.cli.site.documents import customization, schema, set_schema
from presscheck.cli.site.history import history, restore
from presscheck.cli.site.operations import add_to_sites
from presscheck.cli.site.prose import site_prose_findings
from presscheck.cli.site.redirects import redirects
from presscheck.config.checks_file import ChecksFile
from presscheck.documents.sites.checks import CHECK_NAMES, Finding, Level, check_site, summary
from presscheck.documents.sites.content import SiteContent
from presscheck.engine.publish.plan_limits import plan_limits
from presscheck.engine.publish.previews import preview_url, spaces_of_site
from presscheck.engine.publish.published_state import PublishedStates
from presscheck.engine.publish.publishing import reach_words, state_of
from presscheck.engine.publish.shown_addresses import shown_address, shown_page
from presscheck.engine.publish.site_content import SiteReader
from presscheck.errors import ChecksFailed, InvalidArgument
from presscheck.paths import places
from presscheck.text.sanitize import display_url, is_safe_url, sanitize


class _Shown(NamedTuple):
    """A space of a site, with its id and title in the site."""

    id: str
    title: str


checks_option = click.option(
    "--checks",
    "checks_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A TOML file with the severities of checks.",
)


@click.group()
def site() -> None:
    """Manage sites.

    SITE is the id or the title of a site; its organization is set by --org. A single dot is the site of the project,
    which is also the default where SITE can be left out.
    """


def _without_key(shown: Site) -> Site:
    """Remove the key of a share link from the URL of a site."""
    address = shown_address(shown, shown.urls.published) or None
    return shown.model_copy(update={"urls": shown.urls.model_copy(update={"published": address})})


add(
    site,
    CommandSpec(
        "list",
        ListSites,
        ("id", "title", "published", "visibility", "urls.published"),
        shown=_without_key,
        help="List the sites of an organization.\n\nThe key in the address of a site with share links is printed with"
        " --json only.",
    ),
    CommandSpec("create", CreateSite, done="Site created."),
    CommandSpec("edit", UpdateSite, done="Site updated."),
    CommandSpec("add", AddSiteSpace, done="Space added to the site."),
    CommandSpec("unpublish", UnpublishSite, done="Site unpublished.", confirm="Unpublish this site"),
    CommandSpec("delete", DeleteSite, done="Site deleted.", confirm="Delete this site"),
)
add_to_sites(site)
site.add_command(schema)
site.add_command(set_schema)
site.add_command(customization)
site.add_command(redirects)
site.add_command(config)
site.add_command(build)
site.add_command(history)
site.add_command(restore)


@site.command()
@site_argument
@org_option
@with_session
@sends(GetSite)
async def show(session: Session, site: str, org: str | None) -> None:
    """Show a site with the limits of its plan."""
    owner, chosen = await lookup.site(session, site, org)
    shown = await session.read(GetSite(organization_id=owner.id, site_id=chosen.id))
    session.show(shown if session.json else _without_key(shown), hidden=("features",))
    for line in () if session.json else plan_limits(shown):
        print_text(line)


@site.command()
@site_argument
@org_option
@with_session
@sends(GetSiteStructure)
async def structure(session: Session, site: str, org: str | None) -> None:
    """Show the structure of a site: sections, groups, spaces."""
    owner, chosen = await lookup.site(session, site, org)
    whole = await session.read(GetSiteStructure(organization_id=owner.id, site_id=chosen.id))
    if session.json:
        session.show(whole)
        return
    for item in whole.structure:
        _print_item(item, 0)


@site.command()
@click.argument("site")
@click.argument("item")
@click.option("--before", metavar="ITEM", help="Move it before this item.")
@click.option("--after", metavar="ITEM", help="Move it after this item.")
@org_option
@with_session
@sends(SortSiteStructure)
async def move(session: Session, site: str, item: str, before: str | None, after: str | None, org: str | None) -> None:
    """Move a section, group or space of a site.

    ITEM is an id or a title. Items can be moved within their group or section.
    """
    if (before is None) == (after is None):
        raise InvalidArgument("--before", "give either --before ITEM or --after ITEM")
    owner, chosen = await lookup.site(session, site, org)
    path: dict[str, Any] = {"organization_id": owner.id, "site_id": chosen.id}
    whole = await session.read(GetSiteStructure(**path))
    sides = {"before": before, "after": after}
    position: dict[str, Any] = {name: _pointer(whole, named) for name, named in sides.items() if named is not None}
    call = SortSiteStructure(**path, item=_pointer(whole, item), position=StructurePosition(**position))
    session.show_id(await session.write(call, "Item moved."))


@site.command()
@site_argument
@yes_option
@click.option("--if-clean", is_flag=True, help="Only if its checks find no errors or warnings.")
@checks_option
@org_option
@with_session
@sends(PublishSite)
async def publish(
    session: Session, site: str, org: str | None, checks_file: Path | None, *, yes: bool, if_clean: bool
) -> None:
    """Publish a site and print its URL.

    Then requests the URL, and prints whether the published page responds.
    """
    owner, chosen = await lookup.site(session, site, org)
    levels = _levels(session, chosen, checks_file)
    if if_clean:
        findings = await site_findings(session, owner.id, chosen, levels)
        if any(finding.severity != "info" for finding in findings):
            raise ChecksFailed(f"not published: {chosen.title}: {summary(findings)}")
    confirm(f"Publish {chosen.title}?", yes=yes)
    answer = await session.write(PublishSite(organization_id=owner.id, site_id=chosen.id), "")
    if isinstance(answer, Checkout):
        print_message("This site requires a paid plan. Complete the payment in the web app, then publish again.")
        raise click.exceptions.Exit(5)
    if session.json or answer is None:
        session.show(answer)
    else:
        click.echo(_url(answer) or answer.id)
    if isinstance(answer, Site):
        print_message(sanitize(await reach_words(session.engine, owner.id, answer)))


@site.command("open")
@site_argument
@org_option
@with_session
async def open_site(session: Session, site: str, org: str | None) -> None:
    """Open a site in the browser and print its URL."""
    _, chosen = await lookup.site(session, site, org)
    url = _url(chosen)
    if not url:
        raise ChecksFailed(f"{chosen.title} is not published. Run `presscheck site publish` first")
    if session.json:
        session.show({"id": chosen.id, "url": url})
    else:
        open_url(url)


@site.command()
@site_argument
@click.option("--cr", metavar="CR", help="Show the pages of this change request: SPACE#12, an id or a URL.")
@click.option("--site-space", metavar="SPACE", help="Open the preview at this space of the site (id or title).")
@click.option("--claims", metavar="RISON", help="Attributes of the visitor, such as (beta:!t).")
@org_option
@with_session
@sends(GetPreview)
async def preview(
    session: Session, site: str, org: str | None, cr: str | None, site_space: str | None, claims: str | None
) -> None:
    """Open a preview of a site in the browser and print its URL.

    It shows the site before it is published. With --cr it shows the pages of a change request before it is merged.
    Everybody who has the URL can read the site for about an hour.
    """
    if cr is not None and site_space is not None:
        raise InvalidArgument("--site-space", "leave it out: the preview opens at the space of --cr")
    owner, chosen = await lookup.site(session, site, org)
    request = await lookup.change_request(session, cr) if cr is not None else None
    inside = None
    if site_space is not None:
        spaces = await spaces_of_site(session.engine, owner.id, chosen.id)
        inside = lookup.pick(
            [_Shown(space.id, space.title or space.space.title) for space in spaces], site_space, "site space"
        ).id
    url = await preview_url(session.engine, owner.id, chosen.id, site_space=inside, request=request, claims=claims)
    if session.json:
        session.show({"url": url})
    else:
        open_url(url)


@site.command()
@site_argument
@click.option("--sarif", "report", flag_value="sarif", help="Print a SARIF log.")
@click.option("--junit", "report", flag_value="junit", help="Print a JUnit report.")
@checks_option
@with_option
@org_option
@with_session
async def check(
    session: Session,
    site: str,
    org: str | None,
    report: str | None,
    checks_file: Path | None,
    *,
    programs: tuple[str, ...],
) -> None:
    """Check a site before readers see its problems.

    Errors, warnings and checks that could not run make the exit code 6; notes do not. Prose checks given with --with
    report new findings in the pages that changed since the site was published. Pages whose prose could not be checked
    are reported, but do not change the exit code.
    """
    checks = chosen_checks(programs) if programs else []
    owner, chosen = await lookup.site(session, site, org)
    levels = _levels(session, chosen, checks_file)
    content, findings = await check_content(session, owner.id, chosen, levels)
    if checks:
        findings += await site_prose_findings(session, content, checks)
    if report == "sarif":
        click.echo(json.dumps(sarif(findings), indent=2))
    elif report == "junit":
        off = [name for name, level in levels.items() if level == "off"]
        click.echo(junit(chosen.title, findings, off))
    else:
        rows = [_finding_row(finding) for finding in findings]
        session.show(rows, ("severity", "kind", "where", "message"))
    if any(finding.severity != "info" for finding in findings):
        raise ChecksFailed(f"{chosen.title}: {summary(findings)}")
    print_message(f"No problems in {chosen.title}{f': {summary(findings)}' if findings else ''}.")


def _levels(session: Session, site: Site, given: Path | None) -> Mapping[str, Level]:
    """Return the severities of the checks of a site.

    They are read from the file of `--checks`, else from the profile's setting `checks`, else from the default file.
    """
    file = ChecksFile(places().config_file, session.profile.checks, given)
    return cast("dict[str, Level]", file.read(CHECK_NAMES).of(site.id, site.title))


async def site_findings(
    session: Session, organization_id: str, site: Site, levels: Mapping[str, Level] | None = None
) -> list[Finding]:
    """Check a site; see `check_content`."""
    return (await check_content(session, organization_id, site, levels))[1]


async def check_content(
    session: Session, organization_id: str, site: Site, levels: Mapping[str, Level] | None = None
) -> tuple[SiteContent, list[Finding]]:
    """Read the content of a site, and check it.

    Args:
        session: reads the site.
        organization_id: the id of the organization.
        site: the site.
        levels: the severities of the checks; None for those of the settings.
    """
    levels = _levels(session, site, None) if levels is None else levels
    states = PublishedStates(session.engine.outbox)
    known = states.of(site.id)
    content = await SiteReader(session.engine).read(organization_id, site.id, published=known)
    if known is None and content.site.published and not content.unread:
        states.note_if_new(site.id, state_of(content, time.time(), is_own=False))
    return content, check_site(content, levels)


def _finding_row(finding: Finding) -> dict[str, object]:
    row = {"severity": finding.severity, "kind": finding.check, "where": finding.where, "message": finding.message}
    place = {"space": finding.space, "page": finding.page, "line": finding.line, "changeRequest": finding.request}
    return {**row, **place, "notChecked": list(finding.unchecked)}


def open_url(url: str) -> None:
    """Print a URL; on a local terminal, also open it in the browser if its scheme is safe."""
    from presscheck.tui.external_programs import is_remote  # 108 ms: it loads Textual, only for this command

    click.echo(display_url(url))
    if sys.stdout.isatty() and not is_remote() and is_safe_url(url):
        click.launch(url)


def _pointer(whole: Any, named: str) -> StructureItemPointer:
    kind, item_id = lookup.item_of(whole, named)
    pointer: dict[str, Any] = {"type": kind, "id": item_id}
    return StructureItemPointer(**pointer)


def _print_item(item: Any, depth: int) -> None:
    kind = item.object.removeprefix("site-")
    print_text(f"{'  ' * depth}{item.title or item.id}  ({kind} {item.id})")
    for child in lookup.children_of(item):
        _print_item(child, depth + 1)


def _url(site: Site) -> str | None:
    return site.urls.published if site.published else None


FEEDBACK = ("datetime", "eventPageFeedbackRating", "url", "eventPageFeedbackComment")
"""The columns of feedback."""
RATINGS = {"good": "yes", "ok": "partly", "bad": "no"}
"""The printed answers to the question whether a page was helpful, by rating."""


@site.command()
@site_argument
@org_option
@click.option(
    "--range",
    "days",
    type=click.Choice([*RANGES]),
    default="last30Days",
    help="How far to look back; last30Days by default.",
)
@with_session
@sends(AggregateSiteEvents)
async def feedback(session: Session, site: str, org: str | None, days: Range) -> None:
    """List the feedback of readers, newest first.

    `helpful` is the reader's answer to the question whether the page was helpful. At most 1,000 rows are listed. The
    key of a share link in the address of a page is printed with --json only.
    """
    owner, chosen = await lookup.site(session, site, org)
    events = {"column": "eventType", "values": ["page_post_feedback", "page_post_feedback_comment"]}
    table = await session.read(
        AggregateSiteEvents(
            organization_id=owner.id,
            site_id=chosen.id,
            range=days,
            select=tuple({"column": name} for name in FEEDBACK),
            where=(events | {"operator": "in"},),
            order=EventOrder(by={"column": "datetime"}, direction="desc"),
        )
    )
    columns = {column.column: column.values for column in table.columns}
    shown = str if session.json else partial(shown_page, chosen)
    rows = [
        {"date": date, "helpful": RATINGS.get(str(rating), rating), "page": shown(page), "comment": comment or ""}
        for date, rating, page, comment in zip(*(columns.get(name, ()) for name in FEEDBACK), strict=False)
    ]
    session.show(rows, ("date", "helpful", "page", "comment"))
