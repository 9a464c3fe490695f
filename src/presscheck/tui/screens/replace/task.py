"""The tasks of the replace screen: replacing a text, and the protocol that other tasks implement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from presscheck.documents.pages.replacement import Query
from presscheck.engine.replacement.pattern_search import check_query, subject_of
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.new_request import SUBJECT
from presscheck.tui.screens.replace.form import SWITCHES, ReplaceForm

if TYPE_CHECKING:
    from presscheck.api.spaces import Space
    from presscheck.engine.replacement.file_search import FileQuery
    from presscheck.errors import InvalidArgument
    from presscheck.tui.ui.screen import BaseScreen

LONGEST_SHOWN = 60
"""Maximum number of characters of a text in the line above the hits."""


class ReplaceTask(Protocol):
    """A task of the replace screen, for a text or for a file."""

    @property
    def title(self) -> str:
        """The title of the screen."""
        ...

    @property
    def query(self) -> Query | FileQuery:
        """The query of the search, with the replacement."""
        ...

    @property
    def draft(self) -> str:
        """The key of the stored draft of the query, which is removed after the replacement."""
        ...

    def line(self) -> Line:
        """Render the query and its replacement."""
        ...

    def subject(self) -> str:
        """Return a proposed subject for a new change request."""
        ...

    def empty(self, searched: int) -> tuple[str, str]:
        """Return a sentence and a hint for a search without hits.

        Args:
            searched: the number of searched pages.
        """
        ...

    def notes(self) -> list[Line]:
        """Return warnings for the confirmation."""
        ...

    async def change(self, screen: BaseScreen, error: InvalidArgument | None) -> bool:
        """Ask for another query. Returns False if the user keeps the current query.

        Args:
            screen: the screen that shows the dialog.
            error: the reason why the current query cannot be run, if any.
        """
        ...


class TextTask:
    """The replacement of a text.

    Args:
        space: the space.
        query: the text and its replacement.
    """

    title = "Find and replace"

    def __init__(self, space: Space, query: Query) -> None:
        self._space, self.query = space, query

    @property
    def draft(self) -> str:
        """The key of the stored draft of the query."""
        return draft_key(self._space)

    def line(self) -> Line:
        """Render the text, the replacement, and the options that are on."""
        find, new = (sanitize(_short(text)) for text in (self.query.find, self.query.replacement))
        options = " · ".join(label for field, (label, _) in SWITCHES.items() if getattr(self.query, field))
        to = (Span(" → ", "quiet"), Span(new, "added underline")) if new else (Span(" → nothing", "quiet"),)
        return (Span(" "), Span(find, "removed strike"), *to, Span(f"   {options}", "quiet"))

    def subject(self) -> str:
        """Return a proposed subject for a new change request."""
        return sanitize(subject_of(self.query, SUBJECT))[:SUBJECT]

    def empty(self, searched: int) -> tuple[str, str]:
        """Return a sentence and a hint for a search without hits."""
        return f"No hits on {count(searched, 'page')}.", f"{key_for('find_replace')} changes what is searched."

    def notes(self) -> list[Line]:
        """Return no warnings: only the hits change."""
        return []

    async def change(self, screen: BaseScreen, error: InvalidArgument | None) -> bool:
        """Ask for another query. Returns False if canceled."""
        query = await ask_query(screen, self._space, self.query, error)
        self.query = query or self.query
        return query is not None


def draft_key(space: Space) -> str:
    """Return the key of the stored draft of a query."""
    return f"replace {space.id}"


async def ask_query(
    screen: BaseScreen, space: Space, query: Query | None = None, error: InvalidArgument | None = None
) -> Query | None:
    """Ask for a query in a space. Returns None if canceled.

    The query is stored as a draft until its hits are replaced.

    Args:
        screen: the screen that shows the dialog.
        space: the space.
        query: the current query; None for the stored draft.
        error: the reason why the current query cannot be run, if any.
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
