"""`presscheck space pages` and `presscheck space page`, which are also `presscheck page list` and `view`."""

from __future__ import annotations

import click

from presscheck.api.content import (
    GetChangeRequestPage,
    GetPage,
    ListChangeRequestPages,
    ListPages,
    RevisionPage,
)
from presscheck.cli import lookup
from presscheck.cli.operations.command_factory import sends
from presscheck.cli.output import print_text
from presscheck.cli.session import Session, space_argument, with_session


@click.command()
@space_argument
@click.option("--cr", metavar="SPACE#NUMBER", help="Show the content of this change request instead.")
@with_session
@sends(ListPages, ListChangeRequestPages)
async def pages(session: Session, space: str, cr: str | None) -> None:
    """Show the page tree of a space."""
    tree = await _pages(session, space, cr)
    if session.json:
        session.show(list(tree))
    else:
        _print_tree(tree, 0)


@click.command()
@click.argument("space")
@click.argument("page")
@click.option("--cr", metavar="SPACE#NUMBER", help="Show the content of this change request instead.")
@with_session
@sends(GetPage, GetChangeRequestPage)
async def page(session: Session, space: str, page: str, cr: str | None) -> None:
    """Print a page as Markdown.

    PAGE is an id, a path or a title.
    """
    chosen = lookup.page(await _pages(session, space, cr), page)
    owner = await lookup.space(session, space)
    if cr:
        request = await lookup.change_request(session, cr)
        path = lookup.path_of(request)
        whole = await session.read(GetChangeRequestPage(**path, page_id=chosen.id, format="markdown"))
    else:
        whole = await session.read(GetPage(space_id=owner.id, page_id=chosen.id, format="markdown"))
    if session.json:
        session.show(whole)
    else:
        print_text((whole.markdown or "").rstrip("\n"))


async def _pages(session: Session, space: str, cr: str | None) -> tuple[RevisionPage, ...]:
    if cr:
        request = await lookup.change_request(session, cr)
        call = ListChangeRequestPages(**lookup.path_of(request))
        return (await session.read(call)).pages
    owner = await lookup.space(session, space)
    return (await session.read(ListPages(space_id=owner.id))).pages


def _print_tree(pages: tuple[RevisionPage, ...], depth: int) -> None:
    for page in pages:
        path = f"  ({page.path})" if page.path else ""
        print_text(f"{'  ' * depth}{page.title or page.link_title or page.id}{path}")
        _print_tree(page.pages, depth + 1)
