"""GNOME Keyring on a separate D-Bus session, with a mock of the password dialog.

The mock is `gcr_mock_prompter` of libgcr, which GNOME's own tests use. Run as a program, this module is the mock.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import open_dbus_connection
from jeepney.wrappers import unwrap_msg
from tests.needs import require
from tests.root import ROOT

PASSPHRASE = "the passphrase of the keyring"
NAME = "org.freedesktop.secrets"
# without service folders: the bus starts no services by itself
SETTINGS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={path}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
</busconfig>
"""


class SecretService:
    """A D-Bus session in which a keyring can be started.

    Attributes:
        address: the value of `DBUS_SESSION_BUS_ADDRESS` for programs that use the keyring.
    """

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        settings = folder / "bus.conf"
        settings.write_text(SETTINGS.format(path=folder / "bus"), "utf-8")
        bus = self._run("dbus-daemon", f"--config-file={settings}", "--nofork", "--print-address")
        self.address = _line(bus)

    def start(self, *, unlocked: bool) -> None:
        """Start the keyring daemon, with an unlocked keyring or without any keyring."""
        self._dialog = self._run(sys.executable, "-m", "tests.secret_service")
        own = {"GNOME_KEYRING_TEST_PROMPTER": _line(self._dialog)}
        words = ["--foreground", "--components=secrets", *(["--unlock"] if unlocked else [])]
        keyring = self._run("gnome-keyring-daemon", *words, **own)
        assert keyring.stdin
        keyring.stdin.write(PASSPHRASE if unlocked else "")
        keyring.stdin.close()
        deadline = time.monotonic() + 30
        while not self.call("/", "NameHasOwner", "s", NAME, interface="org.freedesktop.DBus")[0]:
            assert time.monotonic() < deadline, "the keyring does not start"
            time.sleep(0.01)

    def answer(self, passphrase: str = "") -> None:
        """Answer the next dialog with a passphrase; dismiss it if the passphrase is empty."""
        assert self._dialog.stdin
        self._dialog.stdin.write(f"{passphrase}\n")
        self._dialog.stdin.flush()
        assert _line(self._dialog) == "expected"

    def lock(self) -> None:
        [path] = self.call("/org/freedesktop/secrets", "ReadAlias", "s", "default")
        assert self.call("/org/freedesktop/secrets", "Lock", "ao", [path])[0] == [path]

    def items(self) -> list[dict[str, str]]:
        """Return the attributes of all items in the unlocked keyring."""
        unlocked, _ = self.call("/org/freedesktop/secrets", "SearchItems", "a{ss}", {})
        attributes = "org.freedesktop.Secret.Item", "Attributes"
        properties = "org.freedesktop.DBus.Properties"
        return [self.call(path, "Get", "ss", *attributes, interface=properties)[0][1] for path in unlocked]

    def call(
        self, path: str, method: str, signature: str, *values: Any, interface: str = "org.freedesktop.Secret.Service"
    ) -> tuple[Any, ...]:
        """Call a method of the keyring, or of the bus."""
        name = interface if path == "/" else NAME
        with open_dbus_connection(self.address) as bus:
            message = new_method_call(DBusAddress(path, name, interface), method, signature, values)
            return unwrap_msg(bus.send_and_get_reply(message, timeout=30))

    def _run(self, *command: str, **own: str) -> subprocess.Popen[str]:
        home = {name: str(self._folder) for name in ("HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME")}
        environment = os.environ | home | own
        if hasattr(self, "address"):
            environment["DBUS_SESSION_BUS_ADDRESS"] = self.address
        pipe = subprocess.PIPE
        program = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )
        self._stack.enter_context(program)
        self._stack.callback(program.kill)
        return program


def _line(program: subprocess.Popen[str]) -> str:
    assert program.stdout
    return program.stdout.readline().strip()


@contextmanager
def secret_service() -> Iterator[SecretService]:
    """Run a D-Bus session without a keyring."""
    require("gnome-keyring")
    # a socket address has at most 107 bytes; pytest's temporary folders may be longer
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        yield SecretService(Path(folder), stack)


def main() -> None:
    """Run the mock: print its name on the bus, then read the answers to dialogs from standard input, one per line."""
    library = next(library for library in map(_library, ("libgcr-4.so.4", "libgcr-base-3.so.1")) if library)
    library.gcr_mock_prompter_start.restype = ctypes.c_char_p
    library.gcr_mock_prompter_expect_password_ok.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    _say(library.gcr_mock_prompter_start().decode())
    for line in sys.stdin:
        if passphrase := line.strip():
            library.gcr_mock_prompter_expect_password_ok(passphrase.encode(), None)
        else:
            library.gcr_mock_prompter_expect_password_cancel()
        _say("expected")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _library(name: str) -> ctypes.CDLL | None:
    with suppress(OSError):
        return ctypes.CDLL(name)
    return None


if __name__ == "__main__":
    main()
