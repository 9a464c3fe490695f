"""Suggestions: what is written is read again, and put where it belongs."""

from __future__ import annotations

import pytest

from presscheck.documents.pages.suggestions import (
    block_at,
    format_suggestion,
    parse_suggestion,
    replace_block,
    suggestion_problem,
    without_fingerprint,
)

PAGE = "# Tokens\n\nA token belongs to one project.\nIt expires.\n\n```sh\nlogin\n```\n\n* one\n* two\n"


@pytest.mark.parametrize("line", [0, 2, 3, 5, 7, 9, 10])
def test_unchanged_suggestion_changes_nothing(line: int) -> None:
    block = block_at(PAGE, line)
    assert block is not None
    found = parse_suggestion(f"> A token\n\nWhy not so?\n\n{format_suggestion(block.text)}\nThanks.")
    assert found is not None and found.words == block.text
    assert replace_block(PAGE, block, found.words) == PAGE


def test_suggestion_replaces_the_block() -> None:
    block = block_at(PAGE, 3)
    assert block is not None
    found = parse_suggestion("```suggestion\nA token is for one project.\n\nIt expires in a year.\n```")
    assert found is not None
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


def test_the_words_are_found_in_the_comment() -> None:
    comment = f"> A token\n\nWhy?\n{format_suggestion('It expires.')}Thanks"
    found = parse_suggestion(comment)
    assert found is not None
    assert (comment[found.start : found.end], found.before, found.after) == (
        "It expires.",
        "> A token\n\nWhy?\n",
        "\nThanks",
    )


@pytest.mark.parametrize(
    ("comment", "problem"),
    [
        ("```suggestion\nIt expires.\n```", None),
        ("   ```suggestion\nIt expires.\n   ````", None),
        ("````suggestion\n```sh\nlogin\n```\n````\n", None),
        ("`suggestion` and ```suggestion``` in a line", None),
        ("> ```suggestion\n> quoted\n\nNo.", None),
        ("```suggestion\nIt expires.", "the suggestion has no end"),
        ("```suggestion\nIt expires.```", "the suggestion has no end"),
        ("````suggestion\nIt expires.\n```", "the suggestion has no end"),
        ("My words```suggestion\nIt expires.\n```", "must start a line of its own"),
        ("```suggestion\none\n```\n\n```suggestion\ntwo", "the suggestion has no end"),
    ],
)
def test_a_broken_suggestion_has_a_reason(comment: str, problem: str | None) -> None:
    found = suggestion_problem(comment)
    assert found is None if problem is None else found and problem in found


def test_the_fingerprint_of_earlier_versions_is_left_out() -> None:
    assert without_fingerprint("a\n```suggestion 0a1b2c3d\nx\n```\nb") == "a\n```suggestion\nx\n```\nb"
    assert without_fingerprint("```sh x\ny\n```") == "```sh x\ny\n```"
