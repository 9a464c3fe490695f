"""A stored token is in one place: the keyring of the system, or a file that only its owner can read."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import keyring
import pytest
from keyring.backends.fail import Keyring
from tests.cli.keyring_file import KeyringInAFile

from presscheck.config.tokens import forget_token, is_stored, store_token, stored_token

WHERE = ("work", "https://docs.example/v1")


@pytest.fixture
def file_keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """A keyring that works, until a test takes it away."""
    monkeypatch.setenv("TEST_KEYRING", str(tmp_path / "keyring.json"))
    before = keyring.get_keyring()
    keyring.set_keyring(KeyringInAFile())
    yield
    keyring.set_keyring(before)


def files(directory: Path) -> dict[str, str]:
    """The texts of the files of a configuration directory, by name."""
    return {path.name: path.read_text() for path in (directory / "tokens").iterdir()}


@pytest.mark.usefixtures("file_keyring")
def test_a_token_is_in_one_place(tmp_path: Path) -> None:
    working = keyring.get_keyring()
    keyring.set_keyring(Keyring())
    assert store_token(tmp_path, *WHERE, "first").startswith("the file ")
    assert list(files(tmp_path).values()) == ["first\n"]
    [written] = (tmp_path / "tokens").iterdir()
    assert written.stat().st_mode & 0o777 == 0o600

    keyring.set_keyring(working)
    assert "keyring" in store_token(tmp_path, *WHERE, "second")
    assert list(files(tmp_path).values()) == [""], "the file with the token of before is gone"
    assert stored_token(tmp_path, *WHERE).text == "second"

    keyring.set_keyring(Keyring())
    store_token(tmp_path, *WHERE, "third")
    assert stored_token(tmp_path, *WHERE).text == "third", "the mark of the keyring is gone"
    assert stored_token(tmp_path, "work", "https://docs.example/").text == "third", "the same service"
    assert not stored_token(tmp_path, "work", "https://other.example/v1").text

    assert forget_token(tmp_path, *WHERE)
    assert not is_stored(tmp_path, *WHERE)
    assert not forget_token(tmp_path, *WHERE)
