"""The order of pages below each parent, and moves in this order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from presscheck.api.content import RevisionPage


class Move(NamedTuple):
    """A move of a page to a parent (None for the top level), after a sibling (None for the first place)."""

    page: str
    parent: str | None
    after: str | None


class PageOrder:
    """The order of the pages below each parent, which moves change.

    Args:
        below: the ids of the pages below each parent; None is the top level.
    """

    def __init__(self, below: Mapping[str | None, Sequence[str]]) -> None:
        self._below = {parent: [*pages] for parent, pages in below.items()}
        self._parents = {page: parent for parent, pages in self._below.items() for page in pages}

    @classmethod
    def of(cls, pages: Sequence[RevisionPage]) -> PageOrder:
        """Create the order of a page tree."""
        below: dict[str | None, Sequence[str]] = {None: [page.id for page in pages]}
        for page in _every(pages):
            below[page.id] = [child.id for child in page.pages]
        return cls(below)

    def __contains__(self, page: str) -> bool:
        return page in self._parents

    def copy(self) -> PageOrder:
        """Return an independent copy."""
        return PageOrder(self._below)

    def parent(self, page: str) -> str | None:
        """Return the parent of a page, or None at the top level.

        Raises:
            KeyError: the page does not exist.
        """
        return self._parents[page]

    def below(self, parent: str | None) -> list[str]:
        """Return the pages directly below a page, or at the top level."""
        return self._below.get(parent, [])

    def siblings(self, page: str) -> list[str]:
        """Return the pages with the same parent as a page, including the page."""
        return self.below(self.parent(page))

    def is_within(self, page: str | None, ancestor: str) -> bool:
        """Return whether `page` is `ancestor` or below it."""
        while page is not None and page != ancestor:
            page = self._parents.get(page)
        return page is not None

    def every(self, parent: str | None = None) -> Iterator[str]:
        """Yield all pages below a page, each before its subpages."""
        for page in self.below(parent):
            yield page
            yield from self.every(page)

    def outermost(self, pages: Iterable[str]) -> list[str]:
        """Return those of `pages` that are not below another page of `pages`, in the order of the tree."""
        chosen = {*pages}
        in_order = [page for page in self.every() if page in chosen]
        return [
            page for page in in_order if not any(other != page and self.is_within(page, other) for other in in_order)
        ]

    def is_possible(self, move: Move) -> bool:
        """Return whether page, parent and sibling of a move exist, and the parent is not below the page."""
        return (
            move.page in self
            and (move.parent is None or (move.parent in self and not self.is_within(move.parent, move.page)))
            and (move.after is None or move.after in self.below(move.parent))
        )

    def move(self, move: Move) -> int:
        """Apply a possible move, and return the index of the page among its new siblings."""
        self.siblings(move.page).remove(move.page)
        self._parents[move.page] = move.parent
        siblings = self._below.setdefault(move.parent, [])
        index = 0 if move.after is None else siblings.index(move.after) + 1
        siblings.insert(index, move.page)
        return index

    def insert(self, page: str, parent: str | None, index: int | None) -> None:
        """Move or add a page to an index below a parent, or to the end if `index` is None."""
        if page in self:
            self.siblings(page).remove(page)
        self._parents[page] = parent
        siblings = self._below.setdefault(parent, [])
        siblings.insert(len(siblings) if index is None else index, page)

    def remove(self, page: str) -> None:
        """Remove a page and all pages below it."""
        for below in [*self.every(page)]:
            self._below.pop(below, None)
            del self._parents[below]
        self.siblings(page).remove(page)
        self._below.pop(page, None)
        del self._parents[page]

    def has_same_place(self, page: str, other: PageOrder) -> bool:
        """Return whether a page has the same parent, and follows the same siblings, in both orders.

        Only siblings in both orders count: added or removed pages do not move others.
        """
        if page not in self or page not in other:
            return page not in self and page not in other
        if self.parent(page) != other.parent(page):
            return False
        siblings, other_siblings = self.siblings(page), other.siblings(page)
        common = set(siblings) & set(other_siblings)
        before = [
            {sibling for sibling in pages[: pages.index(page)] if sibling in common}
            for pages in (siblings, other_siblings)
        ]
        return before[0] == before[1]


def rearranged(pages: Sequence[RevisionPage], moves: Iterable[Move]) -> tuple[RevisionPage, ...]:
    """Return a page tree after moves; moves that are no longer possible are skipped."""
    order = PageOrder.of(pages)
    for move in moves:
        if order.is_possible(move):
            order.move(move)
    return built_tree(order, {page.id: page for page in _every(pages)})


def built_tree(order: PageOrder, pages_by_id: Mapping[str, RevisionPage]) -> tuple[RevisionPage, ...]:
    """Return the tree of pages in an order."""

    def built(page_id: str) -> RevisionPage:
        page, children = pages_by_id[page_id], below(page_id)
        return page if children == page.pages else page.model_copy(update={"pages": children})

    def below(parent: str | None) -> tuple[RevisionPage, ...]:
        return tuple(built(page) for page in order.below(parent))

    return below(None)


def _every(pages: Sequence[RevisionPage]) -> Iterator[RevisionPage]:
    for page in pages:
        yield page
        yield from _every(page.pages)
