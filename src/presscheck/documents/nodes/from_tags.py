"""Reads block tags, and HTML with blocks inside, as nodes; functions return None for tags without a matching node."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from presscheck.documents.block_tags import BLOCK_TAGS, registered_name
from presscheck.documents.nodes.from_html import framed
from presscheck.documents.nodes.from_inlines import inlines_of_html
from presscheck.documents.nodes.references import parse_reference
from presscheck.documents.nodes.schema import (
    ALLOWED_CHILDREN,
    Node,
    Nodes,
    block_node,
    child_nodes,
    fragment,
    tag_line,
)
from presscheck.documents.nodes.tag_table import data_of, parse_prop
from presscheck.documents.nodes.to_markdown import blocks_markdown
from presscheck.documents.visitors.condition_tags import condition_of

if TYPE_CHECKING:
    from markdown_it.token import Token


class TagBlock(NamedTuple):
    """A tag, the blocks inside it, and whether the tag has an end."""

    token: Token
    nodes: Nodes
    is_paired: bool

    @property
    def values(self) -> dict[str, str]:
        """The attributes of the tag."""
        other = ("name", "summary", "old=")
        return {key.rstrip("="): value for key, value in self.token.meta.items() if key not in other}


def fit_children(kind: str, nodes: Nodes) -> Nodes:
    """Return blocks as children of a kind of node.

    A block that is not allowed there, such as a tab outside of tabs, is replaced by its content between the lines of
    its tag.
    """
    return [child for node in nodes for child in _as_child(ALLOWED_CHILDREN[kind], node)]


def _as_child(allowed: frozenset[str], node: Node) -> Nodes:
    if node["type"] in allowed:
        return [node]
    opening, *_, closing = blocks_markdown([node | {"nodes": []}]).split("\n")
    return [tag_line(opening, "begin"), *fit_children("document", node["nodes"]), tag_line(closing, "end")]


def tag_node(tag_block: TagBlock) -> Node | None:
    """Read a tag as a node; return None if no node can represent the whole tag."""
    return READERS.get(registered_name(tag_block.token.meta["name"]), _as_written)(tag_block)


def _as_written(tag_block: TagBlock) -> Node | None:
    return None


def _by_attributes(tag_block: TagBlock) -> Node | None:
    """Read a tag whose node consists of the attributes and the content of the tag.

    Return None if the node cannot represent the whole tag.
    """
    tag = BLOCK_TAGS[tag_block.token.meta["name"]]
    converted = data_of(tag, tag_block.values)
    if converted is None:
        return None
    data, rest = converted
    details: Node = {"values": rest} if rest else {}
    details |= {"name": tag_block.token.meta["old="]} if "old=" in tag_block.token.meta else {}
    if tag.content != "blocks":
        inside = blocks_markdown(tag_block.nodes)
        has_words = "name" in details or not _only_points(tag_block.nodes, data)
        details |= {"inside": inside} if inside and has_words else {}
        return block_node(tag.node, None, data, **_as_details(details))
    nodes = _fitting_children(tag.node, tag_block)
    return None if nodes is None else block_node(tag.node, nodes, data, **_as_details(details))


def _as_details(node: Node) -> Node:
    return {"markdown": node} if node else {}


def _only_points(nodes: Nodes, data: Node) -> bool:
    """Return whether the content of a tag is only a link to the tag's own target."""
    inline = child_nodes(nodes[0]) if len(nodes) == 1 and nodes[0]["type"] == "paragraph" else []
    return len(inline) == 1 and inline[0].get("type") == "link" and inline[0]["data"]["ref"] == data.get("ref")


def _fitting_children(kind: str, tag_block: TagBlock) -> Nodes | None:
    if not tag_block.is_paired:
        return None
    if "paragraph" in ALLOWED_CHILDREN[kind]:
        return fit_children(kind, tag_block.nodes)
    return (
        tag_block.nodes
        if tag_block.nodes and all(node["type"] in ALLOWED_CHILDREN[kind] for node in tag_block.nodes)
        else None
    )


