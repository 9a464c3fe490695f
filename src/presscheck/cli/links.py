"""The links of a space: as the service tells them, or, where its release does not, as the pages have them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

import click

from presscheck.api.content import GetCurrentRevision, GetPage, Revision, RevisionPage
from presscheck.api.links import ContentLocation, Link, ListSpaceLinks
from presscheck.api.operation import Operation, Page
from presscheck.cli import addressing
from presscheck.cli.change_contents import every_page
from presscheck.cli.session import Session, asking
from presscheck.documents.links import Places, links_of, source_of
from presscheck.errors import NotSupported

Row = dict[str, Any]
"""A link in a page: `status` is ok, broken or in-app, `page` where it stands, `kind` and `target` what it names."""


@click.command()
@click.argument("space")
@click.option("--status", type=click.Choice(["ok", "broken", "in-app"]), help="Only these.")
@asking
async def links(session: Session, space: str, status: str | None) -> None:
    """Print the links in the pages of a space, and which of them are broken."""
    owner = await addressing.space(session, space)
    rows = await links_in(session, owner.id)
    session.show([row for row in rows if status in (None, row["status"])], ("status", "page", "kind", "target"))


async def links_in(session: Session, space_id: str) -> list[Row]:
    """Every link in the live content of a space.

    Raises:
        PresscheckError: the space cannot be read.
    """
    try:
        told: list[Link] = await session.all(cast("Operation[Page[Link]]", ListSpaceLinks(space_id=space_id)))
    except NotSupported:
        revision = await session.read(GetCurrentRevision(space_id=space_id))
        return await links_of_revision(session.read, space_id, revision)
    return [row for link in told for row in _rows_of(link)]


async def links_of_revision(
    read: Callable[[GetPage], Awaitable[RevisionPage]], space_id: str, revision: Revision
) -> list[Row]:
    """Every link in the pages of the live content, as they are written.

    Args:
        read: fetches a page.
        space_id: the space.
        revision: its live revision.
    """
    places, found = Places.of(revision.pages, revision.files, revision.reusable_contents), list[Row]()
    for page in every_page(revision.pages):
        if page.type != "document":
            continue
        text = (await read(GetPage(space_id=space_id, page_id=page.id, format="markdown"))).markdown or ""
        for link in links_of(text):
            leads = places.resolve(link.target, source_of(page)).kind
            status = "broken" if leads == "broken" else "ok"
            found.append({"status": status, "page": page.title, "kind": link.kind, "target": link.target})
    return found


def _rows_of(link: Link) -> list[Row]:
    target = link.target_reference
    kind, named = (target.kind, _name(target)) if target else ("broken", "")
    from_pages = [one.page.title for one in link.location_references if one.page] or [""]
    return [{"status": link.status, "page": page, "kind": kind, "target": named} for page in from_pages]


def _name(target: ContentLocation) -> str:
    if target.url:
        return target.url
    if target.page:
        return target.page.path or target.page.title
    if target.file:
        return target.file.name
    named = target.space or target.collection or target.reusable_content
    return named.title if named else target.kind
