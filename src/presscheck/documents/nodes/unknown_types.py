"""Replaces blocks, inlines and marks of unknown types, so that a tree of a newer version can be rendered.

An unknown block becomes a tag of its name around its content, which is rendered as a box with that name, like unknown
tags in Markdown. An unknown inline, or an unknown block in a cell, becomes its name and its text in brackets. Unknown
marks are removed. The result is only for rendering and must not be sent: the service would treat the tags as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from presscheck.documents.block_tags import BLOCK_TAGS
from presscheck.documents.nodes.schema import (
    ALLOWED_CHILDREN,
    COLORS,
    LISTS,
    MARKS,
    Node,
    Nodes,
    block_node,
    markdown_paragraph,
    text_node,
)
from presscheck.documents.nodes.tag_table import format_tag
from presscheck.documents.nodes.validation import BLOCK_TYPES, INLINE_TYPES, MAX_DEPTH, PART_TYPES

_PARTS: dict[str, Node] = {
    **{kind: {"type": "list-item"} for kind in LISTS},
    "tabs": {"type": "tabs-item"},
    "stepper": {"type": "stepper-step"},
    "columns": {"type": "column"},
    "updates": {"type": "update", "data": {"date": ""}},
}
"""The part that wraps an unknown block in a block that may contain only such parts."""
_TEXT_ONLY = frozenset(("code", "images", "prompt"))
"""Blocks whose parts have no blocks; if they contain an unknown block, they are treated as unknown."""


def with_known_types(document: object) -> object:
    """Return a tree without unknown types. The tree is not validated."""
    return _with_children(cast("Node", document), 0, is_line=False) if isinstance(document, dict) else document


def _with_children(node: Node, depth: int, *, is_line: bool) -> Node:
    changed = node
    if depth > MAX_DEPTH:
        return changed  # too deep to be valid
    kind = changed.get("type")
    for name in ("nodes", "fragments"):
        children: object = changed.get(name)
        if isinstance(children, list):
            parts = [
                new
                for child in cast("list[object]", children)
                for new in _replacements(
                    child, changed, depth + 1, is_line=is_line or (kind == "table" and name == "fragments")
                )
            ]
            changed = changed | {name: parts}
    return changed


def _replacements(child: object, parent: Node, depth: int, *, is_line: bool) -> Iterator[object]:
    """Yield the nodes that replace a child: the child itself if its type is known, or else nodes of known types."""
    if not isinstance(child, dict):
        yield child
        return
    node = cast("Node", child)
    kind, object_kind = str(node.get("type", "")), node.get("object")
    if object_kind == "text":
        yield _with_known_marks(node)
    elif object_kind == "inline" and kind not in INLINE_TYPES:
        yield _bracketed(node)
    elif object_kind == "inline" and kind == "button" and not _has_target(node):
        yield text_node(f"[ {dict(_values(node)).get('label', '')} ]")
    elif object_kind == "block":
        yield from _known_blocks(node, str(parent.get("type") or parent.get("object")), depth, is_line=is_line)
    else:
        is_title = node.get("fragment") == "expandable-title" or kind == "expandable-title"
        yield _with_children(node, depth, is_line=is_line or is_title)


def _has_target(button: Node) -> bool:
    """Return whether a button is a link; buttons of newer releases may do something else, such as open a search."""
    data: object = button.get("data")
    return isinstance(data, dict) and isinstance(cast("Node", data).get("ref"), dict)


def _known_blocks(node: Node, parent: str, depth: int, *, is_line: bool) -> Nodes:
    is_known = _is_known(node, parent)
    if is_line and not is_known:
        return [block_node("paragraph", [_bracketed(node)])]
    blocks = [_with_children(node, depth, is_line=is_line)] if is_known else _boxed(node, depth)
    if parent in _PARTS and str(node.get("type")) not in ALLOWED_CHILDREN[parent]:
        return [{"object": "block", **_PARTS[parent], "nodes": blocks}]
    return blocks


def _is_known(node: Node, parent: str) -> bool:
    kind = str(node.get("type"))
    if kind in PART_TYPES:
        return kind in ALLOWED_CHILDREN.get(parent, ())
    if kind in _TEXT_ONLY:
        return all(str(child.get("type")) in ALLOWED_CHILDREN[kind] for child in _children(node))
    return kind in BLOCK_TYPES


def _children(node: Node) -> Nodes:
    """Return the nodes in a node, including those in its fragments."""
    nested: Nodes = []
    for name in ("nodes", "fragments"):
        children: object = node.get(name)
        for child in cast("list[object]", children) if isinstance(children, list) else ():
            if isinstance(child, dict):
                child_node = cast("Node", child)
                nested += _children(child_node) if child_node.get("object") == "fragment" else [child_node]
    return nested


def _boxed(node: Node, depth: int) -> Nodes:
    """Return an unknown block as a tag around its content."""
    children = _children(node)
    if any(child.get("object") != "block" for child in children):
        lines = [child if child.get("object") != "block" else _bracketed(child) for child in children]
        children = [block_node("paragraph", lines)]
    body = _with_children({"nodes": children}, depth, is_line=False)["nodes"]
    name = re.sub(r"[^\w-]", "-", str(node.get("type") or "block"))
    if name in BLOCK_TAGS or not re.match(r"(?!end)[a-zA-Z]", name):
        name = f"block-{name}"
    tag = format_tag(name, {key: text for key, text in _values(node) if text})
    return [markdown_paragraph(tag), *body, *([markdown_paragraph(f"{{% end{name} %}}")] if body else [])]


def _values(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the data of a node as attributes of a tag, without braces."""
    data: object = node.get("data")
    for name, value in cast("dict[object, object]", data).items() if isinstance(data, dict) else ():
        key = re.sub(r"[^\w-]", "-", str(name))
        yield key, _words(value).replace("{", "(").replace("}", ")")


