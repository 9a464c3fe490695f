"""Opens what an address leads to: a web address of the platform, or the path of a page in a space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.api.content import GetChangeRequestPageByPath, GetPageByPath
from presscheck.api.url_lookup import GetContentByUrl
from presscheck.errors import NotFound
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.tui.app_context import AppContext


def is_address(text: str) -> bool:
    """Whether a text is a web address."""
    return text.strip().startswith(("https://", "http://"))


async def open_content_at(app: AppContext, address: str) -> None:
    """Ask the service what is at an address, and open it.

    Raises:
        PresscheckError: nothing is there, or the service does not tell.
    """
    found = await app.engine.read(GetContentByUrl(url=address.strip()))
    space = found.space
    if space is None:
        app.notify("this address leads to no space or page that you can open")
    elif found.page:
        await app.open_page(space.id, found.page.id, found.change_request.id if found.change_request else None)
    elif found.change_request:
        app.open_review(space.id, found.change_request.id)
    else:
        await app.open_page(space.id)


async def open_page_at(app: AppContext, space_id: str, path: str, change_request_id: str | None = None) -> None:
    """Ask the service which page has a path in a space, and open it.

    Args:
        app: the app.
        space_id: the id of the space.
        path: the path, such as `/guides/start`.
        change_request_id: the change request that the space is browsed in; None for main.

    Raises:
        PresscheckError: the service does not tell.
    """
    page_path = path.strip().strip("/")
    call = (
        GetChangeRequestPageByPath(space_id=space_id, change_request_id=change_request_id, page_path=page_path)
        if change_request_id
        else GetPageByPath(space_id=space_id, page_path=page_path)
    )
    try:
        page = await app.engine.read(call)
    except NotFound:
        app.notify(f"no page at {sanitize(path)} here")
        return
    await app.open_page(space_id, page.id, change_request_id)
