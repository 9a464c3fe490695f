"""`presscheck space links`: the links of a space, from the service or extracted from the pages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import click

from presscheck.api.content import GetCurrentRevision, GetPage, ListPages, RevisionPage
from presscheck.api.links import ContentLocation, Link, ListSpaceLinks
from presscheck.cli import lookup
from presscheck.cli.operations.command_factory import sends
from presscheck.cli.session import Session, limit_option, space_argument, with_session
from presscheck.documents.markdown.link_report import orphan_pages as orphans_of
from presscheck.documents.pages.tree import flatten
from presscheck.engine.search.backlinks import Linked, backlinks, links_of_space
from presscheck.errors import NotSupported
from presscheck.text.phrases import count

T = TypeVar("T")

Row = dict[str, Any]
"""A link: its `status` (ok, broken or in-app), the title of its `page`, and the `kind` and name of its `target`."""


@click.command()
@space_argument
@click.option("--status", type=click.Choice(["ok", "broken", "in-app"]), help="Only links with this status.")
@click.option("--to", "page", metavar="PAGE", help="List the pages that link to this page (id, path or title).")
@click.option("--orphans", is_flag=True, help="List the pages that no other page links to.")
@limit_option
@with_session
@sends(ListSpaceLinks)
async def links(
    session: Session, space: str, status: str | None, page: str | None, limit: int, *, orphans: bool
) -> None:
    """List the links of a space with their status."""
    owner = await lookup.space(session, space)
    if page:
        session.show((await _backlinks(session, owner.id, page))[: limit or None], ("id", "title", "path"))
        return
    all_links = await links_in(session, owner.id)
    if orphans:
        tree = await session.read(ListPages(space_id=owner.id))
        session.show(orphans_of(tree.pages, all_links)[: limit or None], ("id", "title", "path"))
    else:
        rows = [row for link in all_links for row in rows_of(link) if status in (None, row["status"])]
        session.show(rows[: limit or None], ("status", "page", "kind", "target"))


async def links_in(session: Session, space_id: str) -> tuple[Link, ...]:
    """Return all links in the live content of a space.

    Raises:
        PresscheckError: the space cannot be read.
    """
    return await _all_of(session, space_id, lambda: links_of_space(session.engine, space_id))


async def _backlinks(session: Session, space_id: str, named: str) -> list[RevisionPage]:
    tree = await session.read(ListPages(space_id=space_id))
    page = lookup.page(tree.pages, named)
    places = await _all_of(session, space_id, lambda: backlinks(session.engine, space_id, page.id))
    return [place.page for place in places if place.page]


async def _all_of(session: Session, space_id: str, ask: Callable[[], Awaitable[Linked[T]]]) -> tuple[T, ...]:
    """Return the links from the service, or, without its support, from all pages (offline: from the cached pages)."""
    try:
        linked = await ask()
    except NotSupported:
        linked = None  # the page tree is not cached either
    if linked is None or (not linked.is_from_service and session.engine.status.online):
        await _fetch_pages(session, space_id)
        linked = await ask()
    if linked.problem:
        session.add_incomplete(linked.problem)
    if linked.unread:
        session.print_offline(f"the links of {count(linked.unread, 'uncached page')} are missing")
    return linked.items


async def _fetch_pages(session: Session, space_id: str) -> None:
    """Fetch all pages of a space into the cache."""
    revision = await session.read(GetCurrentRevision(space_id=space_id))
    pages = [page.id for page in flatten(revision.pages) if page.type == "document"]

    async def fetch(page: str) -> None:  # without its result, so that the pages are not held in memory
        await session.read(GetPage(space_id=space_id, page_id=page, format="markdown"))

    await asyncio.gather(*(fetch(page) for page in pages))


def rows_of(link: Link) -> list[Row]:
    """Return a row for each page that contains a link, or a row without a page if no page is known."""
    target = link.target_reference
    kind, named = (target.kind, _name(target)) if target else ("broken", "")
    from_pages = [location.page.title for location in link.location_references if location.page] or [""]
    return [{"status": link.status, "page": page, "kind": kind, "target": named} for page in from_pages]


def _name(target: ContentLocation) -> str:
    if target.url:
        return target.url
    if target.page:
        anchor = target.internal_location.anchor if target.internal_location else None
        return (target.page.path or target.page.title) + (f"#{anchor}" if anchor else "")
    if target.file:
        return target.file.name
    if target.user:
        return target.user.display_name or target.user.id
    named = target.space or target.collection or target.reusable_content
    return named.title if named else target.kind
