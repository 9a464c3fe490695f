"""Drafts open where they were written, such as a comment at its block; drafts of older forms keep their texts."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import say, somebody
from tests.tui.admin import family, form
from tests.tui.app_driver import all_sent, app_on, pick, running, shown, until
from tests.tui.base_screen import Room, room
from tests.tui.change_request_factory import begun, edited
from tests.tui.draft_places import drafted
from tests.tui.operation_keys.driver import take
from tests.tui.operation_keys.places import administration
from tests.tui.widget_harness import app_with
from textual.widgets import Input, TextArea

from presscheck.api.change_requests import UpdateChangeRequest
from presscheck.api.comments import ListComments
from presscheck.api.content import GetChangeRequestPage
from presscheck.api.sites import CreateSite
from presscheck.api.teams import ListTeams
from presscheck.engine.drafts import comment_name, drafts
from presscheck.engine.forms.form import OperationForm
from presscheck.store.drafts import DraftSlot
from presscheck.tui.comments import drafts as comment_drafts
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.form_dialog import EARLIER, FormContent, FormDialog
from presscheck.tui.screens.markdown_editor.screen import MarkdownEditor
from presscheck.tui.screens.outbox.screen import OutboxScreen

pytestmark = pytest.mark.service(shared=True)

TEXT = "First words.\n\nA token lasts 30 days.\n\n" + "Filler.\n\n" * 30 + "A key lasts for ever.\n"
ORG = "tallowick"


def is_typing(pilot: Any) -> bool:
    return isinstance(pilot.app.focused, TextArea)


@pytest.mark.slow
async def test_a_draft_of_a_comment_opens_at_its_block(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comment_drafts, "HOLD", 60.0)
    one = await begun(service, "Talked about", TEXT, title="Discussed")
    async with running(app_on(service, tmp_path), (120, 30)) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.review(one.at["space_id"], one.at["change_request_id"]))
        await until(pilot, shows="Can merge?")
        await until(pilot, shows="First words.")
        await pilot.press("tab")
        review = pilot.app.screen
        for _ in range(90):
            line = review.session.view.text_line
            if line is not None and "for ever" in review.session.view.page.after.split("\n")[line]:
                break
            await pilot.press("j")
        assert "A key lasts for ever." in shown(pilot.app)
        await pilot.press("c")
        await until(pilot, holds=lambda: is_typing(pilot))
        await pilot.press(*"Really?")
        name = comment_name(one.page, "A key lasts for ever.")
        await until(pilot, holds=lambda: bool(review.session.drafts.nodes_of(name)))
        await pilot.press("escape")
        async with somebody(service, "mia") as (mia,):
            page = await mia.send(GetChangeRequestPage(**one.at, page_id=one.page, format="document"))
        block = next(node["key"] for node in page.document["nodes"] if "for ever" in str(node))
        await until(pilot, holds=lambda: pilot.app.screen is review)
        await pilot.press("q")
        await until(pilot, holds=lambda: pilot.app.screen is not review)

        await drafted(pilot, "comment on Discussed")
        await until(pilot, shows="Really?", holds=lambda: is_typing(pilot))
        again = pilot.app.screen_stack[-2]
        assert again is not review
        assert "for ever" in again.session.view.page.after.split("\n")[again.session.view.text_line]
        await pilot.press("ctrl+g")
        await until(pilot, shows="```suggestion")
        await pilot.press("ctrl+z", "ctrl+s")
        await until(pilot, holds=lambda: len(pilot.app.engine.waiting()) == 1)
        assert pilot.app.engine.waiting()[0].call.node == block
        # undone, the comment is the same draft again
        await pilot.press("z")
        await until(pilot, shows="its text is a draft again")
        await drafted(pilot, "comment on Discussed")
        await until(pilot, shows="Really?", holds=lambda: is_typing(pilot))
        monkeypatch.setattr(comment_drafts, "HOLD", 0.0)
        await pilot.press("ctrl+s")
        await all_sent(pilot)
        async with somebody(service, "mia") as (mia,):
            comments = (await mia.send(ListComments(**one.at))).items
        assert [comment.target.node.id for comment in comments if comment.target and comment.target.node] == [block]
        assert not pilot.app.engine.outbox.drafts()

        # the draft of a page title continues in a new change request, as its own was archived meanwhile
        one = await edited(service, "Talked about", TEXT, TEXT.replace("First", "Last"), title="On main")
        await pilot.app.go(Place.page(one.at["space_id"], one.page, one.at["change_request_id"]))
        await until(pilot, shows="Last words.")
        await pilot.press("E")
        await pick(pilot, "Title")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, Input))
        await pilot.press(*" again", "escape")
        await say(service, one.token, UpdateChangeRequest(**one.at, status="archived"))
        await drafted(pilot, "title of On main")
        await pick(pilot, "Continue in a new change request")
        await until(pilot, shows="New change request in Guides: subject")
        await pilot.press("enter")
        await pick(pilot, "Title")
        await until(
            pilot, holds=lambda: isinstance(pilot.app.focused, Input) and pilot.app.focused.value == "On main again"
        )
        assert isinstance(pilot.app.screen_stack[-2], BrowseScreen)


@pytest.mark.slow
async def test_a_draft_of_an_older_form_keeps_all_its_texts(tmp_path: Path) -> None:
    """Cover a removed field, a removed choice, and a text that no form can read."""
    typed = {"title": "Old docs", "visibility": "members-only", "welcome_text": "Hello [b]all\nof you"}

    async def send(call: Any) -> Any:
        return call.given()

    async with app_with(Room, tmp_path).run_test(size=(100, 40)) as pilot:
        await until(pilot, shows="row 0")
        screen, answers = room(pilot), list[Any]()
        outbox = screen.engine.outbox

        async def opened() -> FormDialog:
            content = FormContent("New site", OperationForm(CreateSite, {"organization_id": ORG}), {})
            dialog = FormDialog(content, send, DraftSlot(outbox, "form"))

            async def ask() -> None:
                answers.append(await screen.ask(dialog))

            screen.run(ask)
            await until(pilot, shows=EARLIER, holds=lambda: pilot.app.screen is dialog)
            return dialog

        outbox.save_draft("form", json.dumps(typed))
        dialog = await opened()
        for text in ("visibility (earlier): members-only", "welcome text: Hello [b]all", "of you"):
            assert text in shown(pilot.app)
        assert (dialog.texts["title"], dialog.texts["visibility"]) == ("Old docs", "")
        dialog.query_one("#field-title", Input).value = "Old docs 2"
        kept = {"visibility (earlier)": "members-only", "welcome_text": typed["welcome_text"]}
        await until(pilot, holds=lambda: json.loads(outbox.draft("form")) == {"title": "Old docs 2", **kept})
        await pilot.press("ctrl+s")
        await until(pilot, holds=lambda: bool(answers))
        assert answers == [{"organization_id": ORG, "title": "Old docs 2"}]
        assert json.loads(outbox.draft("form")) == kept, "it was sent, but not copied"
        await opened()
        await pilot.press("alt+y")
        assert "welcome text: Hello [b]all\nof you" in pilot.app.clipboard
        await pilot.press("escape")
        outbox.save_draft("form", "{not JSON")
        await opened()
        assert "text: {not JSON" in shown(pilot.app)


@pytest.mark.slow
async def test_drafts_of_forms_and_inputs_open_where_they_were_written(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), (120, 45)) as pilot:
        await family(pilot, "Teams")
        await pilot.press("a")
        await form(pilot)
        await pilot.press(*"Wri\\ters", "escape")
        await pilot.press("g", "o")
        await until(pilot, shows="API docs", holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        browse = pilot.app.screen
        await pilot.app.go(Place.item("space guides"))
        await until(pilot, holds=lambda: browse.item is not None and browse.item.key == "space guides")
        await pilot.press(".", "f")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, Input))
        await pilot.press(*"tokens", "escape")
        await until(pilot, holds=lambda: pilot.app.screen is browse)
        await pilot.press("O")
        await until(pilot, shows="New change request …")
        await pilot.press("enter")
        await until(pilot, shows="subject")
        await pilot.press(*"All new", "escape")
        await pilot.press("g", "p")
        await until(pilot, shows="● live")
        site = pilot.app.screen.current
        await pilot.press("g", "c")
        await until(pilot, shows="Visitor schema", holds=lambda: hasattr(pilot.app.screen, "continue_draft"))
        await pilot.press("3", "a")
        await form(pilot)
        await pilot.press(*"Partners", "escape")
        await pilot.press("q", "g", "v")
        await until(pilot, shows="› Access")
        await pilot.press("2", "a")
        await until(pilot, shows="Name of the new share link")
        await pilot.press(*"For the press", "escape")
        await take(pilot, (*administration("AI instructions"), "enter"))
        await until(pilot, shows="No AI instructions yet")
        await pilot.press("e")
        await until(pilot, shows="Edit AI instructions")
        await pilot.press(*"Be brief.", "escape")
        await take(pilot, (*administration("Integrations"), "a"))
        await form(pilot)
        await pilot.press(*"torch", "tab", *"Torch", "escape")
        labels = [draft.label for draft in drafts(pilot.app.engine.outbox.drafts())]
        assert sorted(labels) == [
            "AI instructions: Tallowick",
            "audience",
            "find and replace",
            "form: New integration",
            "form: New team",
            f"name of a share link: {site.title}",
            "subject of a new change request",
        ]

        await drafted(pilot, "AI instructions")
        await until(pilot, shows="Be brief.", holds=lambda: isinstance(pilot.app.screen, MarkdownEditor))
        await pilot.press("escape")
        await drafted(pilot, "form: New integration")
        dialog = await form(pilot)
        assert (dialog.texts["integration_name"], dialog.texts["title"]) == ("torch", "Torch")
        await pilot.press("escape")
        await drafted(pilot, "form: New team")
        dialog = await form(pilot)
        assert isinstance(dialog, FormDialog)
        assert dialog.texts["title"] == "Wri\\ters"
        assert isinstance(pilot.app.screen_stack[-2], OutboxScreen)
        await pilot.press("ctrl+s")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, OutboxScreen))
        async with somebody(service, "mia") as (mia,):
            assert "Wri\\ters" in [team.title for team in (await mia.send(ListTeams(organization_id=ORG))).items]
        await drafted(pilot, "find and replace")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, Input) and pilot.app.focused.value == "tokens")
        await pilot.press("escape")
        await drafted(pilot, "subject of a new")
        await until(pilot, shows="New change request …")
        await pilot.press("enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, Input) and pilot.app.focused.value == "All new")
        await pilot.press("escape")
        await drafted(pilot, "audience")
        dialog = await form(pilot)
        assert dialog.texts["name"] == "Partners"
        await pilot.press("escape")
        await drafted(pilot, "name of a share link")
        await until(pilot, shows="Name of the new share link")
        await until(
            pilot, holds=lambda: isinstance(pilot.app.focused, Input) and pilot.app.focused.value == "For the press"
        )
