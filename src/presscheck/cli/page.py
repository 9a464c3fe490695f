"""`presscheck page`: lists, prints and edits pages."""

from __future__ import annotations

import click

from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.cli import lookup
from presscheck.cli.change_request.content import edit_page
from presscheck.cli.lazy_group import LazyGroup
from presscheck.cli.operations.command_factory import sends
from presscheck.cli.session import Session, request_argument, with_session
from presscheck.cli.text_input import body_options


@click.group(
    cls=LazyGroup,
    lazy_commands={
        "links": ("space.links", "links"),
        "list": ("space.pages", "pages"),
        "view": ("space.pages", "page"),
    },
)
def page() -> None:
    """List, print and edit pages.

    PAGE is an id, a path or a title. `list`, `view` and `links` do the same as `presscheck space pages`, `page` and
    `links`.
    """


@page.command()
@request_argument
@click.argument("page")
@body_options
@with_session
@sends(EditChangeRequestContent)
async def edit(session: Session, which: str, page: str, body: str | None, body_file: str | None) -> None:
    """Edit a page of a change request.

    Without --body or --body-file, the page opens in your editor.
    """
    await edit_page(session, await lookup.change_request(session, which), page, body, body_file)
