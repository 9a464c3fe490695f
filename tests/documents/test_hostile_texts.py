"""Parsers read hostile pages of 20,000 characters within a second of processor time, and any text as a number."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import cycle
from typing import Any

import pytest
from tests.documents.documentation_content import html, pdf_source
from tests.documents.drawn_blocks import SAMPLES
from tests.table import each_case

from presscheck.documents.git_format.repository import read_page
from presscheck.documents.markdown.block_splitter import split_blocks
from presscheck.documents.markdown.headings import heading_text, leading_title
from presscheck.documents.markdown.inline_runs import html_events
from presscheck.documents.markdown.links import find_links
from presscheck.documents.markdown.page_sections import page_sections
from presscheck.documents.markdown.parser import parse
from presscheck.documents.markdown.plain_text import page_text
from presscheck.documents.markdown.search_terms import index_terms, query_phrases
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.to_markdown import nodes_to_markdown
from presscheck.documents.pages.front_matter import read_description
from presscheck.documents.terminal.page_lines import render_page
from presscheck.service.html_conversion import parse_html

CODE = '<pre data-expandable="true" data-collapsed-line-count="4"><code class="lang-py">one\n</code></pre>\n'
RATING = '<table><thead><tr><th data-type="rating">R</th></tr></thead><tbody><tr><td>3</td></tr></tbody></table>\n'
LENGTH = 20_000
LIMIT = 1.0
TEXTS = {
    "heading with blanks": "# a" + " " * LENGTH + "b",
    "heading with tabs": "# a" + "\t" * LENGTH + "b",
    "heading with marks": "# a" + " #" * (LENGTH // 2) + "b",
    "blanks": " " * LENGTH,
    "empty lines": "\n" * LENGTH,
    "headings": "#\n" * (LENGTH // 2),
    "brackets": "[" * LENGTH,
    "link starts": "[a](" * (LENGTH // 4),
    "tags": "<a " * (LENGTH // 3),
    "comments": "<!--" * (LENGTH // 4),
    "block tags": "{% a " * (LENGTH // 5),
    "block tag lines": "{% if x\n" * (LENGTH // 8),
    "tables": "| a |\n|" + " -" * (LENGTH // 2),
    "fences": "```\n" * (LENGTH // 4) + "a",
    "quotes": '"' * LENGTH,
    "attributes": "<table " + "a=" * (LENGTH // 2),
    "words": "a " * (LENGTH // 2),
    "letters": "a" * LENGTH,
    "formulas": "$$a" * (LENGTH // 3),
    "front matter": "---\ndescription: >" + " " * LENGTH + "\n---\n",
    "summaries": "<summary>" * (LENGTH // 9),
}


def parse_or_refuse(text: str) -> None:
    """Parse a page. Nesting beyond the library's limit raises an error, for which callers show the source."""
    with suppress(RecursionError):
        parse(text, {})


READERS: dict[str, Callable[[str], Any]] = {
    "parse": parse_or_refuse,
    "split_blocks": split_blocks,
    "page_text": page_text,
    "page_sections": page_sections,
    "leading_title": leading_title,
    "heading_text": heading_text,
    "find_links": find_links,
    "html_events": lambda text: list(html_events(text)),
    "read_page": lambda text: read_page("a.md", text),
    "index_terms": index_terms,
    "query_phrases": query_phrases,
    "read_description": read_description,
    "parse_html": lambda text: [parse_html(f"{text}{end}").get_text() for end in ("", ">", "x</a>")],
}


@each_case("reader", READERS)
def test_hostile_texts_are_read_in_time(reader: str) -> None:
    slow: dict[str, float] = {}
    for name, text in TEXTS.items():
        best = LIMIT
        for _ in range(2):
            begun = time.thread_time()
            READERS[reader](text)
            best = time.thread_time() - begun
            if best < LIMIT:
                break
        if best >= LIMIT:
            slow[name] = round(best, 2)
    assert not slow


@each_case(
    ("line", "expected"),
    [
        ("# a", "a"), ("## a b ##", "a b"), ("# a #  ", "a"), ("# a#", "a"), ("# #", "#"), ("#a", None), ("#", None),
        ("   ###### a", "a"), ("    # a", None), ("####### a", None), ("# a # b", "a # b"), ("a", None),
    ],
)  # fmt: skip
def test_heading_has_a_text(line: str, expected: str | None) -> None:
    assert heading_text(line) == expected


@each_case(
    ("text", "expected"),
    [
        ("# a\n\nb", ("a", "b")), ("\n\n# a #\nb", ("a", "b")), ("# a", ("a", "")), ("## a\n", None), ("a\n# b", None),
        ("#\n\na", None), ("#  \na", None),
    ],
)  # fmt: skip
def test_page_starts_with_its_title(text: str, expected: tuple[str, str] | None) -> None:
    heading = leading_title(text)
    assert (heading and (heading.title, text[heading.end :])) == expected


NUMBERS = ("9" * 5000, "-1", "", "²", "١٢", "1e999", "nan", "0x10")
"""Texts in the place of a number; Python parses no number with more than 4,300 digits."""
FORMS: dict[str, Callable[[str], Any]] = {
    "terminal": lambda text: render_page(text, 60),
    "nodes": lambda text: nodes_to_markdown(markdown_to_nodes(text)),
    "web": html,
    "pdf": pdf_source,
}


@pytest.mark.slow
@each_case("form", FORMS)
def test_number_may_be_anything(form: str) -> None:
    samples = {**SAMPLES, "code": CODE, "rating": RATING}
    places = {name: list(re.finditer(r'(?<==")[^"{%]*(?=")|\b\d+\b', text)) for name, text in samples.items()}
    assert sum(map(len, places.values())) > 100
    first = [*FORMS].index(form)
    turns = cycle(NUMBERS[first:] + NUMBERS[:first])
    for name, found in places.items():
        for place, number in zip(found, turns, strict=False):
            text = samples[name][: place.start()] + number + samples[name][place.end() :]
            try:
                FORMS[form](text)
            except Exception as error:
                raise AssertionError(f"{name}, with {number[:9]!r} for {place[0]!r}") from error
