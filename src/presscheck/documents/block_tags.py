"""Registry of block tags: each `{% tag %}` of the platform with its attributes, its content and its node type.

Four renderers have an entry for every tag: terminal, web page, PDF and node tree. A new tag needs an entry in each; a
test that walks this registry reports missing ones.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple


class Hint(NamedTuple):
    """A kind of hint: its label, its style in styled text, and the style of its node."""

    label: str
    style: str
    node_style: str


HINTS = {
    "info": Hint("Note", "hint-info", "info"),
    "note": Hint("Note", "hint-info", "info"),
    "tip": Hint("Tip", "hint-success", "success"),
    "warning": Hint("Warning", "hint-warning", "warning"),
    "caution": Hint("Caution", "hint-warning", "danger"),
    "danger": Hint("Danger", "hint-danger", "danger"),
    "important": Hint("Important", "hint-warning", "warning"),
    "success": Hint("Success", "hint-success", "success"),
}
"""Kinds of hints, as `{% hint style="…" %}` and as alerts (`> [!NOTE]`)."""

_included = re.compile(r"\{%-?\s*include\s+[\"']([^\"']+)[\"']", re.IGNORECASE).match
ALERT = re.compile(rf"[ \t]*\[!({'|'.join(HINTS)})\][ \t]*", re.IGNORECASE)
"""Matches the first line of an alert, such as `[!NOTE]`, without the sign of the quotation."""

AttributeKind = Literal["text", "choice", "flag", "count", "length", "file", "address", "spec", "names", "tags"]
"""The format of an attribute's value, which determines how it is converted for nodes."""

Content = Literal["blocks", "caption", "nothing"]
"""The content between a tag and its end tag: blocks, text about the tag itself, or nothing if it has no end tag."""


class Attribute(NamedTuple):
    """An attribute of a tag. `name` is the name in Markdown, `data_name` a different name in the data of a node."""

    name: str
    kind: AttributeKind = "text"
    choices: tuple[str, ...] = ()
    is_required: bool = False
    default: str = ""
    data_name: str = ""

    @property
    def key(self) -> str:
        """The name of the attribute in the data of a node."""
        return self.data_name or self.name


class BlockTag(NamedTuple):
    """A block tag. `node` is the type of its node; empty if the tag remains Markdown in the node tree."""

    name: str
    node: str = ""
    content: Content = "nothing"
    attributes: tuple[Attribute, ...] = ()


_TITLE, _ICON = Attribute("title"), Attribute("icon")
_FULL_WIDTH = Attribute("fullWidth", "flag")
_URL = Attribute("url", is_required=True)
_ADDRESS = Attribute("url", "address", is_required=True, data_name="ref")
_SPEC = Attribute("spec", "spec", is_required=True, data_name="ref")
_OPERATION = (Attribute("path", is_required=True), Attribute("method", is_required=True))
_CODE = (
    _TITLE,
    Attribute("overflow", "choice", ("wrap", "scroll")),
    Attribute("lineNumbers", "flag"),
    _FULL_WIDTH,
    Attribute("expandable", "flag"),
    Attribute("collapsedLineCount", "count"),
)
_PROMPT = (
    Attribute("description", is_required=True),
    _ICON,
    Attribute("openInAIProviders", "flag"),
    Attribute("defaultExpanded", "choice", ("hidden", "partial", "full")),
)
_HINT_STYLES = ("info", "warning", "danger", "success")
_VALIGN = Attribute("valign", "choice", ("top", "middle", "bottom"), data_name="verticalAlignment")
_DATE_FORMAT = Attribute("format", "choice", ("numeric", "full", "short"), is_required=True, default="full")

_TAGS = (
    BlockTag("tabs", "tabs", "blocks", (_FULL_WIDTH,)),
    BlockTag("tab", "tabs-item", "blocks", (_TITLE, _ICON)),
    BlockTag("stepper", "stepper", "blocks"),
    BlockTag("step", "stepper-step", "blocks", (_ICON,)),
    BlockTag("columns", "columns", "blocks", (_FULL_WIDTH,)),
    BlockTag("column", "column", "blocks", (Attribute("width", "length"), _VALIGN)),
    BlockTag(
        "hint",
        "hint",
        "blocks",
        (Attribute("style", "choice", _HINT_STYLES, is_required=True, default="info"), _ICON),
    ),
    BlockTag("prompt", "prompt", "blocks", _PROMPT),
    BlockTag("updates", "updates", "blocks", (_DATE_FORMAT,)),
    BlockTag("update", "update", "blocks", (Attribute("date", is_required=True), Attribute("tags", "tags"))),
    BlockTag("code", "code", "blocks", _CODE),
    BlockTag("details", "expandable", "blocks"),
    BlockTag("div", "images", "blocks"),
    BlockTag("if", "if", "blocks"),
    BlockTag("include", "reusable-content"),
    BlockTag("embed", "embed", "caption", (_URL, _FULL_WIDTH)),
    BlockTag("file", "file", "caption", (Attribute("src", "file", is_required=True, data_name="ref"),)),
    BlockTag("content-ref", "content-ref", "caption", (_ADDRESS,)),
    BlockTag(
        "openapi",
        "swagger",
        "caption",
        (
            Attribute("src", "address", is_required=True, data_name="ref"),
            *_OPERATION,
            Attribute("expanded", "flag"),
            _FULL_WIDTH,
        ),
    ),
    BlockTag("openapi-operation", "openapi-operation", "caption", (_SPEC, *_OPERATION)),
    BlockTag(
        "openapi-webhook",
        "openapi-webhook",
        "caption",
        (_SPEC, Attribute("name", is_required=True), Attribute("method", is_required=True)),
    ),
    BlockTag(
        "openapi-schemas",
        "openapi-schemas",
        "caption",
        (_SPEC, Attribute("schemas", "names", is_required=True), Attribute("grouped", "flag")),
    ),
    BlockTag("swagger", "", "caption"),
    BlockTag("swagger-description", "", "caption"),
    BlockTag("swagger-parameter", "", "caption"),
    BlockTag("swagger-response", "", "caption"),
    BlockTag("@", "integration"),
)

BLOCK_TAGS = {tag.name: tag for tag in _TAGS}
"""All tags by name; `@` represents the blocks of all integrations (`{% @integration/block %}`)."""

OLD_NAMES = {"page-ref": "content-ref", "code-tabs": "tabs", "code-tabs-item": "tab"}
"""Maps names of tags in older repositories of the platform to their current names."""
OLD_TARGET = "page"
"""The attribute of `page-ref` that corresponds to `url` of `content-ref`."""


def hint_of(kind: str) -> Hint:
    """Return the hint of a kind, or the hint `info` for an unknown kind."""
    return HINTS.get(kind, HINTS["info"])


def included_address(tag: str) -> str:
    """Return the address of the reusable content in an `include` tag, or an empty string."""
    match = _included(tag)
    return match[1] if match else ""


def registered_name(name: str) -> str:
    """Return the name of a tag in the registry. All blocks of integrations share the name `@`."""
    return "@" if name.startswith("@") else name
