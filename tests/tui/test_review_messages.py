"""Suggestions in comments: inserted, sent and applied."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import review, shown, until

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.comments import ListComments
from presscheck.api.content import GetChangeRequestPage

SUBJECT = "Rewrite the auth guide"
SUGGESTED = "Rotate in two steps: make the new token, then revoke the old."


pytestmark = pytest.mark.usefixtures("at_once")


async def to_suggestion(pilot: Any) -> None:
    """Go to the next thread until one has a suggestion; threads that are still loading move the cursor."""
    async with asyncio.timeout(20):
        while pilot.app.screen.disabled_reason("use_suggestion") is not None:
            await pilot.press("t")
            await pilot.pause(0.02)


async def threads(pilot: Any) -> dict[str, Any]:
    """The threads at the service, by their text."""
    path = path_of(pilot.app.screen.session.model.request)
    found = await pilot.app.engine.read(ListComments(**path, format="markdown", limit=1000))
    return {one.body.markdown.strip(): one for one in found.items}


def path_of(request: ChangeRequest) -> dict[str, Any]:
    return {"space_id": request.space, "change_request_id": request.id}


async def settled(pilot: Any) -> None:
    await until(pilot, holds=lambda: not pilot.app.engine.waiting())


@pytest.mark.slow
async def test_a_suggestion_is_inserted_with_one_key(service: RunningService, tmp_path: Path) -> None:
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
        await settled(pilot)
        await until(pilot, shows="Rotate in two steps")
        assert "```suggestion" not in shown(pilot.app)
        await to_suggestion(pilot)
        await pilot.press("U")
        await until(pilot, shows="Apply the suggestion to")
        assert "suggestion:" in shown(pilot.app)
        await pilot.press("y")
        await until(pilot, shows="suggestion applied")
        await settled(pilot)
        review_screen = pilot.app.screen
        page = await pilot.app.engine.read(
            GetChangeRequestPage(
                **path_of(review_screen.session.model.request),
                page_id=review_screen.session.view.item.id,
                format="markdown",
            )
        )
        assert SUGGESTED in page.markdown and block not in page.markdown
        thread = next(one for text, one in (await threads(pilot)).items() if "Rotate in two steps" in text)
        assert thread.status == "resolved"
