"""`presscheck space`: spaces and their live content; one is named by id, title or address."""

from __future__ import annotations

import click

from presscheck.api.content import (
    GetChangeRequestPage,
    GetPage,
    ListChangeRequestPages,
    ListFiles,
    ListPages,
    RevisionPage,
)
from presscheck.api.spaces import (
    CreateSpace,
    DeleteSpace,
    DuplicateSpace,
    GetSpace,
    ListSpaces,
    MoveSpace,
    RestoreSpace,
    TransferSpace,
    UpdateSpace,
)
from presscheck.cli import lookup
from presscheck.cli.command_factory import Verb, add
from presscheck.cli.cr_content import page_named
from presscheck.cli.links import links
from presscheck.cli.output import print_text
from presscheck.cli.session import Session, asking


@click.group()
def space() -> None:
    """Spaces, each named by id, title or address."""


add(
    space,
    Verb("list", ListSpaces, ("id", "title", "visibility", "changeRequestsOpen")),
    Verb("show", GetSpace),
    Verb("create", CreateSpace, done="Created."),
    Verb("edit", UpdateSpace, done="Changed."),
    Verb("files", ListFiles, ("id", "name", "contentType", "size")),
    Verb("duplicate", DuplicateSpace, done="Copied."),
    Verb("move", MoveSpace, done="Moved.", help="Put a space into a collection (--parent), or next to another space."),
    Verb("transfer", TransferSpace, done="Transferred.", asks="Transfer this space to another organization"),
    Verb("delete", DeleteSpace, done="Deleted; `restore` can undo this for seven days.", asks="Delete this space"),
    Verb("restore", RestoreSpace, done="Restored.", help="Restore a deleted space, by its id."),
    Verb("lock", UpdateSpace, fixed={"edit_mode": "locked"}, done="Locked.", help="Lock the live content of a space."),
    Verb(
        "unlock", UpdateSpace, fixed={"edit_mode": "live"}, done="Unlocked.", help="Unlock the live content of a space."
    ),
)

space.add_command(links)


@space.command()
@click.argument("space")
@click.option("--cr", metavar="SPACE#NUMBER", help="Content of this change request.")
@asking
async def pages(session: Session, space: str, cr: str | None) -> None:
    """Print the page tree."""
    tree = await _pages(session, space, cr)
    if session.json:
        session.show(list(tree))
    else:
        _print_tree(tree, 0)


@space.command()
@click.argument("space")
@click.argument("page")
@click.option("--cr", metavar="SPACE#NUMBER", help="Content of this change request.")
@asking
async def page(session: Session, space: str, page: str, cr: str | None) -> None:
    """Print a page as Markdown, by id, path or title."""
    found = page_named(await _pages(session, space, cr), page)
    owner = await lookup.space(session, space)
    if cr:
        request = await lookup.change_request(session, cr)
        path = lookup.path_of(request)
        whole = await session.read(GetChangeRequestPage(**path, page_id=found.id, format="markdown"))
    else:
        whole = await session.read(GetPage(space_id=owner.id, page_id=found.id, format="markdown"))
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
    for one in pages:
        print_text(f"{'  ' * depth}{one.title or one.link_title or one.id}" + (f"  ({one.path})" if one.path else ""))
        _print_tree(one.pages, depth + 1)
