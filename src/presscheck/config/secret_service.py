"""The keyring of a Linux desktop, such as GNOME Keyring, KWallet or KeePassXC, by the Secret Service of D-Bus.

Specification: https://specifications.freedesktop.org/secret-service-spec/latest/

Secrets are sent over the user's own bus without further encryption (a *plain* session): a program that can read that
bus can also ask for the secrets.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from jeepney import DBusAddress, DBusErrorResponse, MatchRule, message_bus, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import unwrap_msg

from presscheck.errors import ConfigurationError

REPLY_TIMEOUT = 25.0
"""Maximum seconds until a reply. The bus may have to start the keyring first."""
PROMPT_TIMEOUT = 120.0
"""Maximum seconds until the user answers the prompt for a passphrase."""
_PREFIX = "org.freedesktop.Secret"
_ABSENT = {"org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner"}
_NOTHING = "/"
"""The path that stands for no object."""


def read_secret(program: str, name: str) -> str | None:
    """Return the secret that a program stored under a name, or None. May prompt the user to unlock the keyring.

    Raises:
        ConfigurationError: there is no keyring, or it stays locked; the message is the reason, in a few words.
    """
    with _connection() as keyring:
        item = next(keyring.items(program, name), None)
        return None if item is None else keyring.secret(item)


def store_secret(program: str, name: str, secret: str) -> None:
    """Store a secret of a program by name, and replace an earlier one.

    The system may ask the user to unlock or create the keyring.

    Raises:
        ConfigurationError: there is no keyring, or it stays locked; the message is the reason, in a few words.
    """
    with _connection() as keyring:
        keyring.store(program, name, secret)


def delete_secret(program: str, name: str) -> None:
    """Delete the secret that a program stored under a name, if any. May prompt the user to unlock the keyring.

    Raises:
        ConfigurationError: there is no keyring, or it stays locked; the message is the reason, in a few words.
    """
    with _connection() as keyring:
        for item in keyring.items(program, name):
            keyring.delete(item)


def check_keyring() -> None:
    """Check that there is a keyring, without a prompt to unlock it.

    Raises:
        ConfigurationError: there is none; the message is the reason, in a few words.
    """
    with _connection():
        pass


@contextmanager
def _connection() -> Generator[_Keyring]:
    if not os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        raise ConfigurationError("DBUS_SESSION_BUS_ADDRESS is not set")
    try:
        with open_dbus_connection() as bus:
            yield _Keyring(bus)
    except TimeoutError:
        raise ConfigurationError("it does not answer") from None
    except DBusErrorResponse as error:
        if error.name in _ABSENT:
            raise ConfigurationError("none is running") from None
        raise ConfigurationError(f"D-Bus error {error.name}") from None
    except (OSError, RuntimeError, ValueError) as error:  # the address, the connection, or text that is not UTF-8
        raise ConfigurationError(f"D-Bus error: {error}") from None


class _Keyring:
    """A session with the Secret Service. It ends with the connection."""

    def __init__(self, bus: DBusConnection) -> None:
        self._bus = bus
        self._session = self._service("OpenSession", "sv", "plain", ("s", ""))[1]

    def items(self, program: str, name: str) -> Iterator[str]:
        """Unlock the items that have this name, and yield their D-Bus paths."""
        collection = self._default_collection()
        if collection == _NOTHING:
            return
        self._unlock(collection)
        attributes = {"service": program, "username": name}
        [found] = self._call(collection, "Collection", "SearchItems", "a{ss}", attributes)
        for item in found:
            self._unlock(item)
            yield item

    def secret(self, item: str) -> str:
        [(_, _, secret, _)] = self._call(item, "Item", "GetSecret", "o", self._session)
        return bytes(secret).decode()

    def store(self, program: str, name: str, secret: str) -> None:
        collection = self._default_collection()
        if collection == _NOTHING:
            label = {f"{_PREFIX}.Collection.Label": ("s", "Default")}
            created, prompt = self._service("CreateCollection", "a{sv}s", label, "default")
            collection = self._answer(prompt) if created == _NOTHING else created
        self._unlock(collection)
        # presscheck 0.2.0 used the library keyring: with its attributes, the item that it stored is replaced
        attributes = {"application": "Python keyring library", "service": program, "username": name}
        properties = {
            f"{_PREFIX}.Item.Label": ("s", f"Password for '{name}' on '{program}'"),
            f"{_PREFIX}.Item.Attributes": ("a{ss}", attributes),
        }
        value = (self._session, b"", secret.encode(), "text/plain")
        item, prompt = self._call(collection, "Collection", "CreateItem", "a{sv}(oayays)b", properties, value, True)
        if item == _NOTHING:
            self._answer(prompt)

    def delete(self, item: str) -> None:
        [prompt] = self._call(item, "Item", "Delete")
        if prompt != _NOTHING:
            self._answer(prompt)

    def _default_collection(self) -> str:
        return self._service("ReadAlias", "s", "default")[0]

    def _unlock(self, path: str) -> None:
        """Unlock a collection or an item. An unlocked one stays as it is, without a prompt."""
        _, prompt = self._service("Unlock", "ao", [path])
        if prompt != _NOTHING:
            self._answer(prompt)

    def _answer(self, prompt: str) -> Any:
        """Let the keyring ask the user for a passphrase. Return the result that the keyring reports."""
        completed = MatchRule(type="signal", interface=f"{_PREFIX}.Prompt", member="Completed", path=prompt)
        unwrap_msg(self._bus.send_and_get_reply(message_bus.AddMatch(completed), timeout=REPLY_TIMEOUT))
        with self._bus.filter(completed) as signals:
            self._call(prompt, "Prompt", "Prompt", "s", "")
            dismissed, (_, result) = self._bus.recv_until_filtered(signals, timeout=PROMPT_TIMEOUT).body
        if dismissed:
            raise ConfigurationError("it was not unlocked")
        return result

    def _service(self, method: str, signature: str, *values: object) -> tuple[Any, ...]:
        return self._call("/org/freedesktop/secrets", "Service", method, signature, *values)

    def _call(
        self, path: str, interface: str, method: str, signature: str | None = None, *values: object
    ) -> tuple[Any, ...]:
        address = DBusAddress(path, "org.freedesktop.secrets", f"{_PREFIX}.{interface}")
        message = new_method_call(address, method, signature, values)
        return unwrap_msg(self._bus.send_and_get_reply(message, timeout=REPLY_TIMEOUT))
