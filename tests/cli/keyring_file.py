"""A keyring backend for tests that stores secrets in the file named by `TEST_KEYRING`; it needs no desktop."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError


class KeyringInAFile(KeyringBackend):
    priority = 1

    @property
    def _file(self) -> Path:
        return Path(os.environ["TEST_KEYRING"])

    def _all(self) -> dict[str, str]:
        return json.loads(self._file.read_text()) if self._file.exists() else {}

    def get_password(self, service: str, username: str) -> str | None:
        return self._all().get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._file.write_text(json.dumps({**self._all(), f"{service} {username}": password}))

    def delete_password(self, service: str, username: str) -> None:
        kept = self._all()
        if kept.pop(f"{service} {username}", None) is None:
            raise PasswordDeleteError(username)
        self._file.write_text(json.dumps(kept))
