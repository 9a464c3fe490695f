"""The command line as a process: exit codes, stdout and stderr."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from presscheck import __version__

PRESSCHECK = [sys.executable, "-m", "presscheck"]


def run(*words: str, home: Path, **env: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PRESSCHECK_HOME": str(home), **env}
    return subprocess.run([*PRESSCHECK, *words], env=environment, capture_output=True, text=True, timeout=60)


def test_the_version(tmp_path: Path) -> None:
    assert run("--version", home=tmp_path).stdout == f"presscheck {__version__}\n"


@pytest.mark.slow
def test_a_missing_token_error_names_where_to_set_it(tmp_path: Path) -> None:
    ran = run("inbox", home=tmp_path)
    assert ran.returncode == 4
    assert "PRESSCHECK_TOKEN" in ran.stderr
    assert ran.stdout == ""


@pytest.mark.slow
def test_usage_errors_hold_no_escape_sequences(tmp_path: Path) -> None:
    hostile = "\x1b]0;owned\x07\x9b2J\u202e\r\nx"
    commands = (
        [hostile], [f"--{hostile}"], ["space", hostile], ["space", f"--{hostile}"], ["space", "list", hostile],
        ["serve", "--port", hostile], ["serve", "token", hostile],
        ["--profile", hostile, "inbox"], ["serve", "import", hostile],
    )  # fmt: skip
    for words in commands:
        ran = run(*words, home=tmp_path)
        assert ran.returncode == 2, ran
        assert not set("\x1b\x07\x9b\u202e\r") & set(ran.stdout + ran.stderr), ran.stderr


@pytest.mark.slow
def test_no_network_is_exit_code_3(tmp_path: Path) -> None:
    ran = run("inbox", home=tmp_path, PRESSCHECK_TOKEN="secret-token", PRESSCHECK_BASE_URL="http://127.0.0.1:9")
    assert ran.returncode == 3, ran.stderr
    assert "secret-token" not in ran.stderr + ran.stdout


@pytest.mark.slow
def test_an_invalid_setting_error_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.toml").write_text("[profiles.default]\nbase_ulr = 'x'\n")
    ran = run("inbox", home=tmp_path)
    assert ran.returncode == 2
    assert "config.toml:2: profiles.default.base_ulr is not a known setting" in ran.stderr


@pytest.mark.slow
def test_an_invalid_token_is_exit_code_4(tmp_path: Path) -> None:
    with serving(tmp_path) as (address, _):
        ran = run("inbox", home=tmp_path / "home", PRESSCHECK_TOKEN="wrong", PRESSCHECK_BASE_URL=address)
    assert ran.returncode == 4, ran.stderr


@pytest.mark.slow
def test_serve_prints_its_url_then_the_token(tmp_path: Path) -> None:
    with serving(tmp_path) as (address, token):
        assert address.startswith("http://127.0.0.1:")
        kept = tmp_path / "token"
        assert kept.read_text().strip() == token
        assert kept.stat().st_mode & 0o777 == 0o600
        ran = run("inbox", home=tmp_path / "home", PRESSCHECK_TOKEN=token, PRESSCHECK_BASE_URL=address)
        assert ran.returncode == 0, ran.stderr
        assert "Tallowick" in ran.stdout


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
