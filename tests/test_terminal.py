"""The terminal of tests has the size that a test asks for."""

import sys

from tests.terminal import Terminal


def test_its_size_is_not_that_of_another_terminal() -> None:
    """Readline, which pytest imports, writes the size of its own terminal into the environment of new processes."""
    command = [sys.executable, "-c", "import shutil; print(*shutil.get_terminal_size())"]
    terminal = Terminal(command, size=(200, 24), env={"COLUMNS": "80", "LINES": "25"})
    assert terminal.end() == 0
    assert terminal.text.strip() == "200 24"
    terminal.close()
