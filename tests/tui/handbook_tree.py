"""The page tree of the handbook, in the browse screen and on the service, for tests that edit and move pages."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.engine.live_engine import until as eventually
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, until
from tests.tui.tree_driver import to_item

from presscheck.api.change_requests import CreateChangeRequest
from presscheck.api.content import ListChangeRequestPages, RevisionPage
from presscheck.client.client import Client
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

At = dict[str, str]
START = "How we write, Words, Reviews, Pictures, Who does what"


def outline(pages: tuple[RevisionPage, ...]) -> str:
    """Return the titles of a page tree; the children of a page follow in brackets."""
    return ", ".join(f"{page.title} [{outline(page.pages)}]" if page.pages else page.title for page in pages)


async def outline_at(client: Client, at: At) -> str:
    return outline((await client.send(ListChangeRequestPages(**at))).pages)


async def sent_as(client: Client, at: At, wanted: str) -> None:
    """Wait until the change request has this outline on the service."""

    async def is_there() -> bool:
        return await outline_at(client, at) == wanted

    try:
        await eventually(is_there)
    except TimeoutError:
        raise AssertionError(f"the service has {await outline_at(client, at)!r}") from None


def tree(pilot: Any) -> str:
    """Return the outline of the handbook in the app."""
    pages = pilot.app.screen.library.pages("handbook")
    return outline(pages.pages) if pages else ""


async def at_page(pilot: Any, title: str) -> None:
    """Move the cursor of the tree to the page with a title."""
    await to_item(pilot, lambda item: item.shortcut is None and item.title == title)


async def begun(client: Client, subject: str = "Order") -> At:
    """Create a change request in the handbook. Returns its ids."""
    made = await client.send(CreateChangeRequest(space_id="handbook", subject=subject))
    return {"space_id": "handbook", "change_request_id": made.id}


@asynccontextmanager
async def handbook(service: RunningService, home: Path, at: At | None, **profile: Any) -> AsyncIterator[Any]:
    """Run the app with the handbook open in a change request, or on main; the tree has the focus."""
    async with running(app_on(service, home, **profile)) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.page("handbook", None, at["change_request_id"] if at else None))
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        if at:
            await until(pilot, shows="editing #")
        await until(pilot, holds=lambda: tree(pilot) == START and pilot.app.screen.item is not None)
        yield pilot


def cursor(pilot: Any) -> str:
    return pilot.app.screen.item.title if pilot.app.screen.item else ""


def asks(pilot: Any, kind: type) -> Callable[[], bool]:
    return lambda: isinstance(pilot.app.screen, kind)


async def undoes(pilot: Any, *lines: str) -> None:
    """Undo the last change, once its confirmation shows these lines."""
    await until(pilot, holds=lambda: not isinstance(pilot.app.screen, ConfirmDialog))
    await pilot.press("z")
    for line in lines:
        await until(pilot, shows=line)
    await pilot.press("y")
    await until(pilot, shows="undone: ")
