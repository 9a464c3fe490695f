"""The keyring of a Linux desktop: storing, replacing and deleting secrets, and the reasons for failures."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import open_dbus_connection
from tests.secret_service import NAME, PASSPHRASE, SecretService

from presscheck.config import secret_service as subject
from presscheck.config.secret_service import check_keyring, delete_secret, read_secret, store_secret
from presscheck.errors import ConfigurationError

WHERE = ("presscheck", "work-1f2e")


def reason() -> str:
    with pytest.raises(ConfigurationError) as checked:
        check_keyring()
    with pytest.raises(ConfigurationError) as error:
        read_secret(*WHERE)
    assert checked.value.message == error.value.message
    return error.value.message


def test_a_secret_is_stored_replaced_and_deleted(keyring: SecretService) -> None:
    assert read_secret(*WHERE) is None
    store_secret(*WHERE, "first")
    long = json.dumps({"text": "“tök” \\ \x00 🔑" * 2_000}, ensure_ascii=False)
    store_secret(*WHERE, long)
    store_secret("presscheck", "other", "another")
    assert (read_secret(*WHERE), read_secret("presscheck", "other")) == (long, "another")
    assert read_secret("another service", WHERE[1]) is None
    delete_secret(*WHERE)
    delete_secret(*WHERE)
    assert (read_secret(*WHERE), read_secret("presscheck", "other")) == (None, "another")
    assert len(keyring.items()) == 1


def test_secret_has_the_attributes_of_the_keyring_library(keyring: SecretService) -> None:
    store_secret(*WHERE, "token")
    [attributes] = keyring.items()
    attributes.pop("xdg:schema", None)
    assert attributes == {
        "application": "Python keyring library",
        "service": "presscheck",
        "username": "work-1f2e",
    }, "tokens of older versions are found and replaced"


def test_a_locked_keyring_asks_for_its_passphrase(keyring: SecretService) -> None:
    store_secret(*WHERE, "token")
    for use in (read_secret, delete_secret):
        keyring.lock()
        keyring.answer("")
        with pytest.raises(ConfigurationError, match="it was not unlocked"):
            use(*WHERE)
        keyring.answer(PASSPHRASE)
        assert use(*WHERE) == ("token" if use is read_secret else None)
    keyring.lock()
    keyring.answer("")
    with pytest.raises(ConfigurationError, match="it was not unlocked"):
        store_secret(*WHERE, "new")
    keyring.answer(PASSPHRASE)
    store_secret(*WHERE, "new")
    assert read_secret(*WHERE) == "new"


def test_check_keyring_opens_no_dialog(keyring: SecretService) -> None:
    store_secret(*WHERE, "token")
    keyring.lock()
    check_keyring()  # would block if it opened a dialog


def test_first_secret_creates_a_keyring(dbus_session: SecretService) -> None:
    dbus_session.start(unlocked=False)
    assert read_secret(*WHERE) is None
    delete_secret(*WHERE)
    dbus_session.answer("")
    with pytest.raises(ConfigurationError, match="it was not unlocked"):
        store_secret(*WHERE, "token")
    dbus_session.answer(PASSPHRASE)
    store_secret(*WHERE, "token")
    assert read_secret(*WHERE) == "token"


def test_error_names_the_reason(dbus_session: SecretService, monkeypatch: pytest.MonkeyPatch) -> None:
    assert reason() == "none is running"
    with open_dbus_connection(dbus_session.address) as silent:
        bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        silent.send_and_get_reply(new_method_call(bus, "RequestName", "su", (NAME, 0)))
        monkeypatch.setattr(subject, "REPLY_TIMEOUT", 0.1)
        assert reason() == "it does not answer"
    for address in ("unix:path=/nowhere", "tcp:host=localhost", "rubbish"):
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        assert reason().startswith("D-Bus error: ")
    for address in ("", None):
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address or "")
        if address is None:
            monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS")
        assert reason() == "DBUS_SESSION_BUS_ADDRESS is not set"


def test_silent_bus_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the whole path may be too long for a socket
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind("bus")
        silent.listen()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=bus")
        assert reason() == "it does not answer"
