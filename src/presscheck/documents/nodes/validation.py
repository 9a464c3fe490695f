"""Validates untrusted node trees. Known blocks are allowed wherever any blocks are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import cast

from presscheck.documents.nodes.schema import ALLOWED_CHILDREN, COLORS, LISTS, MARKS, TOP_LEVEL, Node

_ONLY = frozenset((*LISTS, "tabs", "stepper", "columns", "images", "code", "prompt", "updates"))
_WITH_TEXT = frozenset(("paragraph", "heading-1", "heading-2", "heading-3", "code-line", "link", "annotation"))
_MUST: dict[str, dict[str, type]] = {
    "hint": {"style": str},
    "prompt": {"description": str},
    "updates": {"format": str},
    "update": {"date": str},
    "math": {"formula": str},
    "embed": {"url": str},
    "file": {"ref": dict},
    "image": {"ref": dict},
    "content-ref": {"ref": dict},
    "reusable-content": {"ref": dict},
    "swagger": {"path": str, "method": str, "ref": dict},
    "openapi-operation": {"path": str, "method": str, "ref": dict},
    "openapi-webhook": {"name": str, "method": str, "ref": dict},
    "openapi-schemas": {"schemas": list, "ref": dict},
    "integration": {"integration": str, "block": str, "props": dict},
    "if": {"expression": str},
    "table": {"view": dict, "records": dict, "definition": dict},
    "link": {"ref": dict},
    "mention": {"ref": dict},
    "emoji": {"code": str},
    "icon": {"icon": str},
    "expression": {"expression": str},
    "inline-math": {"formula": str},
    "inline-image": {"ref": dict},
    "button": {"label": str, "kind": str, "ref": dict},
}
"""Required data by type."""
_MAY: dict[str, type] = {
    **dict.fromkeys(
        ("syntax", "title", "caption", "alt", "icon", "id", "align", "overflow", "color", "url", "size"), str
    ),
    **dict.fromkeys(("level", "collapsedLineCount"), int),
}
"""Optional data of all types; other data must be text, numbers or booleans."""
_SCALAR = (str, int, float, bool, type(None))
INLINE_TYPES = frozenset(
    ["link", "annotation", "mention", "emoji", "icon", "expression", "inline-math", "inline-image", "button"]
)
"""Inlines that are not text."""
_FRAGMENTS = frozenset(("document", "expandable-body", "annotation-body"))
BLOCK_TYPES = (frozenset(ALLOWED_CHILDREN) - _FRAGMENTS) | TOP_LEVEL | (_WITH_TEXT - INLINE_TYPES) | {"image"}
"""All blocks, including `PART_TYPES`."""
PART_TYPES = frozenset(("list-item", "code-line", "tabs-item", "stepper-step", "column", "update", "image"))
"""Blocks that only their own parent may contain."""
MAX_LIST_START = 999_999_999
"""Maximum start of an ordered list, as Markdown allows no greater number."""
MAX_DEPTH = 60
"""Maximum nesting depth of nodes."""


class InvalidNode(ValueError):
    """An invalid tree: `path` leads to the invalid value, as in ``document.nodes[2].data.url``."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


def validate(document: object, path: str = "document") -> Node:
    """Validate an untrusted tree.

    Raises:
        InvalidNode: the tree is invalid.
    """
    tree = _object(document, path)
    _require(tree.get("object") == "document", f"{path}.object", "is not document")
    for at, node in _listed(tree, "nodes", path):
        _block(node, at, BLOCK_TYPES - PART_TYPES, 0)
    return tree


def _require(fits: bool, path: str, message: str) -> None:
    if not fits:
        raise InvalidNode(path, message)


def _object(value: object, path: str) -> Node:
    _require(isinstance(value, dict), path, "is not an object")
    return cast("Node", value)


def _listed(node: Node, name: str, path: str, *, needed: bool = True) -> list[tuple[str, object]]:
    items = node.get(name, None if needed else [])
    _require(isinstance(items, list), f"{path}.{name}" if name else path, "is not a list")
    at = f"{path}.{name}" if name else path
    return [(f"{at}[{number}]", item) for number, item in enumerate(cast("list[object]", items))]


