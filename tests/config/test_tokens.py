"""A stored token is in one place: the keyring of the system, or a file that only its owner can read."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.secret_service import PASSPHRASE, SecretService

from presscheck.config.tokens import forget_token, is_stored, store_token, stored_token
from presscheck.errors import ConfigurationError

WHERE = ("work", "https://docs.example/v1")


def files(directory: Path) -> dict[str, str]:
    """Return the contents of the token files in a configuration directory, by name."""
    return {path.name: path.read_text() for path in (directory / "tokens").iterdir()}


def test_token_is_stored_in_one_place(tmp_path: Path, keyring: SecretService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS")
    assert store_token(tmp_path, *WHERE, "first").startswith("the file ")
    assert list(files(tmp_path).values()) == ["first\n"]
    [written] = (tmp_path / "tokens").iterdir()
    assert written.stat().st_mode & 0o777 == 0o600

    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", keyring.address)
    assert store_token(tmp_path, *WHERE, "second") == "the system keyring"
    assert list(files(tmp_path).values()) == [""], "the file with the token of before is gone"
    assert stored_token(tmp_path, *WHERE).text == "second"

    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS")
    store_token(tmp_path, *WHERE, "third")
    assert stored_token(tmp_path, *WHERE).text == "third", "the mark of the keyring is gone"
    assert stored_token(tmp_path, "work", "https://docs.example/").text == "third", "the same service"
    assert not stored_token(tmp_path, "work", "https://other.example/v1").text

    assert forget_token(tmp_path, *WHERE)
    assert not is_stored(tmp_path, *WHERE)
    assert not forget_token(tmp_path, *WHERE)


def test_error_contains_the_reason_of_the_keyring(
    tmp_path: Path, keyring: SecretService, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_token(tmp_path, *WHERE, "token")
    keyring.lock()
    keyring.answer("")
    with pytest.raises(ConfigurationError, match=r"did not provide the token \(it was not unlocked\): unlock it, or"):
        stored_token(tmp_path, *WHERE)
    keyring.answer("")
    with pytest.raises(ConfigurationError, match=r"did not delete the token \(it was not unlocked\): unlock it, then"):
        forget_token(tmp_path, *WHERE)
    assert is_stored(tmp_path, *WHERE)
    keyring.answer(PASSPHRASE)
    assert stored_token(tmp_path, *WHERE).text == "token"
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS")
    with pytest.raises(ConfigurationError, match="DBUS_SESSION_BUS_ADDRESS is not set"):
        stored_token(tmp_path, *WHERE)
