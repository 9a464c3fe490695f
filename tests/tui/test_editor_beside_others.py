"""Another user edits the page that is open in the editor: the editor shows the user, and a key merges the edit."""

import re
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.service_users import say, token_of
from tests.tui.app_driver import shown, until
from tests.tui.change_request_factory import begun, rewritten
from tests.tui.markdown_editor import TEXT, editing, editor, is_editing
from tests.tui.page_edits import save, text_there, type_over

from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.tui.screens.markdown_editor import screen as editor_screen

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editor_screen, "INTERVAL", 0.1)


async def test_an_edit_of_another_user_is_shown_and_merged_before_saving(
    service: RunningService, tmp_path: Path
) -> None:
    one = await begun(service, "Beside", TEXT)
    async with editing(service, tmp_path, one) as pilot:
        await type_over(pilot, "30 days", "90 days")
        await rewritten(service, one, TEXT.replace("for ever", "a year"))
        await until(pilot, shows="Mia Okonkwo edited this page just now: alt+u merges it")
        assert "Mia Okonkwo edited it" in shown(pilot.app).split("\n")[0]
        assert "for ever" in editor(pilot).area.text
        await pilot.press("alt+u")
        await until(pilot, shows="merged with the edit of Mia Okonkwo")
        assert "A token lasts 90 days.\n\nA key lasts a year." in editor(pilot).area.text
        assert "edited it" not in shown(pilot.app).split("\n")[0]
        await pilot.press("ctrl+z")
        assert "A token lasts 90 days.\n\nA key lasts a year." in editor(pilot).area.text
        await save(pilot)
        await until(pilot, holds=lambda: not is_editing(pilot))
    assert await text_there(service, one) == "A token lasts 90 days.\n\nA key lasts a year."


async def test_conflict_markers_name_the_last_editor_of_the_page(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Beside", TEXT)
    async with editing(service, tmp_path, one) as pilot:
        await type_over(pilot, "30 days", "90 days")
        await rewritten(service, one, TEXT.replace("30 days", "60 days"))
        await until(pilot, shows="Mia Okonkwo edited it")
        elsewhere = InsertPage(title="Elsewhere", document=Document(markdown="Another page."))
        await say(service, token_of(service, "robin"), EditChangeRequestContent(**one.at, changes=(elsewhere,)))
        await pilot.press("ctrl+s")
        await until(pilot, shows=">>>>>>>")
        assert re.search(r">{7} #\d+, revision by Mia Okonkwo", editor(pilot).area.text)
