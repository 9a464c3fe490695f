"""However the app ends, the terminal is restored, and the exit code shows the cause."""

import fcntl
import os
import signal
import struct
import sys
import termios
import time
from pathlib import Path

import pytest
from tests.terminal import Terminal
from tests.tui.endings import PROGRAM

pytestmark = pytest.mark.slow


@pytest.fixture
def terminal(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    one = Terminal([sys.executable, str(program), str(tmp_path)], size=(80, 24))
    try:
        one.wait("Ready")
        one.wait("line 5")
        yield one
    finally:
        one.close()


def test_a_signal_ends_the_app_and_leaves_the_terminal_clean(terminal: Terminal) -> None:
    terminal.kill(signal.SIGTERM)
    assert terminal.end() == 143
    assert terminal.left_on() == []


ENDED_EARLY = PROGRAM.replace(
    "class Small(PresscheckApp):",
    """import asyncio, os, signal

class Small(PresscheckApp):
    async def _open_first_screen(self):
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(0.05)  # until it was handled
        await super()._open_first_screen()
""",
)


def test_a_signal_while_the_first_screen_opens_is_not_a_crash(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(ENDED_EARLY)
    one = Terminal([sys.executable, str(program), str(tmp_path)], size=(80, 24))
    try:
        assert one.end() == 143
        assert "crashed" not in one.text
        assert one.left_on() == []
    finally:
        one.close()


def test_a_traceback_is_only_in_the_log_and_has_no_secrets(terminal: Terminal, tmp_path: Path) -> None:
    terminal.press("!")
    assert terminal.end() == 70
    assert terminal.left_on() == []
    assert "crashed (internal error)" in terminal.text
    assert "RuntimeError: a bug" in (tmp_path / "state" / "presscheck.log").read_text()
    assert b"marker-token" not in terminal.raw
    assert "marker-token" not in (tmp_path / "state" / "presscheck.log").read_text()


PARENT = """
import pathlib, signal, subprocess, sys
signal.signal(signal.SIGHUP, lambda *_: None)
pathlib.Path(sys.argv[1]).write_text(str(subprocess.call(sys.argv[2:])))
"""
"""Run the app as a child process, as `make` does: a hang-up signals only this process, which ignores it."""


def test_a_closed_terminal_ends_the_app_even_without_a_signal(tmp_path: Path) -> None:
    program, code = tmp_path / "program.py", tmp_path / "code"
    program.write_text(PROGRAM)
    started = [sys.executable, str(program), str(tmp_path)]
    one = Terminal([sys.executable, "-c", PARENT, str(code), *started], size=(80, 24))
    try:
        one.wait("Ready")
        os.close(one.fd)
        ended(one.pid)
        assert code.read_text() == "129"
        one.status = 0
    finally:
        if one.status is None:
            os.killpg(one.pid, signal.SIGKILL)
        one.fd = os.open(os.devnull, os.O_RDONLY)
        one.close()


BUSY = PROGRAM.replace(
    "class Small(PresscheckApp):",
    """import time
import presscheck.tui.app

presscheck.tui.app.LONGEST_END = 600

class Small(PresscheckApp):
    def _hang_up(self):
        self.write_to_terminal(" ")
        time.sleep(0.2)  # until that failed
        super()._hang_up()

    def exit(self, *given):
        for _ in range(100):  # more than the queue of Textual takes
            self.write_to_terminal(" ")
        super().exit(*given)
""",
)


def test_output_to_a_closed_terminal_does_not_delay_the_end(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(BUSY)
    one = Terminal([sys.executable, str(program), str(tmp_path)], size=(80, 24))
    try:
        one.wait("Ready")
        os.close(one.fd)
        assert os.waitstatus_to_exitcode(ended(one.pid)) == 129
        one.status = 0
    finally:
        if one.status is None:
            os.kill(one.pid, signal.SIGKILL)
        one.fd = os.open(os.devnull, os.O_RDONLY)
        one.close()


def ended(pid: int) -> int:
    """Wait up to 30 seconds for a process to end. Returns its wait status."""
    limit = time.monotonic() + 30
    while (found := os.waitpid(pid, os.WNOHANG)) == (0, 0):
        assert time.monotonic() < limit, "it did not end"
        time.sleep(0.05)
    return found[1]


STUCK = PROGRAM.replace(
    "class Small(PresscheckApp):",
    """import threading

class Small(PresscheckApp):
    async def _shutdown(self):
        await super()._shutdown()
        threading.Event().wait()  # as Textual does if its queue of output is full
""",
)


def test_a_hang_up_ends_the_app_even_if_its_output_cannot_be_written(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(STUCK)
    one = Terminal([sys.executable, str(program), str(tmp_path)], size=(80, 24))
    try:
        one.wait("Ready")
        one.kill(signal.SIGHUP)
        assert one.end() == 129
    finally:
        one.close()


def test_an_idle_screen_sends_nothing_and_works_after_many_resizes(terminal: Terminal) -> None:
    terminal.wait("offline")
    terminal.press("j")
    before = b""
    while terminal.raw != before:
        before = terminal.raw
        terminal.read(0.5)
    terminal.read(1.0)
    assert terminal.raw == before
    for size in ((10, 3), (200, 60), (1, 1), (80, 24), (13, 5), (80, 24)):
        fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        terminal.kill(signal.SIGWINCH)
        terminal.read(0.02)
    terminal.press("j", "k", "q")
    assert terminal.end() == 0
    assert terminal.left_on() == []
