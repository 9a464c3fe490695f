"""Pages edited offline in the real app: the service is stopped and started again, and another user writes meanwhile."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import all_sent, shown, until
from tests.tui.change_request_factory import begun, rewritten
from tests.tui.markdown_editor import TEXT, editor, is_editing
from tests.tui.page_edits import edits_since, go_offline, on_page, replace_text, revision, save, text_there, type_over

from presscheck.engine.reads import scheduler

pytestmark = pytest.mark.slow


@pytest.fixture
def returns_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reconnect only on request, so that writes of other users arrive before pending edits."""
    for name in ("FIRST_PAUSE", "SHORTEST_PAUSE", "LONGEST_PAUSE"):
        monkeypatch.setattr(scheduler, name, 3600.0)


async def test_a_pending_edit_is_shown_survives_a_restart_and_is_merged(
    service: RunningService, tmp_path: Path
) -> None:
    one = await begun(service, "Offline and left", TEXT)
    before = await revision(service, one)
    async with on_page(service, tmp_path, one) as pilot:
        await go_offline(pilot, service)
        await replace_text(pilot, "30 days", "60 days")
        await save(pilot)
        await until(pilot, shows="your edit is pend")
        await until(pilot, shows="A token lasts 60 days.")
        await pilot.press("g", "x")
        await until(pilot, shows="edit page")
        await pilot.press("e")
        await until(pilot, holds=lambda: is_editing(pilot))
        await type_over(pilot, "60 days", "90 days")
        await save(pilot)
        assert len(pilot.app.engine.waiting()) == 1
    service.start()
    await rewritten(service, one, TEXT + "\nAsk Mia.\n")
    async with on_page(service, tmp_path, one) as pilot:
        await all_sent(pilot)
        await until(pilot, shows="A token lasts 90 days.")
        await until(pilot, shows="Ask Mia.")
        assert "pending" not in shown(pilot.app)
    assert await text_there(service, one) == "A token lasts 90 days.\n\nA key lasts for ever.\n\nAsk Mia."
    assert await edits_since(service, one, before) == 2


@pytest.mark.usefixtures("returns_on_request")
async def test_a_conflicting_edit_keeps_its_text_and_is_resolved_in_the_editor(
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
        await until(pilot, shows="your edit failed: the outbox shows why")
        await until(pilot, shows="A token lasts 60 days.")
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


@pytest.mark.usefixtures("returns_on_request")
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
