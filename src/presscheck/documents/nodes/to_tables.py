"""Writes tables of nodes as Markdown pipe tables, or as HTML if a pipe table cannot express everything."""

from __future__ import annotations

import json
import re
from html import escape
from typing import Any, cast

from presscheck.documents.nodes.references import format_reference
from presscheck.documents.nodes.schema import Node, Nodes, child_nodes, markdown_details, node_data, text_node
from presscheck.documents.nodes.tag_table import format_length
from presscheck.documents.nodes.to_html import ALIGNED
from presscheck.documents.nodes.to_inlines import Notation, escaped, inline_text

ROLES = {
    "targetDefinition": "data-card-target",
    "coverDefinition": "data-card-cover",
    "coverDefinitionDark": "data-card-cover-dark",
}
"""Roles of columns in cards and their HTML attributes."""
_RULES = {"left": "---", "center": ":---:", "right": "---:"}


def table_markdown(node: Node) -> str:
    """Write a table."""
    table = _Table(node)
    return table.with_bars() if table.is_plain() else table.as_html()


class _Table:
    def __init__(self, node: Node) -> None:
        data: Node = node["data"]
        self.details, self.data = markdown_details(node), data
        self.view: Node = data["view"]
        self.shown: list[str] = [name for name in self.view["columns"] if name in data["definition"]]
        hidden = [name for name in data["definition"] if name not in self.shown]
        is_in_order = self.shown == [name for name in data["definition"] if name in self.shown]
        self.names = [*data["definition"]] if is_in_order else [*self.shown, *hidden]
        self.fragments = {
            fragment["fragment"]: fragment["nodes"]
            for fragment in node.get("fragments", ())
            if fragment.get("fragment")
        }
        self.rows: list[Node] = sorted(data["records"].values(), key=lambda row: row["orderIndex"])

    def is_plain(self) -> bool:
        """Return whether a pipe table can express everything."""
        view, definitions = self.view, [self.data["definition"][name] for name in self.names]
        if not self.names or view.get("type") != "grid" or view.get("hideHeader") or self.names != self.shown:
            return False
        if view.get("columnWidths") or self.data.get("fullWidth") is not None or self.details.get("html"):
            return False
        if any(definition["type"] != "text" or definition.get("verticalAlignment") for definition in definitions):
            return False
        return all(self._is_line(row["values"].get(name)) for row in self.rows for name in self.names)

    def _is_line(self, value: Any) -> bool:
        if not isinstance(value, str):
            return value is None
        blocks = self.fragments.get(value)
        if not blocks:
            return True
        if self.details.get("html") is False:
            return all(map(_is_inline, blocks))
        return len(blocks) == 1 and blocks[0]["type"] == "paragraph"

    def with_bars(self) -> str:
        """Write the table as a pipe table."""
        definitions = [self.data["definition"][name] for name in self.names]
        head = [_bar(inline_text(_title(definition), "line")) for definition in definitions]
        rules = [_RULES.get(definition.get("textAlignment", "left"), "---") for definition in definitions]
        rows = [[_bar(self._line(row["values"].get(name))) for name in self.names] for row in self.rows]
        return "\n".join(f"| {' | '.join(row)} |" for row in (head, rules, *rows))

    def _line(self, value: Any) -> str:
        blocks: Nodes | None = self.fragments.get(value)
        if blocks is None:
            return escaped(str(value or ""))
        return _cell_html(blocks, "line") if blocks else ""

    def as_html(self) -> str:
        """Write the table as HTML on one line."""
        view, attributes = self.view, ""
        if view.get("type") == "cards":
            attributes += ' data-card-size="large"' if view.get("cardSize") == "large" else ""
            attributes += ' data-view="cards"' + (" data-column-title-hidden" if view.get("hideColumnTitle") else "")
        attributes += " data-header-hidden" if view.get("hideHeader") else ""
        if self.data.get("fullWidth") is not None:
            attributes += f' data-full-width="{str(self.data["fullWidth"]).lower()}"'
        head = "".join(self._head(name) for name in self.names)
        rows = "".join(
            f"<tr>{''.join(f'<td>{self._cell(name, row)}</td>' for name in self.names)}</tr>" for row in self.rows
        )
        return f"<table{attributes}><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def _head(self, name: str) -> str:
        data: Node = self.data["definition"][name]
        widths: Node = self.view.get("columnWidths") or {}
        values = "" if widths.get(name) is None else f' width="{format_length(widths[name])}"'
        if data.get("textAlignment", "left") != "left":
            values += f' style="text-align:{escape(str(data["textAlignment"]))}"'
        values += f' valign="{escape(str(data["verticalAlignment"]))}"' if data.get("verticalAlignment") else ""
        values += "" if name in self.shown else " data-hidden"
        values += "".join(f" {word}" for role, word in ROLES.items() if self.view.get(role) == name)
        values += "" if data["type"] == "text" else f' data-type="{escape(data["type"])}"'
        values += f' data-max="{format_length(data.get("max", 5))}"' if data["type"] == "rating" else ""
        values += " data-multiple" if data.get("multiple") else ""
        if data["type"] == "select":
            values += f' data-options="{escape(json.dumps(data["options"], sort_keys=True))}"'
        return f"<th{values}>{inline_text(_title(data), 'html')}</th>"

    def _cell(self, name: str, row: Node) -> str:
        value: Any = row["values"].get(name)
        definition: Node = self.data["definition"][name]
        kind = definition["type"]
        if kind == "text":
            return self._paragraphs(value)
        if kind == "select":
            labels = {option["value"]: option["label"] for option in definition["options"]}
            return "".join(_option(str(item), labels) for item in _as_list(value))
        if isinstance(value, list):
            folder = "/~/users/" if kind == "users" else ""
            return "".join(_anchor(f"{folder}{item}") for item in _as_list(value))
        if isinstance(value, dict):
            ref = cast("Node", value)
            return _anchor(format_reference(ref.get("ref", ref)))
        return "" if value is None else escape(str(value).lower() if isinstance(value, bool) else str(value))

    def _paragraphs(self, value: Any) -> str:
        blocks = self.fragments.get(value) if isinstance(value, str) else None
        if blocks is None:
            return escape(str(value), quote=False) if value is not None else ""
        return _cell_html(blocks, "html")


