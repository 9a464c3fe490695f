"""What a comment is about, in the nodes of a page: the words of a block or of a cell, and from words to both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from presscheck.documents.nodes.schema import Node, child_nodes, node_data
from presscheck.documents.pages.quotes import CELL_SEPARATOR, normalize_text

_TURNED = frozenset(("images", "divider"))
"""Blocks whose words nobody quotes."""


class CellIds(NamedTuple):
    """A cell as the service names it: by its row and by its column."""

    record: str
    definition: str


def document_text(document: Mapping[str, Any]) -> str:
    """The words of a tree of nodes, a paragraph each block."""
    blocks: list[str] = []
    _gather(document, blocks)
    return "\n\n".join(text for text in blocks if text.strip())


def block_words(document: Mapping[str, Any], key: str) -> str:
    """The words of the block with this key, as they begin; nothing where there is none."""
    found = next((node for node in _blocks(document) if node.get("key") == key), None)
    return document_text({"nodes": [found]}).partition("\n")[0] if found else ""


def cell_words(document: Mapping[str, Any], cell: CellIds) -> str:
    """The words of a cell behind those that its row begins with, as a quote has them; nothing where there is none."""
    for table in _tables(document):
        columns = _columns(table)
        if cell.record in _part(table, "records") and cell.definition in columns:
            row, at = _row(table, cell.record), columns.index(cell.definition)
            return f"{row[0]} {CELL_SEPARATOR} {row[at] if at else ''}".rstrip()
    return ""


def find_block_key(document: Mapping[str, Any], words: str) -> str | None:
    """The key of the innermost block that begins with these words; None where there is none."""
    wanted, found = normalize_text(words), None
    for node in _blocks(document) if wanted else ():
        if node.get("key") and normalize_text(document_text({"nodes": [node]})).startswith(wanted):
            found = str(node["key"])
        elif found:
            break
    return found


def find_cell(document: Mapping[str, Any], cells: Sequence[str], column: int) -> CellIds | None:
    """The cell in that column of the first row with these cells, as Markdown; None where there is no such row."""
    wanted = [normalize_text(cell) for cell in cells]
    for table in _tables(document):
        columns, records = _columns(table), _part(table, "records")
        for record in sorted(records, key=lambda name: str(_dict(records[name]).get("orderIndex", ""))):
            if [normalize_text(cell) for cell in _row(table, record)] == wanted and column < len(columns):
                return CellIds(record, columns[column])
    return None


def _gather(node: Mapping[str, Any], blocks: list[str]) -> str:
    """The words in a node; those of blocks in it are put into `blocks`."""
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
    """Every block within, each before what it holds."""
    for name in ("nodes", "fragments"):
        for child in child_nodes(dict(node), name):
            if child.get("object") == "block" and child.get("type") not in _TURNED:
                yield child
            yield from _blocks(child)


def _tables(document: Mapping[str, Any]) -> Iterator[Node]:
    return (node for node in _blocks(document) if node.get("type") == "table")


def _part(table: Node, name: str) -> Node:
    """One of the parts that a table says of itself; what comes from the wire need not have it."""
    return _dict(node_data(table).get(name))


def _dict(value: Any) -> Node:
    return cast("Node", value) if isinstance(value, dict) else {}


def _columns(table: Node) -> list[str]:
    definition = _part(table, "definition")
    return [name for name in _part(table, "view").get("columns", ()) if name in definition]


def _row(table: Node, record: str) -> list[str]:
    """The words of the cells of a row, in the order of the columns."""
    values = _dict(_dict(_part(table, "records").get(record)).get("values"))
    fragments = {one.get("fragment"): one for one in child_nodes(table, "fragments")}
    found: list[str] = []
    for name in _columns(table):
        value = values.get(name)
        cell = fragments.get(value) if isinstance(value, str) else None
        found.append(" ".join(document_text(cell).split()) if cell else "" if value is None else str(value))
    return found
