"""Reads Markdown and HTML tables as nodes: column definitions, rows as records, text in fragments.

The value of a text cell is the name of its fragment.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, cast

from presscheck.documents.attribute_json import parse_json
from presscheck.documents.nodes.from_cells import cell_blocks
from presscheck.documents.nodes.from_inlines import InlineReader
from presscheck.documents.nodes.inline_events import Event, html_as_events
from presscheck.documents.nodes.references import parse_reference
from presscheck.documents.nodes.schema import Node, Nodes, block_node, fragment, text_node
from presscheck.documents.nodes.tag_table import positive_int
from presscheck.documents.nodes.to_inlines import inline_text
from presscheck.documents.nodes.to_tables import ROLES

_ALIGNED = re.compile(r"text-align:\s*(left|right|center)").search
Cell = tuple[Sequence[Event], str]
"""The content of a cell and its style."""


MAX_UNEVEN_CELLS = 20_000
"""Maximum number of cells of a table with rows of different lengths, which are all extended to the longest row."""


class Blocks(NamedTuple):
    """The content of a text cell."""

    nodes: Nodes


def pipe_table(rows: Sequence[Sequence[Cell]]) -> Node:
    """Read a Markdown table; the first row is its head."""
    table = _Table()
    head = rows[0] if rows else ()
    for events, style in head:
        align = _ALIGNED(style)
        table.column(InlineReader(events).nodes(), {"type": "text", "textAlignment": align[1] if align else "left"})
    for row in rows[1:]:
        table.record([Blocks(cell_blocks(events)) for events, _ in row])
    node = table.node({"type": "grid", "hideHeader": False}, {})
    has_lines = all(len(cell["nodes"]) == 1 and cell["nodes"][0]["type"] == "paragraph" for cell in table.fragments)
    return node if has_lines else node | {"markdown": {"html": False}}


class _Table:
    def __init__(self) -> None:
        self.definition: dict[str, Node] = {}
        self.records: dict[str, Node] = {}
        self.fragments: Nodes = []
        self.columns: list[str] = []
        self.seen: Counter[str] = Counter()

    def column(self, title: Nodes, data: Node, *, hidden: bool = False) -> str:
        """Add a column and return its name. A hidden column is left out of the view.

        A title that plain text cannot express is also stored as HTML, as `title` in `markdown` of the definition.
        """
        words = inline_text(title, "html")
        plain = _words(title)
        name = _short("column", str(len(self.definition)), plain)
        more: Node = {} if inline_text([text_node(plain)], "html") == words else {"markdown": {"title": words}}
        self.definition[name] = {"id": name, "title": plain, **data, **more}
        if not hidden:
            self.columns.append(name)
        return name

    def record(self, cells: Sequence[Any]) -> None:
        """Add a row; each cell is a `Blocks`, a value, or None."""
        values: Node = {}
        row = _short("row", repr(cells))
        self.seen[row] += 1
        row += f"-{self.seen[row]}" if self.seen[row] > 1 else ""
        for name, cell in zip(self.definition, cells, strict=False):
            if isinstance(cell, Blocks):
                values[name] = f"{row}.{name}"
                self.fragments.append(fragment(values[name], cell.nodes, kind="table-cell"))
            elif cell is not None:
                values[name] = cell
        self.records[row] = {"orderIndex": f"{len(self.records):06}", "values": values}

    def node(self, view: Node, data: Node) -> Node:
        """Return the table."""
        parts = {"view": {**view, "columns": self.columns}, "records": self.records, "definition": self.definition}
        return block_node("table", None, parts | data, fragments=self.fragments)


def _words(nodes: Nodes) -> str:
    texts = [_words(node["nodes"]) if "nodes" in node else _leaves(node) for node in nodes]
    return "".join(texts)


def _leaves(node: Node) -> str:
    return "" if node.get("markdown") else "".join(leaf["text"] for leaf in node.get("leaves", ()))


def _short(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:10]


_table = re.compile(r"\s*<table([^<>]*)>(.*)</table>\s*", re.DOTALL | re.IGNORECASE).fullmatch
_STRUCTURE = frozenset(("thead", "tbody", "tr", "th", "td"))
_ATTRIBUTES = frozenset(("width", "valign", "align", "style", "data-hidden", *ROLES.values()))
_DATA = frozenset(("data-type", "data-max", "data-multiple", "data-options"))
_VIEW = frozenset(("data-view", "data-full-width", "data-header-hidden", "data-card-size", "data-column-title-hidden"))


class _Row:
    """The cells of a row: tag name, attributes, events."""

    def __init__(self) -> None:
        self.cells: list[tuple[str, dict[str, str], list[Event]]] = []


def html_table(text: str) -> Node | None:
    """Read an HTML table; return None if nodes cannot represent its cells.

    If a node cannot represent the whole table, such as cells that span two columns, the node keeps the source.
    """
    match = _table(text)
    if not match:
        return None
    values = next(iter(html_as_events(f"<table{match[1]}>"))).values
    rows = _rows(match[2])
    if not rows:
        return None
    has_head = bool(rows[0].cells) and all(cell[0] == "th" for cell in rows[0].cells)
    is_even = all(len(row.cells) == len(rows[0].cells) for row in rows)
    node = _read(values, rows) if has_head and is_even and set(values) <= _VIEW else None
    return node or _read_cells(rows, has_head, text.strip("\n"))


def _read_cells(rows: list[_Row], has_head: bool, source: str) -> Node | None:
    """Read only the text of the cells, and keep the source of the table. Return None if there are too many cells."""
    table = _Table()
    head = rows[0].cells if has_head else []
    columns = max(len(row.cells) for row in rows)
    if columns * len(rows) > MAX_UNEVEN_CELLS:
        return None
    for number in range(columns):
        title = InlineReader(head[number][2]).nodes() if number < len(head) else []
        table.column(title, {"type": "text", "textAlignment": "left"})
    for row in rows[1:] if has_head else rows:
        table.record([Blocks(cell_blocks(events)) for _, _, events in row.cells])
    node = table.node({"type": "grid", "hideHeader": not has_head}, {})
    return node | {"markdown": {"html": True, "source": source}}


def _rows(text: str) -> list[_Row] | None:
    rows: list[_Row] = []
    cell: list[Event] | None = None
    for event in html_as_events(text):
        if event.name == "table":
            return None
        if event.name not in _STRUCTURE:
            if cell is not None:
                cell.append(event)
            elif event.raw.strip():
                return None
            continue
        if event.kind == "close":
            cell = None
        elif event.name == "tr":
            rows.append(_Row())
        elif event.name in ("th", "td"):
            if not rows:
                return None
            cell = []
            rows[-1].cells.append((event.name, event.values, cell))
    return rows


def _read(values: dict[str, str], rows: list[_Row]) -> Node | None:
    table = _Table()
    view: Node = {"type": values.get("data-view", "grid")}
    widths: dict[str, float] = {}
    for _, attributes, events in rows[0].cells:
        data = _definition(attributes)
        if data is None or not set(attributes) <= _ATTRIBUTES | _DATA:
            return None
        name = table.column(InlineReader(events).nodes(), data, hidden="data-hidden" in attributes)
        if re.fullmatch(r"\d+(?:\.\d+)?", attributes.get("width", "")):
            widths[name] = float(attributes["width"])
        view |= {role: name for role, word in ROLES.items() if word in attributes}
    if not _read_view(view, values, widths):
        return None
    for row in rows[1:]:
        cells = [_cell(column, cell[2]) for column, cell in zip(table.definition.values(), row.cells, strict=True)]
        if any(cell is _NO_VALUE for cell in cells):
            return None
        table.record(cells)
    full = {"fullWidth": values["data-full-width"] == "true"} if "data-full-width" in values else {}
    return table.node(view, full) | {"markdown": {"html": True}}


def _read_view(view: Node, values: dict[str, str], widths: dict[str, float]) -> bool:
    if view["type"] == "cards":
        view["cardSize"] = values.get("data-card-size", "medium")
        if "data-column-title-hidden" in values:
            view["hideColumnTitle"] = True
        return view["cardSize"] in ("medium", "large")
    view["hideHeader"] = "data-header-hidden" in values
    if widths:
        view["columnWidths"] = widths
    return view["type"] == "grid" and "data-card-size" not in values


def _definition(attributes: dict[str, str]) -> Node | None:
    kind = attributes.get("data-type", "text")
    if kind == "rating":
        largest = positive_int(attributes.get("data-max", ""))
        return {"type": kind, "max": largest} if largest else None
    if kind == "select":
        return {
            "type": kind,
            "multiple": "data-multiple" in attributes,
            "options": _options(attributes.get("data-options")),
        }
    if kind == "users":
        return {"type": kind, "multiple": "data-multiple" in attributes}
    if kind != "text":
        return {"type": kind} if kind in _PLAIN else None
    align = _ALIGNED(attributes.get("style", ""))
    data: Node = {"type": "text", "textAlignment": align[1] if align else attributes.get("align", "left")}
    if attributes.get("valign") in ("top", "middle", "bottom"):
        data["verticalAlignment"] = attributes["valign"]
    return data if data["textAlignment"] in ("left", "center", "right") else None


_PLAIN = frozenset(("content-ref", "number", "checkbox", "files", "image"))


def _options(text: str | None) -> list[Node]:
    """Return the options of a select column; selected values that are missing are added later."""
    try:
        parsed = parse_json(text or "[]")
    except ValueError:
        return []
    listed = cast("list[Any]", parsed) if isinstance(parsed, list) else []
    options = [cast("Node", option) for option in listed if isinstance(option, dict)]
    return [{name: str(option.get(name, "")) for name in ("value", "label", "color")} for option in options]


_NO_VALUE: Any = object()


def _cell(definition: Node, events: list[Event]) -> Any:
    """Return the value of a cell: None for an empty cell, `_NO_VALUE` if the type of the column does not allow it."""
    kind = definition["type"]
    if kind == "text":
        return Blocks(cell_blocks(events))
    if kind == "select":
        return _selected(definition, events)
    words = "".join(event.raw for event in events if event.kind == "text").strip()
    links = [event.values.get("href", "") for event in events if event.name == "a" and event.kind == "open"]
    if not words and not links:
        return None
    if kind in ("content-ref", "image"):
        return parse_reference(links[0]) if len(links) == 1 and links[0] else _NO_VALUE
    if kind in ("files", "users"):
        return [link.removeprefix("/~/users/") if kind == "users" else link for link in links] or _NO_VALUE
    if kind == "checkbox":
        return {"true": True, "false": False}.get(words, _NO_VALUE)
    return _number(words)


def _selected(definition: Node, events: list[Event]) -> Any:
    parts: list[str] = []
    for event, after in pairwise(events):
        if event.name == "span" and "data-option" in event.values and after.kind == "text":
            value = event.values["data-option"]
            parts.append(value)
            if all(option["value"] != value for option in definition["options"]):
                definition["options"].append({"value": value, "label": after.raw.strip(", "), "color": "default"})
        elif event.kind == "text" and event.raw.strip() and after.name != "span":
            return _NO_VALUE
    return parts or None


def _number(words: str) -> Any:
    if re.fullmatch(r"-?\d{1,15}", words):
        return int(words)
    return float(words) if re.fullmatch(r"-?\d{1,15}\.\d{1,6}", words) else _NO_VALUE
