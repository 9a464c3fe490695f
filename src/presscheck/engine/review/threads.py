"""The comment threads of a change request, or of live content: comments, replies, and pending writes on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from presscheck.api.comments import (
    DeleteComment,
    DeleteReply,
    DeleteSpaceComment,
    Document,
    ListComments,
    ListSpaceComments,
    PostComment,
    PostReply,
    PostSpaceComment,
    PostSpaceReply,
    UpdateComment,
    UpdateReply,
    UpdateSpaceComment,
)
from presscheck.api.operation import Operation, Page
from presscheck.documents.diff.suggestion_targets import find_target
from presscheck.documents.nodes.comment_targets import CellIds, block_words, cell_words, document_text
from presscheck.documents.pages.comment_text import (
    CELL_SEPARATOR,
    deleted_words,
    find_quoted_line,
    parse_suggestion,
    split_quote,
    without_fingerprint,
)
from presscheck.engine.review.comment_state import NEW, is_open_comment, is_review_text
from presscheck.engine.review.merge_readiness import person
from presscheck.engine.shared_calls import live_replies, replies_to
from presscheck.engine.writes.pending_writes import apply_pending
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.api.change_requests import Review
    from presscheck.api.comments import Comment, CommentReply, ListReplies, ListSpaceReplies, Reaction
    from presscheck.api.users import User
    from presscheck.engine.writes.pending_writes import OutboxEntry

MAX_PAGES = 100
"""The maximum number of pages of comments."""
UNKNOWN_USER = "me"
"""The id of the signed-in user while it is not known."""
LIVE = ""
"""In place of the id of a change request: the live content of a space."""
LIVE_WRITES = (PostSpaceComment, PostSpaceReply, UpdateSpaceComment, DeleteSpaceComment)
ListingT = TypeVar("ListingT", ListComments, ListSpaceComments)
PendingState = Literal["waiting", "collected", "sending", "refused"]
ThreadState = Literal["open", "resolved", "outdated", "review"]
"""An outdated thread is open, but the text that it is about is gone; the text of a review is no open thread."""
STATES: tuple[ThreadState, ...] = ("open", "resolved", "outdated", "review")
_PENDING_STATES: dict[str, PendingState] = {"waiting": "waiting", "collected": "collected", "sending": "sending"}


@dataclass(frozen=True)
class PendingChange:
    """A write that is still in the outbox: its row, its state, and the error if it was refused."""

    row: int
    state: PendingState
    error: str = ""


@dataclass(frozen=True)
class Message:
    """A comment or a reply, as it is shown."""

    id: str
    author: str
    posted_at: str
    text: str
    """Markdown."""
    edited: bool = False
    reactions: tuple[tuple[str, int], ...] = ()
    own_reactions: frozenset[str] = frozenset()
    """The user's own reactions, in the notation of the service."""
    may_edit: bool = False
    may_delete: bool = False
    pending: PendingChange | None = None
    is_new: bool = False
    """Whether another user wrote it after the review was opened, and the user has not been on its thread since."""


