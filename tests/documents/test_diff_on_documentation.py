"""Random edits of documentation: the diff contains both texts and marks the changes."""

import os
import random
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from tests.documents.diff_on_documentation import KINDS
from tests.generated_docs.documentation import Documentation

from presscheck.documents.diff.page_diff import PageDifference, compare, difference_lines
from presscheck.documents.diff.word_diff import word_count
from presscheck.text.styled_text import Line, width

EDITS = int(os.environ.get("PRESSCHECK_CASES", "3"))
"""Number of edits of each of eight kinds; `make edits` uses 25."""
MOST = 1.2
"""Maximum ratio of the words marked as changed to the changed words."""
LEAST = 0.9
"""Minimum ratio of the words marked as changed to the changed words; link targets have words that are not shown."""

pytestmark = pytest.mark.documentation


class Edit(NamedTuple):
    """A page before and after an edit, and the numbers of removed and added words."""

    before: str
    after: str
    words: int


def edits(documentation: Documentation, kind: str) -> Iterator[Edit]:
    """Return edits of a kind, each of a random page that has something to edit."""
    chance = random.Random(kind)
    count = 0
    for _ in range(EDITS * 100):
        text = chance.choice(documentation.pages).text.replace("\r\n", "\n")
        edited = KINDS[kind](chance, text.split("\n"))
        if edited and "\n".join(edited[0]) != text:
            count += 1
            yield Edit(text, "\n".join(edited[0]), edited[1])
        if count == EDITS:
            return
    raise AssertionError(f"{documentation.name} has too few pages for {kind}")


def applied(difference: PageDifference, before: str) -> list[str]:
    """Return the lines of the old text, as the diff reconstructs them."""
    old = before.split("\n")
    found: list[str] = []
    for one in difference.source:
        if one.after and one.before and one.after.text == one.before.text:
            found.append(old[one.before.line])
        elif one.after:
            found.append(one.after.text)
    return found


def shown(line: Line) -> int:
    """Return the number of words that a line marks as removed or added; the first span is its mark."""
    return sum(word_count(one.text) for one in line[1:] if {"added", "removed"} & {*one.style.split()})


@pytest.mark.parametrize("kind", KINDS)
def test_diff_contains_both_texts_and_marks_changes(documentation: Documentation, kind: str) -> None:
    changed = marked = 0
    for edit in edits(documentation, kind):
        difference = compare(edit.before, edit.after)
        assert [line.rstrip() for line in applied(difference, edit.before)] == [
            line.rstrip() for line in edit.after.rstrip("\n").split("\n")
        ], f"{documentation.name}: {kind}: {edit.before!r}"
        lines = difference_lines(difference, 10_000, context=None).lines
        changed, marked = changed + edit.words, marked + sum(map(shown, lines))
    assert LEAST * changed <= marked <= MOST * changed


@pytest.mark.slow
@pytest.mark.documentation("varied-1")
def test_diff_of_unrelated_pages_contains_both(documentation: Documentation) -> None:
    pages = documentation.pages
    step = max(4, len(pages) // 15)
    for page, other in zip(pages[::step], pages[2::step], strict=False):
        before, after = page.text.replace("\r\n", "\n"), other.text.replace("\r\n", "\n")
        difference = compare(before, after)
        assert [line.rstrip() for line in applied(difference, before)] == [
            line.rstrip() for line in after.rstrip("\n").split("\n")
        ], f"{documentation.name}: {page.path}, {other.path}"
        for line in difference_lines(difference, 80, context=None).lines:
            assert width(line) <= 80
