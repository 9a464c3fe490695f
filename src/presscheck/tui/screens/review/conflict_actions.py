"""Conflict commands of a review: replace the conflict under the cursor by one side or by both."""

from __future__ import annotations

from functools import partialmethod
from typing import TYPE_CHECKING

from presscheck.documents.merge.conflict_blocks import ConflictBlock, Side, conflict_at, conflict_blocks, resolve
from presscheck.text.phrases import count
from presscheck.tui.commands import key_for
from presscheck.tui.screens.page.editor import stays_locked

if TYPE_CHECKING:
    from presscheck.tui.screens.review.session import ReviewSession

TAKEN = {"ours": "took ours", "theirs": "took theirs", "both": "took both"}


class ConflictActions:
    """The commands of a review that resolve a conflict.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._session, self._model, self._screen, self._view = session, session.model, session.screen, session.view

    def reason_take_ours(self) -> str | None:
        """Return why no conflict can be resolved: for example, none of several is under the cursor."""
        if self._conflict() is None:
            number = len(conflict_blocks(self._view.page.after))
            return (
                f"{number} conflicts on this page: {key_for('next_change')} goes to one of them"
                if number
                else "no conflict on this page"
            )
        return self._session.edit_page_reason()

    reason_take_theirs = reason_take_ours
    reason_take_both = reason_take_ours

    async def _take(self, side: Side) -> None:
        """Replace the conflict by `side` in the newest text of the page, and write the page.

        If another user has resolved the conflict since, only show a message.
        """
        item, conflict = self._view.item, self._conflict()
        if item is None or conflict is None or await stays_locked(self._screen, self._model.space_id):
            return
        markdown = (await self._session.read_page(item.id)).markdown or ""
        sides = (conflict.ours, conflict.theirs)
        same = [block for block in conflict_blocks(markdown) if (block.ours, block.theirs) == sides]
        if not same:
            self._screen.notify("not resolved: somebody just changed this text")
            return
        block = min(same, key=lambda block: abs(block.first - conflict.first))
        text = resolve(markdown, block, side)
        await self._session.write_page(item.id, text)
        left = len(conflict_blocks(text))
        more = f"{count(left, 'more conflict')} on this page" if left else "no conflict is left on this page"
        self._screen.notify(f"{TAKEN[side]}: {more}")

    command_take_ours = partialmethod(_take, "ours")
    command_take_theirs = partialmethod(_take, "theirs")
    command_take_both = partialmethod(_take, "both")

    def _conflict(self) -> ConflictBlock | None:
        """Return the conflict under the cursor, else the only conflict of the page, else None."""
        line, text = self._view.text_line, self._view.page.after
        at_cursor = conflict_at(text, line) if line is not None and self._view.is_in_change else None
        blocks = conflict_blocks(text)
        return at_cursor or (blocks[0] if len(blocks) == 1 else None)
