"""The names of agents, and the limit of their drafts, which the outbox holds until a person sends or drops them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from presscheck.errors import InvalidArgument
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.engine.review.pending_review import ReviewWrites

NAME_LENGTH = 40
"""Maximum number of characters in the name of an agent."""
UNNAMED = "agent"
"""The name of an agent that gives no usable name."""
MOST_DRAFTS = 200
"""Maximum number of drafts that all agents together can have at a time."""


def agent_name(name: str | None) -> str:
    """Return the name of an agent as display text: one short line of letters, digits, blanks and `._-`."""
    words = re.sub(r"[^\w .-]+", " ", sanitize(name or ""))
    return " ".join(words.split())[:NAME_LENGTH].strip() or UNNAMED


def free_drafts(engine: ReviewWrites) -> int:
    """Return how many more drafts agents can write. An agent can have any number of names, so all agents count."""
    drafts = [entry for entry in engine.waiting() if entry.state == "collected" and entry.agent]
    return max(0, MOST_DRAFTS - len(drafts))


def too_many() -> str:
    """Return why agents cannot write another draft."""
    return f"agents have {MOST_DRAFTS} drafts: a person has to send or drop some first"


def require_room(engine: ReviewWrites) -> None:
    """Check that agents have less than the maximum number of drafts.

    Raises:
        InvalidArgument: agents have too many drafts.
    """
    if not free_drafts(engine):
        raise InvalidArgument("drafts", too_many())
