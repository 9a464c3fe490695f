"""The system keyring: the Keychain on macOS, and the Secret Service elsewhere."""

from __future__ import annotations

import sys

if sys.platform == "darwin":
    import keyring
    from keyring.errors import KeyringError, PasswordDeleteError

    from presscheck.errors import ConfigurationError

    def read_secret(program: str, name: str) -> str | None:
        """Return the secret that a program stored under a name, or None if there is none.

        Raises:
            ConfigurationError: the Keychain is locked, or denies it; the message is the reason.
        """
        try:
            return keyring.get_password(program, name)
        except KeyringError as error:
            raise ConfigurationError(str(error)) from None

    def store_secret(program: str, name: str, secret: str) -> None:
        """Store a secret of a program by name, and replace an earlier one.

        Raises:
            ConfigurationError: the Keychain is locked, or denies it; the message is the reason.
        """
        try:
            keyring.set_password(program, name, secret)
        except KeyringError as error:
            raise ConfigurationError(str(error)) from None

    def delete_secret(program: str, name: str) -> None:
        """Delete the secret that a program stored under a name, if any.

        Raises:
            ConfigurationError: the Keychain is locked, or denies it; the message is the reason.
        """
        try:
            keyring.delete_password(program, name)
        except PasswordDeleteError:
            return  # already deleted
        except KeyringError as error:
            raise ConfigurationError(str(error)) from None

    def check_keyring() -> None:
        """Check that there is a keyring, without a prompt to unlock it.

        Raises:
            ConfigurationError: there is none; the message is the reason, in a few words.
        """
        if keyring.get_keyring().priority <= 0:
            raise ConfigurationError("PYTHON_KEYRING_BACKEND names another")

else:
    from presscheck.config.secret_service import check_keyring, delete_secret, read_secret, store_secret

__all__ = ["check_keyring", "delete_secret", "read_secret", "store_secret"]
