"""The terminal of tests: its size, and what it shows."""

import sys

from tests.terminal import Terminal


def test_its_size_is_not_that_of_another_terminal() -> None:
    """Readline, which pytest imports, writes the size of its own terminal into the environment of new processes."""
    command = [sys.executable, "-c", "import shutil; print(*shutil.get_terminal_size())"]
    terminal = Terminal(command, size=(200, 24), env={"COLUMNS": "80", "LINES": "25"})
    assert terminal.end() == 0
    assert terminal.text.strip() == "200 24"
    terminal.close()


def test_half_of_a_wide_character_may_be_drawn_over() -> None:
    """The second half stays as a cell without a character, and is a blank."""
    command = [sys.executable, "-c", "print('a📦b 📦c\\rax', end='')"]
    terminal = Terminal(command, size=(20, 2))
    assert terminal.end() == 0
    assert terminal.text.strip() == "ax b 📦c"
    terminal.close()
