"""Review and edit over a slow connection: 5 kB a second, and 300 ms between a key and its response.

Each step prints the bytes that it sent and its duration; `pytest -s` shows them.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.terminal import SlowTerminal

pytestmark = [pytest.mark.slow, pytest.mark.service(shared=True)]

SCREEN = 7000
"""Maximum number of bytes of a step that opens a screen."""
PART = 3500
"""Maximum number of bytes of a step that changes part of a screen."""
KEY = 800
"""Maximum number of bytes of a key or a typed sentence, with the message that follows."""


REST = 0.7
"""Seconds without output after which a step has ended: twice the delay of the connection."""


class Journey:
    """A sequence of steps in a terminal, each with a limit of bytes."""

    def __init__(self, terminal: SlowTerminal) -> None:
        self.terminal = terminal
        self.steps: list[str] = []

    def step(self, *keys: str, shows: str, most: int) -> None:
        """Press keys and wait for the pattern `shows`; fails if the step sends more than `most` bytes."""
        before, start = len(self.terminal.raw), time.monotonic()
        for key in keys:
            self.terminal.press(key)
        self.terminal.wait(shows, 60)
        duration = time.monotonic() - start
        self.terminal.rest(REST)
        sent = len(self.terminal.raw) - before
        self.steps.append(f"{' '.join(keys):40.40} {sent:6} bytes {duration:5.1f} s  {shows}")
        sys.stdout.write(self.steps[-1] + "\n")
        assert sent <= most, "\n".join(self.steps)


@contextmanager
def journey(service: RunningService, home: Path) -> Iterator[Journey]:
    env = {
        "PRESSCHECK_HOME": str(home),
        "PRESSCHECK_BASE_URL": service.base_url,
        "PRESSCHECK_TOKEN": service.token,
        "PRESSCHECK_LOW_BANDWIDTH": "on",
        "EDITOR": "",
        "VISUAL": "",
    }
    terminal = SlowTerminal([sys.executable, "-m", "presscheck"], size=(100, 30), env=env)
    try:
        steps = Journey(terminal)
        steps.step(shows="Rewrite the auth guide", most=SCREEN)
        yield steps
        steps.step("ctrl+q", shows="", most=SCREEN)
        assert terminal.end(60) == 0
        assert terminal.left_on() == []
    finally:
        terminal.close()


def test_review_and_edit_stay_within_byte_limits(service: RunningService, tmp_path: Path) -> None:
    with journey(service, tmp_path) as steps:
        steps.terminal.down_to("▌ +#3 Fix typos")
        steps.step("enter", shows="1 of 1", most=SCREEN)
        steps.step("tab", shows="make|Make", most=PART)
        steps.step("j", "j", "j", shows="Quickstart", most=KEY)
        steps.step("c", shows="draft is kept", most=PART)
        steps.step("One word less is better.", shows="less is better", most=PART)
        steps.step("ctrl+s", shows="open comment", most=PART)
        steps.step("q", shows="Needs me", most=SCREEN)
        steps.step("g", "o", shows="Product", most=SCREEN)
        steps.terminal.down_to("▌ .*Guides")
        steps.step("enter", shows="Quickstart", most=PART)
        steps.terminal.down_to("▌ .*Quickstart")
        steps.step("tab", shows="Ten minutes", most=PART)
        steps.step("e", shows="New change request", most=PART)
        steps.step("Rename", "enter", shows="ctrl.s save", most=SCREEN)
        steps.step("Written far away. ", shows="Written far away", most=PART)
        steps.step("ctrl+s", shows="y  n", most=PART)
        steps.step("y", shows="saved to the change request", most=SCREEN)
