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

from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestPage, ListChangeRequestPages
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.documents.pages.tree import flatten

pytestmark = pytest.mark.slow


async def titles(service: RunningService, one: Begun) -> list[str]:
    """The titles of the pages in the order of the tree."""
    [answer] = await say(service, one.token, ListChangeRequestPages(**one.at))
    return [page.title for page in flatten(answer.pages)]


async def edited(service: RunningService, one: Begun, *changes: Any) -> None:
    """Another user changes the tree."""
    await say(service, service.token, EditChangeRequestContent(**one.at, changes=changes, compat=False))


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
    await until(pilot, shows="pending: sent when the service is back")


async def test_a_page_is_added_written_and_sent_once(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Added offline", TEXT)
    before = await titles(service, one)
    async with on_page(service, tmp_path, one) as pilot:
        await go_offline(pilot, service)
        await add_page(pilot, "Limits")
        await until(pilot, holds=lambda: pilot.app.screen.session.item.title == "Limits")
        for text in ("One per day.", " Two per week."):
            await pilot.press("e")
            await until(pilot, holds=lambda: is_editing(pilot))
            await pilot.press("ctrl+end", *text)
            await save(pilot)
        await until(pilot, shows="One per day. Two per week.")
        assert len(pilot.app.engine.waiting()) == 1, "the page and its text are one write"
        service.start()
        await edited(service, one, InsertPage(title="Theirs", document=Document(markdown="x"), at=0))
        await pilot.press("ctrl+r")
        await all_sent(pilot)
        await until(pilot, shows="Theirs")
    after = await titles(service, one)
    assert sorted(after) == sorted([*before, "Limits", "Theirs"])
    assert after.index("Limits") == after.index("Lasting") + 1
    assert "One per day.\n Two per week." in await text_of(service, one, "Limits")


async def test_pages_are_moved_renamed_and_deleted(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Changed offline", TEXT)
    await edited(service, one, *(InsertPage(title=title, document=Document(markdown="x")) for title in ("Aa", "Bb")))
    before = await titles(service, one)
    async with on_page(service, tmp_path, one) as pilot:
        await until(pilot, shows="Bb")
        await go_offline(pilot, service)
        await pilot.press("J")
        await until(pilot, holds=lambda: len(pilot.app.engine.waiting()) == 1)
        await pilot.press("E")
        await until(pilot, shows="Edit Lasting")
        await pilot.press("t", *" long", "enter")
        await until(pilot, holds=lambda: len(pilot.app.engine.waiting()) == 2)
        await until(pilot, shows="Lasting long")
        pilot.app.screen.session.tree_view.focus()
        await pilot.press("up")
        await until(pilot, holds=lambda: pilot.app.screen.session.item.title == "Aa")
        await pilot.press("-")
        await until(pilot, shows="Delete Aa?")
        await pilot.press("y")
        await until(pilot, holds=lambda: len(pilot.app.engine.waiting()) == 3)
        await until(pilot, holds=lambda: " Aa " not in shown(pilot.app))
        service.start()
        await edited(service, one, InsertPage(title="Theirs", document=Document(markdown="x"), at=0))
        await pilot.press("ctrl+r")
        await all_sent(pilot)
        await until(pilot, shows="Theirs")
    kept = [title for title in before if title not in ("Lasting", "Aa", "Bb")]
    assert await titles(service, one) == ["Theirs", *kept, "Lasting long", "Bb"]


async def test_what_others_changed_is_not_overwritten(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Changed by both", TEXT)
    async with on_page(service, tmp_path, one) as pilot:
        await go_offline(pilot, service)
        await pilot.press("-")
        await until(pilot, shows="Delete Lasting?")
        await pilot.press("y")
        await until(pilot, holds=lambda: len(pilot.app.engine.waiting()) == 1)
        service.start()
        await edited(service, one, UpdatePage(page=one.page, document=Document(markdown="Theirs")))
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: pilot.app.engine.status.refused == 1)
        await pilot.press("g", "x")
        await until(pilot, shows="Not deleted: somebody else edited it or added a page below it")
    assert "Theirs" in await text_of(service, one, "Lasting")


async def test_a_page_with_a_pending_edit_is_not_deleted(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Edited and deleted", TEXT)
    async with on_page(service, tmp_path, one) as pilot:
        await go_offline(pilot, service)
        await pilot.press("e")
        await until(pilot, holds=lambda: is_editing(pilot))
        await pilot.press("ctrl+end", "x")
        await save(pilot)
        await until(pilot, shows="your edit is pen")
        await pilot.press("-")
        await until(pilot, shows="so it cannot be deleted")
        assert len(pilot.app.engine.waiting()) == 1


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
