"""Keys typed faster than dialogs open go to the dialog that an earlier key opens, in order, and to nothing else."""

import asyncio
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from tests.private_names import send
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, inbox_loaded, open_review, running, shown, until
from tests.tui.keyboard import LONG, burst
from textual.events import Paste
from textual.widgets import TextArea

from presscheck.errors import PresscheckError
from presscheck.tui import keyboard
from presscheck.tui.keyboard import PATIENCE
from presscheck.tui.screens.review.request_session import RequestSession
from presscheck.tui.screens.sites.access.screen import SiteAccessScreen
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.entry_dialog import EntryDialog, EntryField
from presscheck.tui.widgets.picker import Picker

pytestmark = pytest.mark.service(shared=True)

AT = {"space_id": "guides", "change_request_id": "3"}


def text(pilot: Any) -> str:
    return pilot.app.focused.text if isinstance(pilot.app.focused, TextArea) else ""


@pytest.mark.slow
async def test_a_comment_is_typed_in_one_breath(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await open_review(pilot, AT)
        burst(pilot, "C", *"Do")
        send(pilot, Paste(" not merge: "))
        burst(pilot, *"WAD")
        await until(pilot, holds=lambda: text(pilot) == "Do not merge: WAD")
        assert len(pilot.app.screen_stack) == 3  # inbox, review, composer: no letter was a command


@pytest.mark.slow
async def test_a_command_is_found_and_chosen_in_one_breath(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await open_review(pilot, AT)
        burst(pilot, ":", *"comment on the change", "enter", *"Why?")
        await until(pilot, holds=lambda: text(pilot) == "Why?")


@pytest.mark.slow
async def test_the_answer_to_a_second_dialog_is_typed_ahead(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await until(pilot, shows="✓")
        burst(pilot, "space", "A", "4", *"Seen")
        await until(pilot, holds=lambda: text(pilot) == "Seen")
        assert "Comment on all marked" in shown(pilot.app)


async def test_a_short_list_is_filtered_by_what_is_typed_ahead(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await until(pilot, shows="✓")
        burst(pilot, "space", "A", *"zzzz", "enter")
        await until(pilot, shows="No match")
        assert isinstance(pilot.app.screen, Picker)
        await pilot.press("escape")
        burst(pilot, "A", *"comment", "enter", *"Seen")
        await until(pilot, holds=lambda: text(pilot) == "Seen")
        assert "Comment on all marked" in shown(pilot.app)


@pytest.mark.slow
async def test_keys_wait_for_the_second_dialog_of_a_command(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyboard, "PATIENCE", LONG)  # also on a busy machine, the dialogs are open before it ends
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        inbox, answers = pilot.app.screen, list[Any]()

        def dialog(title: str) -> EntryDialog[Any]:
            async def submit(texts: Any) -> Any:
                await asyncio.sleep(PATIENCE / 3)  # a check that asks the service: the dialog is open meanwhile
                return texts["name"]

            field = EntryField("name", "Name", "")
            return EntryDialog(title, [field], confirm_label="ok", progress="", submit=submit)

        async def ask_twice() -> None:
            for title in ("First", "Second"):
                answers.append(await pilot.app.push_screen_wait(dialog(title)))
                await asyncio.sleep(PATIENCE / 3)

        before = inbox.session.rows.cursor
        inbox.invoke(ask_twice)
        burst(pilot, *"jj", "enter", *"kjk", "enter", "j")
        await until(pilot, holds=lambda: answers == ["jj", "kjk"])
        await until(pilot, holds=lambda: pilot.app.screen is inbox and inbox.session.rows.cursor == before + 1)


@pytest.mark.slow
async def test_a_confirmation_takes_no_key_that_was_typed_before_it_was_open(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        burst(pilot, "g", "p")
        await until(pilot, shows="Inside Tallowick")
        await until(pilot, shows="● live")
        await pilot.press("j")
        burst(pilot, "P", "y", "tab", "enter")
        await until(pilot, shows="Publish Inside Tallowick?")
        await asyncio.sleep(PATIENCE)
        assert isinstance(pilot.app.screen, ConfirmDialog)
        assert not pilot.app.screen.is_yes
        await until(pilot, shows="y  n")
        await pilot.press("y")
        await until(pilot, shows="Publish without a share link")
        await pilot.press("p")
        await until(pilot, shows="is live")


@pytest.mark.slow
async def test_keys_for_a_place_that_is_opened_for_the_first_time(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        burst(pilot, "g", "p", "?", *"zzz")
        await until(pilot, shows="zzz")


@pytest.mark.slow
async def test_a_command_that_takes_long_does_not_hold_keys_for_long(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        screen = pilot.app.screen
        cursor, released = screen.session.rows.cursor, asyncio.Event()
        screen.invoke(released.wait)
        burst(pilot, "j")
        await asyncio.sleep(PATIENCE / 5)
        assert screen.session.rows.cursor == cursor
        await until(pilot, holds=lambda: screen.session.rows.cursor == cursor + 1)
        released.set()


@pytest.mark.slow
async def test_a_command_that_ends_holds_no_key(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyboard, "PATIENCE", LONG)
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        screen = pilot.app.screen
        cursor, began = screen.session.rows.cursor, monotonic()
        screen.invoke(lambda: asyncio.sleep(0))
        burst(pilot, "j", "j", "k")
        await until(pilot, holds=lambda: screen.session.rows.cursor == cursor + 1 and screen.last_key == "k")
        assert monotonic() - began < LONG


async def late_failure(_session: RequestSession) -> None:
    await asyncio.sleep(PATIENCE * 1.5)
    raise PresscheckError("the change request is gone")


@pytest.mark.slow
async def test_a_text_typed_after_a_refused_key_runs_no_commands(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await open_review(pilot, AT)
        screen, item = pilot.app.screen, pilot.app.screen.session.view.item
        burst(pilot, "r", *"jump to e and q")  # no thread is under the cursor
        await until(pilot, shows="no thread here: t goes to the next one")
        await asyncio.sleep(0.1)
        assert pilot.app.screen is screen
        assert screen.session.view.item == item
        assert "no thread here: t goes to the next one" in shown(pilot.app)
        burst(pilot, "q")  # a later key is a command
        await until(pilot, holds=lambda: pilot.app.screen is not screen)
        inbox, cursor = pilot.app.screen, pilot.app.screen.session.rows.cursor
        monkeypatch.setattr(RequestSession, "load", late_failure)
        burst(pilot, "c", *"jj q")
        await until(pilot, shows="the change request is gone")
        await asyncio.sleep(0.1)
        assert pilot.app.screen is inbox
        assert inbox.session.rows.cursor == cursor
        burst(pilot, "j")
        await until(pilot, holds=lambda: inbox.session.rows.cursor == cursor + 1)


@pytest.mark.slow
async def test_a_command_on_a_site_waits_for_the_sites(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        burst(pilot, "g", "p", "g", "v", "2")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, SiteAccessScreen))
        await until(pilot, holds=lambda: pilot.app.screen.shown_tab.name == "Share links")
