"""Drafts and writes of comments on live content: a text is a draft until the engine accepts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from presscheck.api.comments import DeleteSpaceComment, PostSpaceComment, PostSpaceReply
from presscheck.engine.drafts import CommentDraft, live_draft_about, live_draft_key, text_of
from presscheck.engine.members import people_in
from presscheck.engine.review.threads import LIVE_WRITES
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.tui.ui.content_place import MAY_NOT_COMMENT
from presscheck.tui.widgets.composer import Composer

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.spaces import Space
    from presscheck.engine.writes.pending_writes import OutboxEntry, PendingWrite
    from presscheck.tui.ui.screen import BaseScreen

HOLD = 3
"""Seconds during which a comment can be undone before it is sent."""
NOTHING: Mapping[str, str] = {}


class LiveDrafts:
    """Composes comments on the live content of a space, keeps their drafts, and sends them.

    Args:
        context: the screen.
        space_id: the id of the space.
        space: returns the space; None while it is not loaded.
        on_change: called after a write was accepted, sent or undone.
    """

    def __init__(
        self,
        context: BaseScreen,
        space_id: str,
        space: Callable[[], Space | None],
        on_change: Callable[[], None],
    ) -> None:
        self._context, self.space_id, self._space, self._on_change = context, space_id, space, on_change

    def disabled_reason(self) -> str | None:
        """Why nothing can be written."""
        if reason := self._context.engine.write_reason(PostSpaceComment):
            return reason
        space = self._space()
        return MAY_NOT_COMMENT if space and not space.permissions.comment else None

    def compose(
        self,
        title: str,
        name: str,
        call: Callable[[str], Operation[Any]],
        *,
        initial: str = "",
        rewrites: int | None = None,
        about: Mapping[str, str] = NOTHING,
        done: str = "",
    ) -> None:
        """Open the composer; its text is a draft until the engine accepts it.

        Args:
            title: the title of the composer.
            name: the name of the draft.
            call: makes a write of the text.
            initial: the initial text.
            rewrites: the outbox row whose write is replaced, in place of sending a new one.
            about: what is stored about the draft, to list it: the titles and ids of what it is about.
            done: the message once the engine accepted it.
        """
        engine = self._context.engine
        draft = CommentDraft(engine.outbox, live_draft_key(self.space_id, name), initial, self._about(**about))

        def submit(text: str) -> None:
            if rewrites is None:
                self._write(call(text))
            elif not engine.rewrite(rewrites, call(text)):
                raise PresscheckError("already sent: your text is saved as a draft")
            draft.discard()
            self._on_change()
            if done:
                self._context.notify(done)

        composer = Composer(
            title,
            draft.text,
            draft.save,
            slot=draft.slot,
            people=self._people,
            submit=submit,
        )
        self._context.app_context.push_screen(composer)

    def send(self, call: Operation[Any]) -> bool:
        """Send a write through the engine; returns whether the engine accepted it."""
        try:
            self._write(call)
        except PresscheckError as error:
            self._context.app_context.show_error(error)
            return False
        return True

    def delete(self, call: DeleteSpaceComment, words: str) -> None:
        """Delete a comment; `words` are its first words, for the message."""
        if self.send(call):
            self._context.notify(f"deleted {words}: z restores it" if HOLD else f"deleted {words}")  # pyrefly: ignore[redundant-condition]

    @property
    def can_undo(self) -> bool:
        """Whether a write on the comments of this space is not sent yet."""
        return bool(self._unsent())

    def undo_last(self) -> str:
        """Undo the newest write that was not sent; its text is a draft again. Returns what was undone, in words."""
        unsent = self._unsent()
        call = self._context.engine.unsend(unsent[-1].id) if unsent else None
        if call is None:
            return "nothing to undo: everything is sent"
        if text := text_of(call):
            name = self._name_of(call)
            key = live_draft_key(self.space_id, name)
            self._context.engine.outbox.save_draft(key, text, self._about(comment=getattr(call, "comment_id", "")))
        self._on_change()
        return "undone; its text is a draft again" if text_of(call) else "undone"

    def _unsent(self) -> list[OutboxEntry]:
        entries = self._context.engine.waiting()
        return [
            entry
            for entry in entries
            if isinstance(entry.call, LIVE_WRITES) and entry.call.space_id == self.space_id and entry.state != "sending"
        ]

    def _name_of(self, call: Any) -> str:
        """The name of the draft with the text of a write."""
        if isinstance(call, PostSpaceComment):
            return f"page {call.page}" if call.page else "whole"
        return f"{'reply' if isinstance(call, PostSpaceReply) else 'message'} {call.comment_id}"

    def _write(self, call: Operation[Any]) -> None:
        """Send a write through the engine.

        Raises:
            PresscheckError: the engine did not accept it.
        """
        engine = self._context.engine
        ticket = engine.write(call, hold=HOLD if engine.may_wait(type(call)) else 0)
        self._context.run(self._follow(ticket))
        self._on_change()

    async def _follow(self, ticket: PendingWrite[Any]) -> None:
        try:
            await ticket.landed()
        except PresscheckError as error:
            self._context.app_context.show_error(error)
        self._on_change()

    async def _people(self) -> list[str]:
        """The names of all who can be mentioned."""
        space = self._space()
        if space is None or not space.organization:
            return []
        people = await people_in(self._context.engine, space.organization, ())
        return [sanitize(person.user.display_name) for person in people]

    def _about(self, **details: str) -> dict[str, str]:
        space = self._space()
        return live_draft_about(self.space_id, space.title if space else "", **details)
