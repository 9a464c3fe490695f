"""The blocks of a page that show a part of an OpenAPI specification."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from presscheck.documents.markdown.parser import parse_attributes

MOST_MODELS = 200
"""Maximum number of models of a block."""
_block = re.compile(
    r"\{%-?\s*(openapi(?:-operation|-webhook|-schemas)?)(?=\s)((?:[^%]|%(?!\}))*)%\}"
    r"(?:(?:(?!\{%)[\s\S]){0,2000}\{%-?\s*end\1\s*-?%\})?",
    re.IGNORECASE,
)


class BlockReference(NamedTuple):
    """The part of a specification that a block shows.

    Attributes:
        origin: the slug, path or URL of the specification; empty if the block lacks it.
        is_file: whether the origin is a path or a URL.
        kind: `operation`, `webhook` or `models`.
        name: the path of an operation, or the name of a webhook; empty for models.
        method: the method of an operation or a webhook.
        models: the names of models.
    """

    origin: str
    is_file: bool
    kind: str
    name: str
    method: str
    models: tuple[str, ...]


class WrittenBlock(NamedTuple):
    """A block in a text: the offsets of its start and end, including its caption and end tag, and its reference."""

    start: int
    end: int
    reference: BlockReference


def block_reference(tag: str, attributes: Mapping[str, str]) -> BlockReference:
    """Return the reference of a block, given the name and the attributes of its tag."""
    kind = {"openapi-webhook": "webhook", "openapi-schemas": "models"}.get(tag, "operation")
    webhook = attributes.get("name=") or attributes.get("name") or attributes.get("webhook") or ""
    models = [name.strip() for name in attributes.get("schemas", "").split(",")][:MOST_MODELS]
    return BlockReference(
        attributes.get("spec") or attributes.get("src") or "",
        "spec" not in attributes,
        kind,
        webhook if kind == "webhook" else attributes.get("path", ""),
        attributes.get("method", ""),
        tuple(filter(None, models)),
    )


def written_blocks(markdown: str) -> Iterator[WrittenBlock]:
    """Yield the OpenAPI blocks of a text that name a specification. Code in the text must be blanked."""
    if "openapi" not in markdown.lower():
        return
    for match in _block.finditer(markdown):
        reference = block_reference(match[1].lower(), parse_attributes(match[2]))
        if reference.origin:
            yield WrittenBlock(match.start(), match.end(), reference)
