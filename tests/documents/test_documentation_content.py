"""All words of documentation are in each output format, in the search index, and in the blocks of the page."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from tests.documents.documentation_content import html, pdf_source
from tests.generated_docs.documentation import Documentation, check_page
from tests.generated_docs.prose import markers_in

from presscheck.documents.markdown.block_splitter import split_blocks, text_lines
from presscheck.documents.markdown.plain_text import page_text
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.to_markdown import nodes_to_markdown

pytestmark = pytest.mark.documentation("varied")


def written_again(markdown: str) -> str:
    return nodes_to_markdown(markdown_to_nodes(markdown))


def blocks(markdown: str) -> str:
    return "\n".join(block.text for block in split_blocks(markdown))


@pytest.mark.parametrize("form", [html, written_again, pdf_source, blocks], ids=lambda form: form.__name__)
def test_all_words_are_in_all_output_formats(documentation: Documentation, form: Callable[[str], str]) -> None:
    def check(markdown: str) -> None:
        missing = markers_in(markdown) - markers_in(form(markdown))
        assert not missing

    for page in documentation.sample(3):
        check_page(documentation, page, check)


def test_all_words_can_be_searched(documentation: Documentation) -> None:
    def check(markdown: str) -> None:
        without_alternatives = re.sub(r'\balt="[^"]*"', "", markdown)
        missing = markers_in(without_alternatives) - markers_in(page_text(markdown)[1])
        assert not missing

    for page in documentation.pages:
        check_page(documentation, page, check)


@pytest.mark.documentation("varied", "manual")
def test_each_line_belongs_to_one_block(documentation: Documentation) -> None:
    def check(markdown: str) -> None:
        lines = text_lines(markdown)
        numbers = [
            number
            for block in split_blocks(markdown)
            for number in range(block.start_line, block.start_line + block.text.count("\n") + 1)
        ]
        assert len(numbers) == len(set(numbers))
        assert [line for number, line in enumerate(lines) if line.strip() and number not in {*numbers}] == []

    for page in documentation.pages:
        check_page(documentation, page, check)
