"""Settings files that are rejected because other users could make `token_command` run a program; byte order marks."""

import os
from pathlib import Path

import pytest

from presscheck.config.profile import load
from presscheck.config.validation import errors_in
from presscheck.errors import ConfigurationError


def test_file_that_other_users_can_write_runs_no_command(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    file = tmp_path / "config.toml"
    file.write_text(f'[profiles.default]\ntoken_command = "touch {ran}"\n')
    for mode in (0o620, 0o602, 0o666):
        file.chmod(mode)
        with pytest.raises(ConfigurationError, match=r"can be written by other users.*chmod go-w"):
            load(file, environment={})
        assert [error.message for error in errors_in(file)]
    assert not ran.exists()
    file.chmod(0o644)
    assert errors_in(file) == ()


def test_file_of_another_user_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[profiles.default]\ntoken_command = "false"\n')
    if os.geteuid() == 0:
        os.chown(file, 12345, -1)
    else:  # only root can change the owner of a file
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(ConfigurationError, match="belongs to another user"):
        load(file, environment={})


def test_pipe_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    os.mkfifo(file, 0o600)
    with pytest.raises(ConfigurationError, match=r"config\.toml: is a pipe: write the settings into a regular file"):
        load(file, environment={})


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    file, token = tmp_path / "config.toml", tmp_path / "token"
    token.write_bytes(b"\xef\xbb\xbfsecret\n")
    token.chmod(0o600)
    file.write_text(f'\ufeff[profiles.default]\ntheme = "paper"\ntoken_file = "{token}"\n', "utf-8")
    assert errors_in(file) == ()
    profile = load(file, environment={})
    assert (profile.theme, profile.token) == ("paper", "secret")
