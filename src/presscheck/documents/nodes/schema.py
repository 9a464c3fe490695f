"""The schema of the node tree: types, allowed children according to the API description, and constructors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Node = dict[str, Any]
"""A block, an inline, a text or a fragment, as an API object."""
Nodes = list[Node]

COLORS = frozenset(
    [
        "default",
        "green",
        "blue",
        "red",
        "orange",
        "yellow",
        "purple",
        "$primary",
        "$info",
        "$success",
        "$warning",
        "$danger",
        "pink",
        "violet",
        "cyan",
        "$tint",
    ]
)
"""The colors of text and background."""
MARKS = frozenset(["bold", "italic", "code", "keyboard", "strikethrough", "superscript", "subscript", "color"])

LISTS = ("list-ordered", "list-unordered", "list-tasks")
ESSENTIALS = frozenset(("paragraph", "heading-1", "heading-2", "heading-3", *LISTS, "divider"))
"""Blocks of plain text."""
TOP_LEVEL = ESSENTIALS | {
    "blockquote",
    "hint",
    "images",
    "file",
    "drawing",
    "embed",
    "code",
    "math",
    "expandable",
    "tabs",
    "table",
    "swagger",
    "openapi-operation",
    "openapi-schemas",
    "openapi-webhook",
    "content-ref",
    "integration",
    "reusable-content",
    "stepper",
    "columns",
    "if",
    "prompt",
    "updates",
}
HOLDS_BLOCKS = (
    "document",
    "if",
    "blockquote",
    "hint",
    "list-item",
    "update",
    "tabs-item",
    "stepper-step",
    "column",
    "expandable-body",
    "annotation-body",
)
"""Blocks and fragments that contain blocks of any kind.

The API description allows some of these blocks only. The platform itself writes more: its repositories have images in
list items, code in hints and tabs in steps, so its trees have them, too.
"""
ALLOWED_CHILDREN: dict[str, frozenset[str]] = {
    **dict.fromkeys(HOLDS_BLOCKS, TOP_LEVEL),
    **dict.fromkeys(LISTS, frozenset({"list-item"})),
    "prompt": frozenset({"code"}),
    "updates": frozenset({"update"}),
    "tabs": frozenset({"tabs-item"}),
    "stepper": frozenset({"stepper-step"}),
    "columns": frozenset({"column"}),
    "images": frozenset({"image"}),
    "code": frozenset({"code-line"}),
}
"""The children that each block and fragment may have."""


def text_node(text: str, marks: Sequence[Node] = (), *, is_markdown: bool = False) -> Node:
    """Create a text with marks; with `is_markdown`, the text is Markdown."""
    leaf = {"object": "leaf", "text": text, "marks": list(marks)}
    node: Node = {"object": "text", "leaves": [leaf]}
    return node | {"markdown": True} if is_markdown else node


def block_node(kind: str, nodes: Nodes | None, data: Node | None = None, **more: Any) -> Node:
    """Create a block; without nodes it is void."""
    node: Node = {"object": "block", "type": kind, "isVoid": nodes is None, "data": data or {}, **more}
    return node if nodes is None else node | {"nodes": nodes}


def inline_node(kind: str, data: Node, **more: Any) -> Node:
    """Create a void inline node."""
    return {"object": "inline", "type": kind, "data": data, "isVoid": True, **more}


def fragment(name: str, nodes: Nodes, *, kind: str = "") -> Node:
    """Create a named fragment of a node."""
    return {"object": "fragment", "fragment": name} | ({"type": kind} if kind else {}) | {"nodes": nodes}


def markdown_paragraph(markdown: str) -> Node:
    """Create a paragraph whose text is Markdown."""
    return block_node("paragraph", [text_node(markdown, is_markdown=True)])


def tag_line(markdown: str, part: str) -> Node:
    """Create a paragraph for the start or the end of a tag (`part` is `begin` or `end`).

    The nodes between both paragraphs are the content of the tag.
    """
    return markdown_paragraph(markdown) | {"markdown": {"part": part}}


def node_data(node: Node) -> dict[str, Any]:
    """Return the data of a node, or an empty dict."""
    return node.get("data") or {}


def child_nodes(node: Node, name: str = "nodes") -> Nodes:
    """Return the `nodes` or `fragments` of a node, or an empty list."""
    return node.get(name) or []


def markdown_details(node: Node) -> dict[str, Any]:
    """Return the details of the Markdown source that the node itself lacks."""
    details = node.get("markdown")
    return details if isinstance(details, dict) else {}


def plain_text(nodes: Nodes) -> str:
    """Return the text of text nodes."""
    return "".join(leaf["text"] for node in nodes for leaf in node.get("leaves", ()))


def merge_texts(nodes: Iterable[Node]) -> Nodes:
    """Merge adjacent texts, and adjacent leaves with equal marks."""
    merged: Nodes = []
    for node in nodes:
        last = merged[-1] if merged else None
        if node["object"] != "text" or "markdown" in node or not last or last["object"] != "text" or "markdown" in last:
            merged.append(node)
            continue
        for leaf in node["leaves"]:
            end = last["leaves"][-1]
            if end["marks"] == leaf["marks"]:
                end["text"] += leaf["text"]
            else:
                last["leaves"].append(leaf)
    return merged
