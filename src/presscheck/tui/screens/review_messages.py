"""What one does to words that were said: react to them; change or delete one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.comments import DeleteComment, DeleteReply, Document, UpdateComment, UpdateReply
from presscheck.documents.display_text import display_text
from presscheck.documents.quotes import quoted
from presscheck.documents.spans import Span
from presscheck.tui.screens.review_talk import Talk
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from presscheck.api.operation import Operation
    from presscheck.documents.spans import Line
    from presscheck.tui.screens.review_threads import Message, Thread

REACTIONS = (
    ("1f44d", "👍", "agreed"),
    ("1f44e", "👎", "not so"),
    ("1f389", "🎉", "well done"),
    ("1f604", "😄", "it made me smile"),
    ("2764", "❤", "love it"),
    ("1f680", "🚀", "ship it"),
    ("1f440", "👀", "looking at it"),
    ("1f615", "😕", "not sure"),
)
"""Code points as the service names an emoji, the emoji, and what it says."""


class Messages(Talk):
    """React, change, delete."""

    def reason_react(self) -> str | None:
        """Why there is nothing to react to."""
        return self.reason_reply()

    async def command_react(self) -> None:
        """Put an emoji under a message, or take one's own away."""
        one = self.thread_here()
        said = await self._which("React to which?", one, [one.first, *one.replies] if one else ())
        if one is None or said is None:
            return
        choices = [
            Choice(code, f"{emoji}  {means}", "yours: take it away" if code in said.mine else "")
            for code, emoji, means in REACTIONS
        ]
        chosen = await self.ask(Picker("React", choices, self.style_for, ranked=False))
        if chosen:
            turn = "removed_reactions" if chosen[0] in said.mine else "added_reactions"
            self.send(self._change(one, said, **{turn: chosen}))

    def reason_delete(self) -> str | None:
        """Why nothing can be deleted."""
        one = self.thread_here()
        if one and not any(said.may_delete for said in (one.first, *one.replies)):
            return "these words are not yours to delete"
        return self.reason_reply()

    async def command_delete(self) -> None:
        """Delete a message of one's own, when asked once; a comment takes its answers with it."""
        one = self.thread_here()
        said = await self._which(
            "Delete which?", one, [said for said in (one.first, *one.replies) if said.may_delete] if one else ()
        )
        if one is None or said is None:
            return
        goes = f"Its answers go with it: {one.reply_count}." if said is one.first and one.reply_count else ""
        words: list[Line] = [(Span(_words(said)),)]
        lines = [*words, (Span(goes, "waiting"),)] if goes else words
        if await self.ask(ConfirmDialog("Delete what was said?", lines, "Delete", self.style_for)):
            where = {**self.known.path, "comment_id": one.id}
            self.send(DeleteComment(**where) if said is one.first else DeleteReply(**where, comment_reply_id=said.id))

    def own_message_here(self) -> bool:
        """Whether the cursor stands on a thread in which something may be changed."""
        rows = self.query_one("#change", RowList)
        one = self.thread_here() if rows.has_focus and rows.cursor in self.laid.thread_of else None
        return one is not None and any(said.may_edit for said in (one.first, *one.replies))

    async def change_message(self) -> None:
        """Change what one said."""
        one = self.thread_here()
        said = await self._which(
            "Change which?", one, [said for said in (one.first, *one.replies) if said.may_edit] if one else ()
        )
        if one and said:
            self.write(
                "Change what you said",
                f"message {said.id}",
                lambda text: self._change(one, said, body=Document(markdown=text)),
                begin=said.text,
            )

    def _change(self, one: Thread, said: Message, **what: Any) -> Operation[Any]:
        where = {**self.known.path, "comment_id": one.id}
        if said is one.first:
            return UpdateComment(**where, **what)
        return UpdateReply(**where, comment_reply_id=said.id, **what)

    async def _which(self, title: str, one: Thread | None, messages: Sequence[Message]) -> Message | None:
        """The message that is meant: asked only where there are several; what was not sent cannot be meant."""
        messages = [said for said in messages if said.unsent is None]
        if one is None or len(messages) < 2:
            return messages[0] if messages else None
        choices = [Choice(said.id, f"{said.author}  {_words(said)}") for said in reversed(messages)]
        chosen = await self.ask(Picker(title, choices, self.style_for, ranked=False))
        return next((said for said in messages if chosen and said.id == chosen[0]), None)


def _words(said: Message) -> str:
    """The words of a message in one line."""
    return display_text(" ".join(quoted(said.text)[1].split()))