@dataclass(frozen=True)
class Thread:
    """A comment with its replies, and the place in the page that it is about."""

    first: Message
    replies: tuple[Message, ...] = ()
    reply_count: int = 0
    page: str | None = None
    node: str | None = None
    """The key of the block that it is about, if the service names one."""
    cell: CellIds | None = None
    """The table cell that it is about."""
    about: str = ""
    """The text of the page that it is about: quoted in the comment, or the text of the block that it names."""
    suggested_for: str | None = None
    """The Markdown that a suggestion in the thread replaces: a block or a table cell; None if it was not found."""
    revision: str | None = None
    """The revision of the change request when it was started, if the service names it."""
    line: int | None = None
    """The line of the page's new text that contains this text, from 0; None if it was not found."""
    deleted_line: int | None = None
    """The line of the page's old text with this text, if the comment is on a deleted text; None if it was not found."""
    is_outdated: bool = False
    """Whether this text is gone."""
    resolved: bool = False
    resolved_by: str | None = None
    is_review: bool = False
    """Whether it is the text of a review."""
    verdict: str = ""
    """The status of this review; empty if it is not known."""
    pending_status: PendingChange | None = None
    """A pending "resolve" or "reopen"."""
    may_answer: bool = True
    has_new: bool = False
    """Whether a comment or a reply in it is new."""
    notifications: str = ""
    """`muted` or `followed`, if the user chose that for this thread and not for the whole change request."""

    @property
    def id(self) -> str:
        """The id of its first comment."""
        return self.first.id

    @property
    def messages(self) -> tuple[Message, ...]:
        """The first comment and the replies."""
        return (self.first, *self.replies)

    @property
    def state(self) -> ThreadState:
        """Open, resolved or outdated, or the text of a review."""
        if self.resolved:
            return "resolved"
        return "review" if self.is_review else "outdated" if self.is_outdated else "open"

    @property
    def is_open(self) -> bool:
        """Whether it counts as an open comment: it is sent, not resolved, and more than the text of a review."""
        return self.state in ("open", "outdated") and self.first.pending is None

    @property
    def may_resolve(self) -> bool:
        """Whether the user may resolve or reopen it: the service lets those who may edit its first comment."""
        return self.first.may_edit

    @property
    def about_cell(self) -> str:
        """The text of the table cell that it is about; empty if it is not about a cell."""
        head, is_cell, cell = self.about.rpartition(CELL_SEPARATOR)
        return (cell or head).strip() if is_cell else ""

    @property
    def needs_nodes(self) -> bool:
        """Whether the text that it is about can only be read from the page's nodes."""
        return not self.about and bool(self.node or self.cell)


class PendingWrites(Protocol):
    """Access to the outbox and to the signed-in user."""

    @property
    def me(self) -> User:
        """The signed-in user."""
        ...

    def waiting(self) -> tuple[OutboxEntry, ...]:
        """All pending writes; the same tuple until the outbox changes."""
        ...


