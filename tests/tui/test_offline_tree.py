"""Pages that are added, moved, renamed and deleted offline, in the real app with a service that stops and starts."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import all_sent, shown, until
from tests.tui.change_request_factory import Begun, begun
from tests.tui.markdown_editor import TEXT, editor, is_editing
from tests.tui.page_edits import go_offline, on_page, save

from presscheck.api.content import GetChangeRequestPage, ListChangeRequestPages
from presscheck.documents.pages.tree import flatten
from presscheck.tui.screens.browse.page_tree import page_key
from presscheck.tui.screens.outbox.unsent_list import change_name

pytestmark = pytest.mark.slow


async def titles(service: RunningService, one: Begun) -> list[str]:
    """Return the titles of the pages in tree order."""
    [answer] = await say(service, one.token, ListChangeRequestPages(**one.at))
    return [page.title for page in flatten(answer.pages)]


async def text_of(service: RunningService, one: Begun, title: str) -> str:
    [answer] = await say(service, one.token, ListChangeRequestPages(**one.at))
    page = next(page.id for page in flatten(answer.pages) if page.title == title)
    [text] = await say(service, one.token, GetChangeRequestPage(**one.at, page_id=page, format="markdown"))
    return text.markdown or ""


async def add_page(pilot: Any, title: str) -> None:
    await pilot.press("a")
    await until(pilot, shows="Add a page: where from")
    await pilot.press("a")
    await until(pilot, shows="Title of the new page")
    await pilot.press(*title, "enter")
    await until(pilot, shows="pending (g x shows it): sent and merged when the service is back")


async def test_typing_while_the_new_page_is_added_is_saved_into_it(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Added while typing", TEXT)
    async with on_page(service, tmp_path, one) as pilot:
        await go_offline(pilot, service)
        await add_page(pilot, "Limits")
        await until(pilot, holds=lambda: pilot.app.screen.session.item.title == "Limits")
        await pilot.press("e")
        await until(pilot, holds=lambda: is_editing(pilot))
        await pilot.press("ctrl+end", *"One per day.")
        await until(pilot, holds=lambda: editor(pilot).draft.is_kept)
        service.start()
        pilot.app.engine.refresh()
        await all_sent(pilot)
        assert (await titles(service, one)).count("Limits") == 1
        await pilot.press(*" Two.")
        await save(pilot)
        await all_sent(pilot)
        await until(pilot, holds=lambda: not pilot.app.engine.outbox.drafts())
    assert "One per day. Two." in await text_of(service, one, "Limits")


async def test_an_offline_rename_shows_in_the_heading_and_in_the_editor(
    service: RunningService, tmp_path: Path
) -> None:
    one = await begun(service, "Renamed", TEXT)
    async with on_page(service, tmp_path, one) as pilot:
        await go_offline(pilot, service)

        async def rename(old: str, new: str) -> None:
            await pilot.press("E")
            await until(pilot, shows=f"Edit {old}")
            await pilot.press("t")
            await until(pilot, shows="Title of the page")
            await pilot.press("ctrl+u", *new, "enter")
            await until(pilot, holds=lambda: pilot.app.screen.session.item.title == new)
            await until(pilot, holds=lambda: old not in shown(pilot.app))
            await pilot.press("e")
            await until(pilot, holds=lambda: is_editing(pilot))
            assert editor(pilot).draft.title == new
            assert editor(pilot).area.text.count("# ") == 1
            await pilot.press("escape")
            await until(pilot, holds=lambda: not is_editing(pilot))

        await rename("Lasting", "Durable")
        await add_page(pilot, "Limits")
        await until(pilot, holds=lambda: pilot.app.screen.session.item.title == "Limits")
        await rename("Limits", "Quotas")
        service.start()
        pilot.app.engine.refresh()
        await all_sent(pilot)
    assert {"Durable", "Quotas"} <= {*await titles(service, one)}


async def test_pending_and_sent_changes_of_the_tree_name_their_pages(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Named", TEXT)
    async with on_page(service, tmp_path, one) as pilot:
        await go_offline(pilot, service)
        pilot.app.screen.session.go_to(page_key("guides", await _page(pilot, one, "Ship")))
        await until(pilot, holds=lambda: pilot.app.screen.session.item.title == "Ship")
        await pilot.press("-")
        await until(pilot, shows="Delete Ship?")
        await pilot.press("y")
        await until(pilot, shows="1 pending")
        pilot.app.screen.session.go_to(page_key("guides", one.page))
        await until(pilot, holds=lambda: pilot.app.screen.session.item.title == "Lasting")
        await pilot.press("K")
        await until(pilot, shows="2 pending")
        names = ["delete page “Ship” with 6 subpages", "move page “Lasting”"]
        assert [change_name(entry) for entry in pilot.app.engine.waiting()] == names
        await pilot.press("g", "x")
        for name in names:
            await until(pilot, shows=name)
        service.start()
        pilot.app.engine.refresh()
        await all_sent(pilot)
        sent = pilot.app.engine.history()
        assert [entry.description for entry in sent] == names[::-1]
        pilot.app.engine.undo(sent[1].id)
        restored = "restore page “Ship” with 6 subpages"
        await until(pilot, holds=lambda: pilot.app.engine.history()[0].description == restored)


async def _page(pilot: Any, one: Begun, title: str) -> str:
    tree = await pilot.app.engine.read(ListChangeRequestPages(**one.at))
    return next(page.id for page in flatten(tree.pages) if page.title == title)
