"""Finds types of blocks and inlines that the nodes of a page have and its Markdown lacks.

A service generates the Markdown of a page from its nodes. Nodes without Markdown syntax are missing there, so saving
the page as Markdown would delete them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.schema import ESSENTIALS
from presscheck.documents.nodes.validation import PART_TYPES

_INTERCHANGEABLE = ESSENTIALS | PART_TYPES | {"link", "emoji", "inline-image", "images", "blockquote"}
"""Types that Markdown may express with another type, such as an emoji as a character."""


def lost_types(document: Mapping[str, Any], markdown: str) -> tuple[str, ...]:
    """Return the types that the nodes of a page have and its Markdown lacks, in order and without duplicates."""
    types = dict.fromkeys(kind for kind in _types(document) if kind not in _INTERCHANGEABLE)
    if not types:
        return ()
    markdown_types = {*_types(markdown_to_nodes(markdown))}
    return tuple(kind for kind in types if kind not in markdown_types and f"{{% {kind}" not in markdown)


def _types(node: Mapping[str, Any]) -> Iterator[str]:
    for name in ("nodes", "fragments"):
        for child in node.get(name) or ():
            if child.get("object") in ("block", "inline"):
                yield str(child.get("type"))
            yield from _types(child)
