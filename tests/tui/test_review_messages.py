"""Suggestions in comments: inserted with one key, checked and sent."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import all_sent, review, shown, until

from presscheck.api.comments import ListComments

SUBJECT = "Rewrite the auth guide"
SUGGESTED = "Rotate in two steps: make the new token, then revoke the old."


pytestmark = pytest.mark.usefixtures("at_once")


@pytest.mark.slow
async def test_a_suggestion_is_inserted_with_one_key_checked_and_sent(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="expires after 90 days")
        await pilot.press("l", "]", "c")
        await until(pilot, shows="ctrl+g suggest")
        await pilot.press(*"Why so?", "ctrl+g")
        await until(pilot, shows="```suggestion")
        area = pilot.app.screen.query_one("TextArea")
        block = area.selected_text
        assert f"Why so?\n```suggestion\n{block}\n```\n" in area.text
        await pilot.press("x", "ctrl+g")
        assert area.selected_text == "x", "the same suggestion is selected again"
        await pilot.press(*SUGGESTED, "right", "backspace")
        await until(pilot, shows="the suggestion has no end: close it with ```")
        await pilot.press("ctrl+s", "enter")
        await until(pilot, shows="ctrl+g suggest")
        await pilot.press("ctrl+o")
        await until(pilot, shows="suggestion:")
        assert "```" not in shown(pilot.app)
        await pilot.press("ctrl+o", "ctrl+s")
        await all_sent(pilot)
        await until(pilot, shows="Rotate in two steps")
        assert "```suggestion" not in shown(pilot.app)
        path = pilot.app.screen.session.model.path
        said = (await pilot.app.engine.read(ListComments(**path, format="markdown", limit=1000))).items
        assert any(f"```suggestion\n{SUGGESTED}\n```" in (one.body.markdown or "") for one in said)
