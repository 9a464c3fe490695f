"""The text of operations, webhooks and models for search, in a tenth of the time that rendering them takes.

Each component is read once, where it is nearest to the operation. Examples and code samples are left out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from presscheck.documents.openapi.blocks import BlockReference
from presscheck.documents.openapi.markdown import plain_words
from presscheck.documents.openapi.specification import (
    SpecificationReader,
    mapping,
    model_reference,
    sequence,
    text,
    title_of,
)

LONGEST = 5_000
"""Maximum number of characters of an operation or a model."""
MOST_VALUES = 50
"""Maximum number of values of a choice."""
_NAMED = ("properties", "patternProperties", "headers", "responses", "content", "$defs")
"""Keys of objects whose keys are names."""
_LISTED = ("parameters", "allOf", "oneOf", "anyOf", "prefixItems")
_SINGLE = ("requestBody", "schema", "items", "additionalProperties", "not")


def searched_markdown(reader: SpecificationReader, block: BlockReference) -> str:
    """Return the operation or the models of a block as Markdown, with a heading for each anchor of the block.

    The text is empty if the specification does not have the operation.
    """
    if block.kind == "models":
        names = (name for name in block.models if reader.component("schemas", name) is not None)
        return "\n".join(_section(reader, name, "", model_reference(name)) for name in names)
    details = reader.find("webhooks" if block.kind == "webhook" else "paths", block.name, block.method)
    if details is None:
        return ""
    endpoint = f"{block.method.upper()} {block.name}"
    return _section(reader, title_of(details, block.name), endpoint, details)


def _section(reader: SpecificationReader, title: str, endpoint: str, value: Any) -> str:
    parts = [f"## {plain_words(title)}", "", _line(endpoint)]
    left = LONGEST
    for line in _lines(reader, value):
        left -= len(line) + 1
        if left < 0:
            break
        parts.append(line)
    return "\n".join((*parts, ""))


def _lines(reader: SpecificationReader, value: Any) -> Iterator[str]:
    """Yield the words of a part of a specification, and then of the parts within it, breadth first."""
    seen: set[str] = set()
    waiting = deque([("", value)])
    while waiting:
        name, value = waiting.popleft()
        address = text(mapping(value).get("$ref"))
        resolved = {} if address in seen else reader.resolved(value)
        seen |= {address} if address else set()
        words = (
            name or text(resolved.get("name")),
            *(text(resolved.get(key)) for key in ("type", "format", "description")),
        )
        values = " ".join(str(choice) for choice in sequence(resolved.get("enum"))[:MOST_VALUES])
        line = _line(" ".join(filter(None, (*words, values))))
        if line:
            yield line
        for key in _LISTED:
            waiting.extend(("", inner) for inner in sequence(resolved.get(key)))
        for key in _NAMED:
            waiting.extend(mapping(resolved.get(key)).items())
        waiting.extend(("", resolved[key]) for key in _SINGLE if mapping(resolved.get(key)))


def _line(words: str) -> str:
    """Join words to one line, without leading signs that would start a heading or another block."""
    return " ".join(words.split()).lstrip("#`~|>{<- ")
