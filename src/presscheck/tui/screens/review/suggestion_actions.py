"""Suggestions: a comment can contain new text for the block that it is about; one command applies it to the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from presscheck.api.comments import Document, UpdateComment
from presscheck.api.content import GetChangeRequestPage
from presscheck.api.content_changes import EditChangeRequestContent, UpdatePage
from presscheck.documents.pages.quotes import find_quoted_line
from presscheck.documents.pages.suggestions import block_at, fingerprint, parse_suggestion, replace_block
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

if TYPE_CHECKING:
    from presscheck.api.content import RevisionPage
    from presscheck.documents.markdown.block_splitter import Block
    from presscheck.documents.pages.suggestions import Suggestion
    from presscheck.engine.review.model import ReviewModel
    from presscheck.engine.review.threads import Thread
    from presscheck.tui.screens.review.context import ReviewContext, ReviewCursor
    from presscheck.tui.screens.review.drafts import ReviewDrafts

MOST = 8
"""Lines of each side that the dialog shows."""


class SuggestionActions:
    """The command that applies a suggestion.

    Args:
        model: the change request.
        context: the screen.
        cursor: what is selected.
        drafts: sends.
        edit_reason: returns why the selected page cannot be edited.
    """

    def __init__(
        self,
        model: ReviewModel,
        context: ReviewContext,
        cursor: ReviewCursor,
        drafts: ReviewDrafts,
        edit_reason: Callable[[], str | None],
    ) -> None:
        self._model, self._context, self._cursor, self._drafts = model, context, cursor, drafts
        self._edit_reason = edit_reason

    def reason_use_suggestion(self) -> str | None:
        """Why there is nothing to apply."""
        thread = self._cursor.thread
        if thread is None or newest_suggestion(thread) is None:
            return "no suggestion here: ctrl+g in a comment adds one"
        if thread.resolved:
            return "it is resolved: x reopens it"
        return self._edit_reason()

    async def command_use_suggestion(self) -> None:
        """Apply the suggestion to the page and resolve the thread."""
        thread = self._cursor.thread
        suggestion = newest_suggestion(thread) if thread else None
        if thread is None or suggestion is None or thread.page is None:
            return
        target = await self._target_of(thread)
        if target is None:
            self._context.notify("not applied: the text that it is about is gone")
            return
        page, block = target
        is_current = not suggestion.print or suggestion.print == fingerprint(block)
        lines = _suggestion_lines(block.text, suggestion, is_current=is_current)
        title = f"Apply the suggestion to {sanitize(page.title)}?"
        if not await self._context.ask(ConfirmDialog(title, lines, "Apply", self._context.style_for)):
            return
        target = await self._target_of(thread)  # somebody else may have edited the page while the dialog was open
        if target is None or target[1].text != block.text:
            self._context.notify("not applied: somebody just changed the text that it is about")
            return
        page, block = target
        change = UpdatePage(
            page=thread.page, document=Document(markdown=replace_block(page.markdown or "", block, suggestion.words))
        )
        await self._context.engine.write(EditChangeRequestContent(**self._model.path, changes=(change,))).landed()
        self._drafts.send(UpdateComment(**self._model.path, comment_id=thread.id, resolved=True))
        self._context.notify("suggestion applied")

    async def _target_of(self, thread: Thread) -> tuple[RevisionPage, Block] | None:
        """The current page of a thread and the block that it is about; None if the block is gone."""
        call = GetChangeRequestPage(**self._model.path, page_id=thread.page or "", format="markdown")
        page = await self._context.engine.read(call)
        markdown = page.markdown or ""
        line = find_quoted_line(thread.about, enumerate(markdown.split("\n")))
        block = block_at(markdown, line) if line is not None else None
        return (page, block) if block else None


def newest_suggestion(thread: Thread) -> Suggestion | None:
    """The newest suggestion in a thread that was sent."""
    suggestions = [parse_suggestion(message.text) for message in thread.messages if message.pending is None]
    return next((suggestion for suggestion in reversed(suggestions) if suggestion), None)


def _suggestion_lines(before: str, suggestion: Suggestion, *, is_current: bool) -> list[Line]:
    lines = [*_side("− ", before, "removed"), *_side("+ ", suggestion.words, "added")]
    if not is_current:
        lines.append((Span("The text has changed since the suggestion was made.", "waiting"),))
    return lines


def _side(sign: str, text: str, style: str) -> list[Line]:
    lines = text.split("\n") if text else []
    shown: list[Line] = [(Span(sign + sanitize(line), style),) for line in lines[:MOST]]
    return [*shown, (Span(f"  {count(len(lines) - MOST, 'more line')}", "quiet"),)] if len(lines) > MOST else shown
