"""Comments go where the composer says: each place has a draft of its own, and a text of others is edited knowingly."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import say, somebody, threads
from tests.tui.app_driver import all_sent, app_on, open_review, review, running, shown, until, write
from tests.tui.change_request_factory import begun, edited
from tests.tui.drafts import open_drafts
from textual.widgets import TextArea

from presscheck.api.comments import Document, GetComment, ListSpaceComments, PostComment
from presscheck.api.content import ListPages
from presscheck.documents.pages.tree import flatten
from presscheck.engine.drafts import drafts
from presscheck.tui.places import Place

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("at_once")]

TEXT = "A token lasts 30 days.\n\nA key lasts for ever.\n\nAsk again.\n\nA door is open.\n\nAsk again.\n"
PLACES = (
    ("A token lasts 30 days.", 0, "Of days"),
    ("A key lasts for ever.", 0, "Of keys"),
    ("Ask again.", 0, "Of the first"),
    ("Ask again.", 1, "Of the second"),
)


def composed(pilot: Any) -> str:
    """The text in the composer."""
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
    """The row of the screen with the cursor of the change."""
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
        # one is continued from the list of drafts, at its line
        await open_drafts(pilot)
        await until(pilot, shows="comment on Lasting: “A token lasts 30 days.”")
        while "A token" not in shown(pilot.app).split("▌")[1].splitlines()[0]:
            await pilot.press("j")
        await pilot.press("enter")
        await until(pilot, shows="Comment on Lasting: “A token lasts 30 days.”")
        assert composed(pilot).endswith("\n\nOf days")


async def test_a_comment_that_is_undone_is_the_draft_of_its_line(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("presscheck.tui.comments.drafts.HOLD", 60.0)
    one = await begun(service, "Undone", TEXT, title="Lasting")
    async with running(app_on(service, tmp_path)) as pilot:
        await open_review(pilot, one.at)
        await pilot.press("g", "g", "j")
        await until(pilot, shows="A key lasts for ever.")
        await go_to_line(pilot, "Ask again.", 1)
        await write(pilot, "c", "Of the second", "ctrl+s")
        await until(pilot, holds=lambda: len(pilot.app.engine.waiting()) == 1)
        await pilot.press("z")
        await until(pilot, shows="its text is a draft again")
        await go_to_line(pilot, "Ask again.")
        await write(pilot, "c", "")
        assert composed(pilot) == "> Ask again.\n\n"
        await leave(pilot)
        await go_to_line(pilot, "Ask again.", 1)
        await write(pilot, "c", "")
        assert composed(pilot) == "> Ask again.\n\nOf the second"


async def test_each_line_of_a_live_page_has_its_own_draft(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        pages = flatten((await mia.send(ListPages(space_id="api"))).pages)
        page = next(page.id for page in pages if page.title == "Overview")
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.page("api", page))
        await until(pilot, shows="Three things to know")
        await until(pilot, holds=lambda: pilot.app.screen.page_view.has_focus)
        view = pilot.app.screen.page_view

        async def go_to(words: str) -> None:
            await pilot.press("g", "g")
            while words not in view.source_at_cursor()[1]:
                await pilot.press("j")

        await go_to("Every request carries")
        await write(pilot, "c", "Which token?")
        await until(pilot, shows="Comment on Overview: “Every request carries a token.”")
        await leave(pilot)
        await go_to("Answers are JSON")
        await write(pilot, "c", "")
        await until(pilot, shows="Comment on Overview: “Answers are JSON; moments are in UTC.”")
        assert "Which token?" not in composed(pilot)
        await pilot.press(*"Since when?")
        await leave(pilot)
        await write(pilot, "C", "")
        assert composed(pilot) == ""
        await leave(pilot)
        await open_drafts(pilot)
        await until(pilot, shows="comment on Overview: “Every request carries a token.”")
        while "Every request" not in shown(pilot.app).split("▌")[1].splitlines()[0]:
            await pilot.press("j")
        await pilot.press("enter")
        await until(pilot, shows="Comment on Overview: “Every request carries a token.”")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, TextArea))
        await pilot.press("ctrl+s")
        await all_sent(pilot)
        found = (await mia.send(ListSpaceComments(space_id="api", format="markdown", limit=1000))).items
        [comment] = [one for one in found if "Which token?" in (one.body.markdown or "")]
        assert comment.target.page is not None
        assert comment.target.page.id == page
        assert comment.target.node is not None, "the draft has kept its block"


async def test_the_comment_of_another_user_is_edited_after_a_question(service: RunningService, tmp_path: Path) -> None:
    mia, at, page = await begun(service, "Edited by an admin", "A token lasts.\n")
    body = Document(markdown="> A token lasts\n\nHow long?")
    [comment] = await say(service, mia, PostComment(**at, page=page, body=body))
    async with review(service, tmp_path, "Edited by an admin") as pilot:
        await until(pilot, shows="How long?")
        await pilot.press("t", "e")
        await until(pilot, shows="Edit Mia's comment?")
        assert "Mia wrote" in shown(pilot.app)
        await pilot.press("n")
        await until(pilot, holds=lambda: "Edit Mia's" not in shown(pilot.app))
        await pilot.press("e")
        await until(pilot, shows="Edit Mia's comment?")
        await pilot.press("y")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, TextArea))
        assert "Edit Mia's comment " in shown(pilot.app)
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


async def test_a_comment_on_a_tag_quotes_the_first_words_in_its_block(service: RunningService, tmp_path: Path) -> None:
    hint = '{% hint style="info" %}\n\nKeep the key.\n\nAnd the door.\n\n{% endhint %}'
    gone = '{% hint style="warning" %}\nThe lamp is hot.\n{% endhint %}'
    cards = (
        '<table data-view="cards"><thead><tr><th></th></tr></thead><tbody><tr><td>Hang a lamp</td></tr></tbody></table>'
    )
    before, after = f"{hint}\n\n{gone}\n\nEnd.\n", f"{hint}\n\n{cards}\n\nThe end of all this.\n"
    one = await edited(service, "A hint is deleted", before, after, title="Hints")
    async with review(service, tmp_path, "A hint is deleted") as pilot:
        await until(pilot, shows="The lamp is hot.")
        await go_to_line(pilot, '{% hint style="info" %}')
        await write(pilot, "c", "On the note", "ctrl+s")
        await until(pilot, shows="On the note")
        while "Warning" not in shown(pilot.app).splitlines()[cursor_row(pilot)]:
            await pilot.press("j")
        await write(pilot, "c", "On the warning", "ctrl+s")
        await until(pilot, shows="On the warning")
        while "Hang a lamp" not in shown(pilot.app).splitlines()[cursor_row(pilot)]:
            await pilot.press("j")
        await write(pilot, "c", "On the card", "ctrl+s")
        await until(pilot, shows="On the card")
        await all_sent(pilot)
        lines = shown(pilot.app).splitlines()
        numbers = [
            next(at for at, line in enumerate(lines) if text in line) for text in ("Keep the key.", "On the note")
        ]
        assert numbers[1] - numbers[0] == 1
        assert "outdated" not in shown(pilot.app)
    async with somebody(service, "mia") as (mia,):
        texts = list(await threads(mia, one.at))
    assert sorted(texts) == [
        "> Hang a lamp\n\nOn the card",
        "> Keep the key.\n\nOn the note",
        "> ~~The lamp is hot.~~\n\nOn the warning",
    ]
