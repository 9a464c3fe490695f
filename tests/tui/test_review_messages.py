"""Suggestions and reactions in the comments of a review."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import all_sent, pick, review, shown, until

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


async def threads(pilot: Any) -> dict[str, Any]:
    """Return the comments from the service, by their text."""
    request = pilot.app.screen.session.model.request
    path = {"space_id": request.space, "change_request_id": request.id}
    found = await pilot.app.engine.read(ListComments(**path, format="markdown", limit=1000))
    return {one.body.markdown.strip(): one for one in found.items}


@pytest.mark.slow
async def test_a_reaction_is_added_and_removed(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="expires after 90 days")
        await pilot.press("k")
        await until(pilot, shows="👍 2")
        await pilot.press("+")
        await pick(pilot, "thumbs up")
        await until(pilot, shows="👍 3")
        await all_sent(pilot)
        said = (await threads(pilot))["Can we link this from the quickstart?"]
        assert [(one.emoji, one.count) for one in said.reactions] == [("1f44d", 3)]
        await pilot.press("+")
        await until(pilot, shows="yours: remove")
        await pilot.press("enter")
        await until(pilot, shows="👍 2")
        await pilot.press("+")
        await pick(pilot, "rocket")
        await until(pilot, shows="🚀 1")