def _data(node: Node, path: str, kind: str) -> Node:
    data = _object(node.get("data") or {}, f"{path}.data")
    for name, expected in _MUST.get(kind, {}).items():
        _require(isinstance(data.get(name), expected), f"{path}.data.{name}", f"is not {_TYPE_NAMES[expected]}")
    for name, value in data.items():
        at, expected = f"{path}.data.{name}", _MAY.get(name)
        if name in _VALIDATORS:
            _VALIDATORS[name](value, at)
        elif expected and value is not None:
            _require(isinstance(value, expected), at, f"is not {_TYPE_NAMES[expected]}")
        elif kind != "table":
            _scalars({name: value}, f"{path}.data")
    _details(node.get("markdown"), f"{path}.markdown")
    return data


def _details(value: object, path: str) -> None:
    """Validate the details of the Markdown source that `from_markdown` stores in nodes."""
    if value is None or isinstance(value, bool):
        return
    for name, item in _object(value, path).items():
        if name == "values":
            for key, text in _object(item, f"{path}.values").items():
                _require(isinstance(text, str), f"{path}.values.{key}", "is not a text")
                _require(bool(re.fullmatch(r"[\w-]+", key)), f"{path}.values.{key}", "is not a valid attribute name")
        else:
            expected = bool if name in ("tag", "html", "inline") else str
            _require(isinstance(item, expected), f"{path}.{name}", f"is not {_TYPE_NAMES[expected]}")


def _length(value: object, path: str) -> None:
    if isinstance(value, dict):
        length = cast("Node", value)
        _number(length.get("value"), f"{path}.value")
        _require(isinstance(length.get("unit", ""), str), f"{path}.unit", "is not a text")
    elif value is not None:
        _number(value, path)


def _number(value: object, path: str) -> None:
    _require(isinstance(value, int | float), path, "is not a number")


def _start(value: object, path: str) -> None:
    fits = value is None or (isinstance(value, int) and 0 <= value <= MAX_LIST_START)
    _require(fits, path, f"is not a whole number from 0 to {MAX_LIST_START}")


def _texts(value: object, path: str) -> None:
    for at, item in _listed({"": value}, "", path):
        _require(isinstance(item, str), at, "is not a text")


def _refs(value: object, path: str) -> None:
    for at, item in _listed({"": value}, "", path):
        _ref(item, at)


def _ref(value: object, path: str) -> None:
    ref = _object(value, path)
    kind = ref.get("kind")
    _require(isinstance(kind, str), f"{path}.kind", "is not a text")
    name = _NAMED.get(str(kind), str(kind))
    _require(isinstance(ref.get(name), str), f"{path}.{name}", "is not a text")
    for name in ("page", "space"):
        _require(isinstance(ref.get(name, ""), str), f"{path}.{name}", "is not a text")


_VALIDATORS: dict[str, Callable[[object, str], None]] = {
    "ref": _ref,
    "refDark": _ref,
    "width": _length,
    "height": _length,
    "start": _start,
    "schemas": _texts,
    "tags": _refs,
    "props": lambda value, path: None,
    "action": lambda value, path: None,
}
"""Validators of structured data; properties of integrations are not checked."""
_TYPE_NAMES = {str: "a text", bool: "true or false", dict: "an object", list: "a list", int: "a whole number"}
_NAMED = {"reusable-content": "reusableContent", "openapi": "spec"}


def _kind(node: Node, path: str, expected: str, known_types: frozenset[str]) -> str:
    _require(node.get("object") == expected, f"{path}.object", f"is not {expected}")
    kind = node.get("type")
    _require(isinstance(kind, str) and kind in known_types, f"{path}.type", f"{kind!r} is not allowed here")
    return cast("str", kind)


def _block(value: object, path: str, known_types: frozenset[str], depth: int) -> None:
    _require(depth < MAX_DEPTH, path, "is nested too deep")
    node = _object(value, path)
    kind = _kind(node, path, "block", known_types)
    data = _data(node, path, kind)
    if kind == "table":
        _table(data, f"{path}.data")
    if kind in _WITH_TEXT:
        _inlines(node, path, depth + 1)
    elif kind in ALLOWED_CHILDREN:
        within = ALLOWED_CHILDREN[kind] if kind in _ONLY else BLOCK_TYPES - PART_TYPES
        for at, child in _listed(node, "nodes", path):
            _block(child, at, within, depth + 1)
    _fragments(node, path, depth + 1)


