"""Reading a change: pages that are skipped by fast key presses."""

import time
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import review, until
from tests.tui.change_request_factory import begun
from textual import events

from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.tui.screens.review import view

pytestmark = pytest.mark.slow

SUBJECT = "One word of many"


async def test_pages_skipped_by_fast_keys_are_not_rendered(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mia, at, _ = await begun(service, SUBJECT, "The first page.", title="Page 0")
    pages = tuple(InsertPage(title=f"Page {n}", document=Document(markdown=f"Text {n}.\n")) for n in range(1, 25))
    await say(service, mia, EditChangeRequestContent(**at, changes=pages, compat=False))
    monkeypatch.setattr(view, "PASSING", 1.0)
    drawn: list[str] = []
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="The first page.")
        original = pilot.app.screen.session.view._render

        def render(item: Any, *more: Any) -> Any:
            drawn.append(item.title)
            time.sleep(1.1 if len(drawn) < 3 else 0)  # the keys that are pressed meanwhile wait in the queue
            return original(item, *more)

        monkeypatch.setattr(pilot.app.screen.session.view, "_render", render)
        await pilot.press("tab")
        for _ in range(20):
            pilot.app.post_message(events.Key("right_curly_bracket", "}"))
        await until(pilot, shows="Text 20.")
        assert set(drawn) <= {"Page 0", "Page 1", "Page 20"}
        await pilot.press("}", "}", "}", "]")
        assert pilot.app.screen.session.view.item.title == "Page 23", "the change of the page that is selected"
        assert "Page 23" in drawn
        assert "Page 22" not in drawn