class Discussion:
    """All comments and replies of one change request, or of the live content of a space, combined to threads.

    Threads are computed once for each change of the comments, the replies or the outbox.

    Args:
        writes: the pending writes.
        space_id: the id of the space.
        request_id: the id of the change request, which may be set later; `LIVE` for the live content.
        notifications: returns whether a thread is `muted` or `followed`, by the ids of the change request and of the
            thread; the whole change request for an empty id.
    """

    def __init__(
        self,
        writes: PendingWrites,
        space_id: str,
        request_id: str,
        notifications: Callable[[str, str], str] = lambda _, __: "",
    ) -> None:
        self._notifications = notifications
        self._writes, self.space_id = writes, space_id
        self.request_id = request_id
        self._comments: dict[str | None, Sequence[Comment]] = {}
        self._replies: dict[str, Sequence[CommentReply]] = {}
        self._verdicts: dict[str, str] = {}
        """The status of each review, by its id."""
        self._threads: list[Thread] | None = None
        self._all_pending: tuple[OutboxEntry, ...] | None = None
        self._pending: tuple[OutboxEntry, ...] = ()
        self._me = writes.me.id
        self._opened_at = ""
        self._read_at: dict[str, str] = {}

    @property
    def me(self) -> str:
        """The id of the signed-in user."""
        if self._me == UNKNOWN_USER:  # on a first start it is read while screens are open
            me, self._me = self._me, self._writes.me.id
            self._threads = self._threads if me == self._me else None
        return self._me

    @property
    def is_known(self) -> bool:
        """Whether any comments were fetched."""
        return bool(self._comments)

    def begin_news(self, moment: str) -> None:
        """From now on, what others write later than all that is known is new; `moment` is the last known activity."""
        comments = [comment for page in self._comments.values() for comment in page]
        self._opened_at = max([moment, *(_last_activity(comment) for comment in comments)])
        self._reset()

    @property
    def has_begun(self) -> bool:
        """Whether `begin_news` was called."""
        return bool(self._opened_at)

    def mark_read(self, thread_id: str) -> bool:
        """The user has read a thread: nothing that is known of it is new. Returns whether something was."""
        thread = self.thread(thread_id)
        comment = next((one for page in self._comments.values() for one in page if one.id == thread_id), None)
        if thread is None or comment is None or not thread.has_new:
            return False
        last = max(message.posted_at for message in thread.messages)
        self._read_at[thread_id] = max(last, _last_activity(comment))
        self._reset()
        return True

    def notifications_changed(self) -> None:
        """Build the threads again, because one or all of them were muted or followed, or no longer are."""
        self._reset()

    def new_threads(self) -> int:
        """The number of threads with something new."""
        return sum(thread.has_new for thread in self.threads())

    def pages_of(self, call: ListComments) -> Iterator[ListComments]:
        """The calls for all pages of comments that were fetched, from the call for the first."""
        yield call
        for page in self._comments:
            if page is not None and page != call.page:
                yield call.model_copy(update={"page": page})

    def outdated_replies(self) -> list[str]:
        """The comments whose replies were fetched, and are more or fewer by now."""
        counts = {comment.id: comment.replies for page in self._comments.values() for comment in page}
        return [
            comment_id
            for comment_id, replies in self._replies.items()
            if counts.get(comment_id) not in (None, sum(not reply.id.startswith(NEW) for reply in replies))
        ]

    def set_request(self, request_id: str) -> None:
        """Set the id of the change request, where only its number was known."""
        if request_id != self.request_id:
            self.request_id, self._all_pending = request_id, None

    def set_comments(self, page: str | None, comments: Sequence[Comment]) -> None:
        """Set one page of the list of comments."""
        self._comments[page] = comments
        self._reset()

    def set_replies(self, comment_id: str, replies: Sequence[CommentReply]) -> None:
        """Set the replies to a comment."""
        self._replies[comment_id] = replies
        self._reset()

    def set_reviews(self, reviews: Sequence[Review]) -> None:
        """Set the reviews, whose texts are among the comments."""
        self._verdicts = {review.id: review.status for review in reviews}
        self._reset()

    def next_comments(self, call: ListingT, answer: Any) -> ListingT | None:
        """The call for the next page of comments; None after the last one, and if the service repeats it."""
        cursor = answer.next.page if answer and answer.next else None
        if cursor is None or cursor in self._comments or len(self._comments) >= MAX_PAGES:
            return None
        return call.model_copy(update={"page": cursor})

    def list_replies(self, comment_id: str) -> ListReplies | ListSpaceReplies:
        """The call for the replies to a comment."""
        if self.request_id == LIVE:
            return live_replies(self.space_id, comment_id)
        return replies_to(self.space_id, self.request_id, comment_id)

    @property
    def _path(self) -> dict[str, Any]:
        live = {"space_id": self.space_id}
        return live if self.request_id == LIVE else {**live, "change_request_id": self.request_id}

    def post(self, text: str, page: str | None = None, **place: Any) -> PostComment | PostSpaceComment:
        """The write of a comment on a page or, without one, on the whole."""
        call = PostSpaceComment if self.request_id == LIVE else PostComment
        return call(**self._path, page=page, **place, body=Document(markdown=text))

    def reply(self, comment_id: str, text: str) -> PostReply | PostSpaceReply:
        """The write of a reply."""
        if self.request_id == LIVE:
            return PostSpaceReply(**self._path, comment_id=comment_id, body=Document(markdown=text))
        return PostReply(**self._path, comment_id=comment_id, body=Document(markdown=text), format="markdown")

    def update(self, comment_id: str, message_id: str, **values: Any) -> Operation[Any]:
        """The write that changes a message in the thread of a comment."""
        if self.request_id == LIVE:
            return UpdateSpaceComment(**self._path, comment_id=comment_id, **values)
        if message_id == comment_id:
            return UpdateComment(**self._path, comment_id=comment_id, **values)
        return UpdateReply(**self._path, comment_id=comment_id, comment_reply_id=message_id, **values)

    def delete(self, comment_id: str, message_id: str) -> DeleteComment | DeleteReply | DeleteSpaceComment:
        """The write that deletes a comment with its replies, or a reply."""
        if self.request_id == LIVE:
            return DeleteSpaceComment(**self._path, comment_id=comment_id)
        if message_id == comment_id:
            return DeleteComment(**self._path, comment_id=comment_id)
        return DeleteReply(**self._path, comment_id=comment_id, comment_reply_id=message_id)

    def people(self) -> Iterator[User | None]:
        """The authors of all comments and replies."""
        for messages in (*self._comments.values(), *self._replies.values()):
            yield from (message.posted_by for message in messages)

    def pending(self) -> tuple[OutboxEntry, ...]:
        """The pending writes to this change request, or to comments on the live content; oldest first."""
        rows = self._writes.waiting()
        if rows is not self._all_pending:
            self._all_pending = rows
            self._pending = tuple(row for row in rows if self._is_here(row.call))
            self._reset()
        return self._pending

    def _is_here(self, call: Operation[Any] | None) -> bool:
        """Whether a write is about this discussion."""
        if self.request_id == LIVE:
            return isinstance(call, LIVE_WRITES) and call.space_id == self.space_id
        return call is not None and getattr(call, "change_request_id", None) == self.request_id

    def threads(self) -> list[Thread]:
        """All threads, oldest first."""
        pending, me = self.pending(), self.me
        if self._threads is None:
            self._threads = self._build(pending, me)
        return self._threads

    def thread(self, comment_id: str) -> Thread | None:
        """A thread by the id of its first comment."""
        return next((thread for thread in self.threads() if thread.id == comment_id), None)

    def unsent_messages(self) -> frozenset[str]:
        """The ids of the comments and replies that are only in the outbox."""
        return frozenset(f"{NEW}{row.id}" for row in self.pending() if isinstance(row.call, PostComment | PostReply))

    def open_comments(self) -> int:
        """The number of open comments."""
        comments = (comment for page in self._comments.values() for comment in page)
        return sum(is_open_comment(comment) for comment in comments)

    def _reset(self) -> None:
        self._threads = None

    def _build(self, pending: tuple[OutboxEntry, ...], me: str) -> list[Thread]:
        changes = pending_changes(pending)
        comments = {comment.id: comment for page in self._comments.values() for comment in page}
        replies = {**self._pending_replies(pending), **self._replies}
        deleted = Counter(row.call.comment_id for row in pending if isinstance(row.call, DeleteReply))
        of_all = self._notifications(self.request_id, "")
        threads: list[Thread] = []
        for comment in comments.values():
            if deleted[comment.id]:  # the service still counts them
                left = max(0, comment.replies - deleted[comment.id])
                comment = comment.model_copy(update={"replies": left})
            state = self._notifications(self.request_id, comment.id)
            new_from = "" if state == "muted" else self._new_from(comment.id)
            thread = build_thread(comment, replies.get(comment.id, ()), changes, me, new_from)
            if verdict := self._verdicts.get(comment.target.review or ""):
                thread = replace(thread, verdict=verdict)
            threads.append(thread if state == of_all else replace(thread, notifications=state))
        return sort_threads(threads)

    def _new_from(self, comment_id: str) -> str:
        """The time after which messages of a thread are new; empty if none is."""
        return max(self._opened_at, self._read_at.get(comment_id, ""))

    def _pending_replies(self, pending: tuple[OutboxEntry, ...]) -> dict[str, Sequence[CommentReply]]:
        """The replies in the outbox by comment, for comments whose replies were never fetched."""
        posts = (row.call for row in pending if isinstance(row.call, PostReply | PostSpaceReply))
        calls = {call.comment_id for call in posts} - self._replies.keys()
        return {
            comment_id: apply_pending(self.list_replies(comment_id), Page(items=()), pending, self._writes.me).items
            for comment_id in calls
        }


