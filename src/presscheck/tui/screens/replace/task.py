"""What is replaced over a space: a text by another one; the screen of hits knows a task only by its protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from presscheck.documents.pages.replacement import Query
from presscheck.engine.replacement.pattern_search import check_query, subject_of
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.replace.form import SWITCHES, ReplaceForm

if TYPE_CHECKING:
    from presscheck.api.spaces import Space
    from presscheck.engine.replacement.file_search import FileQuery
    from presscheck.errors import InvalidArgument
    from presscheck.tui.ui.screen import BaseScreen

SUBJECT = 100
"""The most characters of a subject."""
LONGEST_SHOWN = 60
"""Characters of a text that the line above the hits shows."""


class ReplaceTask(Protocol):
    """What is replaced, and what of it is specific to a text or to a file."""

    @property
    def title(self) -> str:
        """What the screen of hits is called."""
        ...

    @property
    def query(self) -> Query | FileQuery:
        """What to find, and what to put in its place."""
        ...

    @property
    def draft(self) -> str:
        """The key of the draft of what is typed; it ends when the hits were replaced."""
        ...

    def line(self) -> Line:
        """What is replaced by what."""
        ...

    def subject(self) -> str:
        """The proposed subject of a new change request."""
        ...

    def empty(self, searched: int) -> tuple[str, str]:
        """A sentence and a hint if there are no hits on so many pages."""
        ...

    def notes(self) -> list[Line]:
        """What the one who replaces must know."""
        ...

    async def change(self, screen: BaseScreen, error: InvalidArgument | None) -> bool:
        """Ask what to replace again, with the reason why it could not be; whether it is another task now."""
        ...


class TextTask:
    """Replaces a text.

    Args:
        space: the space.
        query: the text.
    """

    title = "Find and replace"

    def __init__(self, space: Space, query: Query) -> None:
        self._space, self.query = space, query

    @property
    def draft(self) -> str:
        """The key of the draft of the query."""
        return draft_key(self._space)

    def line(self) -> Line:
        """The text, the text in its place, and the switches that are on."""
        find, new = (sanitize(_short(text)) for text in (self.query.find, self.query.replacement))
        options = " · ".join(label for field, (label, _) in SWITCHES.items() if getattr(self.query, field))
        to = (Span(" → ", "quiet"), Span(new, "added underline")) if new else (Span(" → nothing", "quiet"),)
        return (Span(" "), Span(find, "removed strike"), *to, Span(f"   {options}", "quiet"))

    def subject(self) -> str:
        """The proposed subject of a new change request."""
        return sanitize(subject_of(self.query, SUBJECT))[:SUBJECT]

    def empty(self, searched: int) -> tuple[str, str]:
        """What to do if there are no hits."""
        return f"No hits on {count(searched, 'page')}.", ". f changes what is searched."

    def notes(self) -> list[Line]:
        """None: nothing but the hits changes."""
        return []

    async def change(self, screen: BaseScreen, error: InvalidArgument | None) -> bool:
        """Ask what to find."""
        query = await ask_query(screen, self._space, self.query, error)
        self.query = query or self.query
        return query is not None


def draft_key(space: Space) -> str:
    """The key of the draft of a query."""
    return f"replace {space.id}"


async def ask_query(
    screen: BaseScreen, space: Space, query: Query | None = None, error: InvalidArgument | None = None
) -> Query | None:
    """Ask what to find in a space; what is typed is a draft until it is replaced. None if the dialog was closed.

    Args:
        screen: asks.
        space: the space.
        query: the query before; None for the draft.
        error: why that could not be run.
    """
    form = ReplaceForm(
        f"Find and replace in {sanitize(space.title)}",
        DraftSlot(screen.engine.outbox, draft_key(space)),
        query,
        check=check_query,
        error=error,
    )
    return await screen.ask(form)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
