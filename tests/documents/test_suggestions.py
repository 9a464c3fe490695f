"""Suggestions: what is written is read again, and put where it belongs."""

from __future__ import annotations

import pytest

from presscheck.documents.pages.suggestions import (
    block_at,
    fingerprint,
    format_suggestion,
    parse_suggestion,
    replace_block,
)

PAGE = "# Tokens\n\nA token belongs to one project.\nIt expires.\n\n```sh\nlogin\n```\n\n* one\n* two\n"


@pytest.mark.parametrize("line", [0, 2, 3, 5, 7, 9, 10])
def test_unchanged_suggestion_changes_nothing(line: int) -> None:
    block = block_at(PAGE, line)
    assert block is not None
    found = parse_suggestion(f"> A token\n\nWhy not so?\n\n{format_suggestion(block)}\nThanks.")
    assert found is not None and found.words == block.text and found.print == fingerprint(block)
    assert replace_block(PAGE, block, found.words) == PAGE


def test_suggestion_replaces_the_block() -> None:
    block = block_at(PAGE, 3)
    assert block is not None
    found = parse_suggestion("```suggestion\nA token is for one project.\n\nIt expires in a year.\n```")
    assert found is not None and found.print == ""
    assert replace_block(PAGE, block, found.words) == PAGE.replace(
        "A token belongs to one project.\nIt expires.", "A token is for one project.\n\nIt expires in a year."
    )


def test_empty_suggestion_removes_the_block() -> None:
    block = block_at(PAGE, 9)
    found = parse_suggestion("```suggestion\n```")
    assert block is not None and found is not None
    assert replace_block(PAGE, block, found.words) == PAGE.replace("* one\n* two\n", "")


def test_no_block_at_blank_lines_and_beyond_the_page() -> None:
    assert block_at(PAGE, 1) is None
    assert block_at(PAGE, 99) is None


@pytest.mark.parametrize("comment", ["no block", "```\nsuggestion\n```", "```suggestion\nnever closed", "`suggestion`"])
def test_comments_without_suggestion(comment: str) -> None:
    assert parse_suggestion(comment) is None


def test_fingerprint_ignores_trailing_blanks() -> None:
    first, other = block_at("a token \nexpires", 0), block_at("a token\nexpires", 0)
    changed = block_at("a token\nexpired", 0)
    assert first and other and changed
    assert fingerprint(first) == fingerprint(other) != fingerprint(changed)