def build_thread(
    comment: Comment,
    replies: Sequence[CommentReply],
    pending: Mapping[str, PendingChange],
    me: str,
    new_from: str = "",
) -> Thread:
    """A thread.

    Args:
        comment: its first comment.
        replies: the replies, as far as they are known.
        pending: the pending changes by message id.
        me: the id of the signed-in user.
        new_from: messages of others after this time are new; empty if none is.
    """
    messages = tuple(
        _message(reply, pending, me, new_from) for reply in sorted(replies, key=lambda reply: reply.posted_at)
    )
    first = _message(comment, pending, me, new_from)
    unread = (
        replier.updated_at for replier in comment.repliers if len(messages) < comment.replies and replier.user.id != me
    )
    target = comment.target
    return Thread(
        first=first,
        replies=messages,
        reply_count=max(comment.replies, len(messages)),
        page=target.page.id if target.page else None,
        node=target.node.id if target.node else None,
        cell=CellIds(target.table_cell.record, target.table_cell.definition) if target.table_cell else None,
        about=split_quote(markdown_of_body(comment.body))[0] if target.page else "",
        revision=target.revision,
        resolved=comment.status == "resolved",
        is_review=is_review_text(comment),
        resolved_by=person(comment.resolved_by, me) if comment.resolved_by else None,
        pending_status=None if comment.id.startswith(NEW) else pending.get(comment.id),
        may_answer=comment.permissions.reply is not False,
        has_new=any(message.is_new for message in (first, *messages))
        or any(new_from and (at or "") > new_from for at in unread),
    )


