"""The contents of a collection, a group of pages or the group of sites: a row with a link for each item in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.engine.publish.shown_addresses import shown_address
from presscheck.text.phrases import count
from presscheck.text.sanitize import display_url, sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, widest, wrap
from presscheck.tui.commands import with_keys
from presscheck.tui.screens.browse.page_tree import READABLE, SITES, label
from presscheck.tui.screens.browse.space_facts import site_words, words
from presscheck.tui.screens.browse.static_layout import StaticLayout

if TYPE_CHECKING:
    from presscheck.tui.screens.browse.page_tree import Item, Library

CONTENTS_OF = {
    "collection": "{open} expands and collapses; {next_pane} goes to this list",
    "group": "a group of pages, without a text of its own; {next_pane} goes to this list",
    SITES: "what readers see, and where; {add} creates a site",
}
"""Kinds of items whose contents are listed, with a hint for each."""
EMPTY = {"collection": "nothing in it yet", "group": "no pages in it yet"}
MARGIN, GAP = 2, 3
"""Cells before the rows, and cells between titles and facts."""


class Contents(StaticLayout):
    """The contents of an item for `PageView`. The link of each row is the key of its item.

    Args:
        library: the items of the tree.
        item: a collection, a group of pages, or the group of sites.
        columns: the width.
    """

    def __init__(self, library: Library, item: Item, columns: int) -> None:
        super().__init__(columns)
        self.title(_one_line(item.title) or "(no title)")
        inside = library.inside(item)
        description = _one_line(item.collection.description or "") if item.collection else ""
        self.lines += wrap((Span(description),), self.width) if description else []
        self.lines += wrap((Span(_summary(library, item) or EMPTY.get(item.kind, ""), "quiet"),), self.width)
        self.lines += wrap((Span(with_keys(CONTENTS_OF[item.kind]), "quiet"),), self.width)
        if not inside:
            return
        self.lines.append(())
        labels = [_link(other) for other in inside]
        room = min(widest(labels), max(1, (self.width - MARGIN - GAP) // 2))
        for other, line in zip(inside, labels, strict=True):
            self._row(line, _facts(library, other), room)

    def _row(self, line: Line, fact: str, room: int) -> None:
        """Add a link and its facts in an aligned column. A link without facts has the whole width."""
        if not fact:
            self.lines.append(cut((Span(" " * MARGIN), *line), self.width))
            return
        titled = pad(cut(line, room), room)
        self.lines.append(cut((Span(" " * MARGIN), *titled, Span(" " * GAP), Span(fact, "quiet")), self.width))


def _link(item: Item) -> Line:
    return tuple(
        span._replace(style=span.style if span.style == "quiet" else "link", link=item.key) for span in label(item)
    )


def _summary(library: Library, item: Item) -> str:
    """Return the numbers of spaces, change requests, sites or pages in an item, at any depth."""
    below = library.below(item)
    spaces = [other.space for other in below if other.kind == "space" and other.space]
    requests = sum(space.change_requests_open for space in spaces)
    sites = [other.site for other in below if other.site]
    pages = sum(1 for other in below if other.kind in READABLE) if item.kind == "group" else 0
    parts = (
        count(len(spaces), "space") if spaces else "",
        count(requests, "open change request") if requests else "",
        count(len(sites), "site") if sites else "",
        f"{sum(bool(site.published) for site in sites):,} live" if sites else "",
        count(pages, "page") if pages else "",
    )
    return " · ".join(part for part in parts if part)


def _facts(library: Library, item: Item) -> str:
    """Return the state, address or description of an item; for collections and groups, the numbers of items in them."""
    if item.space and item.kind == "space":
        return words(item.space)
    if item.site:
        address = shown_address(item.site, item.site.urls.published) if item.site.published else ""
        return " · ".join(filter(None, (site_words(item.site), display_url(address) if address else "")))
    if item.page and item.kind in READABLE:
        return _one_line(item.page.description or "")
    if item.page and item.kind == "link":
        return display_url(item.page.href or "")
    return _summary(library, item)


def _one_line(text: str) -> str:
    return " ".join(sanitize(text).split())
