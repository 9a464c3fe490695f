"""Drafts of comments, and sending them. A text is a draft until the engine accepts its write.

Each draft belongs to a target: the whole change request or space, a page, a text of a page, a reply, or an edited
message. So a page can have several drafts, and a draft never appears at another target.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from presscheck.api.comments import (
    DeleteComment,
    DeleteReply,
    DeleteSpaceComment,
    GetComment,
    GetReply,
    GetSpaceComment,
    PostComment,
    PostReply,
    PostSpaceComment,
    PostSpaceReply,
    TableCellTarget,
    UpdateComment,
    UpdateReply,
    UpdateSpaceComment,
)
from presscheck.api.operation import Operation, revive
from presscheck.documents.diff.suggestion_lines import comment_with_suggestion
from presscheck.documents.pages.comment_text import parse_suggestion, split_quote, suggestion_problem
from presscheck.engine.drafts import (
    comment_name,
    live_draft_about,
    live_draft_key,
    message_id,
    text_of,
)
from presscheck.engine.members import people_in
from presscheck.engine.review.merge_readiness import comment_reason
from presscheck.engine.shared_calls import at
from presscheck.errors import PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for
from presscheck.tui.widgets.composer import Composer

if TYPE_CHECKING:
    from presscheck.api.spaces import Space
    from presscheck.api.users import User
    from presscheck.engine.review.threads import Discussion
    from presscheck.engine.writes.pending_writes import PendingWrite
    from presscheck.tui.ui.screen import BaseScreen

Write = Callable[["Operation[Any] | None"], "PendingWrite[Any] | None"]
"""Sends an operation, if any, and returns its pending write."""
HOLD = 3
"""Seconds before a comment is sent, during which it can be undone."""
NOTHING: Mapping[str, str] = {}
NODES = "place"
"""The key of the commented block or cell (as JSON) in the details of a draft."""
_FIELDS: dict[str, Callable[[Any], Any]] = {"node": str, "table_cell": lambda value: TableCellTarget(**value)}
"""The arguments of writes that refer to a block or cell, with their parsers."""
_READS: dict[type[Operation[Any]], type[Operation[Any]]] = {
    PostComment: GetComment,
    UpdateComment: GetComment,
    PostReply: GetReply,
    UpdateReply: GetReply,
    PostSpaceComment: GetSpaceComment,
    UpdateSpaceComment: GetSpaceComment,
}
"""The reads of the messages that writes create or change. Replies to live comments cannot be edited."""
IS_SENT = "it is already sent: {copy_text} in the list of drafts copies your text"
"""The message for the draft of an unsent message that was sent, and cannot be edited any more."""


class CommentDrafts:
    """The drafts and writes of the comments of a screen, and the composer for them.

    Args:
        screen: the screen.
        discussion: the threads that the comments belong to.
    """

    def __init__(self, screen: BaseScreen, discussion: Discussion) -> None:
        self.screen, self.discussion = screen, discussion
        self._outbox = screen.engine.outbox
        self._deleted: dict[str, str] = {}
        self._sent: dict[int, tuple[str, Mapping[str, str]]] = {}
        """The name and the details of the draft of each sent text, by outbox row."""
        self._together: dict[int, frozenset[int]] = {}
        """For each outbox row that was sent together with others: the rows of the whole group."""

    @abstractmethod
    def disabled_reason(self) -> str | None:
        """Return why nothing can be written, or None."""

    @abstractmethod
    def key(self, name: str) -> str:
        """Return the store key of the draft with a name."""

    @abstractmethod
    def loaded_space(self) -> Space | None:
        """Return the space, or None before it is loaded."""

    @abstractmethod
    def about(self, **details: str) -> dict[str, str]:
        """Return the details that are stored with a draft."""

    def saved(self, name: str) -> str:
        """Return the text of a draft by name; empty without a draft."""
        return self._outbox.draft(self.key(name)) or ""

    def stored_about(self, name: str) -> Mapping[str, str]:
        """Return the stored details of a draft by name."""
        key = self.key(name)
        return next((stored.about for stored in self._outbox.drafts() if stored.key == key), NOTHING)

    def nodes_of(self, name: str) -> dict[str, Any]:
        """Return the commented block or cell that is stored with a draft, as arguments of the write; empty if none."""
        try:
            fields: Any = json.loads(self.stored_about(name).get(NODES, "{}"))
            return {key: _FIELDS[key](value) for key, value in fields.items() if key in _FIELDS}
        except (ValueError, TypeError, AttributeError):
            return {}

    def store_nodes(self, name: str, nodes: Mapping[str, Any]) -> None:
        """Store the commented block or cell with a draft, after it was looked up. Do nothing if the draft is gone."""
        about, text = self.stored_about(name), self.saved(name)
        if about and text and about.get(NODES, "") != _nodes_text(nodes):
            others = {key: value for key, value in about.items() if key != NODES}
            self._outbox.save_draft(self.key(name), text, {**others, **_about_nodes(nodes)})

    def name_of_call(self, call: Any) -> str:
        """Return the name of the draft that belongs to a write."""
        if isinstance(call, PostReply | PostSpaceReply):
            return f"reply {call.comment_id}"
        if isinstance(call, UpdateComment | UpdateReply | UpdateSpaceComment):
            return f"message {message_id(call)}"
        if not getattr(call, "page", None):
            return "whole"
        return comment_name(call.page, split_quote(text_of(call))[0] or _nodes_text(_nodes_of_call(call)))

    def heading(self, title: str) -> str:
        """Return the title of the composer; a subclass may extend it."""
        return title

    def known_people(self) -> Iterable[User | None]:
        """Return the people that appear on the screen."""
        return self.discussion.people()

    def compose(
        self,
        title: str,
        name: str,
        call: Callable[[str], Operation[Any] | None],
        *,
        initial: str = "",
        suggestion: str = "",
        suggestion_reason: str = "",
        validate: Callable[[str], str | None] = suggestion_problem,
        may_be_empty: bool = False,
        rewrites: int | None = None,
        about: Mapping[str, str] = NOTHING,
        nodes: Mapping[str, Any] = NOTHING,
        done: Callable[[], str] | None = None,
        write: Write | None = None,
    ) -> None:
        """Open the composer. The text is a draft until the engine accepts the write.

        Args:
            title: the title of the composer, which names the target of the text.
            name: the name of the draft.
            call: returns the write for a text, or None if the text is unchanged.
            initial: the initial text.
            suggestion: the text that the command `suggest` inserts, to suggest a change of the page.
            suggestion_reason: why nothing can be suggested.
            validate: returns why a text cannot be sent, or None.
            may_be_empty: whether an empty text can be sent.
            rewrites: the outbox row whose write is replaced, instead of sending a new write.
            about: details that the list of drafts shows, such as titles and ids.
            nodes: the commented block or cell, stored with the draft; may be filled while the user writes.
            done: returns the message after the engine accepted the write.
            write: sends the write; by default through the engine.
        """
        stored = self.about(**about)
        title = title if write or rewrites is not None else self.heading(title)
        draft = DraftSlot(self._outbox, self.key(name), initial, lambda _: {**stored, **_about_nodes(nodes)})
        replaced = parse_suggestion(suggestion) if suggestion else None
        send = write or self._write

        def submit(text: str) -> None:
            operation = call(text)
            if operation is None and write is None:
                draft.discard()
                self.screen.notify("no changes")
                return
            if rewrites is None:
                ticket = send(operation)
                if ticket:
                    self._sent[ticket.id] = (name, stored)
            elif operation and not self.screen.engine.rewrite(rewrites, operation):
                raise PresscheckError("already sent: your text is saved as a draft")
            draft.discard()
            self.accepted(operation)
            if done:
                self.screen.notify(done())

        self.screen.app_context.push_screen(
            Composer(
                title,
                draft,
                people=self._people,
                submit=submit,
                may_be_empty=may_be_empty,
                suggestion=suggestion,
                suggestion_reason=suggestion_reason,
                validate=validate,
                render=partial(comment_with_suggestion, text=replaced.words if replaced else None),
            )
        )

    def send(self, call: Operation[Any] | None, write: Write | None = None) -> bool:
        """Send a write. Return whether the engine accepted it. If it did not, show the error."""
        try:
            (write or self._write)(call)
        except PresscheckError as error:
            self.screen.app_context.show_error(error)
            return False
        self.accepted(call)
        return True

    def send_together(self, calls: Iterable[Operation[Any]]) -> None:
        """Send writes that are undone together. Stop at the first write that the engine does not accept."""
        sent: list[int] = []

        def write(call: Operation[Any] | None) -> PendingWrite[Any] | None:
            ticket = self._write(call)
            sent.extend([ticket.id] if ticket else [])
            return ticket

        for call in calls:
            if not self.send(call, write):
                break
        self._together.update(dict.fromkeys(sent, frozenset(sent)))

    def sent_with(self, row: int) -> frozenset[int]:
        """Return the outbox rows that are undone together with `row`, including `row` itself."""
        return self._together.get(row, frozenset({row}))

    def accepted(self, call: Operation[Any] | None) -> None:
        """Redraw the screen after the engine accepted a write. `call` is None if only held comments were submitted."""
        self.screen.redraw()

    def delete(self, call: DeleteComment | DeleteReply | DeleteSpaceComment, words: str) -> None:
        """Delete a message. `words` are its first words, for the notices about the deletion."""
        self._deleted[message_id(call)] = words
        if self.send(call):
            self.screen.notify(f"deleted {words}: {key_for('unsend')} restores it" if HOLD else f"deleted {words}")  # pyrefly: ignore[redundant-condition]

    @property
    def can_undo(self) -> bool:
        """Whether any write is still unsent."""
        return any(entry.state != "sending" for entry in self.discussion.pending())

    def undo_last(self) -> str:
        """Undo the newest unsent write and its group, and restore the texts as drafts. Return a message for the
        user."""
        rows = {entry.id: entry.call for entry in self.discussion.pending() if entry.call and entry.state != "sending"}
        last = max(rows, default=0)
        undone = [row for row in sorted(rows) if row in self.sent_with(last) and self.unsend(row)]
        if not undone:
            return "nothing to undo: everything is sent"
        from presscheck.engine.writes.descriptions import describe  # 60 ms, only for an undo

        self.screen.redraw()
        call = rows[undone[-1]]
        if isinstance(call, DeleteComment | DeleteReply | DeleteSpaceComment):
            return f"restored {self._deleted.get(message_id(call), 'what was deleted')}"
        if len(undone) > 1:
            return f"{count(len(undone), 'change')} undone"
        return "undone; its text is a draft again" if text_of(call) else f"undone: {sanitize(describe(call))}"

    def unsend(self, row: int, *, prefix: str = "") -> bool:
        """Undo an unsent write, and store its text, after `prefix`, as a draft. Return whether it was undone.

        A draft that was started since stays below the text.
        """
        engine = self.screen.engine
        call: Any = next((entry.call for entry in engine.waiting() if entry.id == row), None)
        text = prefix + text_of(call) if call else ""
        if not text:
            return engine.unsend(row) is not None
        name, about = self._sent.get(row, (self.name_of_call(call), self.about_call(call)))
        draft = self.saved(name)
        texts = {self.key(name): f"{text}\n\n{draft}" if draft and draft != text else text}
        return engine.move_to_drafts([row], texts, {**about, **_about_nodes(_nodes_of_call(call))})

    def about_call(self, call: Any) -> Mapping[str, str]:
        """Return the details to store with the draft of a write."""
        quoted = split_quote(text_of(call))[0] if getattr(call, "page", None) else ""
        return self.about(comment=getattr(call, "comment_id", ""), quote=quoted)

    def take_sent(self, row: int) -> Operation[Any] | None:
        """Turn the draft of an unsent message into the draft of an edit, because the message is sent.

        Return a read of the message. Return None, and keep the draft, if the message is unknown, if no one can edit it,
        or if it has a draft already.
        """
        ended = self._outbox.ended(row)
        if ended is None or ended.state != "sent":
            return None
        try:
            call: Any = revive(ended.name, ended.given)
        except PresscheckError:  # this version cannot read it
            return None
        is_change = isinstance(call, UpdateComment | UpdateReply | UpdateSpaceComment)
        message = message_id(call) if is_change else (ended.result or {}).get("id")
        read = _READS.get(type(call))
        name = f"message {message}"
        if not message or read is None or self.saved(name):
            return None
        draft = f"pending {row}"
        about = {**self.stored_about(draft), "comment": getattr(call, "comment_id", message)}
        self._outbox.move_drafts({self.key(draft): self.key(name)}, about)
        return at(read, call, **{read.path_fields()[-1]: message})

    def _write(self, call: Operation[Any] | None) -> PendingWrite[Any] | None:
        """Send a write through the engine. Return None if there is nothing to send.

        Raises:
            PresscheckError: the engine did not accept the write.
        """
        if call is None:
            return None
        ticket = self._accept(call)
        self.screen.run(self._follow(ticket))
        return ticket

    def _accept(self, call: Operation[Any]) -> PendingWrite[Any]:
        engine = self.screen.engine
        return engine.write(call, hold=HOLD if engine.may_wait(type(call)) else 0)

    async def _follow(self, ticket: PendingWrite[Any]) -> None:
        try:
            await ticket.landed()
        except PresscheckError as error:
            self.screen.app_context.show_error(error)
        self.screen.redraw()

    async def _people(self) -> list[User]:
        space = self.loaded_space()
        if space is None or not space.organization:
            return []
        people = await people_in(self.screen.engine, space.organization, self.known_people())
        return [person.user for person in people]


class LiveDrafts(CommentDrafts):
    """Drafts of comments on the live content of a space.

    Attributes:
        space: the space; None before it is loaded.
    """

    space: Space | None = None

    @override
    def loaded_space(self) -> Space | None:
        return self.space

    @override
    def disabled_reason(self) -> str | None:
        if reason := self.screen.engine.write_reason(PostSpaceComment):
            return reason
        return comment_reason(self.space)

    @override
    def key(self, name: str) -> str:
        return live_draft_key(self.discussion.space_id, name)

    @override
    def about(self, **details: str) -> dict[str, str]:
        return live_draft_about(self.discussion.space_id, self.space.title if self.space else "", **details)


def _nodes_of_call(call: Any) -> dict[str, Any]:
    return {name: value for name in _FIELDS if (value := getattr(call, name, None))}


def _nodes_text(nodes: Mapping[str, Any]) -> str:
    fields = {
        name: value.model_dump() if isinstance(value, TableCellTarget) else value for name, value in nodes.items()
    }
    return json.dumps(fields) if fields else ""


def _about_nodes(nodes: Mapping[str, Any]) -> dict[str, str]:
    text = _nodes_text(nodes)
    return {NODES: text} if text else {}
