"""Text search in a whole change request: the conversation, all changed pages, and their threads."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from presscheck.text.styled_text import plain
from presscheck.tui.widgets.line_view import Match

if TYPE_CHECKING:
    from presscheck.tui.screens.review.session import ReviewSession


class FoundLine(NamedTuple):
    """A matching line: the row of its page in the list (0 for the conversation), and the line in that page."""

    row: int
    line: int


class FindInAll:
    """The search in the conversation and in all pages of a review.

    The texts of the pages are loaded before the first search. Folded or hidden lines are not searched.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._session, self._model, self._view = session, session.model, session.view

    async def command_find_in_all(self) -> None:
        """Open the search input."""
        await self._session.screen.find.open(self, self._view.change)

    @property
    def search_text(self) -> str:
        """The text that is highlighted."""
        return self._view.change.search_text

    @property
    def count(self) -> int:
        """The number of changed items."""
        return len(self._model.items)

    def highlight(self, text: str) -> None:
        """Highlight all matches of a text in the change."""
        self._view.change.highlight(text)

    async def find_items(self, text: str) -> list[FoundLine]:
        """Return all lines that contain a text, from the conversation to the last item."""
        if not text:
            return []
        await self._session.texts.load_all(self._model.items)
        text, found, row = text.lower(), list[FoundLine](), 0
        while row <= len(self._model.items):  # the items may change while other tasks run
            lines = self._view.lines_of_row(row)
            found += [FoundLine(row, number) for number, line in enumerate(lines) if text in plain(line).lower()]
            row += 1
            await asyncio.sleep(0)
        return found

    async def search(self, text: str, *, step: int = 1) -> Match | None:
        """Go to the next line that contains a text, or to the previous line if `step` is -1, wrapping at the ends.

        Return the position of the line among all matches, or None if no line contains the text.
        """
        self.highlight(text)
        found = await self.find_items(text)
        if not found:
            return None
        here = (self._view.row, self._view.line)
        ahead = [place for place in found if (place > here if step > 0 else place < here)] or found
        target = ahead[0 if step > 0 else -1]
        self._view.show_line(*target)
        return Match(found.index(target) + 1, len(found))
