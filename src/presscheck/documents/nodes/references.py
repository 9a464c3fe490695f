"""What a node points at, and the address that stands for it in Markdown: each follows from the other.

An address is kept as it is written; only those below ``/~/``, made here for all that has an id, stand for such again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from presscheck.documents.nodes.schema import Node, node_data

Reference = dict[str, Any]
_place = re.compile(r"/~(?:/spaces/([\w-]+))?/pages/([\w-]+)(?:#(.*))?").fullmatch
_thing = re.compile(r"/~/(users|collections|spaces|openapi|files|tags)/([^/#?\s]+)").fullmatch
_reusable = re.compile(r"(?:/~/spaces/([\w-]+))?/~/reusable/([\w-]+)").fullmatch
_THINGS = {
    "users": ("user", "user"),
    "collections": ("collection", "collection"),
    "spaces": ("space", "space"),
    "openapi": ("openapi", "spec"),
    "files": ("file", "file"),
    "tags": ("tag", "tag"),
}


def parse_reference(address: str) -> Reference:
    """What an address points at."""
    if address.startswith("#") and len(address) > 1:
        return {"kind": "anchor", "anchor": address[1:]}
    if page := _place(address):
        space = {"space": page[1]} if page[1] else {}
        if page[3] is not None:
            return {"kind": "anchor", "anchor": page[3], "page": page[2], **space}
        return {"kind": "page", "page": page[2], **space}
    if thing := _thing(address):
        kind, name = _THINGS[thing[1]]
        return {"kind": kind, name: thing[2]}
    if content := _reusable(address):
        space = {"space": content[1]} if content[1] else {}
        return {"kind": "reusable-content", "reusableContent": content[2], **space}
    return {"kind": "url", "url": address}


def format_reference(ref: Reference) -> str:
    """The address that stands for what is pointed at."""
    kind = ref["kind"]
    space = f"/~/spaces/{ref['space']}" if ref.get("space") else ""
    if kind == "url":
        return str(ref["url"])
    if kind == "anchor":
        return (f"{space or '/~'}/pages/{ref['page']}" if ref.get("page") else "") + f"#{ref['anchor']}"
    if kind == "page":
        return f"{space or '/~'}/pages/{ref['page']}"
    if kind == "reusable-content":
        return f"{space}/~/reusable/{ref['reusableContent']}"
    folder, name = next(((one, key) for one, (what, key) in _THINGS.items() if what == kind), (kind, kind))
    return f"/~/{folder}/{ref[name]}"


def parse_file(source: str) -> Reference:
    """A file, by its id or, where it has none here, by the place that it is written at."""
    found = _thing(source)
    return {"kind": "file", "file": found[2] if found and found[1] == "files" else source}


def format_file(ref: Reference) -> str:
    """The place of a file, as it is written."""
    is_place = ref["kind"] == "file" and re.search(r"[./]", str(ref["file"]))
    return str(ref["file"]) if is_place else format_reference(ref)


ReferenceMapper = Callable[[Reference, str], Reference]
"""Another reference for one that a block or an inline of some type has."""


def map_references(node: Node, change: ReferenceMapper) -> None:
    """Let each reference within a node be another."""
    data = node_data(node)
    kind = str(node.get("type", ""))
    for name in ("ref", "refDark"):
        if isinstance(data.get(name), dict):
            data[name] = change(data[name], kind)
    if kind == "table":
        _in_records(data, change)
    for part in ("nodes", "fragments"):
        for one in node.get(part) or ():
            map_references(one, change)


def _in_records(data: Node, change: ReferenceMapper) -> None:
    kinds = {name: one["type"] for name, one in data["definition"].items()}
    for record in data["records"].values():
        values: dict[str, Any] = record["values"]
        for name, value in values.items():
            if isinstance(value, dict) and "kind" in value:
                values[name] = change(cast("Reference", value), kinds.get(name, ""))
            elif isinstance(value, list) and kinds.get(name) == "files":
                files = [change({"kind": "file", "file": one}, "file") for one in cast("list[str]", value)]
                values[name] = [one.get("file") for one in files]
