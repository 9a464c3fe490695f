"""A text that somebody types: a draft in the store until the engine accepts it, and the text of a write."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from presscheck.errors import StoreError
from presscheck.store.open_texts import DraftSlot

if TYPE_CHECKING:
    from presscheck.store.outbox import Outbox

NOTHING: Mapping[str, str] = {}


class TextDraft:
    """A stored draft; the initial text is not stored.

    Args:
        outbox: stores it.
        key: its key.
        initial: the text that it begins with.
        about: what is stored about it.
        place: returns what is stored about the place of a text.
    """

    def __init__(
        self,
        outbox: Outbox,
        key: str,
        initial: str,
        about: Mapping[str, str],
        place: Callable[[str], Mapping[str, str]] = lambda _: NOTHING,
    ) -> None:
        self._outbox, self._key, self._initial, self._about, self._place = outbox, key, initial, about, place

    @property
    def slot(self) -> DraftSlot:
        """Where it is stored."""
        return DraftSlot(self._outbox, self._key, {**self._about, **self._place(self.text)})

    @property
    def text(self) -> str:
        """The stored text, or the initial one."""
        return self._outbox.draft(self._key) or self._initial

    def save(self, text: str) -> None:
        """Store the text.

        Raises:
            StoreError: the disk is full.
        """
        is_same = text == self._initial
        about = {**self._about, **({} if is_same else self._place(text))}
        self._outbox.save_draft(self._key, "" if is_same else text, about)

    def discard(self) -> None:
        """Remove the draft, because its text was accepted."""
        with contextlib.suppress(StoreError):  # the write is accepted, so a draft that stays does no harm
            self._outbox.save_draft(self._key, "")


def text_of(call: Any) -> str:
    """The typed text of a write; empty if it has none."""
    body = getattr(call, "body", None) or getattr(call, "comment", None)
    return (body.markdown or "") if body else ""


def message_id(call: Any) -> str:
    """The id of the comment or the reply that a write is about."""
    return getattr(call, "comment_reply_id", call.comment_id)
