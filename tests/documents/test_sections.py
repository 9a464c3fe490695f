"""Sections of a page: folding, hidden lines, headings and anchors."""

import random

import pytest
from tests.generated_docs.documentation import Documentation, check_page

from presscheck.documents.markdown.block_splitter import split_blocks
from presscheck.documents.markdown.headings import find_sections
from presscheck.documents.terminal.controls import Controls, section_mark
from presscheck.documents.terminal.page_lines import PageLines
from presscheck.text.styled_text import plain, width

PAGE = """# Guide

Before it all.

## Install

One line that is long enough to need another line if the page is narrow.

### On Linux

- first
- second

<a id="inner"></a>Inside.

## Use

It works.

Setext
------

## Use

Again.

## Empty
"""


def page_of(markdown: str, controls: Controls, columns: int = 60) -> PageLines:
    return PageLines(markdown, columns, title="Guide", controls=controls)


def texts(page: PageLines) -> list[str]:
    page.at_least(1 << 30)
    return [plain(line) for line in page.lines]


def heading(page: PageLines, text: str) -> int:
    return next(one.block for one in page.headings if one.text == text)


def test_sections_end_at_the_next_heading_of_the_same_or_a_higher_level() -> None:
    blocks = split_blocks(PAGE)
    named = {section.key: (section.level, section.end - section.first) for section in find_sections(blocks).values()}
    assert named == {
        "# Guide 1": (1, len(blocks)),
        "## Install 1": (2, 5),
        "### On Linux 1": (3, 3),
        "## Use 1": (2, 2),
        "Setext ------ 1": (2, 1),
        "## Use 2": (2, 2),
        "## Empty 1": (2, 1),
    }


def test_folded_heading_shows_the_number_of_hidden_lines() -> None:
    page = page_of(PAGE, Controls())
    before = texts(page)
    page.fold(heading(page, "Install"), is_folded=True)
    folded = texts(page)
    assert "  · …" in folded[folded.index(next(line for line in folded if line.startswith("Install")))]
    assert not page.complete
    page.advance(10)
    at = next(number for number, line in enumerate(page.lines) if plain(line).startswith("Install"))
    assert plain(page.lines[at]) == "Install  · 6 lines", "two of a paragraph, a heading, two items and a line"
    hidden = before[before.index("Install") + 1 : before.index("Use")]
    assert sum(1 for line in hidden if line.strip()) == 6
    assert texts(page)[:at] == before[:at]
    assert texts(page)[at + 1 :][-1] == before[-1]
    assert len(page.lines) < len(before)
    page.fold(heading(page, "Install"), is_folded=False)
    assert texts(page) == before


def test_folding_keeps_heading_numbers_and_finds_anchors() -> None:
    page = page_of(PAGE, Controls())
    texts(page)
    before = [(one.level, one.text, one.block) for one in page.headings]
    page.fold_all(is_folded=True)
    texts(page)
    assert [(one.level, one.text, one.block) for one in page.headings] == before
    assert [one.text for one in page.headings if one.is_hidden] == ["On Linux"]
    page.advance(10)
    [hidden] = page.hidden_lines("inside")
    assert page.place_of(page.line_of((hidden.block, 0))) == (heading(page, "Install"), 0), "where it is folded"
    number = page.find_anchor("inner")
    assert number is not None
    line = page.line_of_source(number)
    assert line is not None
    assert "Inside." in plain(page.lines[line]), "to go there unfolds it"
    assert not page.reveal(hidden.block)
    assert page.is_folded(heading(page, "Use")), "only what it is in was unfolded"


def test_empty_sections_and_the_title_cannot_be_folded() -> None:
    page = page_of(PAGE, Controls())
    lines = texts(page)
    marked = [plain(line) for line in page.lines if section_mark(line)]
    assert marked == ["Install", "On Linux", "Use", "Use"]
    assert page.section_at(lines.index("Before it all.")) is None
    assert page.section_at(lines.index("Inside.")) == heading(page, "On Linux")


def test_folds_survive_other_changes_and_other_widths() -> None:
    controls = Controls()
    page = page_of(PAGE, controls)
    texts(page)
    second = [one.block for one in page.headings if one.text == "Use"][1]
    page.fold(second, is_folded=True)
    changed = page_of(PAGE.replace("Before it all.", "Before.\n\n## New\n\nMore."), controls, 30)
    assert [line.split("  ")[0] for line in texts(changed) if "·" in line] == ["Use"]
    assert "Again." not in texts(changed)
    assert "It works." in texts(changed)


def test_only_visible_blocks_are_rendered_at_first() -> None:
    markdown = "\n\n".join(f"## Part {number}\n\n{'word ' * 60}" for number in range(2000))
    controls = Controls()
    page = PageLines(markdown, 80, controls=controls)
    page.fold_all(is_folded=True)
    page.at_least(40)
    assert len(page.line_of_block) < 60
    assert not any(fold.blocks for fold in page._folds.values())


@pytest.mark.slow
@pytest.mark.documentation("varied-1")
def test_pages_fold_and_unfold(documentation: Documentation) -> None:
    chance = random.Random(documentation.name)

    def check(markdown: str) -> None:
        controls = Controls()
        page = PageLines(markdown, columns, title="Page", controls=controls)
        before = texts(page)
        for _ in range(4):
            blocks = [one.block for one in page.headings if one.block >= 0]
            if not blocks:
                break
            chosen = chance.choice(blocks)
            page.fold(chosen, is_folded=not page.is_folded(chosen))
            page.advance(60)
            assert [plain(line) for line in page.lines if width(line) > columns] == []
            for line in range(len(page.lines)):
                assert page.place_of(page.line_of(page.place_of(line))) == page.place_of(line) or not page.lines[line]
        again = PageLines(markdown, columns, title="Page", controls=controls)
        again.advance(60)
        assert (page.lines, page.line_of_block, page.links, page.headings) == (
            again.lines,
            again.line_of_block,
            again.links,
            again.headings,
        ), "folding one by one is the same as laying out anew"
        page.fold_all(is_folded=False)
        assert texts(page) == before

    for number, page in enumerate(documentation.sample(3)[::2]):
        columns = (10, 40, 80)[number % 3]
        check_page(documentation, page, check)


def test_folded_code_fits_narrow_terminals() -> None:
    markdown = (
        '{% code expandable="true" %}\n```\n' + "".join(f"{number}\n" for number in range(11)) + "```\n{% endcode %}\n"
    )
    drawn = {columns: PageLines(markdown, columns, controls=Controls()) for columns in (10, 40)}
    for page in drawn.values():
        page.advance(60)
    assert "▸ 1 more line" in [plain(line) for line in drawn[40].lines]
    assert [plain(line) for line in drawn[10].lines if width(line) > 10] == []
