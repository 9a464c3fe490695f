"""The comment threads of a change request or of live content: comments and replies, combined with pending writes."""

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
    find_quoted_range,
    parse_suggestion,
    range_start,
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
"""Maximum number of pages of the list of comments."""
UNKNOWN_USER = "me"
"""Placeholder for the id of the signed-in user until it is loaded."""
LIVE = ""
"""Placeholder for the id of a change request: the live content of a space."""
LIVE_WRITES = (PostSpaceComment, PostSpaceReply, UpdateSpaceComment, DeleteSpaceComment)
ListingT = TypeVar("ListingT", ListComments, ListSpaceComments)
PendingState = Literal["waiting", "collected", "sending", "refused"]
ThreadState = Literal["open", "resolved", "outdated", "review"]
"""An outdated thread is open, but its text is gone from the page. The text of a review does not count as open."""
STATES: tuple[ThreadState, ...] = ("open", "resolved", "outdated", "review")
_PENDING_STATES: dict[str, PendingState] = {"waiting": "waiting", "collected": "collected", "sending": "sending"}


@dataclass(frozen=True)
class PendingChange:
    """A write in the outbox: its row, its state, the error if the service refused it, and the agent that wrote it."""

    row: int
    state: PendingState
    error: str = ""
    agent: str = ""


@dataclass(frozen=True)
class Message:
    """A comment or a reply, prepared for display."""

    id: str
    author: str
    posted_at: str
    text: str
    """Markdown."""
    edited: bool = False
    reactions: tuple[tuple[str, int], ...] = ()
    own_reactions: frozenset[str] = frozenset()
    """The user's own reactions, encoded as the service sends them."""
    may_edit: bool = False
    may_delete: bool = False
    pending: PendingChange | None = None
    is_new: bool = False
    """Whether another user wrote the message after the review was opened and the user has not read it yet."""


@dataclass(frozen=True)
class Thread:
    """A comment with its replies and its place in the page."""

    first: Message
    replies: tuple[Message, ...] = ()
    reply_count: int = 0
    repliers: tuple[str, ...] = ()
    """The names of the people who replied, known before the replies are loaded; empty if the service reports none."""
    page: str | None = None
    node: str | None = None
    """The key of the commented block, if the service sends it."""
    cell: CellIds | None = None
    """The commented table cell."""
    about: str = ""
    """The commented text of the page: quoted in the comment, or the text of the block or cell."""
    suggested_for: str | None = None
    """The Markdown of the block or table cell that a suggestion in the thread replaces; None if it was not found."""
    revision: str | None = None
    """The revision of the change request when the thread was started, if the service sends it."""
    line: int | None = None
    """The line of the page's new text that contains `about`, counted from 0; None if it was not found."""
    starts_at: str = ""
    """The first words of a comment on several lines, of which `line` is the last; empty for a single line."""
    deleted_line: int | None = None
    """The line of the page's old text that contains `about`, if the commented text was deleted; None if not found."""
    is_outdated: bool = False
    """Whether the commented text is gone from the page."""
    resolved: bool = False
    resolved_by: str | None = None
    is_review: bool = False
    """Whether the first comment is the text of a review."""
    verdict: str = ""
    """The status of the review whose text starts the thread; empty if the reviews are not loaded."""
    pending_status: PendingChange | None = None
    """A pending "resolve" or "reopen"."""
    may_answer: bool = True
    has_new: bool = False
    """Whether a comment or a reply in the thread is new."""
    notifications: str = ""
    """`muted` or `followed`, if that differs from the setting of the whole change request; otherwise empty."""

    @property
    def id(self) -> str:
        """The id of the first comment."""
        return self.first.id

    @property
    def messages(self) -> tuple[Message, ...]:
        """The first comment and the replies."""
        return (self.first, *self.replies)

    @property
    def authors(self) -> frozenset[str]:
        """The names of the people who wrote in the thread."""
        return frozenset((*(message.author for message in self.messages), *self.repliers))

    @property
    def state(self) -> ThreadState:
        """The state: `resolved`, `outdated`, `open`, or `review` for the text of a review."""
        if self.resolved:
            return "resolved"
        return "review" if self.is_review else "outdated" if self.is_outdated else "open"

    @property
    def is_open(self) -> bool:
        """Whether the thread counts as an open comment: sent, not resolved, and not the text of a review."""
        return self.state in ("open", "outdated") and self.first.pending is None

    @property
    def may_resolve(self) -> bool:
        """Whether the user may resolve or reopen the thread, which requires permission to edit its first comment."""
        return self.first.may_edit

    @property
    def about_cell(self) -> str:
        """The text of the commented table cell; empty if the comment is not on a cell."""
        head, is_cell, cell = self.about.rpartition(CELL_SEPARATOR)
        return (cell or head).strip() if is_cell else ""

    @property
    def needs_nodes(self) -> bool:
        """Whether the commented text must be read from the page's nodes."""
        return not self.about and bool(self.node or self.cell)


