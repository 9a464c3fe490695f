"""The comments of a change request: the list of threads, and a thread with its replies."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from presscheck.api.comments import PostReply, UpdateComment
from presscheck.cli.linear.place import Linear, Place, Siblings, Verb, pick
from presscheck.cli.linear.request_model import read_model, read_replies
from presscheck.cli.linear.review_texts import hold_or_send, review_draft
from presscheck.cli.linear.words import message_lines, state_words, thread_row
from presscheck.engine.review.model import ReviewModel
from presscheck.engine.review.pending_review import PendingReview
from presscheck.engine.review.threads import Thread
from presscheck.errors import InvalidArgument
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize


class ThreadsPlace(Place):
    """The threads of a change request: open ones first."""

    def __init__(self, linear: Linear, space_id: str, request_id: str) -> None:
        super().__init__(linear)
        self._space_id, self._request_id = space_id, request_id
        self._threads: list[Thread] = []

    @property
    @override
    def name(self) -> str:
        return "threads"

    @override
    async def load(self) -> Sequence[str]:
        model, unread = await read_model(self.session, self._space_id, self._request_id)
        self._threads = sorted(model.discussion.threads(), key=lambda thread: thread.resolved)
        titles = {item.id: item.title for item in model.all_items}
        rows = (
            f"{number}. {thread_row(thread, titles.get(thread.page or '', 'a page') if thread.page else '')}"
            for number, thread in enumerate(self._threads, 1)
        )
        return [f"{count(len(self._threads), 'thread')}.", *rows, *unread]

    @override
    async def open(self, number: int) -> Place:
        thread = pick(self._threads, str(number), "thread")
        ids = [thread.id for thread in self._threads]
        return ThreadPlace(self.linear, self._space_id, self._request_id, thread.id, ids)


class ThreadPlace(Place):
    """A comment with its replies.

    Args:
        linear: what all places share.
        space_id: the id of the space.
        request_id: the id of the change request.
        thread_id: the id of the first comment.
        siblings: the ids of the threads of the list, for `next` and `previous`.
    """

    def __init__(self, linear: Linear, space_id: str, request_id: str, thread_id: str, siblings: Sequence[str]) -> None:
        super().__init__(linear)
        self._space_id, self._request_id, self._id, self._siblings = space_id, request_id, thread_id, siblings
        self._model = ReviewModel(self.engine, space_id, request_id)
        self._thread: Thread | None = None
        self._pending = PendingReview(self.engine, request_id)

    @property
    @override
    def name(self) -> str:
        return "thread"

    @override
    async def load(self) -> Sequence[str]:
        self._model, _ = await read_model(self.session, self._space_id, self._request_id)
        thread = self._model.discussion.thread(self._id)
        if thread is None:
            raise InvalidArgument(
                "thread", "it was deleted, or sent in the meantime: back, then again lists the threads"
            )
        self._thread = thread = await read_replies(self.session, self._model, thread)
        page = next((item.title for item in self._model.all_items if item.id == thread.page), "a page")
        where = f"On {page}" if thread.page else "On the change request"
        about = f": “{sanitize(thread.about)}”" if thread.about else ""
        lines = [f"{where}{about}. {state_words(thread).capitalize()}."]
        return [*lines, *(line for message in thread.messages for line in message_lines(thread, message))]

    @override
    def verbs(self) -> tuple[Verb, ...]:
        thread, engine = self._thread, self.engine
        may_answer = None if thread is None or thread.may_answer else "you are not permitted to reply"
        may_reply = may_answer or engine.write_reason(PostReply, "a reply")
        may_change = None if thread is None or thread.may_resolve else "only who may edit the comment can change this"
        may_change = may_change or engine.write_reason(UpdateComment, "this change")
        is_resolved = thread is not None and thread.resolved
        change = (
            Verb("reopen", "x", "Reopen the thread.", self._reopen, reason=may_change)
            if is_resolved
            else Verb("resolve", "x", "Resolve the thread.", self._resolve, reason=may_change)
        )
        return (
            Verb("reply", "r", "Reply.", self._reply, reason=may_reply),
            change,
            *Siblings("thread", self._siblings, self._id, self._sibling).verbs(),
        )

    async def _reply(self, _: str) -> Place | None:
        author = self._thread.first.author if self._thread else ""
        draft = review_draft(self.engine, self._model.path, f"reply {self._id}", author=author)
        text = await self.linear.compose(f"Reply to {author}", draft)
        if text is not None:
            await hold_or_send(self.linear, self._pending, self._model.discussion.reply(self._id, text), draft)
            await self.load()
        return None

    async def _resolve(self, _: str) -> Place | None:
        return await self._set_resolved(resolved=True)

    async def _reopen(self, _: str) -> Place | None:
        return await self._set_resolved(resolved=False)

    async def _set_resolved(self, *, resolved: bool) -> None:
        call = self._model.discussion.update(self._id, self._id, resolved=resolved)
        await self.session.write(call, "Resolved." if resolved else "Reopened.")
        await self.load()

    def _sibling(self, index: int) -> Place:
        return ThreadPlace(self.linear, self._space_id, self._request_id, self._siblings[index], self._siblings)
