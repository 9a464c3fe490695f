"""The structure of a site in memory: items, their order, and unsent moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from presscheck.api.site_structure import SiteSection, SiteSpace, SiteStructure, StructureItem
from presscheck.api.sites import Site
from presscheck.documents.pages.page_order import Move, PageOrder
from presscheck.documents.sites.content import key_of
from presscheck.engine.publish.site_structure import Items, all_items, children_of
from presscheck.engine.results import Result
from presscheck.tui.ui.loaded import Loaded


@dataclass
class SiteTree:
    """The loaded structure of a site.

    Attributes:
        organization_id: the organization of the site.
        site: the site.
        items: the items by key.
        loaded: the order of the item keys on the service.
        moves: moves that are not sent yet.
    """

    organization_id: str
    site: Site
    items: dict[str, StructureItem] = field(default_factory=dict[str, StructureItem])
    loaded: Loaded[PageOrder] = field(default_factory=Loaded[PageOrder])
    moves: tuple[Move, ...] = ()
    _order: PageOrder = field(default_factory=lambda: PageOrder({}))

    @property
    def path(self) -> dict[str, Any]:
        """The path parameters of the site."""
        return {"organization_id": self.organization_id, "site_id": self.site.id}

    @property
    def order(self) -> PageOrder:
        """The order of the items, including unsent moves."""
        return self._order

    def take(self, structure: SiteStructure) -> None:
        """Replace the structure, and apply the unsent moves to it."""
        self.items = {key_of(item): item for item in all_items(structure.structure)}
        self.loaded = Loaded(order_of(structure.structure))
        self.show_moves(self.moves)

    def take_result(self, result: Result[SiteStructure | None]) -> None:
        """Store the structure of a result, if it has one, and the error of the result."""
        if result.value:
            self.take(result.value)
        self.loaded = Loaded(self.loaded.value, result.error)

    def show_moves(self, moves: Sequence[Move]) -> None:
        """Apply moves on top of the service's order. Moves that are no longer possible are skipped."""
        self.moves = tuple(moves)
        self._order = self.loaded.value.copy() if self.loaded.value else PageOrder({})
        for move in self.moves:
            if self._order.is_possible(move):
                self._order.move(move)

    def below(self, key: str | None) -> Items:
        """Return the children of an item in order, or the top-level items for None."""
        return tuple(self.items[child] for child in self._order.below(key))

    def siblings(self, item: StructureItem) -> Items:
        """Return the items with the same parent, including the item itself."""
        return self.below(self._order.parent(key_of(item)))

    def ancestors(self, key: str) -> tuple[str, ...]:
        """Return the keys of the ancestors of an item, outermost first."""
        above: list[str] = []
        parent = self._order.parent(key) if key in self._order else None
        while parent is not None:
            above.insert(0, parent)
            parent = self._order.parent(parent)
        return tuple(above)

    @property
    def in_order(self) -> Items:
        """All items in order, depth first."""
        return tuple(self.items[key] for key in self._order.every())

    @property
    def sections(self) -> tuple[SiteSection, ...]:
        """All sections in order."""
        return tuple(item for item in self.in_order if isinstance(item, SiteSection))

    @property
    def site_spaces(self) -> tuple[SiteSpace, ...]:
        """All spaces of the site in order."""
        return tuple(item for item in self.in_order if isinstance(item, SiteSpace))

    def section_of(self, item: StructureItem | None) -> SiteSection | None:
        """Return the item if it is a section, or the section that contains a space; None for other items."""
        if isinstance(item, SiteSpace) and key_of(item) in self._order:
            item = self.items.get(self._order.parent(key_of(item)) or "")
        return item if isinstance(item, SiteSection) else None


def order_of(items: Items) -> PageOrder:
    """Return the order of the item keys of a structure."""
    below: dict[str | None, Sequence[str]] = {None: [key_of(item) for item in items]}
    below |= {key_of(item): [key_of(child) for child in children_of(item)] for item in all_items(items)}
    return PageOrder(below)
