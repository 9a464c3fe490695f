"""Garbage: when the app looks for it, which is never before its first picture, and what must become garbage."""

import gc
import os
import sys
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.terminal import Terminal
from tests.tui.app_driver import app_on, inbox_loaded, running, until
from textual.strip import Strip

pytestmark = pytest.mark.slow

WATCH = """
import gc, os, sys

def note(phase, info):
    if phase == "start" and "presscheck.wiring" in sys.modules:
        with open(os.environ["COLLECTIONS"], "a") as file:
            file.write(f"{'by itself' if gc.isenabled() else 'on purpose'}\\n")

gc.callbacks.append(note)
"""


@pytest.mark.service(shared=True)
def test_nothing_is_collected_before_the_inbox_is_shown(service: RunningService, tmp_path: Path) -> None:
    """It is a tenth of the time of the first picture; what is loaded by then is not looked at again later."""
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    collections = tmp_path / "collections"
    env = {
        "PRESSCHECK_HOME": str(tmp_path / "home"),
        "PRESSCHECK_BASE_URL": service.base_url,
        "PRESSCHECK_TOKEN": service.token,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "COLLECTIONS": str(collections),
    }
    terminal = Terminal([sys.executable, "-m", "presscheck"], env=env)
    try:
        terminal.wait("Rewrite the auth guide")
        for _ in range(100):
            if collections.exists():
                break
            terminal.read()
        assert collections.read_text().split("\n")[0] == "on purpose"
    finally:
        terminal.close()


@pytest.mark.service(shared=True)
async def test_what_a_closed_dialog_drew_does_not_stay_in_memory(service: RunningService, tmp_path: Path) -> None:
    def drawn() -> str:
        gc.collect()
        return "\n".join(strip.text for strip in gc.get_objects() if isinstance(strip, Strip))

    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("?")
        await until(pilot, shows="Go to a space by name")
        assert "Go to a space by name" in drawn()
        await pilot.press("escape")
        await pilot.press("j")  # each frame forgets what was drawn for the frames before
        await until(pilot, holds=lambda: "Go to a space by name" not in drawn())
