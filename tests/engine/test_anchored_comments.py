"""Comments and suggestions of programs, which are anchored at a text of the page."""

import pytest
from tests.table import each_case

from presscheck.documents.diff.suggestion_targets import find_target
from presscheck.documents.pages.comment_text import parse_suggestion, split_quote
from presscheck.engine.review.anchored_comments import comment_on_text, only_place, suggestion_for_text
from presscheck.errors import InvalidArgument

PAGE = "# Tokens\n\nA token lasts an hour.\n\n- One\n- Two\n\n```python\nkey = 1\n```\n\nOne\n"


def test_comment_quotes_its_anchor() -> None:
    assert comment_on_text(PAGE, "A token lasts", "Why?") == "> A token lasts\n\nWhy?"


@each_case("words", ["not there at all", "", "…", "hour. One"])
def test_comment_on_missing_text_is_refused(words: str) -> None:
    with pytest.raises(InvalidArgument):
        comment_on_text(PAGE, words, "Why?")


@each_case(
    ("old", "new", "block"),
    [
        ("an hour", "a day", "A token lasts a day."),
        ("- Two", "- Three", "- One\n- Three"),
        ("key = 1", "key = 2", None),
    ],
)
def test_a_suggestion_replaces_the_block_with_the_text(old: str, new: str, block: str | None) -> None:
    body = suggestion_for_text(PAGE, old, new, "Because.")
    suggestion, target = parse_suggestion(body), find_target(split_quote(body)[0], PAGE)
    assert suggestion
    assert target
    assert old in target.text
    assert suggestion.words == (block or target.text.replace(old, new))
    assert "Because." in suggestion.before


@each_case(
    ("old", "reason"),
    [("nowhere", "does not contain"), ("One", "several times"), ("hour.\n\n- One", "within one block")],
)
def test_suggestion_for_text_outside_of_a_unique_block_is_refused(old: str, reason: str) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        suggestion_for_text(PAGE, old, "new", "")


def test_text_must_occur_exactly_once() -> None:
    assert only_place("abc", "b", "old") == 1
    with pytest.raises(InvalidArgument, match="several times"):
        only_place("aaa", "aa", "old")
