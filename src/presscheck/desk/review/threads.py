"""Threads: what was said, with what waits to be sent laid over it, what it is about, and where that stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from presscheck.api.comments import PostComment, PostReply, UpdateComment
from presscheck.desk.standing import person
from presscheck.documents.display_text import display_text
from presscheck.documents.nodes.targets import CellIds, document_text, words_of_cell, words_of_node
from presscheck.documents.quotes import CELL, place, quoted

if TYPE_CHECKING:
    from presscheck.api.comments import Comment, CommentReply, Document, Reaction
    from presscheck.desk.seen import Waiting

NEW = "waiting:"
"""What the id of a message begins with that the service has not seen, before the number of its row in the outbox."""
UnsentState = Literal["waiting", "collected", "sending", "refused"]
ThreadState = Literal["open", "resolved", "outdated"]
"""Outdated is what is open, but about words that are gone."""
STATES: tuple[ThreadState, ...] = ("open", "resolved", "outdated")
_STATES: dict[str, UnsentState] = {"waiting": "waiting", "collected": "collected", "sending": "sending"}


@dataclass(frozen=True)
class Unsent:
    """A write that the service has not taken yet: its row in the outbox, and why, where it was refused."""

    row: int
    state: UnsentState
    error: str = ""


@dataclass(frozen=True)
class Message:
    """A comment or a reply as it is shown."""

    id: str
    author: str
    posted_at: str
    text: str
    """Markdown."""
    edited: bool = False
    reactions: tuple[tuple[str, int], ...] = ()
    mine: frozenset[str] = frozenset()
    """The reactions that are the reader's own, as the service names them."""
    may_edit: bool = False
    may_delete: bool = False
    unsent: Unsent | None = None


@dataclass(frozen=True)
class Thread:
    """A comment and its answers, and what it speaks of."""

    first: Message
    replies: tuple[Message, ...] = ()
    reply_count: int = 0
    page: str | None = None
    node: str | None = None
    """The key of the block that it is about, where the service names one."""
    cell: CellIds | None = None
    """The cell of a table that it is about."""
    about: str = ""
    """The words of the page that it is about: as it quotes them, or as they stand in the block that it names."""
    line: int | None = None
    """The line of the page's new text that has them, from 0; None where they are not known to be there."""
    is_outdated: bool = False
    """Whether those words are gone."""
    resolved: bool = False
    resolved_by: str | None = None
    settling: Unsent | None = None
    """A resolving or reopening that has not landed."""
    may_answer: bool = True

    @property
    def id(self) -> str:
        """The id of the comment that began it."""
        return self.first.id

    @property
    def state(self) -> ThreadState:
        """Where it stands."""
        return "resolved" if self.resolved else "outdated" if self.is_outdated else "open"

    @property
    def about_cell(self) -> str:
        """The words of the cell that it is about; nothing where it is about none."""
        head, is_cell, cell = self.about.rpartition(CELL)
        return (cell or head).strip() if is_cell else ""

    @property
    def needs_nodes(self) -> bool:
        """Whether its words are found only in the nodes of its page."""
        return not self.about and bool(self.node or self.cell)


def thread(comment: Comment, replies: Sequence[CommentReply], unsent: Mapping[str, Unsent], me: str) -> Thread:
    """A thread from what the service says, with what waits laid over it."""
    said = tuple(_message(one, unsent, me) for one in sorted(replies, key=lambda one: one.posted_at))
    target = comment.target
    return Thread(
        first=_message(comment, unsent, me),
        replies=said,
        reply_count=max(comment.replies, len(said)),
        page=target.page.id if target.page else None,
        node=target.node.id if target.node else None,
        cell=CellIds(target.table_cell.record, target.table_cell.definition) if target.table_cell else None,
        about=quoted(text_of(comment.body))[0] if target.page else "",
        resolved=comment.status == "resolved",
        resolved_by=person(comment.resolved_by, me) if comment.resolved_by else None,
        settling=None if comment.id.startswith(NEW) else unsent.get(comment.id),
        may_answer=comment.permissions.reply is not False,
    )


def unsent_messages(rows: Iterable[Waiting]) -> dict[str, Unsent]:
    """What waits, by the id under which it shows: that of a new comment or reply, or of the comment that it changes."""
    found: dict[str, Unsent] = {}
    for row in rows:
        state = _STATES.get(row.state, "refused")
        if isinstance(row.call, PostComment | PostReply):
            found[f"{NEW}{row.id}"] = Unsent(row.id, state, row.error or "")
        elif isinstance(row.call, UpdateComment):
            found[row.call.comment_id] = Unsent(row.id, state, row.error or "")
    return found


def located(one: Thread, after: str, document: Mapping[str, Any] | None) -> Thread:
    """A thread and the line of the new text of its page that it belongs below.

    Args:
        one: the thread.
        after: the new text.
        document: its nodes, where the thread needs them and they are known.
    """
    if one.needs_nodes:
        if document is None:
            return one
        about = words_of_cell(document, one.cell) if one.cell else words_of_node(document, one.node or "")
        one = replace(one, about=about, is_outdated=not about)
    if not one.about:
        return one
    line = place(one.about, enumerate(after.split("\n")))
    return replace(one, line=line, is_outdated=line is None)


def in_order(threads: Iterable[Thread]) -> list[Thread]:
    """The oldest first; what waits to be sent comes last."""
    return sorted(threads, key=lambda one: (one.first.unsent is not None, one.first.posted_at))


def text_of(body: Document) -> str:
    """The Markdown of a body, whichever way it came."""
    if body.markdown is not None:
        return body.markdown
    return document_text(body.document) if body.document else ""


def _message(one: Comment | CommentReply, unsent: Mapping[str, Unsent], reader: str) -> Message:
    return Message(
        id=one.id,
        author=person(one.posted_by, reader),
        posted_at=one.posted_at,
        text=text_of(one.body),
        edited=one.edited_at is not None,
        reactions=tuple((_emoji(reaction), reaction.count) for reaction in one.reactions),
        mine=frozenset(each.emoji for each in one.reactions if any(user.user.id == reader for user in each.users)),
        may_edit=one.permissions.edit,
        may_delete=one.permissions.delete,
        unsent=unsent.get(one.id) if one.id.startswith(NEW) else None,
    )


def _emoji(reaction: Reaction) -> str:
    """The service names an emoji by its code points in hexadecimal, `1f44d`; others write the emoji itself."""
    parts = reaction.emoji.split("-")
    if all(_is_code_point(part) for part in parts):
        return display_text("".join(chr(int(part, 16)) for part in parts))
    return display_text(reaction.emoji)


def _is_code_point(part: str) -> bool:
    return 4 <= len(part) <= 5 and all(letter in "0123456789abcdefABCDEF" for letter in part)
