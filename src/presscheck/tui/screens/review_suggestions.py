"""Suggestions: the comment under the cursor carries words that should stand in the page; one key puts them there."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from presscheck.api.changes import EditChangeRequestContent, UpdatePage
from presscheck.api.comments import Document, UpdateComment
from presscheck.api.content import GetChangeRequestPage
from presscheck.documents.display_text import display_text
from presscheck.documents.quotes import place
from presscheck.documents.spans import Span
from presscheck.documents.suggestions import block_at, print_of, replaced, suggestion_in
from presscheck.tui.screens.review_messages import Messages
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

if TYPE_CHECKING:
    from presscheck.api.content import RevisionPage
    from presscheck.documents.blocks import Block
    from presscheck.documents.spans import Line
    from presscheck.documents.suggestions import Suggestion
    from presscheck.tui.screens.review_threads import Thread

MOST = 8
"""Lines of either side that a sheet shows."""


class Suggesting(Messages):
    """Puts suggested words where they belong."""

    def reason_use_suggestion(self) -> str | None:
        """Why there is nothing to put in."""
        one = self.thread_here()
        if one is None or self._suggested(one) is None:
            return "no suggestion here: in a comment, ctrl+g begins one"
        if one.resolved:
            return "it is resolved: x opens it again"
        return self.reason_edit_page()

    async def command_use_suggestion(self) -> None:
        """Put the suggested words into the page, and resolve the thread."""
        one = self.thread_here()
        suggested = self._suggested(one) if one else None
        if one is None or suggested is None or one.page is None:
            return
        found = await self._block_of(one)
        if found is None:
            self.notify("the words that it is about are gone: nothing was changed")
            return
        page, block = found
        stays = not suggested.print or suggested.print == print_of(block)
        if not await self.ask(self._sheet(page.title, block.text, suggested, stays=stays)):
            return
        again = await self._block_of(one)  # somebody else may have written in the page while this was asked
        if again is None or again[1].text != block.text:
            self.notify("the words that it is about were just changed by somebody: nothing was put in")
            return
        page, block = again
        words = replaced(page.markdown or "", block, suggested.words)
        change = UpdatePage(page=one.page, document=Document(markdown=words))
        await self.desk.write(EditChangeRequestContent(**self.known.path, changes=(change,))).landed()
        self.send(UpdateComment(**self.known.path, comment_id=one.id, resolved=True))
        self.notify("the suggested words stand in the page")

    async def _block_of(self, one: Thread) -> tuple[RevisionPage, Block] | None:
        """The page that a thread is on, as it is now, and the block that it is about; None where that is gone."""
        call = GetChangeRequestPage(**self.known.path, page_id=one.page or "", format="markdown")
        page = await self.desk.read(call)
        markdown = page.markdown or ""
        line = place(one.about, enumerate(markdown.split("\n")))
        block = block_at(markdown, line) if line is not None else None
        return (page, block) if block else None

    @abstractmethod
    def reason_edit_page(self) -> str | None:
        """Why the page cannot be edited; acts that change it say so."""

    def _suggested(self, one: Thread) -> Suggestion | None:
        """The newest suggestion in a thread."""
        found = [suggestion_in(said.text) for said in (one.first, *one.replies) if said.unsent is None]
        return next((said for said in reversed(found) if said), None)

    def _sheet(self, title: str, before: str, suggested: Suggestion, *, stays: bool) -> ConfirmDialog:
        lines: list[Line] = [
            *_side("− ", before, "removed"),
            *_side("+ ", suggested.words, "added"),
        ]
        if not stays:
            lines.append((Span("These words have changed since it was suggested.", "waiting"),))
        return ConfirmDialog(f"Put this into {display_text(title)}?", lines, "Put in", self.style_for)


def _side(mark: str, text: str, style: str) -> list[Line]:
    lines = text.split("\n") if text else []
    shown: list[Line] = [(Span(mark + display_text(line), style),) for line in lines[:MOST]]
    return [*shown, (Span(f"  {len(lines) - MOST} more lines", "quiet"),)] if len(lines) > MOST else shown
