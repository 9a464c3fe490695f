"""References of nodes (pages, files, users, …) and their addresses in Markdown, in both directions.

Addresses are preserved as written; only addresses below ``/~/``, which represent objects with ids, become references
again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from presscheck.documents.markdown.anchors import decode_fragment, encode_fragment
from presscheck.documents.nodes.schema import Node, node_data

Reference = dict[str, Any]
_place = re.compile(r"/~(?:/spaces/([\w-]+))?/pages/([\w-]+)(?:#(.*))?").fullmatch
_match_resource = re.compile(r"/~/(users|collections|spaces|openapi|files|tags)/([^/#?\s]+)").fullmatch
_reusable = re.compile(r"(?:/~/spaces/([\w-]+))?/~/reusable/([\w-]+)").fullmatch
_RESOURCES = {
    "users": ("user", "user"),
    "collections": ("collection", "collection"),
    "spaces": ("space", "space"),
    "openapi": ("openapi", "spec"),
    "files": ("file", "file"),
    "tags": ("tag", "tag"),
}


def parse_reference(address: str) -> Reference:
    """Parse an address as a reference."""
    if address.startswith("#") and len(address) > 1:
        return {"kind": "anchor", "anchor": decode_fragment(address[1:])}
    if page := _place(address):
        space = {"space": page[1]} if page[1] else {}
        if page[3] is not None:
            return {"kind": "anchor", "anchor": decode_fragment(page[3]), "page": page[2], **space}
        return {"kind": "page", "page": page[2], **space}
    if match := _match_resource(address):
        kind, name = _RESOURCES[match[1]]
        return {"kind": kind, name: match[2]}
    if content := _reusable(address):
        space = {"space": content[1]} if content[1] else {}
        return {"kind": "reusable-content", "reusableContent": content[2], **space}
    return {"kind": "url", "url": address}


def format_reference(ref: Reference) -> str:
    """Return the address of a reference."""
    kind = ref["kind"]
    space = f"/~/spaces/{ref['space']}" if ref.get("space") else ""
    if kind == "url":
        return str(ref["url"])
    if kind == "anchor":
        place = f"{space or '/~'}/pages/{ref['page']}" if ref.get("page") else ""
        return f"{place}#{encode_fragment(ref['anchor'])}"
    if kind == "page":
        return f"{space or '/~'}/pages/{ref['page']}"
    if kind == "reusable-content":
        return f"{space}/~/reusable/{ref['reusableContent']}"
    folder, name = next(
        ((candidate, key) for candidate, (resource_kind, key) in _RESOURCES.items() if resource_kind == kind),
        (kind, kind),
    )
    return f"/~/{folder}/{ref[name]}"


def parse_file(source: str) -> Reference:
    """Return a file reference, by id or by the path as written."""
    match = _match_resource(source)
    return {"kind": "file", "file": match[2] if match and match[1] == "files" else source}


def format_file(ref: Reference) -> str:
    """Return the address of a file reference: the path as written, or an address with the id of the file."""
    is_place = ref["kind"] == "file" and re.search(r"[./]", str(ref["file"]))
    return str(ref["file"]) if is_place else format_reference(ref)


ReferenceMapper = Callable[[Reference, str], Reference]
"""Maps a reference, given the type of its node."""


def map_references(node: Node, change: ReferenceMapper) -> None:
    """Replace every reference inside a node by the result of `change`, in place."""
    data = node_data(node)
    kind = str(node.get("type", ""))
    for name in ("ref", "refDark"):
        if isinstance(data.get(name), dict):
            data[name] = change(data[name], kind)
    if kind == "table":
        _in_records(data, change)
    for part in ("nodes", "fragments"):
        for child in node.get(part) or ():
            map_references(child, change)


def _in_records(data: Node, change: ReferenceMapper) -> None:
    kinds = {name: definition["type"] for name, definition in data["definition"].items()}
    for record in data["records"].values():
        values: dict[str, Any] = record["values"]
        for name, value in values.items():
            if isinstance(value, dict) and "kind" in value:
                values[name] = change(cast("Reference", value), kinds.get(name, ""))
            elif isinstance(value, list) and kinds.get(name) == "files":
                files = [change({"kind": "file", "file": file_id}, "file") for file_id in cast("list[str]", value)]
                values[name] = [file.get("file") for file in files]
