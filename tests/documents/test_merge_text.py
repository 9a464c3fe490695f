from __future__ import annotations

import os
import random

from tests.documents.content_samples import Editor
from tests.table import each_case, each_row

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


def test_rewritten_sentence_is_not_merged_by_word() -> None:
    base = "The quick brown fox jumps over the lazy dog.\n"
    rewritten, edit = "A slow red cat sits under one lazy dog.\n", base.replace("dog", "hound")
    assert merge_text(base, rewritten, edit).conflicts == 1
    assert merge_text(base, edit, rewritten).conflicts == 1


def test_code_is_merged_by_line_after_other_changes_in_it() -> None:
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


def test_common_lines_are_outside_of_conflicts() -> None:
    text, conflicts = merge_text("old\n", "# Title\n\nmine\nend\n", "# Title\n\nyours\nend\n")
    assert conflicts == 1
    assert text == "# Title\n\n<<<<<<< change request\nmine\n=======\nyours\n>>>>>>> live\nend\n"


def test_whitespace_is_not_a_conflict() -> None:
    assert merge_text("old\n", "new words\n", "new\nwords\n\n") == ("new words\n", 0)


@each_case("base", ["", "one", "one\n", "one\n\ntwo"])
def test_missing_final_newline(base: str) -> None:
    text, conflicts = merge_text(base, base + " ours", base + " theirs")
    assert conflicts == 1
    assert "ours\n=======\n" in text
    assert text.endswith(" theirs\n>>>>>>> live\n")


def test_deletion_against_an_edit_loses_nothing() -> None:
    text, conflicts = merge_text(BASE, "", BASE.replace("workspace", "project"))
    assert conflicts == 1
    assert "one project" in text


@each_row((f"seed {seed}", seed) for seed in range(150))
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


INSIDE_A_TOKEN = (
    ("Use version 1.2.3.", "Use version 1.2.4.", "Use version 1.3.3."),
    ("At most 1,000 calls.", "At most 2,000 calls.", "At most 1,500 calls."),
    ("On 2026-01-05 it ends.", "On 2026-02-05 it ends.", "On 2026-01-06 it ends."),
    ("At 10:30 it starts.", "At 11:30 it starts.", "At 10:45 it starts."),
    ("Ask 10.0.0.1 for it.", "Ask 10.0.1.1 for it.", "Ask 10.0.0.2 for it."),
    ("See [it](/a/start#first).", "See [it](/a/begin#first).", "See [it](/a/start#last)."),
    ("See [it](</a b/c d>).", "See [it](</x b/c d>).", "See [it](</a b/c y>)."),
    ('<i src="a" alt="A red lamp here">', '<i src="a" alt="A green lamp here">', '<i src="a" alt="A red lamp there">'),
    ("2026年3月14日です", "2026年4月14日です", "2026年3月15日です"),
)  # fmt: skip


def test_two_edits_of_one_value_are_a_conflict() -> None:
    for base, ours, theirs in INSIDE_A_TOKEN:
        merged = merge_text(f"{base}\n", f"{ours}\n", f"{theirs}\n")
        assert merged.conflicts == 1, base
        assert f"{ours}\n" in merged.text and f"{theirs}\n" in merged.text


def test_edits_of_different_words_and_attributes_are_joined() -> None:
    for base, ours, theirs, joined in (
        ("The quick fox jumps over a dog.", "The slow fox jumps over a dog.", "The quick fox jumps over a cat.",
         "The slow fox jumps over a cat."),
        ('An <img src="a.png" width="1" alt="A lamp"> of it.', 'An <img src="b.png" width="1" alt="A lamp"> of it.',
         'An <img src="a.png" width="1" alt="A wick"> of it.', 'An <img src="b.png" width="1" alt="A wick"> of it.'),
    ):  # fmt: skip
        assert merge_text(f"{base}\n", f"{ours}\n", f"{theirs}\n") == (f"{joined}\n", 0)


TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n"


def test_row_and_column_of_a_table_are_not_merged_partially() -> None:
    column = "| a | b | c |\n|---|---|---|\n| 1 | 2 | x |\n| 3 | 4 | y |\n"
    for row in (TABLE + "| 5 | 6 |\n", TABLE.replace("| 3 |", "| 5 | 6 |\n| 3 |"), TABLE.replace("| 1 | 2 |\n", "")):
        for ours, theirs in ((row, column), (column, row)):
            merged = merge_text(TABLE, ours, theirs)
            widths = {line.count("|") for line in merged.text.splitlines() if line.startswith("|")}
            assert merged.conflicts or len(widths) == 1, merged.text
    assert merge_text(TABLE, TABLE + "| 5 | 6 |\n", TABLE.replace("2", "22")).conflicts == 0


@each_case("seed", range(int(os.environ.get("PRESSCHECK_CASES", "4"))))
def test_no_token_appears_that_no_side_wrote(seed: int) -> None:
    """Each seed merges 80 random pairs of edits; PRESSCHECK_CASES=25 merges 2,000."""
    pick = random.Random(seed)
    for _ in range(80):
        base = random_text(pick)
        sides = [edited_text(pick, base) for _ in range(2)]
        merged = merge_text(base, *sides)
        known = {*base.split(), *sides[0].split(), *sides[1].split()}
        marks = {"<<<<<<<", "=======", ">>>>>>>", "change", "request", "live"}
        assert {*merged.text.split()} <= known | marks, (base, *sides, merged.text)


VALUES = (
    "1.2.3", "2026-01-05", "1,000", "10.0.0.1", "[a](/b#c)", 'alt="x y z"', "word", "Word.", "(end)", "12:30", "日本語",
    "a|b",
)  # fmt: skip


def random_text(pick: random.Random) -> str:
    lines: list[str] = []
    for _ in range(pick.randint(1, 6)):
        words = [pick.choice(VALUES) for _ in range(pick.randint(1, 12))]
        kind = pick.choice(("", "", "- ", "| ", "> "))
        lines.append(f"| {' | '.join(words)} |" if kind == "| " else kind + " ".join(words))
        lines += [""] * pick.randint(0, 1)
    return "\n".join(lines) + "\n"


def edited_text(pick: random.Random, text: str) -> str:
    """Return the text with some characters, words or lines changed, added or removed."""
    for _ in range(pick.randint(1, 4)):
        at = pick.randrange(len(text) + 1)
        kind = pick.randrange(4)
        if kind == 0:
            text = text[:at] + pick.choice("0123456789.,-|x ") + text[at + 1 :]
        elif kind == 1:
            text = text[:at] + pick.choice(VALUES) + " " + text[at:]
        elif kind == 2:
            text = text[:at] + text[at + pick.randint(1, 8) :]
        else:
            lines = text.splitlines(keepends=True)
            lines.insert(pick.randint(0, len(lines)), pick.choice(VALUES) + "\n")
            text = "".join(lines)
    return text
