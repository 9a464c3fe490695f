from __future__ import annotations

import random

from tests.table import each_case

from presscheck.documents.diff.word_diff import Token, count_words, tokenize, word_count, word_runs, word_set


def runs(before: str, after: str) -> list[tuple[str, str]]:
    found = word_runs(tokenize(before), tokenize(after), lambda token: token.text, lambda token: len(token.text))
    return [(run.kind, "".join(token.blank + token.text for token in run.tokens).strip()) for run in found]


def test_tokenize() -> None:
    assert tokenize("a  b,\n") == [Token("", "a"), Token("  ", "b"), Token("", ","), Token("\n", "")]
    assert [token.text for token in tokenize("你好 नमस्ते e\u0301t")] == ["你", "好", "नमस्ते", "e\u0301t"]


def test_replaced_word() -> None:
    assert runs("It has one workspace.", "It has one project.") == [
        ("same", "It has one"),
        ("removed", "workspace"),
        ("added", "project"),
        ("same", "."),
    ]


def test_line_ends_do_not_change_words() -> None:
    assert runs("one two\nthree", "one\ntwo three") == [("same", "one\ntwo three")]


def test_small_unchanged_runs_join_the_change() -> None:
    before, after = "He went to a shop of toys today.", "She looked for a house of bricks today."
    assert runs(before, after) == [
        ("removed", "He went to a shop of toys"),
        ("added", "She looked for a house of bricks"),
        ("same", "today."),
    ]


def test_unchanged_runs_keep_the_old_tokens() -> None:
    [run] = word_runs(tokenize("a b"), tokenize("a  b"), lambda token: token.text, lambda token: 1)
    assert [token.blank for token in run.old] == ["", " "]
    assert [token.blank for token in run.tokens] == ["", "  "]


@each_case("seed", range(100))
def test_runs_contain_both_texts(seed: int) -> None:
    rand = random.Random(seed)
    before, after = (" ".join(rand.choices("abcdefgh", k=rand.randint(0, 25))) for _ in range(2))
    found = runs(before, after)
    assert " ".join(text for kind, text in found if kind != "added" and text) == before
    assert " ".join(text for kind, text in found if kind != "removed" and text) == after


def test_word_count() -> None:
    assert word_count("Don't (ever) do 2 things — 你好.") == 8
    assert count_words(["a", ",", "b"]) == 2
    assert word_set("A b, a!") == {"a", "b"}
    assert word_set("};") == {"}", ";"}
