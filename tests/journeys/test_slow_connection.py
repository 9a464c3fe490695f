"""Reviewing and editing over a slow connection: 5 kB a second, and 300 ms from a key to its answer.

Each step tells how many bytes it has sent and how long it took; `pytest -s` shows them.
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
"""Bytes that a step may send that opens a screen."""
PART = 3500
"""Bytes that a step may send that changes a part of a screen."""
KEY = 800
"""Bytes that a key or a typed sentence may send, with the message that follows."""


REST = 0.7
"""Seconds without a byte after which nothing of a step is under way: twice the delay of the connection."""


class Journey:
    """Steps in a terminal, each with a limit of the bytes that it sends."""

    def __init__(self, terminal: SlowTerminal) -> None:
        self.terminal = terminal
        self.told: list[str] = []

    def step(self, *keys: str, shows: str, most: int) -> None:
        """Press keys and wait for a pattern."""
        before, begun = len(self.terminal.raw), time.monotonic()
        for key in keys:
            self.terminal.press(key)
        self.terminal.wait(shows, 60)
        took = time.monotonic() - begun
        self.terminal.rest(REST)
        sent = len(self.terminal.raw) - before
        self.told.append(f"{' '.join(keys):40.40} {sent:6} bytes {took:5.1f} s  {shows}")
        sys.stdout.write(self.told[-1] + "\n")
        assert sent <= most, "\n".join(self.told)


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
        one = Journey(terminal)
        one.step(shows="Rewrite the auth guide", most=SCREEN)
        yield one
        one.step("ctrl+q", shows="", most=SCREEN)
        assert terminal.end(60) == 0
        assert terminal.left_on() == []
    finally:
        terminal.close()


def test_reviewing_and_editing(service: RunningService, tmp_path: Path) -> None:
    with journey(service, tmp_path) as one:
        one.terminal.down_to("▌ +#3 Fix typos")
        one.step("enter", shows="1 of 1", most=SCREEN)
        one.step("tab", shows="make|Make", most=PART)
        one.step("j", "j", "j", shows="Quickstart", most=KEY)
        one.step("c", shows="draft is kept", most=PART)
        one.step("One word less is better.", shows="less is better", most=PART)
        one.step("ctrl+s", shows="open comment", most=PART)
        one.step("q", shows="Needs me", most=SCREEN)
        one.step("g", "o", shows="Product", most=SCREEN)
        one.terminal.down_to("▌ .*Guides")
        one.step("enter", shows="Quickstart", most=PART)
        one.terminal.down_to("▌ .*Quickstart")
        one.step("tab", shows="Ten minutes", most=PART)
        one.step("e", shows="New change request", most=PART)
        one.step("Rename", "enter", shows="ctrl.s save", most=SCREEN)
        one.step("Written far away. ", shows="Written far away", most=PART)
        one.step("ctrl+s", shows="y  n", most=PART)
        one.step("y", shows="saved to the change request", most=SCREEN)
