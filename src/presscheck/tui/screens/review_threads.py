"""Threads as lines: who said what and when, answers below; the resolved are folded, what waits to be sent says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from presscheck.api.comments import PostComment, PostReply, UpdateComment
from presscheck.desk.standing import person
from presscheck.documents.display_text import display_text
from presscheck.documents.moments import ago
from presscheck.documents.spans import Line, Span, cut, width
from presscheck.tui.screens.review_places import quoted

if TYPE_CHECKING:
    from datetime import datetime

    from presscheck.api.comments import Comment, CommentReply, Document, Reaction
    from presscheck.desk.seen import Waiting

NEW = "waiting:"
"""What the id of a message begins with that the service has not seen, before the number of its row in the outbox."""
UnsentState = Literal["waiting", "collected", "sending", "refused"]
_STATES: dict[str, UnsentState] = {"waiting": "waiting", "collected": "collected", "sending": "sending"}
_SAID: dict[UnsentState, Span] = {
    "waiting": Span(" ◷ waiting to send", "waiting"),
    "collected": Span(" ✎ in your review", "accent"),
    "sending": Span(" ◷ sending", "waiting"),
    "refused": Span(" ✗ refused", "removed"),
}
Typeset = Callable[[str, int], Sequence[Line]]
"""What lays Markdown out in so many columns."""


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
    def quote(self) -> str:
        """The words of the page that it begins with as a Markdown quote, or nothing."""
        return quoted(self.first.text)[0]


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


def thread_lines(
    one: Thread,
    columns: int,
    now: datetime,
    typeset: Typeset,
    *,
    unfolded: bool = False,
    selected: bool = False,
    in_place: bool = False,
) -> tuple[Line, ...]:
    """The lines of a thread, each behind a bar; one line only where it is resolved and not unfolded.

    `in_place` leaves out the quote of the words that stand right above.
    """
    bar = Span("▌ " if selected else "┃ ", "accent" if selected else "quiet" if one.resolved else "waiting")
    if one.resolved and not unfolded:
        return (cut((bar, *_folded(one, now)), columns),)
    inside = columns - width((bar,))
    first = replace(one.first, text=quoted(one.first.text)[1]) if in_place else one.first
    lines = _message_lines(first, inside, now, typeset, tail=_tail(one))
    missing = one.reply_count - len(one.replies)
    if missing > 0:
        lines.append((Span(f"  {missing} {_answers(missing)} not here yet", "quiet"),))
    for reply in one.replies:
        lines += [(Span("  "), *line) for line in _message_lines(reply, inside - 2, now, typeset)]
    return tuple(cut((bar, *line), columns) for line in lines)


def in_order(threads: Iterable[Thread]) -> list[Thread]:
    """The oldest first; what waits to be sent comes last."""
    return sorted(threads, key=lambda one: (one.first.unsent is not None, one.first.posted_at))


def document_text(document: Mapping[str, Any]) -> str:
    """The words of a tree of nodes, a paragraph each block."""
    blocks: list[str] = []
    _gather(document, blocks)
    return "\n\n".join(text for text in blocks if text.strip())


def _gather(node: Mapping[str, Any], blocks: list[str]) -> str:
    """The words in a node; those of blocks in it are put into `blocks`."""
    if "leaves" in node:
        leaves = cast("list[dict[str, Any]]", node["leaves"])
        return "".join(str(leaf.get("text", "")) for leaf in leaves)
    inline = ""
    for child in cast("list[dict[str, Any]]", node.get("nodes") or []):
        if child.get("object") == "block":
            _gather(child, blocks)
        else:
            inline += _gather(child, blocks)
    if node.get("object") == "block" and inline:
        blocks.append(inline)
        return ""
    return inline


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


def _message_lines(one: Message, columns: int, now: datetime, typeset: Typeset, tail: Line = ()) -> list[Line]:
    """`ada 3 h  text` in one line where it fits, else the text below the name."""
    head: list[Span] = [Span(one.author, "you strong" if one.author == "you" else "strong")]
    if one.unsent is None:
        head.append(Span(f" {ago(one.posted_at, now)}", "quiet"))
    head += _unsent(one.unsent)
    if one.edited:
        head.append(Span(" edited", "quiet"))
    body = list(typeset(one.text, columns))
    ends = (*_reactions(one), *tail)
    if len(body) == 1 and width((*head, *body[0], *ends)) + 4 <= columns:
        lines = [_spread((*head, Span("  "), *body[0]), ends, columns)]
    else:
        lines = [_spread(tuple(head), ends, columns), *body]
    if one.unsent and one.unsent.error:
        lines.append((Span(f"✗ {display_text(one.unsent.error)}", "removed"),))
    return lines


def _unsent(unsent: Unsent | None) -> list[Span]:
    return [_SAID[unsent.state]] if unsent else []


def _reactions(one: Message) -> Line:
    return tuple(Span(f" {emoji} {count}", "quiet") for emoji, count in one.reactions)


def _tail(one: Thread) -> Line:
    """What stands at the right of the first line: how many answered, whether it is resolved."""
    spans: list[Span] = []
    if one.resolved:
        spans.append(Span(f" ✓ resolved{f' by {one.resolved_by}' if one.resolved_by else ''}", "added"))
    if one.settling:
        spans += _unsent(one.settling)
    if one.reply_count:
        spans.append(Span(f" {one.reply_count} {_answers(one.reply_count)}", "quiet"))
    return tuple(spans)


def _folded(one: Thread, now: datetime) -> Line:
    words = display_text(" ".join(quoted(one.first.text)[1].split()))
    who = f" {one.first.author} {ago(one.first.posted_at, now)}"
    return (
        Span("✓ resolved", "added"),
        *(_unsent(one.settling)),
        Span(who, "quiet"),
        Span(f"  {words}", "quiet"),
    )


def _answers(number: int) -> str:
    return "reply" if number == 1 else "replies"


def _spread(left: Line, right: Line, columns: int) -> Line:
    """Left and right at the two ends of a line; what is left is cut for what is right."""
    if not right:
        return cut(left, columns)
    room = columns - width(right) - 1
    if room < 8:
        return cut((*left, *right), columns)
    left = cut(left, room)
    return (*left, Span(" " * (columns - width(left) - width(right))), *right)
