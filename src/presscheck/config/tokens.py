"""Tokens from the environment, a command, a file, or `presscheck login`, which stores a token. Tokens are never shown.

A stored token belongs to a profile and a service URL, so that it is not sent elsewhere after a change of the URL. A
marker file exists if the token is in the system keyring, so that the keyring is only opened if necessary.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from presscheck.config.browser_tab import DRIVER_VARIABLE, is_in_browser
from presscheck.errors import ConfigurationError, StoreError

if TYPE_CHECKING:
    from filelock import AcquireReturnProxy, BaseFileLock

SERVICE = "presscheck"
"""The service name of the tokens in the system keyring."""
COMMAND_TIMEOUT = 120.0
"""Maximum seconds of a token_command, which may ask for a passphrase."""
LONGEST_LOCK = 60.0
"""Seconds to wait for another process that is renewing the token."""
IN_KEYRING = "the system keyring"


@dataclass(frozen=True)
class Token:
    """A token and its source in words; both are None without a token."""

    text: str | None = field(default=None, repr=False)
    origin: str | None = None


def child_environment() -> dict[str, str]:
    """Return the environment for programs of the user: the environment of this process without the token.

    If the app is shown in a browser, the variable that names Textual's driver is removed, too: with it, a presscheck
    that the program starts would expect a browser tab.
    """
    names = {"PRESSCHECK_TOKEN", *((DRIVER_VARIABLE,) if is_in_browser() else ())}
    return {name: value for name, value in os.environ.items() if name not in names}


def find_token(
    directory: Path, profile: str, base_url: str, settings: Mapping[str, Any], environment: Mapping[str, str]
) -> Token:
    """Return the token of a profile from the first configured source, or a `Token` without text if there is none.

    Args:
        directory: the configuration directory, with the stored tokens.
        profile: the name of the profile.
        base_url: the URL of the service.
        settings: the settings of the profile.
        environment: the environment variables.

    Raises:
        ConfigurationError: the configured source provides no token; the message names the source and a remedy.
    """
    if environment.get("PRESSCHECK_TOKEN"):
        return Token(environment["PRESSCHECK_TOKEN"], "PRESSCHECK_TOKEN")
    if "token_command" in settings:
        return Token(_run_command(settings["token_command"]), "token_command")
    if "token_file" in settings:
        file = Path(settings["token_file"]).expanduser()
        return Token(_read(file), f"token_file {file}")
    return stored_token(directory, profile, base_url)


def set_elsewhere(settings: Mapping[str, Any], environment: Mapping[str, str]) -> str | None:
    """Return the source that overrides the token stored by `login`, or None."""
    if environment.get("PRESSCHECK_TOKEN"):
        return "PRESSCHECK_TOKEN"
    return next((key for key in ("token_command", "token_file") if key in settings), None)


def is_stored(directory: Path, profile: str, base_url: str) -> bool:
    """Return whether `login` stored a token, without opening the keyring."""
    file = _file(directory, profile, base_url)
    return file.exists() or _marker(file).exists()


def stored_token(directory: Path, profile: str, base_url: str) -> Token:
    """Return the token that `login` stored, if any.

    Raises:
        ConfigurationError: the keyring does not provide the token.
    """
    file = _file(directory, profile, base_url)
    if _marker(file).exists():
        return Token(_from_keyring(file.name), IN_KEYRING)
    if file.exists():
        return Token(_read(file), f"the file {file}")
    return Token()


def store_token(directory: Path, profile: str, base_url: str, token: str) -> str:
    """Store a token in the system keyring, or else in a file with mode 0600. Return the location in words."""
    file = _file(directory, profile, base_url)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if _into_keyring(file.name, token):
        file.unlink(missing_ok=True)
        _write(_marker(file), "")
        return IN_KEYRING
    _write(file, token + "\n")
    _marker(file).unlink(missing_ok=True)
    return f"the file {file}"


def forget_token(directory: Path, profile: str, base_url: str) -> bool:
    """Delete the token that `login` stored. Return whether a token was stored.

    Raises:
        ConfigurationError: the keyring does not delete the token.
    """
    file = _file(directory, profile, base_url)
    was_stored = is_stored(directory, profile, base_url)
    if _marker(file).exists():
        _out_of_keyring(file.name)
        _marker(file).unlink()
    file.unlink(missing_ok=True)
    return was_stored


def _file(directory: Path, profile: str, base_url: str) -> Path:
    address = base_url.rstrip("/").removesuffix("/v1").rstrip("/")
    return directory / "tokens" / f"{profile}-{hashlib.sha256(address.encode()).hexdigest()[:16]}"


def lock_token(directory: Path, profile: str, base_url: str) -> AcquireReturnProxy[BaseFileLock]:
    """Lock the stored token, so that only one process at a time renews it. `with` releases the lock.

    Raises:
        StoreError: another process takes too long.
    """
    from filelock import FileLock, Timeout  # 10 ms, only to replace tokens

    file = _file(directory, profile, base_url)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = file.with_name(file.name + ".lock")
    lock: BaseFileLock = FileLock(path, timeout=LONGEST_LOCK, mode=0o600, thread_local=False)
    try:
        return lock.acquire()
    except Timeout:
        raise StoreError("Another presscheck is renewing your sign-in and does not finish: try again") from None


def _marker(file: Path) -> Path:
    return file.with_name(file.name + ".in-keyring")


def _write(file: Path, text: str) -> None:
    """Write a file atomically, with mode 0600 from the start."""
    new = file.with_name(f"{file.name}.{os.getpid()}.new")
    with contextlib.suppress(FileNotFoundError):
        new.unlink()
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
        opened.write(text)
    new.replace(file)


def _read(file: Path) -> str | None:
    try:
        if os.name == "posix" and file.stat().st_mode & 0o077:
            raise ConfigurationError(f"token_file {file}: other users can read the file; run `chmod 600 {file}`")
        return file.read_text("utf-8-sig").strip() or None
    except OSError as error:
        raise ConfigurationError(
            f"token_file {file}: {error.strerror}; write the token into it, with mode 0600"
        ) from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"token_file {file}: it is not UTF-8 text") from None


def _run_command(command: str) -> str:
    """Return the output of a command. Errors do not quote the command or its output: both may contain the token."""
    try:
        words = shlex.split(command)
    except ValueError:
        raise ConfigurationError("token_command: unclosed quote") from None
    if not words:
        raise ConfigurationError("token_command: it is empty")
    try:
        # the user's own command, from the user's own settings
        ran = subprocess.run(words, stdout=subprocess.PIPE, check=False, timeout=COMMAND_TIMEOUT, text=True)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise ConfigurationError(f"token_command: timed out after {COMMAND_TIMEOUT:.0f} seconds") from None
    except OSError as error:
        raise ConfigurationError(f"token_command: could not start: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError("token_command: the output is not text") from None
    token = ran.stdout.removeprefix("\ufeff").strip()
    if ran.returncode or not token:
        why = f"it exited with {ran.returncode}" if ran.returncode else "it printed no token"
        raise ConfigurationError(f"token_command: {why}; it must print the token")
    return token


def _from_keyring(name: str) -> str:
    from presscheck.config import secret_store  # 10 ms, only for tokens in the keyring

    reason = "it has none"
    try:
        if token := secret_store.read_secret(SERVICE, name):
            return token
    except ConfigurationError as error:
        reason = error.message
    raise ConfigurationError(
        f"{IN_KEYRING} did not provide the token ({reason}): unlock it, or run `presscheck login` again"
    )


def _into_keyring(name: str, token: str) -> bool:
    from presscheck.config import secret_store  # 10 ms, only when a token is stored

    try:
        secret_store.store_secret(SERVICE, name, token)
        return secret_store.read_secret(SERVICE, name) == token
    except ConfigurationError:  # no keyring, locked, or denied: a file is used
        return False


def _out_of_keyring(name: str) -> None:
    from presscheck.config import secret_store  # 10 ms, only for tokens in the keyring

    try:
        secret_store.delete_secret(SERVICE, name)
    except ConfigurationError as error:
        raise ConfigurationError(
            f"{IN_KEYRING} did not delete the token ({error.message}): unlock it, then log out again"
        ) from None
