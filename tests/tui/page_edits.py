"""Steps that edit a page by keys, and the page on the service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import app_on, running, until
from tests.tui.change_request_factory import Begun
from tests.tui.markdown_editor import editor, is_editing

from presscheck.api.change_requests import GetChangeRequest
from presscheck.api.content import GetChangeRequestPage, GetRevision
from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place


async def text_there(service: RunningService, one: Begun) -> str:
    [page] = await say(service, one.token, GetChangeRequestPage(**one.at, page_id=one.page, format="markdown"))
    return (page.markdown or "").partition("\n\n")[2].strip()


async def edits_since(service: RunningService, one: Begun, before: str) -> int:
    """Count the revisions of the change request since `before`."""
    count, at = 0, await revision(service, one)
    while at != before:
        [found] = await say(service, one.token, GetRevision(space_id=one.at["space_id"], revision_id=at))
        count, at = count + 1, found.parents[0]
    return count


async def revision(service: RunningService, one: Begun) -> str:
    [request] = await say(service, one.token, GetChangeRequest(**one.at))
    return request.revision


@asynccontextmanager
async def on_page(
    service: RunningService, home: Path, one: Begun, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[Any]:
    """Run the app with the page of a change request in the browse screen."""
    async with running(app_on(service, home)) as pilot:
        await until(pilot, shows="Needs me")
        await cast("PresscheckApp", pilot.app).go(Place.page(one.at["space_id"], one.page, one.at["change_request_id"]))
        await until(pilot, shows="A key lasts for ever.")
        yield pilot


async def go_offline(pilot: Any, service: RunningService) -> None:
    service.stop()
    await pilot.press("ctrl+r")
    await until(pilot, holds=lambda: not pilot.app.engine.status.online)


async def replace_text(pilot: Any, old: str, new: str) -> None:
    """Open the page in the editor, and replace a text by keys."""
    await pilot.press("e")
    await until(pilot, holds=lambda: is_editing(pilot))
    await type_over(pilot, old, new)


async def type_over(pilot: Any, old: str, new: str) -> None:
    area = editor(pilot).area
    lines = area.text.split("\n")
    row = next(at for at, line in enumerate(lines) if old in line)
    column = lines[row].index(old)
    area.move_cursor((row, column))
    await pilot.press(*["shift+right"] * len(old), *new)
    await until(pilot, holds=lambda: new in area.text)


async def save(pilot: Any) -> None:
    await pilot.press("ctrl+s")
    await until(pilot, shows="Save to the change request?")
    await pilot.press("y")
    await until(pilot, holds=lambda: not is_editing(pilot))
