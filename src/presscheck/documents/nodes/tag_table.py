"""Converts attributes of block tags to data of nodes and back, according to the registry of block tags.

Attributes that nodes lack are stored outside of the data, in `markdown.values`, and are written again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from presscheck.documents.attribute_json import parse_json
from presscheck.documents.block_tags import BLOCK_TAGS, Attribute, AttributeKind, BlockTag
from presscheck.documents.nodes.references import format_file, format_reference, parse_file, parse_reference
from presscheck.documents.nodes.schema import Node
from presscheck.documents.nodes.validation import InvalidNode

TAGS = {tag.node: tag for tag in BLOCK_TAGS.values() if tag.node}
"""Tags by the type of their node."""


class Converter(NamedTuple):
    """Conversion of an attribute to data (None for an invalid value) and back."""

    read: Callable[[str], Any]
    write: Callable[[Any], str] = str


def parse_length(text: str) -> Any:
    """Parse a length with an optional unit; return None if it is invalid."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)(%|px|)", text)
    if not match:
        return None
    number = float(match[1]) if "." in match[1] else int(match[1])
    return {"unit": match[2], "value": number} if match[2] else number


def format_length(value: Any) -> str:
    """Format a length."""
    if isinstance(value, dict):
        return format_length(value.get("value")) + str(value.get("unit") or "")
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def positive_int(text: str) -> int | None:
    """Parse a positive integer; return None for any other text."""
    return int(text) if re.fullmatch(r"[1-9]\d{0,5}", text) else None


def parse_prop(text: str) -> Any:
    """Parse a property of an integration: as JSON if it is valid, otherwise as text."""
    try:
        return parse_json(text)
    except ValueError:
        return text


def format_prop(value: Any) -> str:
    """Format a property of an integration, so that `parse_prop` returns the same value."""
    return value if isinstance(value, str) and parse_prop(value) is value else json.dumps(value)


def _format_flag(value: bool) -> str:
    return str(value).lower()


def _parse_spec(text: str) -> Node:
    return {"kind": "openapi", "spec": text}


def _format_spec(ref: Node) -> str:
    return str(ref.get("spec", ""))


def _parse_names(text: str) -> list[str]:
    return text.split(",")


def _format_names(names: list[Any]) -> str:
    return ",".join(map(str, names))


def _parse_tags(text: str) -> list[Node]:
    return [{"kind": "tag", "tag": name.strip()} for name in text.split(",")]


def _format_tags(tags: list[Node]) -> str:
    return ",".join(str(tag["tag"]) for tag in tags)


_CONVERTERS: dict[AttributeKind, Converter] = {
    "text": Converter(str),
    "choice": Converter(str),
    "flag": Converter({"true": True, "false": False}.get, _format_flag),
    "count": Converter(positive_int),
    "length": Converter(parse_length, format_length),
    "file": Converter(parse_file, format_file),
    "address": Converter(parse_reference, format_reference),
    "spec": Converter(_parse_spec, _format_spec),
    "names": Converter(_parse_names, _format_names),
    "tags": Converter(_parse_tags, _format_tags),
}


def _read(attribute: Attribute, text: str) -> Any:
    if attribute.choices and text not in attribute.choices:
        return None
    return _CONVERTERS[attribute.kind].read(text)


def data_of(tag: BlockTag, values: dict[str, str]) -> tuple[Node, dict[str, str]] | None:
    """Return the data of a node and the remaining attributes, or None if the node cannot represent the tag."""
    attributes = {attribute.name.lower(): attribute for attribute in tag.attributes}
    defaults = {attribute.name: attribute.default for attribute in tag.attributes if attribute.default}
    data: Node = {}
    rest: dict[str, str] = {}
    for name, text in (defaults | values).items():
        attribute = attributes.get(name)
        value = _read(attribute, text) if attribute else None
        if attribute and value is not None:
            data[attribute.key] = value
        elif attribute and attribute.is_required and not attribute.default:
            return None
        else:
            rest[name] = text
            data |= {attribute.key: attribute.default} if attribute and attribute.default else {}
    return (data, rest) if all(attribute.key in data for attribute in tag.attributes if attribute.is_required) else None


def attributes_of(tag: BlockTag, data: Node) -> dict[str, str]:
    """Return the attributes of a tag, given the data of its node."""
    values = {attribute: data.get(attribute.key) for attribute in tag.attributes}
    return {
        attribute.name: _CONVERTERS[attribute.kind].write(value)
        for attribute, value in values.items()
        if value is not None
    }


def format_tag(name: str, values: dict[str, str], inner: str | None = None) -> str:
    """Format a tag; without content it has no end tag.

    Raises:
        InvalidNode: a value cannot be written in a tag.
    """
    opened = f"{{% {name}{''.join(_attribute(name, key, value) for key, value in values.items())} %}}"
    if inner is None:
        return opened
    return "\n".join(filter(None, (opened, inner, f"{{% end{name} %}}")))


def _attribute(tag: str, name: str, value: str) -> str:
    if not re.fullmatch(r"[^{}]*(\{[^{}]*\}[^{}]*)*", value):
        raise InvalidNode(f"{tag}.{name}", "has unpaired braces, which a tag cannot contain")
    words = re.sub(r'(["\\])', r"\\\1", value.replace("\n", " "))
    return f' {name}="{words}"'
