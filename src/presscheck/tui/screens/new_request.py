"""A new change request: the question for its subject, and its creation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.api.change_requests import CreateChangeRequest
from presscheck.store.drafts import DraftSlot
from presscheck.text.sanitize import sanitize
from presscheck.tui.ui.ask import prompt

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.spaces import Space
    from presscheck.engine.engine import Engine
    from presscheck.tui.ui.screen import BaseScreen

SUBJECT = 100
"""Maximum number of characters in a subject."""


def subject_draft(engine: Engine, space_id: str, subject: str = "") -> DraftSlot:
    """Return the draft of the subject of a new change request; `subject` is a proposal."""
    return DraftSlot(engine.outbox, f"subject {space_id}", subject[:SUBJECT], {"space": space_id})


async def create_request(screen: BaseScreen, space: Space, subject: str = "") -> ChangeRequest | None:
    """Ask for a subject, and create a change request; None if the user canceled. `subject` is a proposal."""
    draft = subject_draft(screen.engine, space.id, subject)
    question = f"New change request in {sanitize(space.title)}: subject"
    text = await prompt(screen, question, draft, max_length=SUBJECT)
    if text is None:
        return None
    request = await screen.engine.write(CreateChangeRequest(space_id=space.id, subject=text)).landed()
    draft.discard()
    return request
