"""Pages edited offline in the real app: the service is stopped and started again, and another user writes meanwhile."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import all_sent, app_on, review, running, shown, until
from tests.tui.change_request_factory import Begun, begun, rewritten
from tests.tui.markdown_editor import TEXT, editor, is_editing

from presscheck.api.change_requests import GetChangeRequest
from presscheck.api.content import GetChangeRequestPage, GetRevision
from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place

pytestmark = pytest.mark.slow


async def text_there(service: RunningService, one: Begun) -> str:
    [page] = await say(service, one.token, GetChangeRequestPage(**one.at, page_id=one.page, format="markdown"))
    return (page.markdown or "").partition("\n\n")[2].strip()


async def edits_since(service: RunningService, one: Begun, before: str) -> int:
    """The number of revisions since a revision."""
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
    """The app with the page of a change request in the browse screen."""
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
    """Open the page with e, and replace a text in the editor by keys."""
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


async def test_an_edit_waits_is_shown_and_is_merged_with_edits_of_others(
    service: RunningService, tmp_path: Path
) -> None:
    one = await begun(service, "Offline", TEXT)
    before = await revision(service, one)
    async with on_page(service, tmp_path, one) as pilot:
        await go_offline(pilot, service)
        await replace_text(pilot, "30 days", "90 days")
        await save(pilot)
        await until(pilot, shows="your edit is pending")
        assert "A token lasts 90 days." in shown(pilot.app)
        service.start()
        await rewritten(service, one, TEXT.replace("for ever", "a year"))
        await pilot.press("ctrl+r")
        await all_sent(pilot)
        await until(pilot, shows="A key lasts a year.")
        assert "pending" not in shown(pilot.app)
        assert "A token lasts 90 days." in shown(pilot.app)
    assert await text_there(service, one) == "A token lasts 90 days.\n\nA key lasts a year."
    assert await edits_since(service, one, before) == 2


async def test_a_pending_edit_is_edited_again_and_sent_once(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Offline twice", TEXT)
    before = await revision(service, one)
    async with on_page(service, tmp_path, one) as pilot:
        await go_offline(pilot, service)
        await replace_text(pilot, "30 days", "60 days")
        await save(pilot)
        await until(pilot, shows="A token lasts 60 days.")
        await replace_text(pilot, "60 days", "90 days")
        await save(pilot)
        await until(pilot, shows="A token lasts 90 days.")
        assert len(pilot.app.engine.waiting()) == 1
        await pilot.press("g", "x")
        await until(pilot, shows="edit page")
        await pilot.press("e")
        await until(pilot, holds=lambda: is_editing(pilot))
        await type_over(pilot, "for ever", "a year")
        await save(pilot)
        service.start()
        await pilot.press("ctrl+r")
        await all_sent(pilot)
    assert await text_there(service, one) == "A token lasts 90 days.\n\nA key lasts a year."
    assert await edits_since(service, one, before) == 1


async def test_a_conflict_is_held_with_its_text_and_resolved_in_the_editor(
    service: RunningService, tmp_path: Path
) -> None:
    one = await begun(service, "Offline conflict", TEXT)
    theirs = TEXT.replace("30 days", "60 days")
    async with on_page(service, tmp_path, one) as pilot:
        await go_offline(pilot, service)
        await replace_text(pilot, "30 days", "90 days")
        await save(pilot)
        service.start()
        await rewritten(service, one, theirs)
        await pilot.press("ctrl+r")
        await until(pilot, shows="your edit failed: g x shows it")
        assert "A token lasts 60 days." in shown(pilot.app)
        assert await text_there(service, one) == theirs.strip()
        await pilot.press("g", "x")
        await until(pilot, shows="Conflict: Mia Okonkwo edited the same lines; e shows both versions")
        await pilot.press("e")
        await until(pilot, shows="1 conflict")
        assert "A token lasts 90 days." in editor(pilot).area.text
        assert pilot.app.engine.waiting() == ()
        await pilot.press("alt+m")
        await until(pilot, shows="took mine")
        await save(pilot)
    assert await text_there(service, one) == "A token lasts 90 days.\n\nA key lasts for ever."


async def test_an_edit_survives_the_end_of_the_app(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Offline and left", TEXT)
    async with on_page(service, tmp_path, one) as pilot:
        await go_offline(pilot, service)
        await replace_text(pilot, "30 days", "90 days")
        await save(pilot)
    service.start()
    await rewritten(service, one, TEXT + "\nAsk Mia.\n")
    async with on_page(service, tmp_path, one) as pilot:
        await all_sent(pilot)
        await until(pilot, shows="A token lasts 90 days.")
        await until(pilot, shows="Ask Mia.")
    assert await text_there(service, one) == "A token lasts 90 days.\n\nA key lasts for ever.\n\nAsk Mia."


async def test_typing_while_the_pending_edit_is_sent_is_merged(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Offline and typing", TEXT)
    async with on_page(service, tmp_path, one) as pilot:
        await go_offline(pilot, service)
        await replace_text(pilot, "30 days", "60 days")
        await save(pilot)
        await replace_text(pilot, "60 days", "90 days")
        service.start()
        await rewritten(service, one, TEXT.replace("for ever", "a year"))
        pilot.app.engine.refresh()
        await all_sent(pilot)
        assert await text_there(service, one) == "A token lasts 60 days.\n\nA key lasts a year."
        await save(pilot)
        await until(pilot, holds=lambda: not is_editing(pilot))
    assert await text_there(service, one) == "A token lasts 90 days.\n\nA key lasts a year."


async def test_a_review_shows_a_pending_edit_and_a_conflict(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Offline in a review", TEXT)
    async with review(service, tmp_path, "Offline in a review") as pilot:
        await until(pilot, shows="A key lasts for ever.")
        await go_offline(pilot, service)
        await replace_text(pilot, "30 days", "90 days")
        await save(pilot)
        await until(pilot, shows="your edit is pending")
        await until(pilot, shows="A token lasts 90 days.")
        service.start()
        await rewritten(service, one, TEXT.replace("30 days", "60 days"))
        await pilot.press("ctrl+r")
        await until(pilot, shows="your edit failed: g x shows it")
        await until(pilot, shows="A token lasts 60 days.")
