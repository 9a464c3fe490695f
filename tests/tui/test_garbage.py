"""When the app looks for garbage: never before its first picture."""

import os
import sys
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.terminal import Terminal

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
        terminal.wait("Needs me 7")
        for _ in range(100):
            if collections.exists():
                break
            terminal.read()
        assert collections.read_text().split("\n")[0] == "on purpose"
    finally:
        terminal.close()
