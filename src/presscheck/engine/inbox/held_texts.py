"""The numbers of texts that stay on this machine until the user sends them: drafts, and comments of pending reviews."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from presscheck.store.outbox import StoredDraft
from presscheck.text.phrases import count

if TYPE_CHECKING:
    from presscheck.engine.writes.pending_writes import OutboxEntry


class HeldTexts(NamedTuple):
    """The number of comments that a pending review holds, and the number of drafts."""

    comments: int
    drafts: int


def held_texts(entries: Iterable[OutboxEntry], draft_keys: Iterable[str]) -> dict[str, HeldTexts]:
    """Return the numbers of held texts by change request id.

    Args:
        entries: the unsent writes. Page edits and new change requests of agents count as drafts.
        draft_keys: the keys of all drafts. Drafts outside of change requests are counted under an empty id.
    """
    comments, texts = Counter[str](), Counter[str]()
    for entry in entries:
        if entry.state == "collected":
            request = str(getattr(entry.call, "change_request_id", ""))
            (texts if entry.has_base or (entry.agent and not request) else comments)[request] += 1
    if stored := tuple(StoredDraft(key, "", None, {}) for key in draft_keys):
        from presscheck.engine.drafts import drafts  # 4 ms, only if there are drafts

        texts.update(draft.request for draft in drafts(stored))
    return {request: HeldTexts(comments[request], texts[request]) for request in comments | texts}


def held_words(held: Mapping[str, HeldTexts]) -> str:
    """Return the numbers of drafts and pending reviews, such as `2 drafts and 1 pending review`; empty for none."""
    number = sum(texts.drafts for texts in held.values())
    reviews = sum(texts.comments > 0 for texts in held.values())
    parts = ((number, "draft"), (reviews, "pending review"))
    return " and ".join(count(size, noun) for size, noun in parts if size)
