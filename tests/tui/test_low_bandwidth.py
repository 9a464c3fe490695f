"""Slow connections: their detection, and how few bytes are sent on them."""

import base64
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import pytest
from tests.running_service import RunningService
from tests.terminal import SlowTerminal, Terminal

from presscheck.config.profile import load
from presscheck.errors import ConfigurationError
from presscheck.tui.terminal.bandwidth import SLOW, Bandwidth
from presscheck.tui.terminal.clipboard import CHUNK, clipboard_sequence

MOST_OF_A_KEY = 400
"""Maximum number of bytes that are sent right after a key."""
HEADING = "slow terminal"


def answers(*seconds: float) -> tuple[list[bool], bool]:
    """Measure answers of a terminal that take `seconds`.

    Returns:
        For each answer, whether the terminal is asked again; and whether it counts as slow in the end.
    """
    bandwidth, asks = Bandwidth("auto"), []
    for each in seconds:
        bandwidth.asked()
        asks.append(bandwidth.answered(monotonic() + each))
    return asks, bandwidth.is_low


def test_a_terminal_is_slow_after_two_slow_answers() -> None:
    assert answers(SLOW / 2) == ([False], False)
    assert answers(SLOW * 2) == ([True], False)
    assert answers(SLOW * 2, SLOW / 2) == ([True, False], False)
    assert answers(SLOW * 2, SLOW * 2) == ([True, False], True)


def test_an_unexpected_answer_is_ignored() -> None:
    bandwidth = Bandwidth("auto")
    assert not bandwidth.answered(1e9)
    assert not bandwidth.is_low


@pytest.mark.parametrize(("setting", "is_low"), [("on", True), ("off", False), ("auto", False), (None, False)])
def test_the_setting_decides_at_the_start(setting: str | None, is_low: bool) -> None:
    bandwidth = Bandwidth(setting)
    assert bandwidth.is_low is is_low
    assert bandwidth.is_measured is (setting in ("auto", None))


