"""Finds what the Markdown of a page lacks: types of blocks and inlines that its nodes have.

A service writes the Markdown of a page from its nodes. What it has no Markdown for is missing there, and a page that is
saved as Markdown loses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.schema import ESSENTIALS
from presscheck.documents.nodes.validation import PART_TYPES

_SAID_OTHERWISE = ESSENTIALS | PART_TYPES | {"link", "emoji", "inline-image", "images", "blockquote"}
"""What Markdown may say with other types: an emoji as its character, a heading of another level, an image in a line."""


def lost_types(document: Mapping[str, Any], markdown: str) -> tuple[str, ...]:
    """Returns the types that the nodes of a page have, and its Markdown does not; in order, each once."""
    found = dict.fromkeys(kind for kind in _types(document) if kind not in _SAID_OTHERWISE)
    if not found:
        return ()
    said = {*_types(markdown_to_nodes(markdown))}
    return tuple(kind for kind in found if kind not in said and f"{{% {kind}" not in markdown)


def _types(node: Mapping[str, Any]) -> Iterator[str]:
    for name in ("nodes", "fragments"):
        for child in node.get(name) or ():
            if child.get("object") in ("block", "inline"):
                yield str(child.get("type"))
            yield from _types(child)
