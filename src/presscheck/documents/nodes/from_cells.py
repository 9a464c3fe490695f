"""Reads the HTML of a table cell as blocks: paragraphs and lists; other HTML stays in the text."""

from __future__ import annotations

from collections.abc import Sequence

from presscheck.documents.nodes.from_inlines import InlineReader, event_pairs
from presscheck.documents.nodes.inline_events import Event
from presscheck.documents.nodes.schema import Node, Nodes, block_node
from presscheck.documents.nodes.to_html import ALIGNED

MAX_NESTED_LISTS = 20
_LISTS = {"ul": "list-unordered", "ol": "list-ordered"}


def cell_blocks(events: Sequence[Event]) -> Nodes:
    """Return the blocks of a cell, or an empty paragraph if it has none."""
    return _CellReader(events).blocks(0, len(events), 0) or [block_node("paragraph", [])]


class _CellReader:
    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._pairs = event_pairs(events)

    def blocks(self, start: int, end: int, depth: int) -> Nodes:
        nodes: Nodes = []
        at = text = start
        while at < end:
            closing = self._pairs.get(at)
            made = None if closing is None or closing >= end else self._block(at, closing, depth)
            if closing is None or made is None:
                at += 1
                continue
            nodes += [*self._text(text, at), *made]
            at = text = closing + 1
        return [*nodes, *self._text(text, end)]

    def _block(self, at: int, closing: int, depth: int) -> Nodes | None:
        """Read an element as blocks. Return None if the element is part of the text."""
        event = self._events[at]
        if event.name == "p":
            data = _paragraph_data(event.values)
            return None if data is None else self._text(at + 1, closing, data)
        items = self._items(at + 1, closing, depth) if event.name in _LISTS and depth < MAX_NESTED_LISTS else []
        data = _list_data(event)
        return [block_node(_LISTS[event.name], items, data)] if items and data is not None else None

    def _items(self, start: int, end: int, depth: int) -> Nodes:
        """Read the items of a list. Return an empty list if the list has other content."""
        items: Nodes = []
        at = start
        while at < end:
            event, closing = self._events[at], self._pairs.get(at, end)
            if event.name == "li" and not event.values and closing < end:
                inner = self.blocks(at + 1, closing, depth + 1) or [block_node("paragraph", [])]
                items.append(block_node("list-item", inner))
                at = closing
            elif event.kind != "text" or event.raw.strip():
                return []
            at += 1
        return items

    def _text(self, start: int, end: int, data: Node | None = None) -> Nodes:
        events = self._events[start:end]
        if not any(event.raw.strip() or event.node for event in events):
            return []
        return [block_node("paragraph", InlineReader(events).nodes(), data)]


def _paragraph_data(values: dict[str, str]) -> Node | None:
    if not values:
        return {}
    align = next((key for key, word in ALIGNED.items() if values == {"align": word}), "")
    return {"align": align} if align else None


def _list_data(event: Event) -> Node | None:
    start = event.values.get("start", "")
    if not event.values:
        return {}
    is_number = event.name == "ol" and set(event.values) == {"start"} and start.isdecimal() and len(start) < 10
    return {"start": int(start)} if is_number else None