class PendingWrites(Protocol):
    """Access to the outbox and to the signed-in user."""

    @property
    def me(self) -> User:
        """The signed-in user."""
        ...

    def waiting(self) -> tuple[OutboxEntry, ...]:
        """Return all pending writes; the same tuple until the outbox changes."""
        ...


class Discussion:
    """All comments and replies of a change request or of a space's live content, combined into threads.

    Threads are computed again only after the comments, the replies or the outbox change.

    Args:
        writes: the pending writes.
        space_id: the id of the space.
        request_id: the id of the change request, or its number until `set_request`; `LIVE` for the live content.
        notifications: called with the ids of the change request and of a thread (empty for the whole change request);
            returns `muted`, `followed` or an empty text.
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
        if self._me == UNKNOWN_USER:  # on the first start, the user is loaded while screens are already open
            me, self._me = self._me, self._writes.me.id
            self._threads = self._threads if me == self._me else None
        return self._me

    @property
    def is_known(self) -> bool:
        """Whether any comments were fetched."""
        return bool(self._comments)

    def begin_news(self, moment: str, last_look: str = "") -> None:
        """Start marking messages of other users as new.

        Args:
            moment: the time at which the review was opened; messages that are loaded now count as older.
            last_look: the result of `latest_activity` when the user last looked; later messages are new. Empty at the
                first look.
        """
        self._opened_at = moment
        self._opened_at = last_look or self.latest_activity()
        self._reset()

    def latest_activity(self) -> str:
        """Return the time of the newest loaded message, or the time given to `begin_news` if that is later."""
        comments = (comment for page in self._comments.values() for comment in page)
        return max([self._opened_at, *map(_last_activity, comments)])

    @property
    def has_begun(self) -> bool:
        """Whether `begin_news` was called."""
        return bool(self._opened_at)

    def mark_read(self, thread_id: str) -> bool:
        """Mark all messages of a thread as read. Return True if any was new."""
        thread = self.thread(thread_id)
        comments = (comment for page in self._comments.values() for comment in page)
        comment = next((comment for comment in comments if comment.id == thread_id), None)
        if thread is None or comment is None or not thread.has_new:
            return False
        last = max(message.posted_at for message in thread.messages)
        self._read_at[thread_id] = max(last, _last_activity(comment))
        self._reset()
        return True

    def notifications_changed(self) -> None:
        """Build the threads again after the user muted or followed a thread or the change request."""
        self._reset()

    def new_threads(self) -> int:
        """Return the number of threads with new messages."""
        return sum(thread.has_new for thread in self.threads())

    def pages_of(self, call: ListComments) -> Iterator[ListComments]:
        """Yield the calls for all loaded pages of comments; `call` is the call for the first page."""
        yield call
        for page in self._comments:
            if page is not None and page != call.page:
                yield call.model_copy(update={"page": page})

    def outdated_replies(self) -> list[str]:
        """Return the ids of comments whose number of replies differs from the number of loaded replies."""
        counts = {comment.id: comment.replies for page in self._comments.values() for comment in page}
        return [
            comment_id
            for comment_id, replies in self._replies.items()
            if counts.get(comment_id) not in (None, sum(not reply.id.startswith(NEW) for reply in replies))
        ]

    def set_request(self, request_id: str) -> None:
        """Replace the number of the change request by its id."""
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
        """Set the reviews. The status of a review is shown with its text."""
        self._verdicts = {review.id: review.status for review in reviews}
        self._reset()

    def next_comments(self, call: ListingT, answer: Any) -> ListingT | None:
        """Return the call for the next page of comments.

        Returns None after the last page, after `MAX_PAGES` pages, and if the service repeats a cursor.
        """
        cursor = answer.next.page if answer and answer.next else None
        if cursor is None or cursor in self._comments or len(self._comments) >= MAX_PAGES:
            return None
        return call.model_copy(update={"page": cursor})

    def list_replies(self, comment_id: str) -> ListReplies | ListSpaceReplies:
        """Return the call that lists the replies to a comment."""
        if self.request_id == LIVE:
            return live_replies(self.space_id, comment_id)
        return replies_to(self.space_id, self.request_id, comment_id)

    @property
    def _path(self) -> dict[str, Any]:
        live = {"space_id": self.space_id}
        return live if self.request_id == LIVE else {**live, "change_request_id": self.request_id}

    def post(self, text: str, page: str | None = None, **place: Any) -> PostComment | PostSpaceComment:
        """Return the write that posts a comment: on a page or, if `page` is None, on the whole content."""
        call = PostSpaceComment if self.request_id == LIVE else PostComment
        return call(**self._path, page=page, **place, body=Document(markdown=text))

    def reply(self, comment_id: str, text: str) -> PostReply | PostSpaceReply:
        """Return the write that posts a reply."""
        if self.request_id == LIVE:
            return PostSpaceReply(**self._path, comment_id=comment_id, body=Document(markdown=text))
        return PostReply(**self._path, comment_id=comment_id, body=Document(markdown=text), format="markdown")

    def update(self, comment_id: str, message_id: str, **values: Any) -> Operation[Any]:
        """Return the write that changes a message in the thread of a comment."""
        if self.request_id == LIVE:
            return UpdateSpaceComment(**self._path, comment_id=comment_id, **values)
        if message_id == comment_id:
            return UpdateComment(**self._path, comment_id=comment_id, **values)
        return UpdateReply(**self._path, comment_id=comment_id, comment_reply_id=message_id, **values)

    def delete(self, comment_id: str, message_id: str) -> DeleteComment | DeleteReply | DeleteSpaceComment:
        """Return the write that deletes a comment with its replies, or a single reply."""
        if self.request_id == LIVE:
            return DeleteSpaceComment(**self._path, comment_id=comment_id)
        if message_id == comment_id:
            return DeleteComment(**self._path, comment_id=comment_id)
        return DeleteReply(**self._path, comment_id=comment_id, comment_reply_id=message_id)

    def people(self) -> Iterator[User | None]:
        """Yield the authors of all loaded comments and replies, with repetitions."""
        for messages in (*self._comments.values(), *self._replies.values()):
            yield from (message.posted_by for message in messages)

    def pending(self) -> tuple[OutboxEntry, ...]:
        """Return the pending writes to this change request or to comments on the live content, oldest first."""
        rows = self._writes.waiting()
        if rows is not self._all_pending:
            self._all_pending = rows
            self._pending = tuple(row for row in rows if self._is_here(row.call))
            self._reset()
        return self._pending

    def _is_here(self, call: Operation[Any] | None) -> bool:
        """Return whether a write belongs to this discussion."""
        if self.request_id == LIVE:
            return isinstance(call, LIVE_WRITES) and call.space_id == self.space_id
        return call is not None and getattr(call, "change_request_id", None) == self.request_id

    def threads(self) -> list[Thread]:
        """Return all threads, oldest first."""
        pending, me = self.pending(), self.me
        if self._threads is None:
            self._threads = self._build(pending, me)
        return self._threads

    def thread(self, comment_id: str) -> Thread | None:
        """Return the thread whose first comment has this id, or None if there is none."""
        return next((thread for thread in self.threads() if thread.id == comment_id), None)

    def unsent_messages(self) -> frozenset[str]:
        """Return the temporary ids of unsent comments and replies in a change request; empty for live content."""
        return frozenset(f"{NEW}{row.id}" for row in self.pending() if isinstance(row.call, PostComment | PostReply))

    def open_comments(self) -> int:
        """Return the number of loaded comments that are open."""
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
            if deleted[comment.id]:  # the service still counts replies whose deletion is pending
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
        """Return the time after which messages of a thread are new; empty if no message is new."""
        return max(self._opened_at, self._read_at.get(comment_id, ""))

    def _pending_replies(self, pending: tuple[OutboxEntry, ...]) -> dict[str, Sequence[CommentReply]]:
        """Return unsent replies by comment id, for comments whose replies are not loaded."""
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
    """Build a thread from a comment and its replies.

    Args:
        comment: the first comment.
        replies: the loaded replies.
        pending: the pending changes by message id.
        me: the id of the signed-in user.
        new_from: messages of others after this time are new; empty if no message is new.
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
        repliers=tuple(person(replier.user, me) for replier in comment.repliers),
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
    """Index pending writes by message id: the temporary id of a new message, or the id of an updated comment."""
    changes: dict[str, PendingChange] = {}
    for row in rows:
        state = _PENDING_STATES.get(row.state, "refused")
        if isinstance(row.call, PostComment | PostReply | PostSpaceComment | PostSpaceReply):
            changes[f"{NEW}{row.id}"] = PendingChange(row.id, state, row.error or "", row.agent)
        elif isinstance(row.call, UpdateComment | UpdateSpaceComment):
            changes[row.call.comment_id] = PendingChange(row.id, state, row.error or "")
    return changes


