"""Comments go to the place that the composer shows, each place has its own draft, and editing others' comments asks."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import say, somebody, threads
from tests.tui.app_driver import all_sent, app_on, open_review, review, running, shown, until, write
from tests.tui.change_request_factory import begun, edited
from tests.tui.drafts import open_drafts
from textual.widgets import TextArea

from presscheck.api.comments import Document, GetComment, PostComment
from presscheck.engine.drafts import drafts

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("at_once")]

TEXT = "A token lasts 30 days.\n\nA key lasts for ever.\n\nAsk again.\n\nA door is open.\n\nAsk again.\n"
PLACES = (
    ("A token lasts 30 days.", 0, "Of days"),
    ("A key lasts for ever.", 0, "Of keys"),
    ("Ask again.", 0, "Of the first"),
    ("Ask again.", 1, "Of the second"),
)


def composed(pilot: Any) -> str:
    """Return the text in the composer."""
    area = pilot.app.focused
    assert isinstance(area, TextArea), shown(pilot.app)
    return area.text


async def go_to_line(pilot: Any, text: str, number: int = 0) -> None:
    """Move the cursor of a review to a line of the new text; `number` counts the lines with the same text."""
    view = pilot.app.screen.session.view
    number = [at for at, line in enumerate(view.page.after.split("\n")) if line == text][number]
    if view.items.has_focus:
        await pilot.press("tab")
    await pilot.press("g", "g")
    for _ in range(60):
        if view.text_line == number and view.line in view.rendered.anchors:
            return
        await pilot.press("j")
    raise AssertionError(shown(pilot.app))


def cursor_row(pilot: Any) -> int:
    """Return the screen row with the cursor of the change."""
    change = pilot.app.screen.session.view.change
    return change.region.y + change.cursor - change.top


async def leave(pilot: Any) -> None:
    """Close the composer."""
    await pilot.press("escape")
    await until(pilot, holds=lambda: not isinstance(pilot.app.focused, TextArea))


async def test_each_line_of_a_page_has_its_own_draft(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Several drafts", TEXT, title="Lasting")
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await open_review(pilot, one.at)
        await pilot.press("g", "g", "j")
        await until(pilot, shows="A key lasts for ever.")
        await write(pilot, "c", "Of the page")
        await until(pilot, shows="Comment on Lasting ")
        await leave(pilot)
        for quoted, number, text in PLACES:
            await go_to_line(pilot, quoted, number)
            await write(pilot, "c", "")
            await until(pilot, shows=f"Comment on Lasting: “{quoted}”")
            assert composed(pilot) == f"> {quoted}\n\n"
            await pilot.press(*text)
            await leave(pilot)
        for quoted, number, text in reversed(PLACES):
            await go_to_line(pilot, quoted, number)
            await write(pilot, "c", "")
            assert composed(pilot).endswith(f"\n\n{text}")
            await leave(pilot)
        await go_to_line(pilot, "A key lasts for ever.")
        await write(pilot, "c", "!", "ctrl+s")
        await all_sent(pilot)
        assert "> A key lasts for ever.\n\nOf keys!" in await threads(mia, one.at)
        await go_to_line(pilot, "A key lasts for ever.")
        await write(pilot, "c", "")
        assert composed(pilot) == "> A key lasts for ever.\n\n", "it was sent"
        await leave(pilot)
        labels = [draft.label for draft in drafts(pilot.app.engine.outbox.drafts())]
        assert sorted(labels) == [
            "comment on Lasting",
            "comment on Lasting: “A token lasts 30 days.”",
            "comment on Lasting: “Ask again.”",
            "comment on Lasting: “Ask again.”",
        ]
        # a draft that is opened from the list of drafts continues at its line
        await open_drafts(pilot)
        await until(pilot, shows="comment on Lasting: “A token lasts 30 days.”")
        while "A token" not in shown(pilot.app).split("▌")[1].splitlines()[0]:
            await pilot.press("j")
        await pilot.press("enter")
        await until(pilot, shows="Comment on Lasting: “A token lasts 30 days.”")
        assert composed(pilot).endswith("\n\nOf days")


async def test_editing_the_comment_of_another_user_asks_first(service: RunningService, tmp_path: Path) -> None:
    mia, at, page = await begun(service, "Edited by an admin", "A token lasts.\n")
    body = Document(markdown="> A token lasts\n\nHow long?")
    [comment] = await say(service, mia, PostComment(**at, page=page, body=body))
    async with review(service, tmp_path, "Edited by an admin") as pilot:
        await until(pilot, shows="How long?")
        await pilot.press("t", "e")
        await until(pilot, shows="Edit Mia's comment?")
        await until(pilot, shows="Mia wrote")
        await pilot.press("n")
        await until(pilot, holds=lambda: "Edit Mia's" not in shown(pilot.app))
        await pilot.press("e")
        await until(pilot, shows="Edit Mia's comment?")
        await pilot.press("y")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, TextArea))
        await until(pilot, shows="Edit Mia's comment ")
        await pilot.press(*" And why?")
        await leave(pilot)
        [draft] = drafts(pilot.app.engine.outbox.drafts())
        assert draft.label == "edit of a comment by Mia"
        await pilot.press("e")
        await until(pilot, shows="Edit Mia's comment?")
        await pilot.press("y")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, TextArea))
        await pilot.press("ctrl+s")
        await all_sent(pilot)
    [changed] = await say(service, mia, GetComment(**at, comment_id=comment.id, format="markdown"))
    assert (changed.body.markdown or "").strip().endswith("How long? And why?")
    assert changed.posted_by.id == "mia"


async def test_a_deleted_line_is_quoted_and_its_thread_is_below_it(service: RunningService, tmp_path: Path) -> None:
    after = TEXT.replace("A key lasts for ever.\n\n", "")
    one = await edited(service, "A line is deleted", TEXT, after, title="Locks")
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await open_review(pilot, one.at)
        await pilot.press("g", "g", "j")
        await until(pilot, shows="− A key lasts for ever.")
        view = pilot.app.screen.session.view
        for mode in ("d", "d", "d"):  # side by side, then the source, then rendered
            await pilot.press(mode)
            if view.items.has_focus:
                await pilot.press("tab")
            await pilot.press("g", "g")
            while "A key lasts" not in shown(pilot.app).splitlines()[cursor_row(pilot)]:
                await pilot.press("j")
            await write(pilot, "c", "")
            assert "Comment on deleted text of Locks: “A key lasts for ever.”" in shown(pilot.app), view.mode
            assert composed(pilot) == "> ~~A key lasts for ever.~~\n\n"
            await leave(pilot)
        await write(pilot, "c", "But why?", "ctrl+s")
        await all_sent(pilot)
        assert "> ~~A key lasts for ever.~~\n\nBut why?" in await threads(mia, one.at)
        await until(pilot, shows="But why?")
        lines = shown(pilot.app).splitlines()
        at = next(at for at, line in enumerate(lines) if "− A key lasts for ever." in line)
        assert "But why?" in lines[at + 1]
        assert "~~" not in shown(pilot.app)
        await pilot.press("g", "t")
        await until(pilot, shows="Locks · deleted: A key lasts for ever.")
        await until(pilot, shows="● open 1")
        await until(pilot, shows="outdated 0")
