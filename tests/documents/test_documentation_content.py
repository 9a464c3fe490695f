"""Documentation in each form that the product gives it: nothing that an author wrote is left out."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from tests.generated_docs.documentation import Documentation, check_page
from tests.generated_docs.prose import markers_in

from presscheck.documents.blocks import split, text_lines
from presscheck.documents.html_pages import Address, Included, page_html
from presscheck.documents.nodes.reading import nodes_of
from presscheck.documents.nodes.writing import markdown_of
from presscheck.documents.page_words import page_words
from presscheck.documents.typesetting import typeset
from presscheck.documents.typesetting_inlines import web_target

pytestmark = pytest.mark.documentation("varied")


class OpenWorld:
    """A site on which every address leads somewhere and every condition holds."""

    def leads(self, target: str, source: str) -> Address | None:
        return Address(f"https://example.org/{source}/{target}")

    def included(self, target: str, source: str) -> Included | None:
        return None

    def holds(self, condition: str) -> bool:
        return True

    def variable(self, name: str) -> str | None:
        return None


def html(markdown: str) -> str:
    return page_html(markdown, "home.md", OpenWorld()).html


def written_again(markdown: str) -> str:
    return markdown_of(nodes_of(markdown))


def pdf_source(markdown: str) -> str:
    return typeset(markdown, web_target, name="p")


def blocks(markdown: str) -> str:
    return "\n".join(block.text for block in split(markdown))


@pytest.mark.parametrize("form", [html, written_again, pdf_source, blocks], ids=lambda form: form.__name__)
def test_every_word_is_in_every_form(documentation: Documentation, form: Callable[[str], str]) -> None:
    def check(markdown: str) -> None:
        missing = markers_in(markdown) - markers_in(form(markdown))
        assert not missing

    for page in documentation.pages:
        check_page(documentation, page, check)


def test_every_word_can_be_searched(documentation: Documentation) -> None:
    def check(markdown: str) -> None:
        without_alternatives = re.sub(r'\balt="[^"]*"', "", markdown)
        missing = markers_in(without_alternatives) - markers_in(page_words(markdown)[1])
        assert not missing

    for page in documentation.pages:
        check_page(documentation, page, check)


def test_every_line_belongs_to_one_block(documentation: Documentation) -> None:
    def check(markdown: str) -> None:
        lines = text_lines(markdown)
        numbers = [
            number
            for block in split(markdown)
            for number in range(block.start_line, block.start_line + block.text.count("\n") + 1)
        ]
        assert len(numbers) == len(set(numbers))
        assert [line for number, line in enumerate(lines) if line.strip() and number not in {*numbers}] == []

    for page in documentation.pages:
        check_page(documentation, page, check)


def test_nodes_mean_the_same_after_they_were_written(documentation: Documentation) -> None:
    def check(markdown: str) -> None:
        document = nodes_of(markdown)
        assert nodes_of(markdown_of(document)) == document

    for page in documentation.pages:
        check_page(documentation, page, check)
