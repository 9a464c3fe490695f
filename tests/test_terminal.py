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


def test_question_that_arrives_in_parts_is_answered_once() -> None:
    sent = b"\x1b[c\x1b[6n\x1b[?2026$p<\x1b[>1u>"
    asks = f"""
import os, tty, time
tty.setraw(0)
for byte in {sent!r}:
    os.write(1, bytes([byte]))
    time.sleep(0.02)
print(os.read(0, 100))
"""
    terminal = Terminal([sys.executable, "-c", asks], size=(60, 2))
    assert terminal.end() == 0
    assert terminal.text.split() == ["<>b'\\x1b[?62;22c\\x1b[1;1R\\x1b[?2026;2$y'"]
    terminal.close()