def locate_thread(thread: Thread, after: str, document: Mapping[str, Any] | None, before: str = "") -> Thread:
    """Return a thread with its line: in the page's new text, or in the old text for a comment on deleted text.

    Args:
        thread: the thread.
        after: the new text.
        document: the nodes of the page, if the thread needs them and they are loaded.
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
    lines = list(enumerate(after.split("\n")))
    line, numbers = find_quoted_line(thread.about, lines), find_quoted_range(thread.about, lines)
    starts_at = range_start(thread.about) if numbers and numbers[1] == line else ""
    has_suggestion = line is not None and any(parse_suggestion(message.text) for message in thread.messages)
    target = find_target(thread.about, after) if has_suggestion else None
    suggested_for = target.text if target else None
    return replace(thread, line=line, starts_at=starts_at, is_outdated=line is None, suggested_for=suggested_for)


def sort_threads(threads: Iterable[Thread]) -> list[Thread]:
    """Sort threads from the oldest to the newest; pending threads are last."""
    return sorted(threads, key=lambda thread: (thread.first.pending is not None, thread.first.posted_at))


def markdown_of_body(body: Document) -> str:
    """Return the Markdown of a comment's body, converted from nodes if the service sends no Markdown."""
    if body.markdown is not None:
        return body.markdown
    return document_text(body.document) if body.document else ""


def _last_activity(comment: Comment) -> str:
    """Return the time of the latest message in the thread of a comment."""
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
    """Return an emoji as text.

    Some services send the code points in hexadecimal, such as `1f44d`; others send the emoji itself.
    """
    parts = reaction.emoji.split("-")
    if all(_is_code_point(part) for part in parts):
        return sanitize("".join(chr(int(part, 16)) for part in parts))
    return sanitize(reaction.emoji)


def _is_code_point(part: str) -> bool:
    return 4 <= len(part) <= 5 and all(letter in "0123456789abcdefABCDEF" for letter in part)