def pending_changes(rows: Iterable[OutboxEntry]) -> dict[str, PendingChange]:
    """Pending writes by message id: the temporary id of a new message, or the id of the comment that is updated."""
    changes: dict[str, PendingChange] = {}
    for row in rows:
        state = _PENDING_STATES.get(row.state, "refused")
        if isinstance(row.call, PostComment | PostReply | PostSpaceComment | PostSpaceReply):
            changes[f"{NEW}{row.id}"] = PendingChange(row.id, state, row.error or "")
        elif isinstance(row.call, UpdateComment | UpdateSpaceComment):
            changes[row.call.comment_id] = PendingChange(row.id, state, row.error or "")
    return changes


def locate_thread(thread: Thread, after: str, document: Mapping[str, Any] | None, before: str = "") -> Thread:
    """A thread with the line of the page's new text below which it is shown; of the old text if that was deleted.

    Args:
        thread: the thread.
        after: the new text.
        document: the nodes of the page, if the thread needs them and they are known.
        before: the old text.
    """
    if deleted := deleted_words(thread.about):
        return replace(thread, deleted_line=find_quoted_line(deleted, enumerate(before.split("\n"))))
    if thread.needs_nodes:
        if document is None:
            return thread
        about = cell_words(document, thread.cell) if thread.cell else block_words(document, thread.node or "")
        thread = replace(thread, about=about, is_outdated=not about)
    if not thread.about:
        return thread
    line = find_quoted_line(thread.about, enumerate(after.split("\n")))
    has_suggestion = line is not None and any(parse_suggestion(message.text) for message in thread.messages)
    target = find_target(thread.about, after) if has_suggestion else None
    return replace(thread, line=line, is_outdated=line is None, suggested_for=target.text if target else None)


def sort_threads(threads: Iterable[Thread]) -> list[Thread]:
    """Threads, oldest first; pending ones last."""
    return sorted(threads, key=lambda thread: (thread.first.pending is not None, thread.first.posted_at))


def markdown_of_body(body: Document) -> str:
    """The Markdown of a comment's body, from Markdown or from nodes."""
    if body.markdown is not None:
        return body.markdown
    return document_text(body.document) if body.document else ""


def _last_activity(comment: Comment) -> str:
    """When the comment or the last reply was written."""
    return max([comment.posted_at, *(replier.updated_at or "" for replier in comment.repliers)])


def _message(comment: Comment | CommentReply, pending: Mapping[str, PendingChange], me: str, new_from: str) -> Message:
    return Message(
        id=comment.id,
        author=person(comment.posted_by, me),
        posted_at=comment.posted_at,
        text=without_fingerprint(markdown_of_body(comment.body)),
        edited=comment.edited_at is not None,
        reactions=tuple((_emoji(reaction), reaction.count) for reaction in comment.reactions),
        own_reactions=frozenset(
            reaction.emoji for reaction in comment.reactions if any(user.user.id == me for user in reaction.users)
        ),
        may_edit=comment.permissions.edit,
        may_delete=comment.permissions.delete,
        pending=pending.get(comment.id) if comment.id.startswith(NEW) else None,
        is_new=_is_new(comment, me, new_from),
    )


def _is_new(comment: Comment | CommentReply, me: str, new_from: str) -> bool:
    return bool(new_from) and comment.posted_by.id != me and comment.posted_at > new_from


def _emoji(reaction: Reaction) -> str:
    """An emoji as text: the service names it by its code points in hexadecimal, `1f44d`; others send the emoji."""
    parts = reaction.emoji.split("-")
    if all(_is_code_point(part) for part in parts):
        return sanitize("".join(chr(int(part, 16)) for part in parts))
    return sanitize(reaction.emoji)


def _is_code_point(part: str) -> bool:
    return 4 <= len(part) <= 5 and all(letter in "0123456789abcdefABCDEF" for letter in part)
