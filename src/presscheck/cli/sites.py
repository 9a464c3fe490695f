"""`presscheck site`: what readers see; a site is named by id or title, its organization by `--org`."""

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
from presscheck.cli.command_factory import Verb, add
from presscheck.cli.links import links_in, rows_of
from presscheck.cli.output import print_text, talk
from presscheck.cli.session import Session, asking, confirm
from presscheck.errors import ChecksFailed, InvalidArgument
from presscheck.text.sanitize import display_url, is_safe_url

org_option = click.option("--org", metavar="ORG", help="The organization, by title or id.")


@click.group()
def site() -> None:
    """Sites, each named by id or title."""


add(
    site,
    Verb("list", ListSites, ("id", "title", "published", "visibility", "urls.published")),
    Verb("show", GetSite),
    Verb("create", CreateSite, done="Created."),
    Verb("edit", UpdateSite, done="Changed."),
    Verb("add", AddSiteSpace, done="Added.", help="Add a space to a site."),
    Verb("schema", GetAdaptiveSchema, help="Print the schema of visitor attributes for adaptive content."),
    Verb("unpublish", UnpublishSite, done="Unpublished.", asks="Take this site offline"),
    Verb("delete", DeleteSite, done="Deleted.", asks="Delete this site"),
)


@site.command()
@click.argument("site")
@org_option
@asking
async def structure(session: Session, site: str, org: str | None) -> None:
    """Print the structure of a site."""
    owner, found = await lookup.site(session, site, org)
    whole = await session.read(GetSiteStructure(organization_id=owner.id, site_id=found.id))
    if session.json:
        session.show(whole)
        return
    for item in whole.structure:
        _print_item(item, 0)


@site.command()
@click.argument("site")
@click.argument("item")
@click.option("--before", metavar="ITEM", help="Place it before this item.")
@click.option("--after", metavar="ITEM", help="Place it after this item.")
@org_option
@asking
async def move(session: Session, site: str, item: str, before: str | None, after: str | None, org: str | None) -> None:
    """Move a part of a site among its siblings; parts are named by id or title."""
    if (before is None) == (after is None):
        raise InvalidArgument("--before", "pass --before ITEM or --after ITEM")
    owner, found = await lookup.site(session, site, org)
    path: dict[str, Any] = {"organization_id": owner.id, "site_id": found.id}
    whole = await session.read(GetSiteStructure(**path))
    sides = {"before": before, "after": after}
    position: dict[str, Any] = {name: _pointer(whole, one) for name, one in sides.items() if one is not None}
    call = SortSiteStructure(**path, item=_pointer(whole, item), position=StructurePosition(**position))
    session.show_new(await session.write(call, "Moved."))


@site.command()
@click.argument("site")
@click.option("--yes", "-y", is_flag=True, help="Skip the confirmation.")
@org_option
@asking
async def publish(session: Session, site: str, org: str | None, *, yes: bool) -> None:
    """Publish a site and print its URL."""
    owner, found = await lookup.site(session, site, org)
    confirm(f"Publish {found.title}?", yes=yes)
    came = await session.write(PublishSite(organization_id=owner.id, site_id=found.id), "")
    if isinstance(came, Checkout):
        talk("This site needs a paid plan: complete the payment in the web app.")
        raise click.exceptions.Exit(5)
    if session.json or came is None:
        session.show(came)
    else:
        click.echo(_address(came) or came.id)


@site.command("open")
@click.argument("site")
@org_option
@asking
async def open_site(session: Session, site: str, org: str | None) -> None:
    """Print the URL of a site and open it in the browser."""
    _, found = await lookup.site(session, site, org)
    address = _address(found)
    if not address:
        raise ChecksFailed(f"{found.title} is not published: run `presscheck site publish`")
    if session.json:
        session.show({"id": found.id, "url": address})
    else:
        open_address(address)


@site.command()
@click.argument("site")
@org_option
@asking
async def check(session: Session, site: str, org: str | None) -> None:
    """Check a site for problems such as broken links; exit code 6 if there are any."""
    owner, found = await lookup.site(session, site, org)
    whole = await session.read(GetSiteStructure(organization_id=owner.id, site_id=found.id))
    spaces = [one for item in whole.structure for one in _site_spaces(item)]
    wrong = [] if spaces else [{"kind": "empty-site", "where": found.title, "says": "no space"}]
    for one in spaces:
        wrong += await _wrong_in(session, one)
    session.show(wrong, ("kind", "where", "says"))
    if wrong:
        raise ChecksFailed(f"{len(wrong)} problems in {found.title}")
    talk(f"No problems in {found.title}.")


def open_address(address: str) -> None:
    """Print an address; also open it, where somebody sits before a browser and it is safe to."""
    from presscheck.tui.external_programs import is_remote  # 108 ms: it loads Textual, only for this command

    click.echo(display_url(address))
    if sys.stdout.isatty() and not is_remote() and is_safe_url(address):
        click.launch(address)


async def _wrong_in(session: Session, one: SiteSpace) -> list[dict[str, str]]:
    where = one.title or one.space.title
    wrong: list[dict[str, str]] = []
    if one.draft:
        wrong.append({"kind": "draft", "where": where, "says": "not published yet"})
    tree = await session.read(ListPages(space_id=one.space.id))
    if not tree.pages:
        wrong.append({"kind": "empty-space", "where": where, "says": "no pages"})
    for link in [row for one_link in await links_in(session, one.space.id) for row in rows_of(one_link)]:
        if link["status"] == "broken":
            says = f"broken link: {link['target'] or 'no target'}"
            wrong.append({"kind": "broken-link", "where": f"{where}: {link['page']}", "says": says})
    return wrong


def _site_spaces(item: Any) -> list[SiteSpace]:
    if isinstance(item, SiteSpace):
        return [item]
    return [found for one in lookup.parts_of(item) for found in _site_spaces(one)]


def _pointer(whole: Any, named: str) -> StructureItemPointer:
    kind, identity = lookup.item_of(whole, named)
    pointer: dict[str, Any] = {"type": kind, "id": identity}
    return StructureItemPointer(**pointer)


def _print_item(item: Any, depth: int) -> None:
    kind = item.object.removeprefix("site-")
    print_text(f"{'  ' * depth}{item.title or item.id}  ({kind} {item.id})")
    for one in lookup.parts_of(item):
        _print_item(one, depth + 1)


def _address(found: Site) -> str | None:
    return found.urls.published if found.published else None
