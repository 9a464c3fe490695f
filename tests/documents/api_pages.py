"""Renders API references as HTML and as Markdown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from presscheck.documents.openapi.blocks import written_blocks
from presscheck.documents.openapi.code_samples import SampleRequest
from presscheck.documents.openapi.markdown import specified_markdown
from presscheck.documents.openapi.specification import Entry, SpecificationReader, read_specification
from presscheck.service.web.html.context import Included, ResolvedLink
from presscheck.service.web.html.page import HtmlPage, render_page_html

PETS = Path(__file__).with_name("pets.yaml")
"""A specification with all features that a reference shows."""

BODY = {"name": 'Tom\'s "cat"', "tags": ["a", None, True], "nested": {"n": 1.5}}
REQUESTS = [
    SampleRequest("GET", "https://example.org/a/{id}", [("q", "a b&c"), ("x[]", "1")], [("X-A", "$(b) 'c'")]),
    SampleRequest("POST", "https://example.org/", media_type="application/json", body=BODY, login=True),
    SampleRequest(
        "PUT", "https://example.org/", media_type="application/x-www-form-urlencoded", body={"a": "b c", "d": 1}
    ),
    SampleRequest("PATCH", "https://example.org/", media_type="multipart/form-data", body={"a": "b"}),
    SampleRequest("TRACE", "https://example.org/", media_type="text/plain", body="it's\ntext"),
    SampleRequest("POST", "https://example.org/", media_type="application/vnd.a+json", body=[]),
]


def pets() -> SpecificationReader:
    return SpecificationReader(read_specification(PETS.read_bytes()), "pets", is_tried=True)


def reader_of(document: dict[str, Any]) -> SpecificationReader:
    return SpecificationReader(read_specification(json.dumps({"openapi": "3.1.0"} | document).encode()), is_tried=True)


class ApiPage:
    """The surroundings of a page on which all blocks refer to one specification."""

    def __init__(self, reader: SpecificationReader | None) -> None:
        self._reader = reader

    def leads(self, target: str, source: str) -> ResolvedLink | None:
        return ResolvedLink(target)

    def included(self, target: str, source: str) -> Included | None:
        return None

    def component(self, integration: str, block: str, props: dict[str, Any]) -> None:
        return None

    def specification(self, name: str, source: str, *, is_file: bool) -> SpecificationReader | None:
        return self._reader

    def model_url(self, reader: SpecificationReader, name: str) -> str | None:
        return f"/models#{name}"

    def holds(self, condition: str) -> bool:
        return True

    def variable(self, name: str) -> str | None:
        return None


def block_of(entry: Entry) -> str:
    """Return the block that shows an operation or a webhook."""
    if entry.kind == "webhook":
        return f'{{% openapi-webhook spec="x" name="{entry.name}" method="{entry.method}" %}}'
    return f'{{% openapi-operation spec="x" path="{entry.name}" method="{entry.method}" %}}'


def drawn(markdown: str, reader: SpecificationReader | None) -> HtmlPage:
    return render_page_html(markdown, "page.md", ApiPage(reader))


def html_of(reader: SpecificationReader) -> str:
    """Return the HTML of all operations and models."""
    blocks = [block_of(entry) for entry in reader.specification.entries]
    models = ",".join(reader.specification.schemas)
    return drawn("\n\n".join((*blocks, f'{{% openapi-schemas spec="x" schemas="{models}" %}}')), reader).html


def markdown_of(block: str, reader: SpecificationReader) -> str:
    return "\n\n".join(specified_markdown(reader, written.reference) for written in written_blocks(block))
