"""The subscriptions of a review, which pass results to its model, and the texts of its changed pages.

The texts of changed pages, before and after, are loaded in order: the selected page, the next page, then the pages
with visible rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import ListContributors
from presscheck.api.comments import ListComments
from presscheck.documents.diff.page_diff import PageDifference, compare
from presscheck.documents.merge.conflict_blocks import unresolved_conflicts
from presscheck.engine.reads.scheduler import BACKGROUND, PREFETCH, VISIBLE
from presscheck.engine.review.changes import NOT_COMPARED, ChangedItem, WordCount
from presscheck.engine.review.revision_history import LIMIT, history
from presscheck.engine.shared_calls import changed_nodes, changed_page, page_in
from presscheck.engine.writes.page_merge import EDIT_FAILED, EDIT_PENDING, page_edit
from presscheck.errors import NetworkError, NotFound, PresscheckError
from presscheck.text.phrases import long_ago
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for
from presscheck.tui.screens.review.renderer import PageText

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.content import RevisionPage
    from presscheck.api.operation import Operation
    from presscheck.client.request_priority import Priority
    from presscheck.engine.results import Result
    from presscheck.engine.review.model import ReviewModel
    from presscheck.engine.review.revision_history import Step
    from presscheck.engine.review.threads import Thread
    from presscheck.engine.writes.pending_writes import OutboxEntry
    from presscheck.tui.ui.screen import BaseScreen

LARGE = 20_000
"""Minimum total length, in characters, of two texts that are compared in a thread."""
LOOKED = "looked at comments "
"""Storage key, before the id of a change request: the time of the newest message that the user has seen."""
Key = tuple[str, str]
"""The id of a page, and a text that identifies the compared revisions and the unsent edits."""


class ReviewLoader:
    """The subscriptions of a review, one for each call of its model.

    Args:
        model: receives the results.
        screen: the screen that owns the subscriptions.
        on_answer: called after each result that changed the model.
    """

    def __init__(self, model: ReviewModel, screen: BaseScreen, on_answer: Callable[[], None]) -> None:
        self._model, self._screen, self._on_answer = model, screen, on_answer
        self._groups: dict[str, str] = {}
        self._subscribed: Sequence[Operation[Any]] = ()
        self._steps_until = ""
        """The newest revision that is loaded or being loaded; empty if the last load failed."""
        self.error = ""
        """The reason why the change request may be out of date; empty if it is current."""

    def read_stored(self) -> None:
        """Fill the model with stored results, without requests."""
        engine, model = self._screen.engine, self._model
        stored = engine.known(model.first_call())
        model.set_request(stored.value if stored else None)
        for call in model.calls():
            answer = engine.known(call)
            model.take(call, answer.value if answer else None)

    def start(self) -> None:
        """Subscribe to the change request, and to the other calls of the model once their arguments are loaded."""
        watch = self._screen.engine.watch(self._model.first_call())
        self._screen.subscribe(watch, self._take_request, group="request")
        self._subscribe_all()

    def load_replies(self, threads: Iterable[Thread]) -> None:
        """Load the replies of threads."""
        for thread in threads:
            if thread.reply_count and not thread.first.pending:
                self._subscribe(self._model.discussion.list_replies(thread.id))

    def load_people(self, threads: Iterable[Thread]) -> None:
        """Load the replies of threads for which the service does not list the authors of replies."""
        self.load_replies(thread for thread in threads if not thread.repliers)

    def load_steps(self) -> None:
        """Load the revisions of the change request, unless they are loaded or being loaded."""
        request, model = self._model.request, self._model
        if request and request.revision != self._steps_until:
            self._steps_until = request.revision
            if not model.steps:
                model.steps_note = "Loading the edits …"
            self._screen.run(partial(self._load_steps, request), group="steps", exclusive=True)

    async def _load_steps(self, request: ChangeRequest) -> None:
        steps: list[Step] = []
        engine, note = self._screen.engine, ""
        with suppress(PresscheckError):  # the edits are shown without their authors
            self._model.contributors = (
                await engine.read(ListContributors(**self._model.path), priority=PREFETCH)
            ).items
        try:
            async for step in history(engine, request):
                steps.append(step)  # noqa: PERF401  # the steps before an error are kept
        except PresscheckError as error:
            reason = sanitize(error.message) if engine.status.online else "you are offline"
            note = f"✗ some edits are missing: {reason} · {key_for('refresh')} retries"
        else:
            if len(steps) == LIMIT:
                note = f"only the newest {LIMIT} revisions are listed"
        if not note or len(steps) > len(self._model.steps):
            self._model.steps = tuple(reversed(steps))
        self._model.steps_note = note
        self._screen.redraw()

    def retry_steps(self) -> None:
        """Let the next `load_steps` load the revisions again if some are missing."""
        if self._model.steps_note:
            self._steps_until = ""

    def _take_request(self, result: Result[ChangeRequest | None]) -> None:
        before = (self._model.request, self.error)
        self._model.set_request(result.value)
        self.error = ""
        if result.error is None and before[1]:
            self.retry_steps()
        is_offline = not self._screen.engine.status.online
        if result.state == "offline" or (result.state == "cached" and is_offline):  # also after a write that waits
            self.error = f"offline: as of {long_ago(result.age)}"
        elif result.state == "failed" and result.error:
            self.error = f"{result.error.message} · {key_for('refresh')} retries"
        self._subscribe_all()
        if (self._model.request, self.error) != before:
            self._on_answer()

    def _subscribe_all(self) -> None:
        calls = self._model.calls()
        if calls is not self._subscribed:
            self._subscribed = calls
            for call in calls:
                self._subscribe(call)

    def _subscribe(self, call: Operation[Any]) -> None:
        """Subscribe to a call unless it has a subscription already."""
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
                return  # most results only confirm the cache
            latest = (result.value, type(result.error))
            self._model.take(call, result.value)
            if isinstance(call, ListComments):
                self._store_look()
                following = self._model.discussion.next_comments(call, result.value)
                if following:
                    self._subscribe(following)
                for comment_id in self._model.discussion.outdated_replies():
                    self._screen.engine.refresh(self._model.discussion.list_replies(comment_id))
            self._subscribe_all()
            self._on_answer()

        self._screen.subscribe(self._screen.engine.watch(call), take, group=self._groups[key])

    def _begin_news(self, call: ListComments, answer: Any) -> None:
        """Start marking comments as new.

        Comments that are later than the user's last look at the change request are new. At the first look, comments
        that are loaded already are not new.
        """
        self._model.take(call, answer)
        if self._model.request:
            last_look = self._screen.engine.outbox.recall(LOOKED + self._model.request.id)
            self._model.discussion.begin_news(self._model.request.updated_at, last_look or "")
            self._store_look()

    def _store_look(self) -> None:
        """Store the time of the newest loaded message: when the review is opened again, later messages are new."""
        request, outbox = self._model.request, self._screen.engine.outbox
        if request and self._model.discussion.has_begun:
            activity = self._model.discussion.latest_activity()
            if activity != outbox.recall(LOOKED + request.id):
                outbox.remember_if_possible(LOOKED + request.id, activity)


class PageTextLoader:
    """The texts of the changed pages of a review, loaded on demand and cached.

    Args:
        model: the change request.
        screen: runs the loads, and is redrawn after each.
    """

    def __init__(self, model: ReviewModel, screen: BaseScreen) -> None:
        self._model, self._screen = model, screen
        self._pages: dict[Key, PageText] = {}
        self._latest: dict[Key, PageText] = {}
        self._requested: dict[Key, Priority] = {}
        self._documents: dict[Key, Mapping[str, Any] | None] = {}
        self._latest_documents: dict[str, Mapping[str, Any]] = {}
        self._queue: list[ChangedItem] = []
        self._is_prefetching = False

    def page(self, item: ChangedItem) -> PageText:
        """Return the loaded text of an item. Request the texts of this item and of the next if they are missing."""
        items = self._model.items
        after = items.index(item) + 1
        self._request(item, VISIBLE)
        for next_item in items[after : after + 1]:
            self._request(next_item, PREFETCH)
        return self.loaded(item)

    def loaded(self, item: ChangedItem) -> PageText:
        """Return the loaded text of an item; empty if it was never loaded.

        After an edit, the old text is returned until the new text is loaded.
        """
        page = self._pages.get(self._key(item))
        return page or self._latest.get((item.id, self._compared), PageText())

    def document(self, item: ChangedItem) -> Mapping[str, Any] | None:
        """Return the nodes of a page in the change request, and load them if necessary.

        After an edit, the old nodes are returned until the new nodes are loaded; before the first load, None.
        """
        key, request = self._key(item), self._model.request
        if request and key not in self._documents:
            self._documents[key] = None
            self._screen.run(self._load_document(key, changed_nodes(request.space, request.id, item.id)))
        document = self._documents.get(key)
        return self._latest_documents.get(item.id) if document is None else document

    def words(self, item: ChangedItem) -> WordCount | None:
        """Return the numbers of added and removed words; None until both texts are loaded."""
        difference = self.loaded(item).difference
        return WordCount(difference.added, difference.removed) if difference else None

    def prefetch(self, items: Iterable[ChangedItem]) -> None:
        """Load the texts of items one after another at low priority, instead of the items of the previous call."""
        self._queue = [item for item in items if self._is_missing(item)]
        if self._queue and not self._is_prefetching and not self._screen.is_leaving:
            self._is_prefetching = True
            self._screen.run(self._prefetch())

    async def load_all(self, items: Iterable[ChangedItem]) -> None:
        """Load the texts of items one after another, and wait until each is loaded or has failed."""
        for item in items:
            key = self._key(item)
            if item.has_text and key not in self._pages and not self._screen.is_leaving:
                self._requested[key] = PREFETCH
                await self._load(key, self._calls(item), PREFETCH)

    def retry(self) -> None:
        """Forget failed loads, so that the next redraw repeats them."""
        for key in [key for key, document in self._documents.items() if document is None]:
            del self._documents[key]
        for key in [key for key, page in self._pages.items() if page.error]:
            del self._pages[key]
            self._requested.pop(key, None)

    def _key(self, item: ChangedItem) -> Key:
        edits = "".join(f" {entry.id} {entry.state} {hash(text)}" for entry, text in self._edits(item.id))
        return (item.id, self._revisions + edits)

    def _edits(self, page_id: str) -> list[tuple[OutboxEntry, str | None]]:
        """Return the unsent edits of a page, each with the Markdown that it writes."""
        request = self._model.request
        found: list[tuple[OutboxEntry, str | None]] = []
        for entry in self._screen.engine.waiting() if request else ():
            call: Any = entry.call if entry.has_base else None
            edit = page_edit(call) if call and request and call.change_request_id == request.id else None
            if edit and edit.document and edit.page == page_id:
                found.append((entry, edit.document.markdown))
        return found

    @property
    def _revisions(self) -> str:
        """The compared revisions, as part of the key of a text."""
        request = self._model.request
        return f"{request.revision} {self._model.base}" if request else ""

    @property
    def _compared(self) -> str:
        """The revision of the compared review; empty if the comparison starts at the base revision."""
        return self._model.since.revision if self._model.since else ""

    def _is_missing(self, item: ChangedItem) -> bool:
        key = self._key(item)
        return item.has_text and key not in self._requested and key not in self._pages

    async def _prefetch(self) -> None:
        try:
            while self._queue:
                item = self._queue.pop(0)
                if self._is_missing(item):
                    await self._load(self._key(item), self._calls(item), BACKGROUND)
        finally:
            self._is_prefetching = False

    def _request(self, item: ChangedItem, priority: Priority) -> None:
        key = self._key(item)
        is_requested = key in self._pages or self._requested.get(key, BACKGROUND) <= priority
        if is_requested or not item.has_text or self._model.request is None:
            return
        self._requested[key] = priority
        calls = self._calls(item)
        if priority is VISIBLE:
            self._read_stored(key, calls)
        load = partial(self._load, key, calls, priority)
        self._screen.run(load, group=f"body-{item.id}", exclusive=True)

    def _read_stored(self, key: Key, calls: tuple[Operation[Any] | None, ...]) -> None:
        """Show a page from the store at once if both texts are stored and short enough to compare without a thread."""
        stored = [self._screen.engine.known(call) if call else None for call in calls]
        if all(call is None or answer for call, answer in zip(calls, stored, strict=True)):
            texts = [answer.value.markdown or "" if answer else "" for answer in stored]
            if sum(map(len, texts)) < LARGE:
                self._set(key, texts, compare(*texts))

    def _set(self, key: Key, texts: Sequence[str], difference: PageDifference) -> None:
        before, after = texts
        states = [entry.state for entry, _ in self._edits(key[0])]
        note = (EDIT_FAILED if "refused" in states else EDIT_PENDING) if states else ""
        self._pages[key] = page = PageText(difference, after, note=note)
        if key[1].startswith(self._revisions):
            self._latest[key[0], self._compared] = page
        self._model.texts_with_conflicts[key[0]] = bool(unresolved_conflicts(after, before))

    def _calls(self, item: ChangedItem) -> tuple[Operation[Any] | None, Operation[Any] | None]:
        """Return the calls for the old and the new text of an item.

        The first is None for an added page, the second for a deleted page. For a page that is not compared, both read
        the new text. Both are None if the change request is not loaded.
        """
        request = self._model.request
        if request is None:
            return None, None
        before = after = None
        if NOT_COMPARED in item.kinds:
            before = changed_page(request.space, request.id, item.id)
        elif "added" not in item.kinds:
            before = page_in(request.space, self._model.base or "", item.id)
        if "deleted" not in item.kinds:
            after = changed_page(request.space, request.id, item.id)
        return before, after

    async def _load(self, key: Key, calls: tuple[Operation[Any] | None, ...], priority: Priority) -> None:
        try:
            texts = await asyncio.gather(*(self._text(call, priority) for call in calls))
        except PresscheckError as error:
            if key not in self._pages:
                self._pages[key] = PageText(error=f"{error.message} · {key_for('refresh')} retries")
        else:
            self._set(key, texts, await asyncio.to_thread(compare, *texts))
        self._screen.redraw()

    async def _load_document(self, key: Key, call: Operation[RevisionPage]) -> None:
        try:
            document = (await self._screen.engine.read(call, priority=PREFETCH)).document or {}
            self._documents[key] = self._latest_documents[key[0]] = document
        except NetworkError:
            del self._documents[key]  # requested again after the next result
        except PresscheckError:
            return  # the threads of this page are shown above it
        else:
            self._screen.redraw()

    async def _text(self, call: Operation[Any] | None, priority: Priority) -> str:
        if call is None:
            return ""
        try:
            return (await self._screen.engine.read(call, priority=priority)).markdown or ""
        except NotFound:
            return ""  # the page was added or deleted since
