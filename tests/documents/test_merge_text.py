from __future__ import annotations

import pytest
from tests.documents.content_samples import Editor

from presscheck.documents.merge.text import merge_text

BASE = "A token belongs to one workspace. It carries the rights of the member who made it.\n\nTokens do not expire.\n"


def test_merges_two_sentences_of_a_line() -> None:
    ours = BASE.replace("workspace", "project")
    theirs = BASE.replace("made it.", "made it, for 90 days.")
    assert merge_text(BASE, ours, theirs) == (ours.replace("made it.", "made it, for 90 days."), 0)


def test_merges_two_words_of_a_sentence() -> None:
    ours, theirs = BASE.replace("rights of", "rights and limits of"), BASE.replace("who made it", "who created it")
    both = BASE.replace("rights of the member who made it", "rights and limits of the member who created it")
    assert merge_text(BASE, ours, theirs) == (both, 0)


def test_merges_adjacent_lines() -> None:
    base = "- one apple\n- two pears\n- three plums\n"
    ours, theirs = base.replace("apple", "fig"), base.replace("pears", "dates")
    assert merge_text(base, ours, theirs) == ("- one fig\n- two dates\n- three plums\n", 0)


def test_merges_cells_of_a_row() -> None:
    base = "| Field | Type |\n| --- | --- |\n| name | text |\n"
    ours, theirs = base.replace("name", "title"), base.replace("text", "string")
    assert merge_text(base, ours, theirs).text == "| Field | Type |\n| --- | --- |\n| title | string |\n"


def test_conflict_keeps_both_versions() -> None:
    text, conflicts = merge_text(BASE, BASE.replace("workspace", "project"), BASE.replace("workspace", "team"))
    first = "It carries the rights of the member who made it."
    assert conflicts == 1
    assert text == (
        f"<<<<<<< change request\nA token belongs to one project. {first}\n=======\n"
        f"A token belongs to one team. {first}\n>>>>>>> live\n\nTokens do not expire.\n"
    )


def test_rewritten_sentence_conflicts_with_an_edit() -> None:
    base = "The quick brown fox jumps over the lazy dog.\n"
    ours = "Every token, the old and the new, belongs over in the project.\n"
    assert merge_text(base, ours, base.replace("lazy", "sleeping")).conflicts == 1


def test_a_sentence_that_one_side_rewrote_is_not_merged_by_word() -> None:
    base = "The quick brown fox jumps over the lazy dog.\n"
    rewritten, edit = "A slow red cat sits under one lazy dog.\n", base.replace("dog", "hound")
    assert merge_text(base, rewritten, edit).conflicts == 1
    assert merge_text(base, edit, rewritten).conflicts == 1


def test_code_is_merged_by_line_also_after_other_changes_in_it() -> None:
    base = "```\na = 1\nb = 2\nc = one two three four five\n```\n"
    ours = base.replace("a = 1", "a = 9").replace("one two", "1 two")
    assert merge_text(base, ours, base.replace("four five", "four 5")).conflicts == 1


def test_merges_code_by_line() -> None:
    base = "```toml\nretries = 1 # and wait\n\nother = 2\n```\n"
    far = merge_text(base, base.replace("1", "3"), base.replace("2", "4"))
    near = merge_text(base, base.replace("1", "3"), base.replace("wait", "stop"))
    assert far == ("```toml\nretries = 3 # and wait\n\nother = 4\n```\n", 0)
    assert near.conflicts == 1


def test_merges_words_after_code() -> None:
    base = "~~~~\n~~~\ncode\n~~~~\n\nOne plain line of many words here.\n"
    both = merge_text(base, base.replace("One", "A"), base.replace("here", "there"))
    assert both == (base.replace("One", "A").replace("here", "there"), 0)


def test_common_lines_stand_outside_of_conflicts() -> None:
    text, conflicts = merge_text("old\n", "# Title\n\nmine\nend\n", "# Title\n\nyours\nend\n")
    assert conflicts == 1
    assert text == "# Title\n\n<<<<<<< change request\nmine\n=======\nyours\n>>>>>>> live\nend\n"


def test_whitespace_is_no_conflict() -> None:
    assert merge_text("old\n", "new words\n", "new\nwords\n\n") == ("new words\n", 0)


@pytest.mark.parametrize("base", ["", "one", "one\n", "one\n\ntwo"])
def test_missing_final_newline(base: str) -> None:
    text, conflicts = merge_text(base, base + " ours", base + " theirs")
    assert conflicts == 1
    assert "ours\n=======\n" in text
    assert text.endswith(" theirs\n>>>>>>> live\n")


def test_deletion_against_an_edit_loses_nothing() -> None:
    text, conflicts = merge_text(BASE, "", BASE.replace("workspace", "project"))
    assert conflicts == 1
    assert "one project" in text


@pytest.mark.parametrize("seed", range(150))
def test_random_merges_lose_nothing(seed: int) -> None:
    editor = Editor(seed)

    def changed(text: str) -> str:
        words = text.split(" ")
        for _ in range(editor.random.randint(1, 6)):
            at = editor.random.randrange(len(words))
            words[at : at + editor.random.randint(0, 4)] = editor.sentence().split()[: editor.random.randint(0, 4)]
        return " ".join(words)

    base = editor.text()
    ours, theirs = changed(base), changed(base)
    assert merge_text(base, ours, base) == (ours, 0)
    assert merge_text(base, base, theirs) == (theirs, 0)
    assert merge_text(base, ours, ours) == (ours, 0)
    text, conflicts = merge_text(base, ours, theirs)
    new = {word for side in (ours, theirs) for word in side.split()} - set(base.split())
    assert new <= set(text.split())
    assert conflicts == text.count("<<<<<<<")
    assert conflicts or merge_text(theirs, text, theirs) == (text, 0)
