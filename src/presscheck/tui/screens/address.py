"""Opens what a web address of the platform leads to: a page, a space, a change request or a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.api.url_lookup import GetContentByUrl

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