def _code(tag_block: TagBlock) -> Node | None:
    converted = data_of(BLOCK_TAGS["code"], tag_block.values)
    if converted is None or len(tag_block.nodes) != 1 or tag_block.nodes[0]["type"] != "code":
        return None
    node, (data, rest) = tag_block.nodes[0], converted
    details = node.get("markdown", {}) | ({"values": rest} if rest else {}) | ({} if data or rest else {"tag": True})
    return node | {"data": node["data"] | data} | _as_details(details)


def _details(tag_block: TagBlock) -> Node | None:
    opening = re.fullmatch(r"<details(\s+open)?\s*>", tag_block.token.content, re.IGNORECASE)
    summary: str | None = tag_block.token.meta.get("summary")
    if not opening or not tag_block.is_paired:
        return None
    body = fit_children("expandable-body", tag_block.nodes) or [block_node("paragraph", [])]
    named = {"expandable-body": body}
    if summary is not None:
        named = {"expandable-title": [block_node("paragraph", inlines_of_html(summary.strip()))], **named}
    fragments = [fragment(name, nodes, kind=name) for name, nodes in named.items()]
    return block_node("expandable", None, {"defaultExpanded": True} if opening[1] else {}, fragments=fragments)


_source = re.compile(r"""\{%-?\s*include\s+["']([^"']+)["']\s*-?%\}""", re.IGNORECASE).fullmatch
_block = re.compile(r"\{%-?[ \t]*@([\w-]+)/([\w-]+)(.*)%\}", re.DOTALL).fullmatch
_names = re.compile(r"(?<![\w-])([\w-]+)\s*=").findall


def _include(tag_block: TagBlock) -> Node | None:
    match = _source(tag_block.token.content)
    if not match:
        return None
    ref = parse_reference(match[1])
    if ref["kind"] == "reusable-content":
        return block_node("reusable-content", None, {"ref": ref})
    written = {"kind": "reusable-content", "reusableContent": match[1]}
    return block_node("reusable-content", None, {"ref": written})


def _if(tag_block: TagBlock) -> Node | None:
    condition = condition_of(tag_block.token.content)
    if not condition or not tag_block.is_paired:
        return None
    return block_node("if", fit_children("if", tag_block.nodes), {"expression": condition})


def _div(tag_block: TagBlock) -> Node | None:
    return framed(tag_block.values, tag_block.nodes)


def integration_node(tag_block: TagBlock) -> Node | None:
    """Return the node for the block of an integration, or None if the tag is malformed or has content."""
    match = _block(tag_block.token.content)
    if not match or tag_block.nodes:
        return None
    # names of an integration's properties are case-sensitive
    exact = {name.lower(): name for name in _names(match[3])}
    values = dict(tag_block.values)
    data: Node = {"integration": match[1], "block": match[2]}
    data |= {"url": values.pop("url")} if "url" in values else {}
    data |= {"fullWidth": values.pop("fullwidth") == "true"} if values.get("fullwidth") in ("true", "false") else {}
    data["props"] = {exact.get(name, name): parse_prop(text) for name, text in values.items()}
    return block_node("integration", None, data)


READERS: dict[str, Callable[[TagBlock], Node | None]] = {
    "hint": _by_attributes,
    "div": _div,
    "tabs": _by_attributes,
    "tab": _by_attributes,
    "stepper": _by_attributes,
    "step": _by_attributes,
    "code": _code,
    "prompt": _by_attributes,
    "details": _details,
    "columns": _by_attributes,
    "column": _by_attributes,
    "updates": _by_attributes,
    "update": _by_attributes,
    "if": _if,
    "include": _include,
    "content-ref": _by_attributes,
    "embed": _by_attributes,
    "file": _by_attributes,
    "openapi": _by_attributes,
    "openapi-operation": _by_attributes,
    "openapi-webhook": _by_attributes,
    "openapi-schemas": _by_attributes,
    "swagger": _as_written,
    "swagger-description": _as_written,
    "swagger-parameter": _as_written,
    "swagger-response": _as_written,
    "@": integration_node,
}
"""The reader of each tag in `block_tags.BLOCK_TAGS`."""
