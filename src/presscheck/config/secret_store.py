"""The system keyring: the Keychain on macOS, and the Secret Service elsewhere."""

from __future__ import annotations

import sys

if sys.platform == "darwin":
    import keyring
    from keyring.errors import KeyringError, PasswordDeleteError

    from presscheck.errors import ConfigurationError

    def read_secret(service: str, name: str) -> str | None:
        """Return a secret of a service, or None if there is none.

        Raises:
            ConfigurationError: the Keychain is locked, or denies it; the message is the reason.
        """
        try:
            return keyring.get_password(service, name)
        except KeyringError as error:
            raise ConfigurationError(str(error)) from None

    def store_secret(service: str, name: str, secret: str) -> None:
        """Store a secret of a service, or replace it.

        Raises:
            ConfigurationError: the Keychain is locked, or denies it; the message is the reason.
        """
        try:
            keyring.set_password(service, name, secret)
        except KeyringError as error:
            raise ConfigurationError(str(error)) from None

    def delete_secret(service: str, name: str) -> None:
        """Delete a secret of a service, if there is one.

        Raises:
            ConfigurationError: the Keychain is locked, or denies it; the message is the reason.
        """
        try:
            keyring.delete_password(service, name)
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