def _words(value: Any) -> str:
    if isinstance(value, dict):
        value = [*cast("dict[object, object]", value).values()]
    if isinstance(value, list):
        return ", ".join(filter(None, map(_words, cast("list[object]", value))))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _bracketed(node: Node) -> Node:
    """Return an unknown node as its name and its text, or the values of its data if it has no text."""
    words = _text(node) or ", ".join(text for _, text in _values(node) if text)
    return text_node(f"[{': '.join(filter(None, (str(node.get('type') or 'block'), words)))}]")


def _text(node: Node) -> str:
    leaves: object = node.get("leaves")
    if isinstance(leaves, list):
        texts = [cast("Node", leaf).get("text") for leaf in cast("list[object]", leaves) if isinstance(leaf, dict)]
        return "".join(text for text in texts if isinstance(text, str))
    parts = [(child, _text(child)) for child in _children(node)]
    return "".join(f"{text} " if child.get("object") == "block" else text for child, text in parts).strip()


def _with_known_marks(node: Node) -> Node:
    leaves: object = node.get("leaves")
    if not isinstance(leaves, list):
        return node
    return node | {"leaves": [_known_leaf(leaf) for leaf in cast("list[object]", leaves)]}


def _known_leaf(leaf: object) -> object:
    if not isinstance(leaf, dict):
        return leaf
    marks: object = cast("Node", leaf).get("marks")
    if not isinstance(marks, list):
        return cast("Node", leaf)
    return cast("Node", leaf) | {"marks": [mark for mark in cast("list[object]", marks) if _is_known_mark(mark)]}


def _is_known_mark(mark: object) -> bool:
    if not isinstance(mark, dict):
        return True  # invalid, and reported by the validation
    kind, data = cast("Node", mark).get("type"), cast("Node", mark).get("data")
    if kind == "color" and isinstance(data, dict):
        colors = cast("Node", data)
        return all(str(colors.get(name, "default")) in COLORS for name in ("text", "background"))
    return str(kind) in MARKS
