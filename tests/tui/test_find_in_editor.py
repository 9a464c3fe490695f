"""Finding in the built-in editor, with keys one by one and in one burst, on a page of 5,000 lines."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import until
from tests.tui.change_request_factory import begun
from tests.tui.keyboard import burst
from tests.tui.markdown_editor import editing, editor

from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

pytestmark = pytest.mark.service(shared=True)
LONG = "A key lasts for ever.\n\n" + "".join(f"Line {number} of many.\n" for number in range(5_000))


@pytest.mark.parametrize("is_burst", [False, True], ids=["slowly", "in a burst"])
async def test_keys_after_a_find_are_for_the_text(service: RunningService, tmp_path: Path, is_burst: bool) -> None:
    one = await begun(service, f"Find {is_burst}", LONG)
    async with editing(service, tmp_path, one) as pilot:
        area = editor(pilot).area
        find = ("ctrl+f", *"Line 4321", "enter", "X", "ctrl+s")
        if is_burst:
            burst(pilot, *find)
        else:
            for key in find:
                await pilot.press(key)
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, ConfirmDialog))
        assert "\nX of many.\n" in area.text
        assert area.text.count("\n") == 5004


@pytest.mark.parametrize("is_burst", [False, True], ids=["slowly", "in a burst"])
async def test_a_find_without_a_match_selects_nothing(service: RunningService, tmp_path: Path, is_burst: bool) -> None:
    one = await begun(service, f"No match {is_burst}", LONG)
    async with editing(service, tmp_path, one) as pilot:
        area = editor(pilot).area
        before = area.text
        keys = ("ctrl+f", *"for ever", "enter", "ctrl+f", *"nowhere", "enter", "X")
        if is_burst:
            burst(pilot, *keys)
        else:
            for key in keys:
                await pilot.press(key)
        await until(pilot, holds=lambda: area.text != before)
        assert area.text.replace("X", "") == before, "nothing is overwritten"
        await until(pilot, shows="no match")
