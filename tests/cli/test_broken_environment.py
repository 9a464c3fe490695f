"""Environments in which something is missing, full, closed or no text: one line, a code of the table, no traceback."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.shell import Shell

from presscheck.cli.exit_codes import EXIT_CODES

PRESSCHECK = f"{shlex.quote(sys.executable)} -m presscheck"


def run(shell: Shell, line: str, **variables: str | None) -> subprocess.CompletedProcess[bytes]:
    """Run a line of sh, in which `presscheck` is this program; a variable that is None is not set."""
    env = {name: value for name, value in (shell.environment | variables).items() if value is not None}
    line = line.replace("presscheck", PRESSCHECK)
    ran = subprocess.run(["sh", "-c", line], env=env, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    assert b"Traceback" not in ran.stderr, ran.stderr
    assert b"Exception ignored" not in ran.stderr, ran.stderr
    assert ran.returncode in EXIT_CODES, (line, ran)
    return ran


@pytest.fixture
def at_home(tmp_path: Path) -> Shell:
    """A shell without a service."""
    return Shell(tmp_path / "home", {"PRESSCHECK_BASE_URL": "https://docs.invalid", "PRESSCHECK_TOKEN": "t" * 20})


@pytest.mark.slow
def test_what_cannot_be_printed_is_one_line_and_fails(at_home: Shell) -> None:
    for command, unbuffered in {"--version": None, "--help": "1", "config schema": "1", "config path": None}.items():
        ran = run(at_home, f"presscheck {command} > /dev/full", PYTHONUNBUFFERED=unbuffered)
        assert (ran.returncode, ran.stderr) == (1, b"presscheck: standard output: No space left on device\n")
    ran = run(at_home, "presscheck config schema >&-")
    assert (ran.returncode, ran.stderr) == (1, b"presscheck: standard output: Bad file descriptor\n")


@pytest.mark.slow
def test_closed_streams(at_home: Shell) -> None:
    assert run(at_home, "presscheck config path <&- 2>&-").returncode == 0
    assert run(at_home, "presscheck doctor <&- >&- 2>&-").returncode in (1, 6)
    ran = run(at_home, "presscheck config schema | head -c 1")
    assert (ran.stdout, ran.stderr) == (b"{", b"")


@pytest.mark.slow
def test_an_argument_that_is_no_text_is_named(at_home: Shell) -> None:
    ran = run(at_home, r"""presscheck cr comment guides#4 --body "$(printf 'caf\351')" """)
    assert (ran.returncode, ran.stderr) == (2, b"presscheck: --body: is not UTF-8 text\n")


@pytest.mark.slow
def test_an_encoding_without_a_character_prints_its_number(at_home: Shell) -> None:
    at_home.config.write_text('[profiles.default]\norganization = "Ünï"\n', "utf-8")
    for name, value in {"PYTHONIOENCODING": "ascii", "LC_ALL": "POSIX", "LANG": "C"}.items():
        ran = run(at_home, "presscheck config show", **{"LC_ALL": None, "LANG": None, name: value})
        assert ran.returncode == 0, ran.stderr
        assert "Ünï".encode() in ran.stdout or rb"\xdcn\xef" in ran.stdout


@pytest.mark.slow
def test_a_home_that_cannot_be_used_is_named(at_home: Shell, tmp_path: Path) -> None:
    at_home.home.mkdir()
    (at_home.home / "state").write_text("a file where a folder should be")
    ran = run(at_home, "presscheck --offline space list")
    assert ran.returncode == 1
    assert ran.stderr.count(b"\n") == 1
    assert bytes(at_home.home) in ran.stderr
    ran = run(at_home, "presscheck doctor")
    assert ran.returncode == 6
    assert ran.stderr == b"presscheck: problems: service, stores, log\n"


VARIABLES: tuple[tuple[str, str | None], ...] = (
    ("ALL_PROXY", "ftp://127.0.0.1:9/"),
    ("ALL_PROXY", "http://127.0.0.1:99999/"),
    ("NO_PROXY", "http://[::,*x,"),
    ("SSL_CERT_FILE", "/nonexistent"),
    ("SSLKEYLOGFILE", "/nonexistent/keys"),
    ("HOME", None),
    ("HOME", "/dev/null"),
    ("TMPDIR", "/nonexistent"),
    ("XDG_STATE_HOME", "/dev/null"),
    ("XDG_CONFIG_HOME", "/dev/null"),
    ("XDG_CACHE_HOME", "/dev/null"),
    ("TERM", None),
    ("TERM", "dumb"),
    ("COLUMNS", "0"),
    ("COLUMNS", "x"),
    ("EDITOR", "/nonexistent"),
    ("TZ", "No/Where"),
    ("PRESSCHECK_HOME", "/dev/null"),
    ("PRESSCHECK_TOKEN", "\udcff"),
    ("PRESSCHECK_BASE_URL", "https://\udcff"),
    ("PRESSCHECK_BASE_URL", "https://xn--\u2028.org"),
    ("PRESSCHECK_PROFILE", "\udcff"),
)
COMMANDS = ("doctor", "whoami", "inbox", "space list", "config check", "log", "outbox", "sync --help")


@pytest.mark.parametrize(("name", "value"), VARIABLES)
def test_each_command_in_each_environment(name: str, value: str | None, tmp_path: Path) -> None:
    """In this process: any exception but the end of the command is a fault."""
    own = tmp_path if not name.startswith(("HOME", "XDG")) else None
    variables = {"PRESSCHECK_HOME": str(own) if own else None, "PRESSCHECK_BASE_URL": "https://docs.invalid"}
    env = {"HOME": str(tmp_path), "PRESSCHECK_TOKEN": "t" * 20, **variables, name: value}
    shell = Shell(tmp_path, env)  # pyright: ignore[reportArgumentType]  # None removes a variable
    every = COMMANDS if os.environ.get("PRESSCHECK_KINDS") else COMMANDS[:2] + COMMANDS[3:5]
    for words in every:
        ran = shell.run(*words.split())
        assert ran.exception is None or isinstance(ran.exception, SystemExit), (words, ran.exc_info)
        assert ran.exit_code in EXIT_CODES, (words, ran.stderr)
        if name in ("ALL_PROXY", "SSL_CERT_FILE", "SSLKEYLOGFILE") and words in ("doctor", "whoami"):
            assert f"{name}={value}" in ran.output, words
