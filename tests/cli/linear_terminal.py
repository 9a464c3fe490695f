"""Drive `presscheck --linear` in a pseudo-terminal or from a pipe, and record its output."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from click.testing import Result
from tests.cli.shell import Shell
from tests.terminal import Terminal

AGE = re.compile(r"just now|\b\d+ (?:min|h|d|w|mo|y) ago")
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/docs/\w+")
PROMPT = re.compile(r"(?:^|\n)[a-z]+(?: \d+)?> \Z")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""Control characters except line ends and tabs; a plain terminal must not receive them."""


class LinearTerminal:
    """A terminal that runs `presscheck --linear`; each line is typed after a prompt."""

    def __init__(self, shell: Shell, *words: str, size: tuple[int, int] = (80, 24), **env: str) -> None:
        self.terminal = Terminal(
            [sys.executable, "-m", "presscheck", *(words or ("--linear",))],
            size=size,
            env={**shell.environment, "TERM": "dumb", **env},
        )

    @property
    def text(self) -> str:
        """The whole output, including the echo of typed lines."""
        return self.terminal.raw.decode().replace("\r\n", "\n")

    def ready(self, prompt: str = "", timeout: float = 60) -> str:
        """Wait for a prompt that starts with `prompt`. Returns the whole output."""
        for _ in range(int(timeout / 0.05)):
            match = PROMPT.search(self.text)
            if match and match.group().strip().startswith(prompt):
                return self.text
            if not self.terminal.read():
                break
        raise AssertionError(f"no prompt {prompt!r}:\n{self.text}")

    def say(self, *lines: str) -> str:
        """Type lines, each at the next prompt. Returns the last line and the output after it."""
        answer = ""
        for line in lines:
            before = len(self.ready())
            self.terminal.send(line.encode() + b"\n")
            # wait for the echo of the line: until then, the old prompt could be taken for the next one
            while len(self.text) <= before:
                self.terminal.read()
            answer = self.ready()[before:]
        return answer

    def close(self) -> None:
        """End the program."""
        self.terminal.close()


def from_pipe(shell: Shell, typed: str) -> Result:
    """Run `presscheck --linear` in this process with lines from a pipe."""
    reader, writer = os.pipe()
    os.write(writer, typed.encode("utf-8", "surrogateescape"))
    os.close(writer)
    with os.fdopen(reader, "rb") as lines:
        return shell.run("--linear", typed=lines)


def stable(text: str) -> str:
    """Replace the ages and addresses in a transcript, and remove messages that only slow machines print."""
    return ADDRESS.sub("ADDRESS", AGE.sub("AGE", text)).replace("Loading ...\n", "")


def golden(name: str) -> Path:
    """Return the file of a recorded transcript."""
    return Path(__file__).parent / name
