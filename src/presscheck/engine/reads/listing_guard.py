"""Reads of whole listings, page by page. A listing that does not end is cut off."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from presscheck.api.operation import ALL, Operation, Page, Paged
from presscheck.engine.protocols import Reader
from presscheck.errors import IncompleteList
from presscheck.text.phrases import count

Item = TypeVar("Item")
T = TypeVar("T")
MAX_ITEMS = 100_000
"""Maximum number of items of a listing."""
MAX_PAGES = 2_000
"""Maximum number of pages of a listing."""
MAX_EMPTY_PAGES = 10
"""Maximum number of consecutive empty pages."""
MAX_SECONDS = 600.0
"""Maximum time to fetch a listing, in seconds."""


class ListingGuard:
    """A guard for the pages of a listing, which drops repeated items and detects a listing that does not end.

    Args:
        listing: the listing, named in error messages.
    """

    def __init__(self, listing: Operation[Any]) -> None:
        self._listing = listing
        self._cursors, self._seen = set[str](), set[int]()
        self._pages = self._empty_pages = self._items = 0
        self._is_repeated = False
        self._on_page, self._new_on_page = set[int](), 0
        """The hashes of the items of the current page, and the number of new items among them."""
        self._started = time.monotonic()

    def new_items(self, items: Sequence[Item], *, ends_page: bool = True) -> list[Item]:
        """Return the items that are not on an earlier page. A resource that the current page repeats is returned once.

        Args:
            items: items of the current page: all of them, or the next part.
            ends_page: whether `items` ends the page.
        """
        new = list[Item]()
        for item in items:
            is_resource, key = _identity(item)
            if key not in self._seen and not (is_resource and key in self._on_page):
                new.append(item)
            self._on_page.add(key)
        self._new_on_page += len(new)
        if ends_page:
            self._end_page()
        return new

    def _end_page(self) -> None:
        self._pages += 1
        self._items += self._new_on_page
        self._is_repeated = bool(self._on_page) and not self._new_on_page
        self._empty_pages = 0 if self._on_page else self._empty_pages + 1
        self._seen |= self._on_page
        self._on_page, self._new_on_page = set[int](), 0

    def problem(self, cursor: str | None) -> IncompleteList | None:
        """Return why the listing must be cut off after this page, or None if it can continue.

        Args:
            cursor: the cursor of the next page; None after the last page.
        """
        if cursor is None:
            return None
        reason = self._reason(cursor)
        self._cursors.add(cursor)
        return IncompleteList(f"The list is incomplete: {reason}", request=str(self._listing)) if reason else None

    def _reason(self, cursor: str) -> str:
        if cursor in self._cursors or self._is_repeated:
            return "the service repeats a page"
        if self._empty_pages >= MAX_EMPTY_PAGES:
            return f"the service returned {count(self._empty_pages, 'empty page')}"
        if self._items >= MAX_ITEMS:
            return f"only the first {count(self._items, 'item')} were loaded"
        if self._pages >= MAX_PAGES:
            return f"only the first {count(self._pages, 'page')} were loaded"
        seconds = time.monotonic() - self._started
        return f"loading it took longer than {MAX_SECONDS / 60:g} minutes" if seconds > MAX_SECONDS else ""


async def whole_listing(reader: Reader, listing: Operation[Page[T]]) -> tuple[T, ...]:
    """Return all items of a listing, in pages of the largest size.

    Raises:
        PresscheckError: the listing cannot be read, or does not end.
    """
    most = listing.max_page_size() if isinstance(listing, Paged) else ALL
    return await all_items_of(reader.read, listing.model_copy(update={"limit": most}))


async def all_items_of(read: Callable[[Operation[Any]], Awaitable[Any]], listing: Operation[Page[T]]) -> tuple[T, ...]:
    """Return all items of a listing, in pages of the listing's own limit.

    Raises:
        PresscheckError: the listing cannot be read, or does not end.
    """
    guard, found, call = ListingGuard(listing), list[T](), listing
    while True:
        page = await read(call)
        found += guard.new_items(page.items)
        if page.next is None:
            return tuple(found)
        problem = guard.problem(page.next.page)
        if problem:
            raise problem
        call = call.model_copy(update={"page": page.next.page})


def _identity(item: Any) -> tuple[bool, int]:
    """Return (True, a hash of `object` and `id`) for a resource, and (False, a hash of the item) for other items."""
    if isinstance(item, BaseModel):
        named: tuple[Any, Any] = getattr(item, "object", None), getattr(item, "id", None)
    else:
        fields = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        named = fields.get("object"), fields.get("id")
    if all(isinstance(name, str) for name in named):
        return True, hash(named)
    return False, hash(item.model_dump_json() if isinstance(item, BaseModel) else json.dumps(item, sort_keys=True))
