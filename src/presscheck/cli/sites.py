"""`presscheck site`: manages, checks and publishes sites."""

from __future__ import annotations

import sys
from typing import Any

import click

from presscheck.api.content import ListPages
from presscheck.api.site_settings import GetAdaptiveSchema
from presscheck.api.site_structure import (
    AddSiteSpace,
    GetSiteStructure,
    SiteSpace,
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
from presscheck.cli.command_factory import CommandSpec, add
from presscheck.cli.links import links_in, rows_of
from presscheck.cli.output import print_message, print_text
from presscheck.cli.session import Session, confirm, with_session
from presscheck.errors import ChecksFailed, InvalidArgument
from presscheck.text.phrases import count
from presscheck.text.sanitize import display_url, is_safe_url

org_option = click.option("--org", metavar="ORG", help="Organization, by title or id.")


@click.group()
def site() -> None:
    """Manage sites.

    SITE is the id or the title of a site; its organization is set by --org.
    """


add(
    site,
    CommandSpec("list", ListSites, ("id", "title", "published", "visibility", "urls.published")),
    CommandSpec("show", GetSite, help="Show a site."),
    CommandSpec("create", CreateSite, done="Site created."),
    CommandSpec("edit", UpdateSite, done="Site updated."),
    CommandSpec("add", AddSiteSpace, done="Space added to the site."),
    CommandSpec("schema", GetAdaptiveSchema, help="Show the visitor schema for adaptive content."),
    CommandSpec("unpublish", UnpublishSite, done="Site unpublished.", confirm="Unpublish this site"),
    CommandSpec("delete", DeleteSite, done="Site deleted.", confirm="Delete this site"),
)


@site.command()
@click.argument("site")
@org_option
@with_session
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
@click.argument("site")
@click.option("--yes", "-y", is_flag=True, help="Skip the confirmation.")
@org_option
@with_session
async def publish(session: Session, site: str, org: str | None, *, yes: bool) -> None:
    """Publish a site and print its URL."""
    owner, chosen = await lookup.site(session, site, org)
    confirm(f"Publish {chosen.title}?", yes=yes)
    answer = await session.write(PublishSite(organization_id=owner.id, site_id=chosen.id), "")
    if isinstance(answer, Checkout):
        print_message("This site requires a paid plan. Complete the payment in the web app, then publish again.")
        raise click.exceptions.Exit(5)
    if session.json or answer is None:
        session.show(answer)
    else:
        click.echo(_url(answer) or answer.id)


@site.command("open")
@click.argument("site")
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
@click.argument("site")
@org_option
@with_session
async def check(session: Session, site: str, org: str | None) -> None:
    """Check a site for problems such as broken links.

    The exit code is 6 if there are problems.
    """
    owner, chosen = await lookup.site(session, site, org)
    whole = await session.read(GetSiteStructure(organization_id=owner.id, site_id=chosen.id))
    spaces = [space for item in whole.structure for space in _site_spaces(item)]
    problems = [] if spaces else [{"kind": "empty-site", "where": chosen.title, "message": "has no spaces"}]
    for space in spaces:
        problems += await _problems_in(session, space)
    session.show(problems, ("kind", "where", "message"))
    if problems:
        raise ChecksFailed(f"{count(len(problems), 'problem')} in {chosen.title}")
    print_message(f"No problems in {chosen.title}.")


def open_url(url: str) -> None:
    """Print a URL; on a local terminal, also open it in the browser if its scheme is safe."""
    from presscheck.tui.external_programs import is_remote  # 108 ms: it loads Textual, only for this command

    click.echo(display_url(url))
    if sys.stdout.isatty() and not is_remote() and is_safe_url(url):
        click.launch(url)


async def _problems_in(session: Session, site_space: SiteSpace) -> list[dict[str, str]]:
    where, space_id = site_space.title or site_space.space.title, site_space.space.id
    problems: list[dict[str, str]] = []
    if site_space.draft:
        problems.append({"kind": "draft", "where": where, "message": "not published yet"})
    tree = await session.read(ListPages(space_id=space_id))
    if not tree.pages:
        problems.append({"kind": "empty-space", "where": where, "message": "no pages"})
    for row in [row for link in await links_in(session, space_id) for row in rows_of(link)]:
        if row["status"] == "broken":
            message = f"broken link: {row['target'] or 'no target'}"
            problems.append({"kind": "broken-link", "where": f"{where}: {row['page']}", "message": message})
    return problems


def _site_spaces(item: Any) -> list[SiteSpace]:
    if isinstance(item, SiteSpace):
        return [item]
    return [space for child in lookup.children_of(item) for space in _site_spaces(child)]


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
