"""`presscheck space`: manages spaces and prints their live content."""

from __future__ import annotations

import click

from presscheck.api.content import (
    GetChangeRequestPage,
    GetPage,
    ListChangeRequestPages,
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
from presscheck.cli import comment_commands, content_commands, lookup
from presscheck.cli.lazy_group import LazyGroup
from presscheck.cli.notification_commands import add_to_spaces
from presscheck.cli.operations.command_factory import CommandSpec, add, sends
from presscheck.cli.output import print_text
from presscheck.cli.session import Session, with_session


@click.group(
    cls=LazyGroup,
    lazy_commands={"links": ("space.links", "links"), "replace": ("space.replace", "replace_text")},
)
def space() -> None:
    """Manage spaces.

    SPACE is the id, the title or the URL of a space.
    """


add(
    space,
    CommandSpec("list", ListSpaces, ("id", "title", "visibility", "changeRequestsOpen")),
    CommandSpec("show", GetSpace, help="Show a space."),
    CommandSpec("create", CreateSpace, done="Space created."),
    CommandSpec("edit", UpdateSpace, done="Space updated."),
    CommandSpec("duplicate", DuplicateSpace, done="Space duplicated."),
    CommandSpec(
        "move", MoveSpace, done="Space moved.", help="Move a space into a collection, or next to another space."
    ),
    CommandSpec(
        "transfer", TransferSpace, done="Space transferred.", confirm="Transfer this space to another organization"
    ),
    CommandSpec(
        "delete",
        DeleteSpace,
        done="Space deleted. `presscheck space restore` can restore it for seven days.",
        confirm="Delete this space",
    ),
    CommandSpec(
        "restore",
        RestoreSpace,
        ids=("space_id",),
        done="Space restored.",
        help="Restore a deleted space, by its id.\n\nSpaces can be restored for seven days.",
    ),
    CommandSpec(
        "lock",
        UpdateSpace,
        fixed={"edit_mode": "locked"},
        done="Space locked.",
        help="Lock a space: edits require a change request.",
    ),
    CommandSpec(
        "unlock",
        UpdateSpace,
        fixed={"edit_mode": "live"},
        done="Space unlocked.",
        help="Unlock a space: its live content can be edited directly.",
    ),
)

comment_commands.add_to_spaces(space)
content_commands.add_to_spaces(space)
add_to_spaces(space)


@space.command()
@click.argument("space")
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


@space.command()
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
