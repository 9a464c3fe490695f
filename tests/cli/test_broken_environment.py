"""Environments in which something is missing, closed or not text: known exit codes, and no traceback."""

from __future__ import annotations

import os
import pwd
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.shell import Shell

from presscheck.cli.exit_codes import EXIT_CODES

PRESSCHECK = f"{shlex.quote(sys.executable)} -m presscheck"


def run(shell: Shell, line: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell in which `presscheck` is this program; fails on tracebacks and unknown exit codes."""
    line = line.replace("presscheck", PRESSCHECK)
    env = shell.environment | variables
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
def test_config_is_shown_with_closed_and_ascii_streams(at_home: Shell) -> None:
    at_home.config.write_text('[profiles.default]\norganization = "Ünï"\n', "utf-8")
    ran = run(at_home, "presscheck config show <&- 2>&-", PYTHONIOENCODING="ascii")
    assert (ran.returncode, rb"\xdcn\xef" in ran.stdout) == (0, True)


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
def test_each_command_ends_with_a_known_exit_code(
    name: str, value: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands run in this process; any exception except SystemExit is a failure."""
    # without HOME, Python reads the home directory from the password database: hide the real one
    entry = [*pwd.getpwuid(os.getuid())]
    entry[5] = str(tmp_path / "entry")
    monkeypatch.setattr(pwd, "getpwuid", lambda _: pwd.struct_passwd(entry))
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
