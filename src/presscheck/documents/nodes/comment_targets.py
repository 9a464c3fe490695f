"""Connects comments to node trees: finds the text of a block or cell, and the block or cell with a text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from presscheck.documents.nodes.schema import Node, child_nodes, node_data
from presscheck.documents.pages.comment_text import CELL_SEPARATOR, normalize_text

_NOT_QUOTED = frozenset(("images", "divider"))
"""Blocks whose text is never quoted."""


class CellIds(NamedTuple):
    """The ids of a table cell in the API: its row and its column."""

    record: str
    definition: str


def document_text(document: Mapping[str, Any]) -> str:
    """Return the text of a node tree, one paragraph per block."""
    blocks: list[str] = []
    _gather(document, blocks)
    return "\n\n".join(text for text in blocks if text.strip())


def block_words(document: Mapping[str, Any], key: str) -> str:
    """Return the first line of the block with this key, or an empty string."""
    block = next((node for node in _blocks(document) if node.get("key") == key), None)
    return document_text({"nodes": [block]}).partition("\n")[0] if block else ""


def has_block(document: Mapping[str, Any], key: str) -> bool:
    """Return whether a block has this key."""
    return any(node.get("key") == key for node in _blocks(document))


def cell_words(document: Mapping[str, Any], cell: CellIds) -> str:
    """Return the quote of a cell: the first cell of its row and the cell itself. Empty if the cell is not found."""
    for table in _tables(document):
        columns = _columns(table)
        if cell.record in _part(table, "records") and cell.definition in columns:
            row, at = _row(table, cell.record), columns.index(cell.definition)
            return f"{row[0]} {CELL_SEPARATOR} {row[at] if at else ''}".rstrip()
    return ""


def find_block_key(document: Mapping[str, Any], words: str) -> str | None:
    """Return the key of the innermost block that starts with these words, or None."""
    normalized, block_key = normalize_text(words), None
    for node in _blocks(document) if normalized else ():
        if node.get("key") and normalize_text(document_text({"nodes": [node]})).startswith(normalized):
            block_key = str(node["key"])
        elif block_key:
            break
    return block_key


def find_cell(document: Mapping[str, Any], cells: Sequence[str], column: int) -> CellIds | None:
    """Return the cell in this column of the first row with these cells (as Markdown), or None."""
    normalized = [normalize_text(cell) for cell in cells]
    for table in _tables(document):
        columns, records = _columns(table), _part(table, "records")
        for record in sorted(records, key=lambda name: str(_dict(records[name]).get("orderIndex", ""))):
            if [normalize_text(cell) for cell in _row(table, record)] == normalized and column < len(columns):
                return CellIds(record, columns[column])
    return None


def _gather(node: Mapping[str, Any], blocks: list[str]) -> str:
    """Return the inline text of a node; the text of blocks in it is added to `blocks`."""
    if "leaves" in node:
        return "".join(str(leaf.get("text", "")) for leaf in node["leaves"])
    inline = ""
    for child in node.get("nodes") or ():
        if child.get("object") == "block":
            _gather(child, blocks)
        else:
            inline += _gather(child, blocks)
    if node.get("object") == "block" and inline:
        blocks.append(inline)
        return ""
    return inline


def _blocks(node: Mapping[str, Any]) -> Iterator[Node]:
    """Yield every block, each before its content."""
    for name in ("nodes", "fragments"):
        for child in child_nodes(dict(node), name):
            if child.get("object") == "block" and child.get("type") not in _NOT_QUOTED:
                yield child
            yield from _blocks(child)


def _tables(document: Mapping[str, Any]) -> Iterator[Node]:
    return (node for node in _blocks(document) if node.get("type") == "table")


def _part(table: Node, name: str) -> Node:
    """Return a part of a table's data, or an empty dict: nodes from the API may lack it."""
    return _dict(node_data(table).get(name))


def _dict(value: Any) -> Node:
    return cast("Node", value) if isinstance(value, dict) else {}


def _columns(table: Node) -> list[str]:
    definition = _part(table, "definition")
    return [name for name in _part(table, "view").get("columns", ()) if name in definition]


def _row(table: Node, record: str) -> list[str]:
    """Return the text of a row's cells, in the order of the columns."""
    values = _dict(_dict(_part(table, "records").get(record)).get("values"))
    fragments = {node.get("fragment"): node for node in child_nodes(table, "fragments")}
    parts: list[str] = []
    for name in _columns(table):
        value = values.get(name)
        cell = fragments.get(value) if isinstance(value, str) else None
        parts.append(" ".join(document_text(cell).split()) if cell else "" if value is None else str(value))
    return parts
