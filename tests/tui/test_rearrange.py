"""Dropping and moving changes by keys, while another user edits the change request."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import edits, page_of, say, somebody
from tests.tui.app_driver import pick, review, shown, until, write
from tests.tui.change_request_factory import Begun, edited

from presscheck.api.change_requests import ListChangeRequests
from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.client.client import Client

BEFORE = "One line of this page.\n\nAnother line of it.\n\nA third line to read.\n"
AFTER = BEFORE.replace("One", "The first").replace("A third", "The last")


async def text_of(client: Client, at: dict[str, Any], title: str = "Lasting") -> str:
    """Return the text of a page without its title."""
    return ((await page_of(client, at, title)).markdown or "").partition("\n\n")[2]


async def newest(client: Client) -> dict[str, Any]:
    """Return the ids of the newest draft or open change request in the space."""
    requests = [
        request
        for status in ("draft", "open")
        for request in (await client.send(ListChangeRequests(space_id="guides", status=status, limit=1000))).items
    ]
    request = max(requests, key=lambda request: request.number)
    return {"space_id": "guides", "change_request_id": request.id}


async def with_pages(service: RunningService, one: Begun, *titles: str) -> None:
    """Add pages to a change request, as its author."""
    inserts = tuple(InsertPage(title=title, document=Document(markdown=f"{title} text.\n")) for title in titles)
    await say(service, one.token, EditChangeRequestContent(**one.at, changes=inserts, compat=False))


@pytest.mark.slow
async def test_an_edit_while_the_sheet_is_open_is_kept_and_then_the_hunk_is_dropped(
    service: RunningService, tmp_path: Path
) -> None:
    one = await edited(service, "Busy", BEFORE, AFTER)
    async with review(service, tmp_path, "Busy") as pilot, somebody(service, "mia") as (mia,):
        await until(pilot, shows="to read.")
        for keys in ((), ("l", "]")):  # the page in the list, and the hunk in the text
            await pilot.press(*keys, ".", "d")
            await until(pilot, shows="from #")
            text = await text_of(mia, one.at)
            await edits(mia, one.at, "Lasting", f"{text}\nAlso this.\n")
            await pilot.press("y")
            await until(pilot, shows="Nothing was changed: somebody just edited Lasting. Try again")
            assert await text_of(mia, one.at) == f"{text}\nAlso this.\n"
            await pilot.press("ctrl+r")
            await until(pilot, holds=lambda: "somebody just edited" not in shown(pilot.app))
        await pilot.press(".", "d")
        await until(pilot, shows="goes back to main's text at line 3 (1 line added, 1 removed)")
        await with_pages(service, one, "Of somebody")  # on another page: it does not matter
        await pilot.press("y")
        await until(pilot, shows="dropped this change")
        assert await text_of(mia, one.at) == f"{text}\nAlso this.\n".replace("The first", "One")


async def test_marked_pages_move_to_a_new_change_request(service: RunningService, tmp_path: Path) -> None:
    one = await edited(service, "Too much", BEFORE, AFTER)
    await with_pages(service, one, "Stays", "Goes")
    async with review(service, tmp_path, "Too much") as pilot, somebody(service, "mia") as (mia,):
        await until(pilot, shows="Goes")
        rows: Any = pilot.app.screen
        titles = [item.title for item in rows.session.model.items]
        for title in ("Lasting", "Goes"):
            rows.session.view.select(titles.index(title) + 1)
            await pilot.press("V", "V")
        await until(pilot, shows="2 pages marked: A acts on them")
        await pilot.press("A")
        await pick(pilot, "Move their changes")
        await until(pilot, shows="new change request …")
        await write(pilot, "enter", "A part of it", "enter")
        await until(pilot, shows="Move the changes to 2 pages to a new change request, A part of it?")
        for line in ("Lasting: its edit is added", "Goes: the page is added at the top level", "Goes: the page is del"):
            assert line in shown(pilot.app)
        await pilot.press("y")
        await until(pilot, shows="moved the changes to 2 pages to #")
        target = await newest(mia)
        assert (await text_of(mia, target), await text_of(mia, one.at)) == (AFTER, BEFORE)
        assert await text_of(mia, target, "Goes") == "Goes text.\n"
        await until(pilot, shows="1 change")
        assert "•" not in shown(pilot.app), "no mark is left"
