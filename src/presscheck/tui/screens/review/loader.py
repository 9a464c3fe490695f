"""Loads a review: subscribes to every call of the model once, and passes the answers to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from presscheck.api.comments import ListComments
from presscheck.text.phrases import long_ago

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.operation import Operation
    from presscheck.engine.engine import Engine
    from presscheck.engine.results import Result
    from presscheck.engine.review.model import ReviewModel
    from presscheck.engine.review.threads import Thread

T = TypeVar("T")


class Subscriber(Protocol):
    """A screen that subscribes to answers."""

    @property
    def engine(self) -> Engine:
        """The engine."""
        ...

    def subscribe(self, answers: AsyncIterator[Result[T]], handle: Callable[[Result[T]], None], *, group: str) -> None:
        """Pass each answer to `handle`."""
        ...


class ReviewLoader:
    """The subscriptions of one review.

    Args:
        model: takes the answers.
        screen: subscribes.
        on_answer: called after each answer.
    """

    def __init__(self, model: ReviewModel, screen: Subscriber, on_answer: Callable[[], None]) -> None:
        self._model, self._screen, self._on_answer = model, screen, on_answer
        self._groups: dict[str, str] = {}
        self.error = ""
        """Why the change request may be out of date."""

    def read_stored(self, request: ChangeRequest | None) -> None:
        """Take what the store knows; `request` is what the caller knows of the change request."""
        engine, model = self._screen.engine, self._model
        model.set_request(request)
        stored = engine.known(model.first_call())
        model.set_request(stored.value if stored else None)
        for call in model.calls():
            answer = engine.known(call)
            model.take(call, answer.value if answer else None)

    def start(self) -> None:
        """Subscribe to all calls."""
        watch = self._screen.engine.watch(self._model.first_call())
        self._screen.subscribe(watch, self._take_request, group="request")
        self._subscribe_all()

    def load_replies(self, thread: Thread) -> None:
        """Load the replies of a thread."""
        if thread.reply_count and not thread.first.pending:
            self._subscribe(self._model.discussion.list_replies(thread.id))

    def _take_request(self, result: Result[ChangeRequest | None]) -> None:
        before = (self._model.request, self.error)
        self._model.set_request(result.value)
        self.error = ""
        if result.state == "offline":
            self.error = f"offline: as of {long_ago(result.age)}"
        elif result.state == "failed" and result.error:
            self.error = f"{result.error.message} · ctrl+r retries"
        self._subscribe_all()
        if (self._model.request, self.error) != before:
            self._on_answer()

    def _subscribe_all(self) -> None:
        for call in self._model.calls():
            self._subscribe(call)

    def _subscribe(self, call: Operation[Any]) -> None:
        """Subscribe to a call, unless that was done."""
        key = call.key()
        if key in self._groups:
            return
        self._groups[key] = f"call-{len(self._groups)}"

        latest: tuple[Any, type] | None = None

        def take(result: Result[Any]) -> None:
            nonlocal latest
            if isinstance(call, ListComments) and result.state != "cached" and not self._model.discussion.has_begun:
                self._begin_news(call, result.value)
            if latest == (result.value, type(result.error)):
                return  # most answers of the service only confirm what the cache gave
            latest = (result.value, type(result.error))
            self._model.take(call, result.value)
            if isinstance(call, ListComments):
                following = self._model.discussion.next_comments(call, result.value)
                if following:
                    self._subscribe(following)
                for comment_id in self._model.discussion.outdated_replies():
                    self._screen.engine.refresh(self._model.discussion.list_replies(comment_id))
            self._subscribe_all()
            self._on_answer()

        self._screen.subscribe(self._screen.engine.watch(call), take, group=self._groups[key])

    def _begin_news(self, call: ListComments, answer: Any) -> None:
        """Comments that are there when the review is opened are not new."""
        self._model.take(call, answer)
        if self._model.request:
            self._model.discussion.begin_news(self._model.request.updated_at)
