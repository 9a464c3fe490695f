"""What is known of the structure of a site: its items, their order, and the moves that are not sent yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from presscheck.api.site_structure import SiteSection, SiteSpace, SiteStructure, StructureItem
from presscheck.api.sites import Site
from presscheck.documents.pages.page_order import Move, PageOrder
from presscheck.engine.publish.site_structure import Items, all_items, children_of, key_of
from presscheck.errors import PresscheckError


@dataclass
class SiteTree:
    """The structure of a site, as far as it is loaded.

    Attributes:
        organization_id: the organization of the site.
        site: the site.
        items: the items by their keys.
        service_order: the order of the items as the service has it, by their keys; None while it is not loaded.
        moves: the moves that the user made and that are not sent yet.
        error: why it could not be loaded.
    """

    organization_id: str
    site: Site
    items: dict[str, StructureItem] = field(default_factory=dict[str, StructureItem])
    service_order: PageOrder | None = None
    moves: tuple[Move, ...] = ()
    error: PresscheckError | None = None
    _order: PageOrder = field(default_factory=lambda: PageOrder({}))

    @property
    def path(self) -> dict[str, Any]:
        """The arguments that name the site in a call."""
        return {"organization_id": self.organization_id, "site_id": self.site.id}

    @property
    def is_loaded(self) -> bool:
        """Whether the structure is known."""
        return self.service_order is not None

    @property
    def order(self) -> PageOrder:
        """The order of the items with the moves that are not sent yet."""
        return self._order

    def take(self, structure: SiteStructure) -> None:
        """Replace the structure by what the service has now."""
        self.items = {key_of(item): item for item in all_items(structure.structure)}
        self.service_order, self.error = order_of(structure.structure), None
        self.show_moves(self.moves)

    def show_moves(self, moves: Sequence[Move]) -> None:
        """Show these moves, on top of what the service has; those that are not possible any more are left out."""
        self.moves = tuple(moves)
        self._order = self.service_order.copy() if self.service_order else PageOrder({})
        for move in self.moves:
            if self._order.is_possible(move):
                self._order.move(move)

    def below(self, key: str | None) -> Items:
        """The items directly below one, or (None) at the top level, in their order."""
        return tuple(self.items[child] for child in self._order.below(key))

    def siblings(self, item: StructureItem) -> Items:
        """The items with the parent of an item, itself included."""
        return self.below(self._order.parent(key_of(item)))

    def ancestors(self, key: str) -> tuple[str, ...]:
        """The keys of the items above one, the outermost first."""
        above: list[str] = []
        parent = self._order.parent(key) if key in self._order else None
        while parent is not None:
            above.insert(0, parent)
            parent = self._order.parent(parent)
        return tuple(above)

    @property
    def in_order(self) -> Items:
        """All items in their order, depth first."""
        return tuple(self.items[key] for key in self._order.every())

    @property
    def sections(self) -> tuple[SiteSection, ...]:
        """All sections in their order."""
        return tuple(item for item in self.in_order if isinstance(item, SiteSection))

    @property
    def site_spaces(self) -> tuple[SiteSpace, ...]:
        """All spaces of the site in their order."""
        return tuple(item for item in self.in_order if isinstance(item, SiteSpace))

    def section_of(self, item: StructureItem | None) -> SiteSection | None:
        """The section that an item is, or is in."""
        if isinstance(item, SiteSpace) and key_of(item) in self._order:
            item = self.items.get(self._order.parent(key_of(item)) or "")
        return item if isinstance(item, SiteSection) else None


def order_of(items: Items) -> PageOrder:
    """The order of the items of a structure, by their keys."""
    below: dict[str | None, Sequence[str]] = {None: [key_of(item) for item in items]}
    below |= {key_of(item): [key_of(child) for child in children_of(item)] for item in all_items(items)}
    return PageOrder(below)
