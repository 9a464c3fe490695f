"""What can be clicked where pages are browsed and edited: each hint of the footer, what is proposed, and each tab."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any, cast

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, pick, running, until
from tests.tui.change_request_factory import begun
from tests.tui.markdown_editor import TEXT, editing, editor, is_editing
from tests.tui.mouse import click_text
from tests.tui.space_content import PAGE, PNG, file, listed, merged, opened, page

from presscheck.client.client import Client
from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.markdown_editor.screen import MarkdownEditor
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.space_content.screen import SpaceContentScreen
from presscheck.tui.widgets.composer import Composer
from presscheck.tui.widgets.picker import Picker

pytestmark = pytest.mark.service(shared=True)


@pytest.fixture(autouse=True)
def no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)


def last_notice(pilot: Any) -> str:
    history = pilot.app.notices.history
    return history[-1].text if history else ""


async def on_top(pilot: Any, kind: type) -> None:
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, kind))


async def closed(pilot: Any, kind: type) -> None:
    """Close a dialog, and wait for the screen below it."""
    await pilot.press("escape")
    await on_top(pilot, kind)


@pytest.mark.slow
async def test_the_hints_of_the_editor_and_what_it_proposes(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await begun(service, "Clicked", TEXT)
    monkeypatch.setattr(PresscheckApp, "suspend", lambda _: nullcontext())
    async with editing(service, tmp_path, one, (120, 40)) as pilot:
        area = editor(pilot).area
        await until(pilot, holds=lambda: bool(editor(pilot)._pages))
        await pilot.press("ctrl+end", "enter", "enter", *"/hint")
        await click_text(pilot, "Hint: danger")
        await until(pilot, holds=lambda: '{% hint style="danger" %}\n\n{% endhint %}' in area.text)
        assert is_editing(pilot), "the text keeps the focus"
        await pilot.press(*"[[quick")
        await click_text(pilot, "Quickstart   ")
        await until(pilot, holds=lambda: "[Quickstart](quickstart.md)" in area.text)
        await click_text(pilot, "ctrl+l insert")
        await on_top(pilot, Picker)
        await pilot.press(*"divider")
        await click_text(pilot, "Divider  ", times=2)
        await until(pilot, holds=lambda: "\n---\n" in area.text)
        await click_text(pilot, "ctrl+f find")
        await until(pilot, holds=lambda: pilot.app.focused is not area)
        await pilot.press(*"lasts", "enter")
        await until(pilot, holds=lambda: area.has_focus and area.selected_text == "lasts")
        for is_shown in (False, True):
            await click_text(pilot, "ctrl+o preview")
            await until(pilot, holds=lambda is_shown=is_shown: editor(pilot)._preview.display is is_shown)
        monkeypatch.setenv("VISUAL", "false")
        await click_text(pilot, "ctrl+e $EDITOR")
        await until(pilot, holds=lambda: "exit code 1: no changes" in last_notice(pilot))
        await click_text(pilot, "f1 keys")
        await until(pilot, shows="type to search")
        await closed(pilot, MarkdownEditor)
        await click_text(pilot, "ctrl+s save")
        await until(pilot, shows="d diff")
        await click_text(pilot, "d diff")
        await until(pilot, shows="d summary")
        await click_text(pilot, " Save  ")
        await on_top(pilot, BrowseScreen)


@pytest.mark.slow
async def test_a_draft_is_left_opened_and_discarded(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Left", TEXT)
    async with editing(service, tmp_path, one, (80, 24)) as pilot:
        await pilot.press(*"Now ")
        await click_text(pilot, "esc leave")
        await on_top(pilot, BrowseScreen)
        await click_text(pilot, "e edit")
        await until(pilot, holds=lambda: is_editing(pilot))
        await click_text(pilot, "alt+d discard draft")
        await until(pilot, shows="lines are not in the page.")
        await click_text(pilot, " Discard  ")
        await until(pilot, holds=lambda: not pilot.app.engine.outbox.drafts())


@asynccontextmanager
async def organization(service: RunningService, home: Path, size: tuple[int, int]) -> AsyncIterator[Any]:
    async with running(app_on(service, home), size) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.press("g", "o")
        await until(pilot, shows="Guides")
        yield pilot


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_right_button_lists_the_commands_of_a_row(
    service: RunningService, tmp_path: Path, size: tuple[int, int]
) -> None:
    async with organization(service, tmp_path, size) as pilot:
        app = cast("PresscheckApp", pilot.app)
        browse = cast("BrowseScreen", app.screen)
        await click_text(pilot, "Runbook", button=3)
        await on_top(pilot, Picker)
        assert browse.item is not None and browse.item.title == "Runbook", "the cursor is on the row"
        labels = [choice.label for choice in cast("Picker", app.screen).matches]
        assert labels[0] == "open" and "move to" in labels
        assert all(browse.disabled_reason(choice.key) is None for choice in cast("Picker", app.screen).matches)
        assert "space runbook" not in browse.tree_view.expanded
        await pick(pilot, "open")
        await until(pilot, holds=lambda: "space runbook" in browse.tree_view.expanded)


@pytest.mark.slow
async def test_the_hints_of_the_tree(service: RunningService, tmp_path: Path) -> None:
    async with organization(service, tmp_path, (120, 40)) as pilot:
        app = cast("PresscheckApp", pilot.app)
        browse = cast("BrowseScreen", app.screen)
        # a space
        await app.go(Place.item("space guides"))
        await until(pilot, holds=lambda: browse.item is not None and browse.item.key == "space guides")
        is_open = "space guides" in browse.tree_view.expanded
        await click_text(pilot, "enter open")
        await until(pilot, holds=lambda: ("space guides" in browse.tree_view.expanded) is not is_open)
        for hint in ("a add", "E edit details", "ctrl+k find anything"):
            await click_text(pilot, hint)
            await until(pilot, holds=lambda: app.screen is not browse)
            await closed(pilot, BrowseScreen)
        await click_text(pilot, ". this item")
        await click_text(pilot, "m move to")
        await until(pilot, holds=lambda: app.screen is not browse)
        await closed(pilot, BrowseScreen)
        # a page
        await app.go(Place.page("guides"))
        await until(pilot, holds=lambda: browse.library.pages("guides") is not None)
        await click_text(pilot, "Quickstart")
        await until(pilot, holds=lambda: browse.item is not None and browse.item.title == "Quickstart")
        await click_text(pilot, "enter open")
        await until(pilot, holds=lambda: browse.page_view.has_focus)
        await click_text(pilot, "f follow a link")
        await until(pilot, shows="[a]")
        await pilot.press("escape")
        await click_text(pilot, "c comment")
        await on_top(pilot, Composer)
        await closed(pilot, BrowseScreen)
        for hint in ("e edit", "O new change request"):
            await click_text(pilot, hint)
            await until(pilot, holds=lambda: app.screen is not browse)
            await closed(pilot, BrowseScreen)
        # a site
        await click_text(pilot, "⌂ Tallowick Docs")
        await until(pilot, holds=lambda: browse.item is not None and browse.item.site is not None)
        await click_text(pilot, "enter open   P")
        await on_top(pilot, PublishScreen)
        await pilot.press("g", "o")
        await on_top(pilot, BrowseScreen)
        await click_text(pilot, "W checks")
        await until(pilot, shows="Checks", holds=lambda: app.screen is not browse)


@pytest.mark.slow
async def test_the_tabs_and_hints_of_the_lists_of_a_space(
    service: RunningService, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "elsewhere")
    await merged(client, page("Map", PAGE), file("plan.png", PNG))
    async with running(app_on(service, tmp_path), (120, 40)) as pilot:
        app = cast("PresscheckApp", pilot.app)
        await opened(pilot)
        await listed(pilot)
        await click_text(pilot, "F filter")
        await click_text(pilot, "Only external", times=2)
        await until(pilot, shows="only external: F shows others")
        await click_text(pilot, "y copy link")
        await until(pilot, holds=lambda: app.clipboard == "https://example.org/")
        await click_text(pilot, "e edit")
        await until(pilot, shows="Edit Release notes in", holds=lambda: not isinstance(app.screen, SpaceContentScreen))
        await closed(pilot, SpaceContentScreen)
        await click_text(pilot, "2 Files")
        await until(pilot, shows="plan.png")
        await click_text(pilot, "y copy link")
        await until(pilot, holds=lambda: "example.org" not in app.clipboard)
        app.copy_to_clipboard("")
        await click_text(pilot, "o open in browser")
        await until(pilot, shows="Address, copied", holds=lambda: bool(app.clipboard))
        await click_text(pilot, "q close")
        await click_text(pilot, "a add")
        await until(pilot, shows="Upload a file")
        await closed(pilot, SpaceContentScreen)
        await click_text(pilot, ". this item")
        await click_text(pilot, "f replace the file")
        await until(pilot, shows="Replace plan.png by a local file")
        await closed(pilot, SpaceContentScreen)
        await click_text(pilot, "plan.png", times=2)
        await until(pilot, shows="Where used")
        await click_text(pilot, "Copy Markdown", times=2)
        await until(pilot, holds=lambda: app.clipboard == "![plan.png](/plan.png)")
        await click_text(pilot, "3 Reusable content")
        await until(pilot, shows="No reusable content in this space.")
        await click_text(pilot, "1 Links")
        await until(pilot, shows="only external: F shows others")
        await click_text(pilot, "q close")
        await on_top(pilot, BrowseScreen)
