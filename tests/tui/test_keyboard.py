"""Keys that are typed faster than dialogs open go, in order, to the dialog that an earlier key opens."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.private_names import send
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, inbox_loaded, running, until
from tests.tui.base_screen import Room, room
from tests.tui.keyboard import LONG, burst
from tests.tui.widget_harness import app_with
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import TextArea
from typing_extensions import override

from presscheck.tui import keyboard
from presscheck.tui.screens.sites.access.screen import SiteAccessScreen
from presscheck.tui.ui import screen
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.entry_dialog import EntryDialog, EntryField
from presscheck.tui.widgets.picker import Picker
from presscheck.tui.widgets.row_list import RowList

pytestmark = pytest.mark.service(shared=True)

SHORT = 0.02
"""A short delay in seconds; as `PATIENCE`, it runs out before slow commands end."""


def dialog(title: str) -> EntryDialog[str]:
    async def submit(texts: Mapping[str, str]) -> str:
        await asyncio.sleep(SHORT)  # simulates a request to the service, during which the dialog stays open
        return texts["name"]

    return EntryDialog(title, [EntryField("name", "Name", "")], confirm_label="ok", progress="", submit=submit)


class Late(Room):
    """A screen with a disabled command, a command that never ends, and commands that fail or ask after a delay."""

    def reason_comment(self) -> str:
        return "nothing to comment on"

    @override
    async def command_comment_on_all(self) -> None:
        await asyncio.sleep(2 * SHORT)
        await super().command_comment_on_all()

    async def command_archive(self) -> None:
        await asyncio.Event().wait()

    async def command_reply(self) -> None:
        await asyncio.sleep(2 * SHORT)
        self.did.append(f"reply {await self.ask(dialog('Reply'))}")


@pytest.fixture
async def pilot(tmp_path: Path) -> AsyncIterator[Pilot[int]]:
    async with app_with(Late, tmp_path).run_test(size=(100, 20)) as one:
        await until(one, shows="row 0")
        yield one


def cursor(pilot: Pilot[int]) -> int:
    return room(pilot).query_one(RowList).cursor


def text(pilot: Any) -> str:
    return pilot.app.focused.text if isinstance(pilot.app.focused, TextArea) else ""


async def test_text_that_is_typed_ahead_filters_a_short_list(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await until(pilot, shows="✓")
        burst(pilot, "space", "A", *"zzzz", "enter")
        await until(pilot, shows="No match")
        assert isinstance(pilot.app.screen, Picker)
        await pilot.press("escape")
        burst(pilot, "A", *"comment", "enter", *"Seen")
        await until(pilot, holds=lambda: text(pilot) == "Seen")
        await until(pilot, shows="Comment on all marked")


async def test_keys_wait_for_the_second_dialog_of_a_command(pilot: Pilot[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyboard, "PATIENCE", LONG)  # the dialogs open before it runs out, even on a busy machine
    answers: list[str | None] = []

    async def ask_twice() -> None:
        for title in ("First", "Second"):
            answers.append(await room(pilot).ask(dialog(title)))
            await asyncio.sleep(SHORT)

    room(pilot).invoke(ask_twice)
    burst(pilot, *"jj", "enter", "k")
    send(pilot, Paste("j"))
    burst(pilot, "k", "enter", "j")
    await until(pilot, holds=lambda: answers == ["jj", "kjk"])
    await until(pilot, holds=lambda: pilot.app.screen is room(pilot) and cursor(pilot) == 1)


async def test_a_confirmation_ignores_keys_that_were_typed_before_it_was_open(pilot: Pilot[int]) -> None:
    burst(pilot, "v", "a", "y", "tab", "enter")
    await until(pilot, shows="All of it.")
    assert isinstance(pilot.app.screen, ConfirmDialog)
    assert not pilot.app.screen.is_yes
    await pilot.press("y")
    await until(pilot, holds=lambda: room(pilot).did == ["approve True"])


async def test_a_command_holds_keys_until_it_ends_or_patience_runs_out(
    pilot: Pilot[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyboard, "PATIENCE", LONG)
    ended = asyncio.Event()
    room(pilot).invoke(ended.wait)
    burst(pilot, "j", "j", "k")
    await asyncio.sleep(SHORT)
    assert cursor(pilot) == 0
    ended.set()
    await until(pilot, holds=lambda: cursor(pilot) == 1 and room(pilot).last_key == "k")
    monkeypatch.setattr(keyboard, "PATIENCE", SHORT)
    ended.clear()
    room(pilot).invoke(ended.wait)
    burst(pilot, "j")
    await until(pilot, holds=lambda: cursor(pilot) == 2)


async def test_text_is_held_for_a_dialog_that_opens_late(pilot: Pilot[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyboard, "PATIENCE", SHORT)
    burst(pilot, "r", *"Pjj", "enter")
    await until(pilot, holds=lambda: room(pilot).did == ["reply Pjj"])


def asking_late(pilot: Pilot[int], monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Run a command that asks for a confirmation once the returned event is set, when keys are not held any more."""
    monkeypatch.setattr(keyboard, "PATIENCE", SHORT)
    answered = asyncio.Event()

    async def merge() -> None:
        await answered.wait()
        await room(pilot).command_approve()

    room(pilot).invoke(merge)
    return answered


