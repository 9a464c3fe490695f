"""Drafts: typed texts that are stored until they are sent."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from presscheck.errors import StoreError

if TYPE_CHECKING:
    from presscheck.store.outbox import LocalState

NOTHING: Mapping[str, str] = {}


class DraftSlot:
    """A draft in the local state.

    Args:
        outbox: the local state that stores the draft.
        key: the key of the draft.
        initial: the text before anything is typed, which is not stored.
        about: ids and titles for the list of drafts, or a function that returns them for a text.
        beside: texts by key that are stored with the draft, such as the text before the edit.
    """

    def __init__(
        self,
        outbox: LocalState,
        key: str,
        initial: str = "",
        about: Mapping[str, str] | Callable[[str], Mapping[str, str]] = NOTHING,
        beside: Mapping[str, str] = NOTHING,
    ) -> None:
        self.outbox, self.key, self.initial, self.beside = outbox, key, initial, beside
        self._about = about
        self._stored = outbox.draft(key)
        """The text that this instance stored or read last; another instance may have the same draft open."""

    @property
    def text(self) -> str:
        """The stored text, or the initial text."""
        return self.outbox.draft(self.key) or self.initial

    @property
    def about(self) -> Mapping[str, str]:
        """The ids and titles for the list of drafts."""
        return self._about(self.text) if callable(self._about) else self._about

    def save(self, text: str) -> None:
        """Store the text and the texts in `beside`. If the text is empty or the initial text, remove the draft.

        Raises:
            StoreError: the disk is full.
        """
        if text in ("", self.initial):
            self._forget()
            return
        about = self._about(text) if callable(self._about) else self._about
        self.outbox.save_draft(self.key, text, about, self.beside)
        self._stored = text

    def discard(self) -> None:
        """Remove the draft after its text was accepted, unless another instance has changed the draft."""
        with contextlib.suppress(StoreError):  # the write is accepted, so a remaining draft does no harm
            self._forget()

    def _forget(self) -> None:
        self.outbox.forget_draft(self.key, self._stored, *self.beside)
        self._stored = ""
