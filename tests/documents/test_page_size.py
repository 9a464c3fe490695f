"""Size limits of texts: counting, and the processing time of the largest texts."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.table import each_case

from presscheck.documents.markdown.page_size import COMMENT_LIMITS, PAGE_LIMITS, count_parts, size_problem
from presscheck.documents.nodes.footnotes import annotations_in, body_of
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.service.web.html.context import Component, Included, ResolvedLink
from presscheck.service.web.html.page import render_page_html

ATTEMPTS = 3
MOST_SECONDS = 1.0
"""Maximum processor time for a page of a sixteenth of the allowed size, several times the usual duration."""
SHORT_ROWS = "|a" * 500 + "|\n" + "|-" * 500 + "|\n" + "|\n" * 30 + "\n"
LARGEST: dict[str, Callable[[int], str]] = {
    "paragraphs": lambda count: "ab\n\n" * count,
    "list items": lambda count: "1. a\n" * count,
    "growing quotes": lambda count: "".join(">" * (number % 90) + " a\n\n" for number in range(count // 20)),
    "rows of a table": lambda count: "|a|b|\n|-|-|\n" + "|a|b|\n" * (count // 4),
    "rows without cells": lambda count: SHORT_ROWS * (count // 16_500),
    "open elements": lambda count: "<div>\n" * (count // 3),
    "links": lambda count: "[a](b) " * count,
    "addresses": lambda count: "http://a.bc " * count,
    "emphasis": lambda count: "*a* " * (2 * count),
    "footnotes with many references": lambda count: "[^a]" * (count // 2) + "\n\n[^a]: " + "[c](d) " * (count // 2),
    "letters": lambda count: "a" * (25 * count),
}


class Site:
    """A site on which everything exists. Snippet A includes B many times, B includes C, and so on."""

    def __init__(self) -> None:
        self.lookups = 0

    def leads(self, target: str, source: str) -> ResolvedLink | None:
        return ResolvedLink(target)

    def included(self, target: str, source: str) -> Included | None:
        self.lookups += 1
        return Included(f'{{% include "{chr(ord(target) + 1)}" %}}\n' * 100, target)

    def component(self, integration: str, block: str, props: dict[str, Any]) -> Component | None:
        return None

    def specification(self, name: str, source: str, *, is_file: bool) -> None:
        return None

    def model_url(self, reader: Any, name: str) -> None:
        return None

    def holds(self, condition: str) -> bool:
        return True

    def variable(self, name: str) -> str | None:
        return None


@each_case(
    ("markdown", "parts"),
    [
        ("", 0),
        ("a\n\n \nb\r\nc\rd", 4),
        ("[a](b) <b>x</b> http://x.y", 1 + 2 + 2),
        ("****", 2),
        ("|a|b|\n|-|-|\n|\n", 3 + 7 + 1),
        ("> |a|b|c|\n> |-|-|-|\n>\n> |\n", 4 + 9 + 1 + 3 + 2),
        ("|a|b|c|\n|-|-|-|\n\u2028\n|", 4 + 9 + 3 + 2),
        ("|a|b|c|\n|-|-|-|\n\nb", 3 + 8),
    ],
)
def test_parts_are_counted(markdown: str, parts: int) -> None:
    assert count_parts(markdown) == parts


def test_error_names_the_exceeded_limit() -> None:
    assert size_problem("a" * 500_000) is None
    assert size_problem("a" * 500_001) == "too large: 500,001 characters, at most 500,000 are allowed"
    problem = "too large: 20,001 lines, table cells, links and tags, at most 20,000 are allowed"
    assert size_problem("a\n" * 20_001) == problem
    assert size_problem("a\n" * 2001, COMMENT_LIMITS) is not None


@pytest.mark.slow
@each_case("kind", LARGEST)
def test_large_page_is_rendered_and_converted_in_time(kind: str) -> None:
    write = LARGEST[kind]
    count = PAGE_LIMITS.parts
    while size_problem(write(count)) is not None:
        count //= 2
    markdown = write(count // 16)
    works: tuple[Callable[[], object], ...] = (
        lambda: render_page_html(markdown, "page.md", Site()),
        lambda: markdown_to_nodes(markdown),
    )
    for work in works:
        # other processes only add to the processor time of a thread
        assert any(seconds(work) < MOST_SECONDS for _ in range(ATTEMPTS))


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    start = time.thread_time()
    work()
    return time.thread_time() - start


def test_included_texts_are_limited() -> None:
    site = Site()
    page = render_page_html('{% include "A" %}\n' * 100, "page.md", site)
    assert site.lookups <= PAGE_LIMITS.parts // 20
    assert len(page.html) < 1_000_000


@each_case(("words", "copies"), [("b", 20), ("[c](d) " * 2000, 2)])
def test_copies_of_a_long_footnote_are_limited(words: str, copies: int) -> None:
    document = markdown_to_nodes(f"{'[^a]' * 30}\n\n[^a]: {words}\n")
    has_body = [bool(body_of(note)) for note in annotations_in(document["nodes"])]
    assert has_body == [True] * copies + [False] * (30 - copies)