async def test_a_late_confirmation_opens_if_no_key_was_pressed(
    pilot: Pilot[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = asking_late(pilot, monkeypatch)
    await asyncio.sleep(2 * SHORT)
    answered.set()
    await until(pilot, shows="All of it.")
    await pilot.press("y")
    await until(pilot, holds=lambda: room(pilot).did == ["approve True"])


async def test_a_late_confirmation_does_not_open_after_another_key(
    pilot: Pilot[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = asking_late(pilot, monkeypatch)
    await pilot.press("j")
    await until(pilot, holds=lambda: cursor(pilot) == 1)
    answered.set()
    await until(pilot, shows="Not opened, because you went on")
    await pilot.press("y", "j")
    await until(pilot, holds=lambda: cursor(pilot) == 2)
    assert (pilot.app.screen, room(pilot).did) == (room(pilot), [])


async def test_a_late_confirmation_does_not_open_above_another_dialog(
    pilot: Pilot[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = asking_late(pilot, monkeypatch)
    await asyncio.sleep(2 * SHORT)
    burst(pilot, "r", *"way")
    await until(pilot, shows="way")
    answered.set()
    await asyncio.sleep(SHORT)
    burst(pilot, *" yes", "enter")
    await until(pilot, holds=lambda: room(pilot).did == ["reply way yes"])
    await until(pilot, shows="Not opened, because you went on")


async def test_a_late_screen_opens_unless_a_dialog_is_open(pilot: Pilot[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyboard, "PATIENCE", SHORT)
    for keys, opens in (("j", True), ("r", False)):
        loaded, other = asyncio.Event(), Room()

        async def open_other(loaded: asyncio.Event = loaded, other: Room = other) -> None:
            await loaded.wait()
            room(pilot).app_context.push_screen(other)

        room(pilot).invoke(open_other)
        await asyncio.sleep(2 * SHORT)
        await pilot.press(keys)
        await until(pilot, holds=lambda opens=opens: opens or pilot.app.screen is not room(pilot))
        loaded.set()
        if opens:
            await until(pilot, holds=lambda other=other: pilot.app.screen is other)
            pilot.app.pop_screen()
        else:
            await until(pilot, shows="Reply")
            assert other not in pilot.app.screen_stack


async def test_the_bottom_line_shows_a_command_that_takes_long(
    pilot: Pilot[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "SIGN_AFTER", SHORT)
    await pilot.press("X")
    await until(pilot, shows="archive: waiting …")


async def test_text_that_is_typed_after_a_failed_command_runs_no_commands(
    pilot: Pilot[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyboard, "PATIENCE", SHORT)
    for key, error in (("c", "nothing to comment on"), ("C", "no such thing")):
        burst(pilot, key, *"jj P")
        await until(pilot, shows=error)
        await asyncio.sleep(SHORT)
        assert (cursor(pilot), room(pilot).did) == (0, []), key
    burst(pilot, "j")  # a later key is a command
    await until(pilot, holds=lambda: cursor(pilot) == 1)


@pytest.mark.slow
async def test_keys_for_a_site_wait_until_the_sites_are_loaded(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        burst(pilot, "g", "p", "g", "v", "2")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, SiteAccessScreen))
        await until(pilot, holds=lambda: pilot.app.screen.shown_tab.name == "Share links")
