"""The command line as a process: exit codes, stdout and stderr."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.shell import Shell

from presscheck import __version__

PRESSCHECK = [sys.executable, "-m", "presscheck"]


def run(*words: str, home: Path, **env: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PRESSCHECK_HOME": str(home), **env}
    return subprocess.run([*PRESSCHECK, *words], env=environment, capture_output=True, text=True, timeout=60)


def test_the_version(tmp_path: Path) -> None:
    assert run("--version", home=tmp_path).stdout == f"presscheck {__version__}\n"


@pytest.mark.slow
def test_usage_errors_hold_no_escape_sequences(tmp_path: Path) -> None:
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
    ran = run(hostile, home=tmp_path)
    assert (ran.returncode, set("\x1b\x07\x9b\u202e\r") & set(ran.stdout + ran.stderr)) == (2, set())


@pytest.mark.slow
def test_errors_of_the_settings_and_the_network_have_exit_codes(tmp_path: Path) -> None:
    ran = run("inbox", home=tmp_path)
    assert (ran.returncode, ran.stdout) == (4, "")
    assert "PRESSCHECK_TOKEN" in ran.stderr, "it names where to set the token"
    env = {"PRESSCHECK_TOKEN": "secret-token", "PRESSCHECK_BASE_URL": "http://127.0.0.1:9"}
    ended = Shell(tmp_path, env).run("inbox")
    assert ended.exit_code == 3, ended.stderr
    assert "secret-token" not in ended.output
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / "config.toml").write_text("[profiles.default]\nbase_ulr = 'x'\n")
    ended = Shell(tmp_path).run("inbox")
    assert ended.exit_code == 2
    assert "config.toml:2: profiles.default.base_ulr is not a known setting" in ended.stderr


@pytest.mark.slow
def test_serve_prints_its_url_then_the_token(tmp_path: Path) -> None:
    with serving(tmp_path) as (address, token):
        assert address.startswith("http://127.0.0.1:")
        kept = tmp_path / "token"
        assert kept.read_text().strip() == token
        assert kept.stat().st_mode & 0o777 == 0o600
        env = {"PRESSCHECK_TOKEN": token, "PRESSCHECK_BASE_URL": address}
        assert "Tallowick" in Shell(tmp_path / "home", env).ok("inbox")
        ran = Shell(tmp_path / "home", env | {"PRESSCHECK_TOKEN": "wrong"}).run("inbox")
        assert ran.exit_code == 4, ran.stderr


class serving:  # noqa: N801  # reads as a statement
    """`presscheck serve --sample` as a process; yields its URL and token."""

    def __init__(self, directory: Path) -> None:
        words = ["serve", "--port", "0", "--sample", "--data", str(directory / "data")]
        self.child = subprocess.Popen(
            [*PRESSCHECK, *words, "--token-file", str(directory / "token")], stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> tuple[str, str]:
        assert self.child.stdout
        address = self.child.stdout.readline().strip()
        return address, self.child.stdout.readline().strip().removeprefix("token: ")

    def __exit__(self, *_: object) -> None:
        self.child.send_signal(signal.SIGTERM)
        assert self.child.wait(20) == 0
        assert self.child.stdout
        self.child.stdout.close()