def test_the_variable_overrides_the_file(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[profiles.default]\nlow_bandwidth = "on"\n')
    assert load(file, environment={}, with_token=False).low_bandwidth == "on"
    assert load(file, environment={"PRESSCHECK_LOW_BANDWIDTH": "off"}, with_token=False).low_bandwidth == "off"
    with pytest.raises(ConfigurationError, match="PRESSCHECK_LOW_BANDWIDTH must be one of auto, on, off"):
        load(file, environment={"PRESSCHECK_LOW_BANDWIDTH": "yes"}, with_token=False)


def test_text_is_copied_through_tmux_and_screen() -> None:
    text = "Überall " * 100
    plain = f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07"
    assert clipboard_sequence(text, {"TERM": "xterm-256color"}) == plain
    in_tmux = clipboard_sequence(text, {"TERM": "tmux-256color", "TMUX": "/tmp/tmux-0/default,1,0"})
    passed = in_tmux.removeprefix(plain).removeprefix("\x1bPtmux;").removesuffix("\x1b\\")
    assert passed.replace("\x1b\x1b", "\x1b") == plain
    in_screen = clipboard_sequence(text, {"TERM": "screen", "STY": "1.pts-0"}).removeprefix(plain)
    parts = re.findall(r"\x1bP(.*?)\x1b\\", in_screen)
    assert "".join(parts) == plain
    assert max(map(len, parts)) == CHUNK


@contextmanager
def opened(
    service: RunningService, home: Path, kind: type[Terminal] = Terminal, low_bandwidth: str = "on", **options: object
) -> Iterator[Terminal]:
    env = {
        "PRESSCHECK_HOME": str(home),
        "PRESSCHECK_BASE_URL": service.base_url,
        "PRESSCHECK_TOKEN": service.token,
        "PRESSCHECK_LOW_BANDWIDTH": low_bandwidth,
    }
    terminal = kind([sys.executable, "-m", "presscheck"], env=env, **options)
    try:
        terminal.wait("Rewrite the auth guide")
        yield terminal
    finally:
        terminal.close()


def sent_by(terminal: Terminal, key: str) -> int:
    """Wait for the delayed output of earlier keys, press a key, and return the number of bytes sent right after it."""
    terminal.rest(2)
    before = len(terminal.raw)
    terminal.press(key)
    terminal.rest(0.3)
    return len(terminal.raw) - before


def a_moved_cursor_sends_few_bytes_at_once(service: RunningService, home: Path, size: tuple[int, int]) -> None:
    sent: dict[str, list[int]] = {}
    with opened(service, home, size=size) as terminal:
        sent["inbox"] = [sent_by(terminal, key) for key in "jjk"]
        terminal.rest(1.3)
        subject = re.search(r"▌ +#\d+ (\S+ \S+)", terminal.text)
        assert subject
        assert terminal.text.count(subject[1]) > 1, "the preview follows when the cursor rests"
        terminal.press("g", "o")
        terminal.wait("Product")
        sent["browse"] = [sent_by(terminal, key) for key in "jjj"]
        terminal.press("g", "i")
        terminal.wait("Needs me")
        terminal.press("g", "g", "enter")
        terminal.wait("Can merge")
        sent["review"] = [sent_by(terminal, key) for key in "jj"]
        terminal.press("tab")
        sent["change"] = [sent_by(terminal, key) for key in "jj"]
    assert max(max(numbers) for numbers in sent.values()) <= MOST_OF_A_KEY, sent
    assert min(max(numbers) for numbers in sent.values()) > 0, sent


def open_guides(terminal: Terminal) -> None:
    """Expand the space Guides in the tree."""
    terminal.press("g", "o")
    terminal.wait("Product")
    terminal.down_to("▌ .*Guides")
    terminal.press("enter")
    terminal.wait("Quickstart")


def a_tree_that_scrolls_beside_a_page_sends_its_new_rows(
    service: RunningService, home: Path, size: tuple[int, int]
) -> None:
    with opened(service, home, size=size) as terminal:
        open_guides(terminal)
        sent = [sent_by(terminal, "j") for _ in range(10)]
        assert "▤ Product" not in terminal.text
        assert max(sent) <= MOST_OF_A_KEY, sent
        terminal.rest(1.3)
        page = re.search(r"▌ +(?:\S )?(\w+[^|]*?) *\|", terminal.text)
        assert page
        assert f"▌{page[1]}" in terminal.text, "the page is shown again"


CHECKS = (
    (a_moved_cursor_sends_few_bytes_at_once, (80, 24)),
    (a_tree_that_scrolls_beside_a_page_sends_its_new_rows, (120, 16)),
)
"""Checks, each with the size of its terminal."""


@pytest.mark.slow
@pytest.mark.service(shared=True)
def test_few_bytes_are_sent_at_once(service: RunningService, tmp_path: Path) -> None:
    """Run all checks at the same time, each in its own terminal, as they mostly wait for idle terminals."""
    with ThreadPoolExecutor(len(CHECKS)) as threads:
        running = [
            threads.submit(check, service, tmp_path / str(number), size) for number, (check, size) in enumerate(CHECKS)
        ]
    errors = [
        f"{check.__name__} {size}: {error}"
        for (check, size), each in zip(CHECKS, running, strict=True)
        if (error := each.exception())
    ]
    assert not errors, "\n".join(errors)


@pytest.mark.slow
@pytest.mark.service(shared=True)
def test_a_terminal_that_answers_slowly_is_detected(service: RunningService, tmp_path: Path) -> None:
    with opened(service, tmp_path, SlowTerminal, "auto") as terminal:
        terminal.wait(HEADING)
        terminal.wait("PRESSCHECK_LOW_BANDWIDTH=off prevents it")
        terminal.press("ctrl+q")
        assert terminal.end() == 0
