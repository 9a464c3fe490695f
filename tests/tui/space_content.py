"""Files and content of a space, and steps to open them."""

import base64
from typing import Any

from tests.tui.app_driver import until

from presscheck.api.change_requests import CreateChangeRequest, MergeChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertFiles, InsertPage, NewFile
from presscheck.client.client import Client
from presscheck.tui.places import Place
from presscheck.tui.screens.space_content.screen import SpaceContentScreen

MUCH = "One more paragraph.\n\n" * 60
PAGE = f"""\
# Map

The first line.

{MUCH}
[The limits](limits.md), [gone](gone.md), [the web](https://example.org/). ![Plan](/plan.png)
Ask [Mia](/~/users/mia "mention").
"""
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x08" + bytes(range(256))
SPACE = "notes"


async def drafted(client: Client, subject: str, *changes: Any) -> dict[str, str]:
    """Create a change request with these changes. Returns its ids."""
    request = await client.send(CreateChangeRequest(space_id=SPACE, subject=subject))
    path = {"space_id": SPACE, "change_request_id": request.id}
    if changes:
        await client.send(EditChangeRequestContent(**path, changes=changes))
    return path


async def merged(client: Client, *changes: Any) -> None:
    """Change main by merging a change request with these changes."""
    path = await drafted(client, "Maps", *changes)
    await client.send(UpdateChangeRequest(**path, status="open"))
    await client.send(MergeChangeRequest(**path))


def page(title: str, text: str) -> InsertPage:
    return InsertPage(title=title, document=Document(markdown=text))


def file(name: str, content: bytes) -> InsertFiles:
    return InsertFiles(files=(NewFile(name=name, base64=base64.b64encode(content).decode(), content_type="image/png"),))


async def opened(pilot: Any, space: str = SPACE, request: str | None = None) -> None:
    """Open the links and files of a space from the browse screen."""
    await until(pilot, shows="Needs me")
    await pilot.app.go(Place.page(space, None, request))
    if request:
        await until(pilot, shows="editing #")
    await until(pilot, holds=lambda: (item := pilot.app.screen.item) is not None and item.space is not None)
    await until(pilot, holds=lambda: pilot.app.screen.item.space.id == space)
    await pilot.press("g", "l")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, SpaceContentScreen))


async def listed(pilot: Any) -> None:
    """Wait until all links are loaded."""
    screen = pilot.app.screen
    await until(pilot, holds=lambda: screen.session.is_loaded and screen.session.linked and not screen.session.progress)
