"""Finds the threads of a review by item and by state; the user chooses which states are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Protocol

from presscheck.engine.review.threads import STATES, Thread, ThreadState, locate_thread

if TYPE_CHECKING:
    from presscheck.engine.review.changes import ChangedItem
    from presscheck.engine.review.model import ReviewModel
    from presscheck.tui.screens.review.renderer import PageText

HIDDEN = "threads not shown"
"""The key under which the hidden states are stored."""


class Settings(Protocol):
    """Remembers small texts."""

    def recall(self, key: str) -> str | None:
        """What was remembered under a key."""
        ...

    def remember(self, key: str, value: str | None) -> None:
        """Remember a text; None forgets it."""
        ...


class PageTexts(Protocol):
    """The texts of pages."""

    def loaded(self, item: ChangedItem) -> PageText:
        """The text of an item as far as it is loaded."""
        ...

    def document(self, item: ChangedItem) -> Mapping[str, Any] | None:
        """The nodes of a page; None until they are loaded."""
        ...


class ThreadFilter:
    """The threads by item, each with its line; computed again only if the threads, the items or a text changed.

    Args:
        model: the change request.
        texts: the texts of its pages.
        settings: remembers the hidden states.
    """

    def __init__(self, model: ReviewModel, texts: PageTexts, settings: Settings) -> None:
        self._model, self._texts, self._settings = model, texts, settings
        self._visible: Set[ThreadState] | None = None
        self._grouped: dict[str | None, list[Thread]] = {}
        self._group_inputs: tuple[object, object, object] = (None, None, None)
        self._located: dict[str, tuple[tuple[object, ...], list[Thread]]] = {}

    @property
    def visible(self) -> Set[ThreadState]:
        """The states whose threads are shown."""
        if self._visible is None:
            hidden = (self._settings.recall(HIDDEN) or "").split()
            self._visible = {state for state in STATES if state not in hidden}
        return self._visible

    def reload(self) -> None:
        """Read the visible states again: another review may have changed them."""
        self._visible = None

    def set_visible(self, state: ThreadState, *, visible: bool) -> None:
        """Show or hide the threads in a state, in all reviews."""
        others: set[ThreadState] = {other for other in self.visible if other != state}
        states: set[ThreadState] = {*others, state} if visible else others
        hidden = " ".join(state for state in STATES if state not in states)
        self._settings.remember(HIDDEN, hidden or None)
        self._visible = states

    def threads_on(self, item: ChangedItem | None) -> list[Thread]:
        """The threads on an item; None is the conversation, with all threads that are on no changed page."""
        return self._locate(item, self._groups().get(_page_id(item), []))

    def visible_on(self, item: ChangedItem | None) -> list[Thread]:
        """The threads on an item that are shown."""
        return [thread for thread in self.threads_on(item) if thread.state in self.visible]

    def all_threads(self) -> list[tuple[ChangedItem | None, Thread]]:
        """All threads with their items, in reading order; also on pages that did not change since a review."""
        return [(item, thread) for item in (None, *self._changed_items()) for thread in self.threads_on(item)]

    def rows_with_threads(self) -> list[int]:
        """The rows of the list of items with visible threads."""
        items = enumerate((None, *self._model.items))
        return [row for row, item in items if self.visible_on(item)]

    def is_listed(self, thread: Thread) -> bool:
        """Whether the page of a thread is in the list of items, or the thread belongs to the conversation."""
        listed = {_page_id(item) for item in self._model.items}
        return thread.page in listed or thread.page not in {_page_id(item) for item in self._changed_items()}

    def open_count(self, item: ChangedItem | None) -> int:
        """The number of open comments on an item."""
        return sum(thread.is_open for thread in self._groups().get(_page_id(item), ()))

    def _changed_items(self) -> list[ChangedItem]:
        """The items of the whole change request; those in the list as they are shown there."""
        items = {(item.noun, item.id): item for item in self._model.all_items}
        return [*(items | {(item.noun, item.id): item for item in self._model.items}).values()]

    def has_new(self, item: ChangedItem | None) -> bool:
        """Whether a thread on an item has something new."""
        return any(thread.has_new for thread in self._groups().get(_page_id(item), ()))

    def _groups(self) -> Mapping[str | None, Sequence[Thread]]:
        """The threads by the id of their page; None for those that are on no changed page."""
        inputs = (self._model.discussion.threads(), self._model.items, self._model.all_items)
        if any(new is not old for new, old in zip(inputs, self._group_inputs, strict=True)):
            self._group_inputs, self._grouped = inputs, {}
            pages = {_page_id(item) for item in self._changed_items()}
            for thread in self._model.discussion.threads():
                self._grouped.setdefault(thread.page if thread.page in pages else None, []).append(thread)
        return self._grouped

    def _locate(self, item: ChangedItem | None, threads: Sequence[Thread]) -> list[Thread]:
        if item is None or not threads:
            return list(threads)
        page = self._texts.loaded(item)
        if not page.difference:
            return list(threads)
        document = self._texts.document(item) if any(thread.needs_nodes for thread in threads) else None
        inputs = (threads, page, document)
        known = self._located.get(item.id)
        if known is None or any(new is not old for new, old in zip(inputs, known[0], strict=True)):
            known = (inputs, [locate_thread(thread, page.after, document) for thread in threads])
            self._located[item.id] = known
        return known[1]


def _page_id(item: ChangedItem | None) -> str | None:
    """The id of an item that is a page; empty for other items, which have no threads."""
    return None if item is None else item.id if item.noun == "page" else ""
