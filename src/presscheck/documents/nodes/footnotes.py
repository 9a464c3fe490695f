"""Footnotes of a node tree: the bodies of annotations, by label."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from itertools import count
from typing import Any

from presscheck.documents.nodes.schema import Node, Nodes, markdown_details


def footnotes_of(nodes: Nodes) -> dict[str, Nodes]:
    """Return the bodies of all annotations by label, in order."""
    bodies: dict[str, Nodes] = {}
    for node in annotations_in(nodes):
        body = body_of(node)
        if body:
            bodies.setdefault(node["markdown"]["label"], body)
    return bodies


def with_labels(document: Node) -> Node:
    """Return a copy in which every annotation has a label; only annotations with equal bodies share a label."""
    labeled = copy.deepcopy(document)
    bodies: dict[str, str] = {}
    labels: dict[str, str] = {}
    numbers = map(str, count(1))
    for node in annotations_in(labeled["nodes"]):
        new_label = str(markdown_details(node).get("label") or "")
        is_label = bool(new_label) and not set(new_label) & set("[]^ \n")
        body = body_of(node)
        if body or not is_label:
            body_key = json.dumps(_without_keys(body), sort_keys=True)
            label = new_label if is_label and bodies.get(new_label, body_key) == body_key else labels.get(body_key)
            new_label = label or next(number for number in numbers if number not in bodies)
            bodies[new_label] = body_key
            labels.setdefault(body_key, new_label)
        node["markdown"] = {"label": new_label}
    return labeled


def annotations_in(nodes: Nodes) -> Iterator[Node]:
    """Yield every annotation in nodes and their content."""
    for node in nodes:
        if node.get("type") == "annotation":
            yield node
        yield from annotations_in(node.get("nodes") or [])
        yield from annotations_in(node.get("fragments") or [])


def body_of(node: Node) -> Nodes:
    """Return the blocks of an annotation, or an empty list if it has only empty paragraphs."""
    blocks = [block for fragment in node.get("fragments") or () for block in fragment["nodes"]]
    return blocks if any(item.get("nodes") or item["type"] != "paragraph" for item in blocks) else []


def _without_keys(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_keys(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _without_keys(item) for name, item in value.items() if name != "key"}
