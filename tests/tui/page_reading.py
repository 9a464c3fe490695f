"""A long page and a page with links, and steps to read them."""

from typing import Any

from tests.running_service import RunningService
from tests.service_users import page_of, somebody
from tests.tui.app_driver import until
from tests.tui.block_page import write_blocks

from presscheck.api.change_requests import CreateChangeRequest, MergeChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import ListPages
from presscheck.api.content_changes import EditChangeRequestContent, InsertFiles, NewFile, UpdatePage
from presscheck.documents.pages.tree import flatten
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.screen import BrowseScreen

CHAPTERS = "\n\n".join(
    f"## Chapter {number}\n\n{'Words about it. ' * 30}\n\n### Part of {number}\n\n- one\n\nThe [b]end of {number}."
    for number in range(1, 31)
)
LINKS = (
    "See [the rules](on-call.md), [a fragment](after.md#chapter-20), [nothing](gone/away.md) and\n\n"
    '![A picture of it](.gitbook/assets/picture.png)\n\n{% file src=".gitbook/assets/list.csv" %}\n\n'
    "[only one](on-call.md)\n\n"
    '\n\nAsk [somebody](/~/users/mia "mention").\n'
)


async def write_pages(service: RunningService) -> None:
    async with somebody(service, "robin") as (robin,):
        made = await robin.send(CreateChangeRequest(space_id="runbook", subject="Long pages"))
        at = {"space_id": "runbook", "change_request_id": made.id}
        files = (
            NewFile(name=".gitbook/assets/picture.png", base64="iVBORw0KGgo=", content_type="image/png"),
            NewFile(name=".gitbook/assets/list.csv", base64="YQ==", content_type="text/csv"),
        )
        long, linked = await page_of(robin, at, "Afterwards"), await page_of(robin, at, "Events come late")
        changes = (
            InsertFiles(files=files),
            UpdatePage(page=long.id, document=Document(markdown=CHAPTERS)),
            UpdatePage(page=linked.id, document=Document(markdown=LINKS)),
        )
        await robin.send(EditChangeRequestContent(**at, changes=changes, compat=False))
        await robin.send(UpdateChangeRequest(**at, status="open"))
        await robin.send(MergeChangeRequest(**at))


async def write_all(service: RunningService) -> None:
    """Write three pages of the runbook: a long page, a page with links, an image and a file, and a page with blocks."""
    await write_pages(service)
    await write_blocks(service)


async def reading(pilot: Any, title: str, shows: str) -> None:
    """Open a page of the runbook, and wait until it shows a text and has the focus."""
    await until(pilot, shows="Needs me")
    pages = (await pilot.app.engine.read(ListPages(space_id="runbook"))).pages
    page = next(page for page in flatten(pages) if page.title == title)
    await pilot.app.go(Place.page("runbook", page.id))
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
    await until(pilot, shows=f"› {title}")
    await until(pilot, shows=shows, holds=lambda: pilot.app.screen.page_view.has_focus)


def under_cursor(pilot: Any) -> str:
    view = pilot.app.screen.page_view
    return "".join(span.text for span in view.document.lines[view.cursor])
