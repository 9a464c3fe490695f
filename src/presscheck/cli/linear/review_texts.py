"""Texts in a change request: drafts, which the app can continue, and sending or holding them in a review."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from presscheck.api.operation import Operation
from presscheck.cli.linear.place import Linear
from presscheck.engine.drafts import draft_about
from presscheck.engine.engine import Engine
from presscheck.engine.review.pending_review import PendingReview, draft_key
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count


def review_draft(engine: Engine, path: Mapping[str, Any], name: str, **about: str) -> DraftSlot:
    """Return the draft of a text in a change request.

    Args:
        engine: stores the draft.
        path: the path parameters of the change request.
        name: the name of the draft, as in the app.
        about: titles for the list of drafts.
    """
    key = draft_key(path["change_request_id"], name)
    return DraftSlot(engine.outbox, key, about=draft_about(engine, path, **about))


async def hold_or_send(linear: Linear, pending: PendingReview, call: Operation[Any], draft: DraftSlot) -> None:
    """Hold a comment or a reply if a review is started; otherwise send it.

    Raises:
        PresscheckError: the service rejected it.
    """
    if not pending.is_started:
        await linear.send(call, draft, "Sent.")
        return
    pending.hold(call)
    draft.discard()
    linear.terminal.print([f"Held: your review has {count(len(pending.entries()), 'comment')}."])
