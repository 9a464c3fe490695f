"""Custom commands in a real terminal: programs that take over the terminal, and output shown in a screen."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.terminal import Terminal

PRESSCHECK = [sys.executable, "-m", "presscheck"]
PROGRAM = """
import sys
print("the program has the terminal:", sys.stdin.isatty() and sys.stdout.isatty(), sys.argv[1:])
print("answered", input("a line, please: "))
"""


@pytest.mark.slow
def test_custom_commands_use_the_terminal_or_show_their_output(service: RunningService, tmp_path: Path) -> None:
    folder = tmp_path / "own programs"
    folder.mkdir()
    program = folder / "asks.py"
    program.write_text(PROGRAM)
    printer = folder / "prints.py"
    printer.write_text("import sys; print('printed', sys.stdout.isatty(), sys.argv[1:])")
    settings = tmp_path / "home" / "config" / "config.toml"
    settings.parent.mkdir(parents=True)
    asks, prints = (json.dumps([sys.executable, str(file), "{number}"]) for file in (program, printer))
    settings.write_text(
        f'[[commands]]\nname = "Ask"\nkey = "f9"\nmode = "suspend"\ncommand = {asks}\n'
        f'[[commands]]\nname = "Print"\nkey = "g T"\nmode = "capture"\ncommand = {prints}\n'
    )
    env = {
        "PRESSCHECK_HOME": str(tmp_path / "home"),
        "PRESSCHECK_BASE_URL": service.base_url,
        "PRESSCHECK_TOKEN": service.token,
    }
    terminal = Terminal(PRESSCHECK, env=env)
    terminal.wait("Rewrite the auth guide")
    terminal.wait("f9 Ask")
    terminal.send(b"\x1b[20~")
    terminal.wait(r"the program has the terminal: True \['5'\]")
    terminal.wait("a line, please")
    terminal.press("yes", "enter")
    terminal.wait("Rewrite the auth guide")
    terminal.wait("f9 Ask")
    terminal.gone("answered yes")
    terminal.press("g")
    terminal.wait("T Print")
    terminal.press("T")
    terminal.wait(r"printed False \['5'\]")
    terminal.press("q")
    terminal.wait("f9 Ask")
    terminal.press("ctrl+q")
    assert terminal.end() == 0
    assert terminal.left_on() == []
    terminal.close()
