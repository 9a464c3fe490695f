"""Choices that a user makes by key or mouse instead of a setting of the profile, such as the width of a pane."""

from __future__ import annotations

from presscheck.store.outbox import Outbox


class StoredChoice:
    """The user's choice or the setting of the profile, whichever was changed last.

    A choice is stored together with the current setting. Once the setting differs, the choice is ignored.

    Args:
        outbox: the local state of the profile.
        key: the storage key.
        setting: the value in the settings of the profile; None if there is no such setting.
    """

    def __init__(self, outbox: Outbox, key: str, setting: str | int | None = None) -> None:
        self._outbox, self._key = outbox, key
        self._setting = "" if setting is None else str(setting)

    @property
    def value(self) -> str:
        """The choice, or else the setting; empty without both."""
        return self._choice or self._setting

    @property
    def is_setting(self) -> bool:
        """Whether the value is the setting of the profile."""
        return bool(self._setting) and not self._choice

    @property
    def _choice(self) -> str:
        choice, _, setting = (self._outbox.recall(self._key) or "").partition(" ")
        return choice if setting == self._setting else ""

    def store(self, value: str) -> None:
        """Store a choice."""
        self._outbox.remember(self._key, f"{value} {self._setting}".strip())
