"""The footnotes of nodes: the bodies of annotations, each under a label of its own."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from itertools import count
from typing import Any

from presscheck.documents.nodes.schema import Node, Nodes, markdown_details


def footnotes_of(nodes: Nodes) -> dict[str, Nodes]:
    """The bodies of all annotations that have one, by label, as they are met."""
    found: dict[str, Nodes] = {}
    for node in annotations_in(nodes):
        body = body_of(node)
        if body:
            found.setdefault(node["markdown"]["label"], body)
    return found


def with_labels(document: Node) -> Node:
    """A copy in which every annotation has a label, the same for the same body alone; one without a body keeps its."""
    made = copy.deepcopy(document)
    bodies: dict[str, str] = {}
    labels: dict[str, str] = {}
    numbers = map(str, count(1))
    for node in annotations_in(made["nodes"]):
        wanted = str(markdown_details(node).get("label") or "")
        is_label = bool(wanted) and not set(wanted) & set("[]^ \n")
        body = body_of(node)
        if body or not is_label:
            said = json.dumps(_bare(body), sort_keys=True)
            label = wanted if is_label and bodies.get(wanted, said) == said else labels.get(said)
            wanted = label or next(number for number in numbers if number not in bodies)
            bodies[wanted] = said
            labels.setdefault(said, wanted)
        node["markdown"] = {"label": wanted}
    return made


def annotations_in(nodes: Nodes) -> Iterator[Node]:
    """Every annotation in nodes, and in what these hold."""
    for node in nodes:
        if node.get("type") == "annotation":
            yield node
        yield from annotations_in(node.get("nodes") or [])
        yield from annotations_in(node.get("fragments") or [])


def body_of(node: Node) -> Nodes:
    """The blocks that explain an annotation; none where all that is there is an empty paragraph."""
    found = [block for fragment in node.get("fragments") or () for block in fragment["nodes"]]
    return found if any(one.get("nodes") or one["type"] != "paragraph" for one in found) else []


def _bare(value: Any) -> Any:
    if isinstance(value, list):
        return [_bare(one) for one in value]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(value, dict):
        return value
    return {name: _bare(one) for name, one in value.items() if name != "key"}  # pyright: ignore[reportUnknownVariableType]
