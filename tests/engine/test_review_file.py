"""Comments of programs: their places are checked against the current page, and never moved to another text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.engine.review_samples import request
from tests.table import each_case

from presscheck.api.comments import PostComment, PostReply
from presscheck.documents.diff.suggestion_targets import find_target
from presscheck.documents.pages.comment_text import parse_suggestion, split_quote
from presscheck.engine.review.review_file import MOST_COMMENTS, PageNow, ReviewComment, call_of, read_review
from presscheck.errors import InvalidArgument, PresscheckError

REQUEST = request(space="api", id="r1")
PAGE = """# Tokens

A token lasts an hour.

The same.

The same.

{% hint style="info" %}
Keep it safe.
{% endhint %}

- One
- Two

| Name | Days |
| --- | --- |
| Key | 30 |
"""


def call(comment: dict[str, Any], page: PageNow | None = None, **more: Any) -> PostComment | PostReply:
    return call_of(REQUEST, ReviewComment.model_validate(comment), page or PageNow("p", PAGE), {"t1"}, **more)


def body(comment: dict[str, Any], page: PageNow | None = None, **more: Any) -> str:
    return call({"page": "p", "text": "Why?", **comment}, page, **more).body.markdown or ""


def problem(comment: dict[str, Any], page: PageNow | None = None, **more: Any) -> str:
    with pytest.raises(InvalidArgument) as caught:
        body(comment, page, **more)
    return str(caught.value)


@each_case(
    ("comment", "about"),
    [
        ({"line": 3}, "A token lasts an hour."),
        ({"line": 5}, "The same."),
        ({"line": 9}, "Keep it safe."),
        ({"line": 10}, "Keep it safe."),
        ({"line": 13, "end_line": 14}, "- One … - Two"),
        ({"line": 18}, "| Key | 30 |"),
        ({"quote": "an hour"}, "an hour"),
        ({"quote": "an hour", "line": 3}, "an hour"),
        ({"quote": "The same.", "line": 5}, "The same."),
        ({"quote": "an  hour\u200b"}, "an hour"),
        ({}, ""),
    ],
)
def test_a_comment_quotes_its_place(comment: dict[str, Any], about: str) -> None:
    assert split_quote(body(comment)) == (about, "Why?")


@each_case(
    ("comment", "message"),
    [
        ({"line": 99}, "line: the page has 18 lines"),
        ({"line": 3, "end_line": 1_000_000}, "line: the page has 18 lines"),
        ({"line": 2}, "line: has no words"),
        ({"line": 7}, "line: another line has the same words"),
        ({"line": 3, "end_line": 2}, "end_line: must not be before line"),
        ({"end_line": 3}, "end_line: needs a line"),
        ({"quote": "The same."}, "quote: 2 lines contain this text"),
        ({"quote": "The same.", "line": 7}, "line: does not contain the quote"),
        ({"quote": "Two", "line": 3}, "line: does not contain the quote"),
        ({"quote": "not there"}, "quote: the page does not contain this text"),
        ({"quote": "…"}, "quote: has no words"),
        ({"reply_to": "t1"}, "reply_to: cannot be combined"),
        ({"text": " \u200b\x00 ".replace("\x00", "")}, "text: is empty"),
        ({"text": "```suggestion\nno end", "line": 3}, "text: the suggestion has no end"),
        ({"replacement": "x"}, "replacement: needs a line or a quote"),
        ({"replacement": "A token lasts an hour.", "line": 3}, "replacement: changes nothing"),
        ({"replacement": "x\x1b[2J", "line": 3}, "replacement: has control characters"),
        ({"replacement": "x", "line": 3, "end_line": 5}, "line: must be within one block"),
        ({"replacement": "x", "line": 4}, "line: must be within one block"),
        ({"replacement": "x", "line": 3, "quote": "Two"}, "line: does not contain the quote"),
        ({"replacement": "x", "quote": "The same."}, "several times"),
        ({"replacement": "x", "quote": "gone"}, "does not contain this text"),
    ],
)
def test_invalid_comment_is_rejected_with_the_reason(comment: dict[str, Any], message: str) -> None:
    assert message in problem(comment)


@each_case(
    ("comment", "block"),
    [
        ({"line": 3, "replacement": "It lasts a day."}, "It lasts a day."),
        ({"line": 3, "replacement": "It lasts\na day.\n"}, "It lasts\na day."),
        ({"quote": "an hour", "replacement": "a day"}, "A token lasts a day."),
        ({"line": 14, "replacement": "- Three"}, "- One\n- Three"),
        ({"line": 13, "end_line": 14, "replacement": "- Both"}, "- Both"),
    ],
)
def test_a_replacement_becomes_a_suggestion_for_its_block(comment: dict[str, Any], block: str) -> None:
    text = body(comment)
    suggestion, target = parse_suggestion(text), find_target(split_quote(text)[0], PAGE)
    assert suggestion
    assert target
    assert suggestion.words == block
    assert target.text.splitlines()[0] in ("A token lasts an hour.", "- One")


def test_lines_refer_to_the_text_that_the_program_read() -> None:
    moved = PageNow("p", f"# New\n\nText.\n\n{PAGE}", seen=PAGE)
    assert split_quote(body({"line": 3}, moved))[0] == "A token lasts an hour."
    assert "suggestion" in body({"line": 3, "replacement": "It lasts a day."}, moved)
    edited = PageNow("p", PAGE.replace("an hour", "a day"), seen=PAGE)
    assert problem({"line": 3}, edited) == "line: the page was changed in the meantime"
    assert problem({"line": 5}, edited) == "line: the page was changed in the meantime"
    assert problem({"line": 3, "replacement": "x"}, edited).startswith("old: the page does not contain")


def test_a_page_without_text_takes_only_comments_without_a_place() -> None:
    deleted = PageNow("p", None, before=PAGE)
    assert body({}, deleted) == "Why?"
    assert problem({"line": 3}, deleted).startswith("page: is deleted or has no text")
    struck = {"quote": "~~A token lasts an hour.~~"}
    assert body(struck, deleted, is_exported=True).startswith("> ~~A token")
    assert "does not contain" in problem({"quote": "~~Else~~"}, deleted, is_exported=True)


def test_a_comment_without_a_page_has_no_place() -> None:
    assert call_of(REQUEST, ReviewComment(text="x"), None, ()).body.markdown == "x"
    with pytest.raises(InvalidArgument, match="page: is missing"):
        call_of(REQUEST, ReviewComment(text="x", line=3), None, ())
    reply = call_of(REQUEST, ReviewComment(text="x", reply_to="t1"), None, {"t1"})
    assert isinstance(reply, PostReply)
    with pytest.raises(InvalidArgument, match="not a thread of this change request"):
        call_of(REQUEST, ReviewComment(text="x", reply_to="t2"), None, {"t1"})


@each_case(
    ("text", "comments"),
    [
        ("", []),
        ("{}", []),
        ("null", []),
        ('{"comments": [{"text": "a"}], "summary": "s"}', ["a", "s"]),
        ('[{"text": "a"}, {"text": "b"}]', ["a", "b"]),
        ('{"text": "a"}', ["a"]),
        ('{"text": "a"}\n\n{"summary": "s"}\r\n{"text": "b"}', ["a", "b", "s"]),
        ('{"comments": {"text": "a"}}', []),
        ('{"comments": [], "summary": 3}', []),
    ],
)
def test_output_may_be_an_object_a_list_or_lines(text: str, comments: list[str]) -> None:
    assert [
        numbered.comment.text for numbered in read_review(text, "own").comments if numbered.comment.text
    ] == comments


@each_case(
    ("row", "reason"),
    [
        (3, "is not an object"),
        ([], "is not an object"),
        ({"text": "x", "line": 0}, "line: "),
        ({"text": "x", "line": "first"}, "line: "),
        ({"text": "x" * 20_001}, "text: "),
        ({"text": "x", "page": ["p"]}, "page: "),
        ({"text": None}, "text: "),
    ],
)
def test_malformed_comment_does_not_affect_the_others(row: Any, reason: str) -> None:
    review = read_review(json.dumps({"comments": [row, {"text": "fine"}]}), "own")
    assert [numbered.comment.text for numbered in review.comments] == ["fine"]
    assert [(rejected.place, rejected.reason.startswith(reason)) for rejected in review.rejected] == [
        ("comment 1", True)
    ]


def test_comments_must_be_a_list() -> None:
    review = read_review('{"comments": {"text": "a"}, "summary": "s"}', "own")
    assert [(rejected.place, rejected.reason) for rejected in review.rejected] == [("comments", "is not a list")]
    assert [numbered.comment.text for numbered in review.comments] == ["s"]
    assert not read_review('{"text": "a", "comments": 3}', "own").rejected, "an unknown key of a comment"


def test_names_of_comments_are_short_display_text() -> None:
    row = {"text": "x", "page": "\x1b[2J" + "p" * 200, "line": 3}
    [numbered] = read_review(json.dumps([row]), "own").comments
    assert numbered.place == f"comment 1 (␛[2J{'p' * 56}, line 3)"


def test_a_summary_in_a_comment_does_not_replace_the_comment() -> None:
    rows = [
        {"text": "One", "summary": "Short"},
        {"text": "Two", "summary": "Short"},
        {"summary": "A"},
        {"summary": "B"},
    ]
    review = read_review("\n".join(map(json.dumps, rows)), "x")
    assert [numbered.comment.text for numbered in review.comments] == ["One", "Two", "A", "B"]


def test_number_of_comments_is_limited() -> None:
    review = read_review(json.dumps([{"text": "x"}] * (MOST_COMMENTS + 2)), "own")
    assert (len(review.comments), [rejected.place for rejected in review.rejected]) == (MOST_COMMENTS, ["2 comments"])


@each_case("text", ["no", "[" * 100_000, '{"text": "x"', "\x00"])
def test_output_that_is_not_json_is_an_error(text: str) -> None:
    with pytest.raises(PresscheckError, match="own: the output is not JSON"):
        read_review(text, "own")
