"""The command line: its version and its usage errors."""

import os
import subprocess
import sys
from pathlib import Path

from tests.cli.shell import Shell

from presscheck import __version__

PRESSCHECK = [sys.executable, "-m", "presscheck"]


def run(*words: str, home: Path, **env: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PRESSCHECK_HOME": str(home), **env}
    return subprocess.run([*PRESSCHECK, *words], env=environment, capture_output=True, text=True, timeout=60)


def test_version_is_printed(tmp_path: Path) -> None:
    assert run("--version", home=tmp_path).stdout == f"presscheck {__version__}\n"


def test_usage_errors_contain_no_escape_sequences(tmp_path: Path) -> None:
    hostile = "\x1b]0;owned\x07\x9b2J\u202e\r\nx"
    commands = (
        [hostile], [f"--{hostile}"], ["space", hostile], ["space", f"--{hostile}"], ["space", "list", hostile],
        ["serve", "--port", hostile], ["serve", "token", hostile],
        ["--profile", hostile, "inbox"], ["serve", "import", hostile],
    )  # fmt: skip
    for words in commands:
        ran = Shell(tmp_path).run(*words)
        assert ran.exit_code == 2, (words, ran.output)
        assert not set("\x1b\x07\x9b\u202e\r") & set(ran.output), ran.output
