"""The text of operations, webhooks and models for search, made in a tenth of the time that showing them takes.

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
    """Return the text of what a block refers to as Markdown, with a heading for each anchor that the block has.

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
        found = {} if address in seen else reader.resolved(value)
        seen |= {address} if address else set()
        words = (name or text(found.get("name")), *(text(found.get(key)) for key in ("type", "format", "description")))
        values = " ".join(str(choice) for choice in sequence(found.get("enum"))[:MOST_VALUES])
        line = _line(" ".join(filter(None, (*words, values))))
        if line:
            yield line
        for key in _LISTED:
            waiting.extend(("", inner) for inner in sequence(found.get(key)))
        for key in _NAMED:
            waiting.extend(mapping(found.get(key)).items())
        waiting.extend(("", found[key]) for key in _SINGLE if mapping(found.get(key)))


def _line(words: str) -> str:
    """Return words in one line of Markdown, which is no heading and no code block."""
    return " ".join(words.split()).lstrip("#`~|>{<- ")
