"""Reads a whole listing, page by page."""

from __future__ import annotations

from typing import TypeVar

from presscheck.api.operation import Operation, Page
from presscheck.engine.protocols import Reader
from presscheck.engine.reads.listing_guard import ListingGuard
from presscheck.engine.shared_calls import ALL

T = TypeVar("T")


async def whole_listing(reader: Reader, listing: Operation[Page[T]]) -> tuple[T, ...]:
    """All items of a listing.

    Raises:
        PresscheckError: it cannot be read, or does not end.
    """
    guard, found = ListingGuard(listing), list[T]()
    call = listing.model_copy(update={"limit": ALL})
    while True:
        page = await reader.read(call)
        found += guard.new_items(page.items)
        if page.next is None:
            return tuple(found)
        problem = guard.problem(page.next.page)
        if problem:
            raise problem
        call = call.model_copy(update={"page": page.next.page})