_LISTS = {"list-ordered": "ol", "list-unordered": "ul", "list-tasks": "ul"}


def _is_inline(node: Node) -> bool:
    """Return whether a block fits in a cell of a pipe table."""
    return node["type"] == "paragraph" or (
        node["type"] in (*_LISTS, "list-item") and all(map(_is_inline, node["nodes"]))
    )


def _cell_html(blocks: Nodes, notation: Notation) -> str:
    """Write blocks; a paragraph that stands alone has no tags."""
    if len(blocks) == 1 and blocks[0]["type"] == "paragraph" and not node_data(blocks[0]):
        return inline_text(blocks[0]["nodes"], notation)
    return "".join(block_html(block, notation) for block in blocks)


def _item_html(blocks: Nodes, notation: Notation) -> str:
    """Write the blocks of a list item; a paragraph before inner lists has no tags."""
    size = 1 if all(block["type"] in _LISTS for block in blocks[1:]) else len(blocks)
    return "".join((_cell_html(blocks[:size], notation), *(block_html(block, notation) for block in blocks[size:])))


def block_html(node: Node, notation: Notation = "html") -> str:
    """Write a block on one line."""
    kind = node["type"]
    if kind in _LISTS:
        start = node_data(node).get("start")
        opened = _LISTS[kind] if start is None or kind != "list-ordered" else f'ol start="{start}"'
        return f"<{opened}>{''.join(block_html(item, notation) for item in node['nodes'])}</{_LISTS[kind]}>"
    if kind == "list-item":
        return f"<li>{_item_html(node['nodes'], notation)}</li>"
    if kind == "code":
        return "".join(f"<p><code>{inline_text(line['nodes'], 'html')}</code></p>" for line in node["nodes"])
    inner = child_nodes(node)
    if any(child["object"] == "block" for child in inner):
        return "".join(block_html(block, notation) for block in inner)
    align = ALIGNED.get(node_data(node).get("align", ""))
    opened = f'<p align="{align}">' if align else "<p>"
    return f"{opened}{inline_text(inner, notation)}</p>"


def _as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [] if value is None else [value]


def _option(value: str, labels: dict[str, str]) -> str:
    return f'<span data-option="{escape(value)}">{escape(labels.get(value, value), quote=False)}</span>'


def _anchor(address: str) -> str:
    words = address.rstrip("/").rpartition("/")[2] or address
    return f'<a href="{escape(address)}">{escape(words, quote=False)}</a>'


def _title(node: Node) -> Nodes:
    markdown_title = markdown_details(node).get("title")
    return [text_node(str(markdown_title or node["title"]), is_markdown=bool(markdown_title))]


def _bar(text: str) -> str:
    text = re.sub(r"\\?\|", lambda match: "\\|" if len(match[0]) == 1 else "\\\\\\|", text)
    return text.replace("\n", " ").strip()