def _fragments(node: Node, path: str, depth: int) -> None:
    for at, item in _listed(node, "fragments", path, needed=False):
        fragment = _object(item, at)
        _require(fragment.get("object") == "fragment", f"{at}.object", "is not fragment")
        for name in ("fragment", "type"):
            _require(isinstance(fragment.get(name, ""), str), f"{at}.{name}", "is not a text")
        for inner, block in _listed(fragment, "nodes", at):
            _block(block, inner, BLOCK_TYPES - PART_TYPES, depth + 1)


def _inlines(node: Node, path: str, depth: int) -> None:
    for at, item in _listed(node, "nodes", path):
        inner = _object(item, at)
        if inner.get("object") == "text":
            _text(inner, at)
            continue
        kind = _kind(inner, at, "inline", INLINE_TYPES)
        _data(inner, at, kind)
        if kind in _WITH_TEXT:
            _require(depth < MAX_DEPTH, at, "is nested too deep")
            _inlines(inner, at, depth + 1)
        _fragments(inner, at, depth + 1)


def _text(node: Node, path: str) -> None:
    for at, item in _listed(node, "leaves", path):
        leaf = _object(item, at)
        _require(isinstance(leaf.get("text"), str), f"{at}.text", "is not a text")
        for inner, mark in _listed(leaf, "marks", at, needed=False):
            kind = _object(mark, inner).get("type")
            _require(isinstance(kind, str) and kind in MARKS, f"{inner}.type", f"{kind!r} is not a mark")
            if kind == "color":
                data = _object(_object(mark, inner).get("data"), f"{inner}.data")
                for name in ("text", "background"):
                    _require(str(data.get(name, "default")) in COLORS, f"{inner}.data.{name}", "is not a color")


def _table(data: Node, path: str) -> None:
    _validate_each(data["definition"], f"{path}.definition", _definition)
    for at, column in _listed(data["view"], "columns", f"{path}.view"):
        _require(isinstance(column, str) and column in data["definition"], at, "is not a defined column")
    for name, width in _object(data["view"].get("columnWidths") or {}, f"{path}.view.columnWidths").items():
        _number(width, f"{path}.view.columnWidths.{name}")
    _scalars(data["view"], f"{path}.view", skipped=("columns", "columnWidths"))
    _require(isinstance(data.get("fullWidth"), bool | None), f"{path}.fullWidth", "is not true or false")
    _validate_each(data["records"], f"{path}.records", _record)


def _validate_each(values: Mapping[str, object], path: str, validate_item: Callable[[Node, str], None]) -> None:
    for name, value in values.items():
        validate_item(_object(value, f"{path}.{name}"), f"{path}.{name}")


def _scalars(values: Node, path: str, *, skipped: tuple[str, ...] = ()) -> None:
    for name, value in values.items():
        if name not in skipped:
            _require(isinstance(value, _SCALAR), f"{path}.{name}", "is not a text, a number, true or false")


def _definition(node: Node, path: str) -> None:
    for name in ("title", "type"):
        _require(isinstance(node.get(name), str), f"{path}.{name}", "is not a text")
    _scalars(node, path, skipped=("options", "markdown"))
    _details(node.get("markdown"), f"{path}.markdown")
    for at, option in _listed(node, "options", path, needed=node["type"] == "select"):
        for name in ("value", "label"):
            _require(isinstance(_object(option, at).get(name), str), f"{at}.{name}", "is not a text")


def _record(node: Node, path: str) -> None:
    _require(isinstance(node.get("orderIndex"), str), f"{path}.orderIndex", "is not a text")
    for name, value in _object(node.get("values"), f"{path}.values").items():
        at = f"{path}.values.{name}"
        if isinstance(value, dict):
            reference = cast("Node", value)
            _ref(reference.get("ref", reference), at)
        elif isinstance(value, list):
            _texts(cast("list[object]", value), at)
        else:
            _require(isinstance(value, _SCALAR), at, "is not a table value")
