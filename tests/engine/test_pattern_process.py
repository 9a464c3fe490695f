"""Matches of a pattern, their limits over all texts, and the protocol of the process that finds them."""

import json
import subprocess
import sys
from dataclasses import asdict

import pytest
from tests.table import each_case

from presscheck.documents.pages.replacement import Match, Query
from presscheck.engine.replacement import pattern_process
from presscheck.engine.replacement.pattern_process import MOST_MATCHES, InvalidPattern, Matcher


@each_case(
    ("query", "text", "matches"),
    [
        (Query("a.", "b"), "a. ab", [Match(0, 2, "b")]),
        (Query("A", "b", match_case=False), "a ä A", [Match(0, 1, "b"), Match(4, 5, "b")]),
        (Query("é", "e", match_case=False), "É", [Match(0, 1, "e")]),
        (Query("cat", "\\1", whole_words=True), "cat cats tomcat", [Match(0, 3, "\\1")]),
        (Query("C++", "C", whole_words=True), "C++ C++x", [Match(0, 3, "C")]),
        (Query("(a)(b)?", r"\2\1!", is_regex=True), "a ab", [Match(0, 1, "a!"), Match(2, 4, "ba!")]),
        (Query("^(?P<n>a)$", r"\g<n>\g<n>", is_regex=True), "a\nb\na", [Match(0, 1, "aa"), Match(4, 5, "aa")]),
        (Query("(?i)A|ab", "x", whole_words=True, is_regex=True), "ab A", [Match(0, 2, "x"), Match(3, 4, "x")]),
        (Query("x*", "y", is_regex=True), "axx", [Match(1, 3, "y")]),
        (Query("\U0001f680", "r"), "a\U0001f680\ud800", [Match(1, 2, "r")]),
    ],
)
def test_a_query_finds(query: Query, text: str, matches: list[Match]) -> None:
    assert Matcher(asdict(query)).matches(text) == matches


@each_case(
    ("query", "field", "reason"),
    [
        (Query("[", is_regex=True), "find", "invalid: unterminated character set at position 0"),
        (Query("(", is_regex=True, whole_words=True), "find", "missing ), unterminated subpattern at position 0"),
        (Query("a{1,99999999999999999999}", is_regex=True), "find", "invalid: "),
        (Query("a", "\\1", is_regex=True), "replacement", "invalid: invalid group reference 1"),
        (Query("a", "\\g<x>", is_regex=True), "replacement", "invalid: unknown group name"),
    ],
)
def test_an_invalid_pattern_names_its_field(query: Query, field: str, reason: str) -> None:
    with pytest.raises(InvalidPattern) as error:
        Matcher(asdict(query))
    assert (error.value.field, reason in str(error.value)) == (field, True), str(error.value)


def test_plain_text_and_its_replacement_are_not_patterns() -> None:
    assert Matcher(asdict(Query("(", "\\1"))).matches("a(b") == [(1, 2, "\\1")]
    assert Matcher(asdict(Query("a|b", "x", whole_words=True, is_regex=True))).matches("ab b") == [(3, 4, "x")]


def test_limits_apply_to_all_texts_together(monkeypatch: pytest.MonkeyPatch) -> None:
    matcher = Matcher(asdict(Query("a", "")))
    assert len(matcher.matches("a" * (MOST_MATCHES - 1))) == MOST_MATCHES - 1
    assert len(matcher.matches("a")) == 1
    with pytest.raises(InvalidPattern, match="more than 10,000 matches: search for a longer text") as error:
        matcher.matches("a")
    assert error.value.field == "find"
    monkeypatch.setattr(pattern_process, "MOST_NEW", 6)
    matcher = Matcher(asdict(Query("(a)", r"\1\1", is_regex=True)))
    assert matcher.matches("aaa") == [(0, 1, "aa"), (1, 2, "aa"), (2, 3, "aa")]
    with pytest.raises(InvalidPattern, match="all replacements together are too long") as error:
        matcher.matches("a")
    assert error.value.field == "replacement"


def test_the_process_answers_each_line() -> None:
    def answers(query: Query, *texts: str) -> list[object]:
        lines = "".join(f"{json.dumps(one)}\n" for one in (asdict(query), *texts))
        command = (sys.executable, "-I", "-S", str(pattern_process.__file__))
        ran = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
        assert not ran.stderr
        return [json.loads(line) for line in ran.stdout.splitlines()]

    assert answers(Query("a", "b"), "xa", "\n", "a") == [{}, [[1, 2, "b"]], [], [[0, 1, "b"]]]
    [error] = answers(Query("[", is_regex=True))
    assert error == {"error": "invalid: unterminated character set at position 0", "field": "find"}
