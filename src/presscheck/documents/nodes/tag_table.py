"""The platform's tags and the blocks that they are: one table, read in both directions.

An attribute that no block has is kept beside it, in `markdown.values`, and is written again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from presscheck.documents.nodes.references import format_file, format_reference, parse_file, parse_reference
from presscheck.documents.nodes.schema import HINT_STYLES, Node
from presscheck.documents.nodes.validation import InvalidNode


class Value(NamedTuple):
    """How an attribute is read into data (None: it is no such value) and written from it."""

    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    name: str = ""
    """What data calls it, if not by the name of the attribute."""


class Tag(NamedTuple):
    """A tag: what its attributes are in the data of its block, and which of these it is nothing without."""

    name: str
    values: dict[str, Value]
    needs: tuple[str, ...] = ()
    holds: bool = False
    """Whether it has blocks between itself and its end."""


def _one_of(*words: str, name: str = "") -> Value:
    def read(text: str) -> str | None:
        return text if text in words else None

    return Value(read, name=name)


def parse_length(text: str) -> Any:
    """A length: a number, or one with its unit; None for what is none."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(%|px|)", text)
    if not found:
        return None
    number = float(found[1]) if "." in found[1] else int(found[1])
    return {"unit": found[2], "value": number} if found[2] else number


def format_length(value: Any) -> str:
    """A length as it is written."""
    if isinstance(value, dict):
        return format_length(value.get("value")) + str(value.get("unit") or "")  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return f"{value:g}" if isinstance(value, float) else str(value)


def positive_int(text: str) -> int | None:
    """A whole number above 0."""
    return int(text) if re.fullmatch(r"[1-9]\d{0,5}", text) else None


def parse_prop(text: str) -> Any:
    """What an integration is given: what looks like JSON is such, all else is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def format_prop(value: Any) -> str:
    """The text that `as_prop` reads as this value."""
    return value if isinstance(value, str) and parse_prop(value) is value else json.dumps(value)


_TEXT = Value(str)


def _flag_text(value: bool) -> str:
    return str(value).lower()


def _spec(text: str) -> Node:
    return {"kind": "openapi", "spec": text}


def _names(text: str) -> list[str]:
    return text.split(",")


def _names_text(names: list[Any]) -> str:
    return ",".join(map(str, names))


def _tags(text: str) -> list[Node]:
    return [{"kind": "tag", "tag": name.strip()} for name in text.split(",")]


def _tags_text(tags: list[Node]) -> str:
    return ",".join(str(tag["tag"]) for tag in tags)


def _spec_text(ref: Node) -> str:
    return str(ref.get("spec", ""))


_FLAG = Value({"true": True, "false": False}.get, _flag_text)
_LENGTH = Value(parse_length, format_length, "width")
_FILE = Value(parse_file, format_file, "ref")
_ADDRESS = Value(parse_reference, format_reference, "ref")
_SPEC = Value(_spec, _spec_text, "ref")
_NAMES = Value(_names, _names_text)
_TAGS = Value(_tags, _tags_text)
_AT = _one_of("top", "middle", "bottom", name="verticalAlignment")
_FULL = {"fullWidth": _FLAG}
_POINTER = {"path": _TEXT, "method": _TEXT}

TAGS: dict[str, Tag] = {
    "tabs": Tag("tabs", _FULL, holds=True),
    "tabs-item": Tag("tab", {"title": _TEXT, "icon": _TEXT}, holds=True),
    "stepper": Tag("stepper", {}, holds=True),
    "stepper-step": Tag("step", {"icon": _TEXT}, holds=True),
    "columns": Tag("columns", _FULL, holds=True),
    "column": Tag("column", {"width": _LENGTH, "valign": _AT}, holds=True),
    "hint": Tag("hint", {"style": _one_of(*HINT_STYLES), "icon": _TEXT}, ("style",), holds=True),
    "prompt": Tag(
        "prompt",
        {
            "description": _TEXT,
            "icon": _TEXT,
            "openInAIProviders": _FLAG,
            "defaultExpanded": _one_of("hidden", "partial", "full"),
        },
        ("description",),
        holds=True,
    ),
    "updates": Tag("updates", {"format": _one_of("numeric", "full", "short")}, ("format",), holds=True),
    "update": Tag("update", {"date": _TEXT, "tags": _TAGS}, ("date",), holds=True),
    "code": Tag(
        "code",
        {
            "title": _TEXT,
            "overflow": _one_of("wrap", "scroll"),
            "lineNumbers": _FLAG,
            **_FULL,
            "expandable": _FLAG,
            "collapsedLineCount": Value(positive_int),
        },
        holds=True,
    ),
    "embed": Tag("embed", {"url": _TEXT, **_FULL}, ("url",)),
    "file": Tag("file", {"src": _FILE}, ("ref",)),
    "content-ref": Tag("content-ref", {"url": _ADDRESS}, ("ref",)),
    "swagger": Tag("openapi", {"src": _ADDRESS, **_POINTER, "expanded": _FLAG, **_FULL}, ("ref", *_POINTER)),
    "openapi-operation": Tag("openapi-operation", {"spec": _SPEC, **_POINTER}, ("ref", *_POINTER)),
    "openapi-webhook": Tag(
        "openapi-webhook", {"spec": _SPEC, "name": _TEXT, "method": _TEXT}, ("ref", "name", "method")
    ),
    "openapi-schemas": Tag("openapi-schemas", {"spec": _SPEC, "schemas": _NAMES, "grouped": _FLAG}, ("ref", "schemas")),
}
"""By the type of the block."""
KINDS = {tag.name: kind for kind, tag in TAGS.items()}
"""The type of the block that a tag is."""
DEFAULTS: dict[str, dict[str, str]] = {"hint": {"style": "info"}, "updates": {"format": "full"}}
"""What an attribute is that a tag need not have and its block must."""


def data_of(kind: str, values: dict[str, str]) -> tuple[Node, dict[str, str]] | None:
    """The data of a block and what is left of the attributes; None where they are no such block's."""
    tag = TAGS[kind]
    known = {name.lower(): (value.name or name, value) for name, value in tag.values.items()}
    data: Node = {}
    rest: dict[str, str] = {}
    for name, text in (DEFAULTS.get(kind, {}) | values).items():
        called, value = known.get(name, ("", None))
        read = value.read(text) if value else None
        if read is not None:
            data[called] = read
        elif called in tag.needs:
            return None
        else:
            rest[name] = text
    return (data, rest) if all(name in data for name in tag.needs) else None


def attributes_of(kind: str, data: Node) -> dict[str, str]:
    """The attributes that say the data of a block."""
    found = {name: (value, data.get(value.name or name)) for name, value in TAGS[kind].values.items()}
    return {name: value.write(one) for name, (value, one) in found.items() if one is not None}


def format_tag(name: str, values: dict[str, str], inner: str | None = None) -> str:
    """A tag, written; one that holds nothing stands alone.

    Raises:
        InvalidNode: a value cannot stand within a tag.
    """
    opened = f"{{% {name}{''.join(_attribute(name, key, value) for key, value in values.items())} %}}"
    if inner is None:
        return opened
    return "\n".join(filter(None, (opened, inner, f"{{% end{name} %}}")))


def _attribute(tag: str, name: str, value: str) -> str:
    if not re.fullmatch(r"[^{}]*(\{[^{}]*\}[^{}]*)*", value):
        raise InvalidNode(f"{tag}.{name}", "has braces without their pair, which no tag can hold")
    words = re.sub(r'(["\\])', r"\\\1", value.replace("\n", " "))
    return f' {name}="{words}"'
