"""Hunks of an edited text: each can be left out or applied alone, and together they make up the edit."""

import random

from hypothesis import given
from hypothesis import strategies as st
from tests.table import each_case

from presscheck.documents.diff.page_diff import compare
from presscheck.documents.merge.hunks import apply_hunks, hunk_of, hunk_size, line_numbers, same_hunk, split_hunks
from presscheck.documents.merge.text import conflicting_lines, merge_text

PARAGRAPHS = [
    "A token belongs to one project.",
    "It carries the rights of its member.",
    "It expires after ninety days.",
    "An expired token is deleted.",
    "Nobody reads it again.",
]
BEFORE = "# Tokens\n\n" + "\n\n".join(PARAGRAPHS) + "\n"

LINES = st.sampled_from(
    ["", "a", "b", "c d", "- x", "- y", "| t |", "```", "# h", "> q", "{% hint %}", "{% endhint %}"]
)


def text(lines: list[str], end: str) -> str:
    """Return lines as a text with the given end."""
    return "\n".join(lines) + end


TEXTS = st.builds(text, st.lists(LINES, max_size=14), st.sampled_from(["", "\n", "\n\n"]))


@given(before=TEXTS, after=TEXTS, chosen=st.randoms(use_true_random=False))
def test_hunks_are_the_whole_edit_and_do_not_overlap(before: str, after: str, chosen: random.Random) -> None:
    hunks = split_hunks(before, after)
    assert apply_hunks(before, after, hunks) == after
    assert apply_hunks(before, after, []) == before
    parts = sorted(part for hunk in hunks for part in hunk.parts)
    assert len(parts) == len(set(parts)) == sum(len(hunk.parts) for hunk in hunks)
    some = [hunk for hunk in hunks if chosen.random() < 0.5]
    size = sum(len("".join(part.added)) - len("".join(part.removed)) for hunk in some for part in hunk.parts)
    mixed = apply_hunks(before, after, some)
    assert len(mixed) == len(before) + size
    assert apply_hunks(mixed, after, split_hunks(mixed, after)) == after


def edited(seed: int) -> str:
    """Return the text with two or three separate paragraphs changed, removed, added or moved."""
    chance = random.Random(seed)
    paragraphs = [*PARAGRAPHS]
    for number in sorted(chance.sample((0, 2, 4), chance.randint(2, 3)), reverse=True):
        kind = chance.choice(("change", "remove", "add"))
        if kind == "change":
            paragraphs[number] = paragraphs[number].replace(".", " and never more.")
        elif kind == "remove":
            del paragraphs[number]
        else:
            paragraphs.insert(number, f"New paragraph number {chance.randrange(1000)} of this page.")
    return "# Tokens\n\n" + "\n\n".join(paragraphs) + "\n"


@each_case("seed", range(40))
def test_leaving_out_one_hunk_leaves_the_others(seed: int) -> None:
    after = edited(seed)
    hunks = split_hunks(BEFORE, after)
    assert len(hunks) > 1
    for hunk in hunks:
        others = [other for other in hunks if other is not hunk]
        left = split_hunks(BEFORE, apply_hunks(BEFORE, after, others))
        assert [one.texts for one in left] == [one.texts for one in others]


@each_case("seed", range(40))
def test_each_change_of_the_diff_belongs_to_one_hunk(seed: int) -> None:
    after = edited(seed)
    hunks = split_hunks(BEFORE, after)
    blocks = [block for block in compare(BEFORE, after).blocks if block.kind != "same"]
    found = [hunk_of(hunks, block) for block in blocks]
    assert None not in found
    assert {hunk.parts for hunk in found if hunk} == {hunk.parts for hunk in hunks}
    assert all(hunk_of(hunks, block) is None for block in compare(BEFORE, after).blocks if block.kind == "same")


def test_both_places_of_a_moved_paragraph_are_one_hunk() -> None:
    paragraphs = [*PARAGRAPHS[1:], PARAGRAPHS[0]]
    after = "# Tokens\n\n" + "\n\n".join(paragraphs) + "\n"
    [hunk] = split_hunks(BEFORE, after)
    assert len(hunk.parts) == 2
    assert apply_hunks(BEFORE, after, []) == BEFORE, "its text is not lost"


def test_all_changed_lines_of_a_paragraph_are_one_hunk() -> None:
    before, after = "one\ntwo\nthree\nfour\n", "1\ntwo\nthree\n4\n"
    [hunk] = split_hunks(before, after)
    assert hunk.texts == ((("one\n",), ("1\n",)), (("four\n",), ("4\n",)))
    assert hunk_size(hunk) == "2 lines added, 2 removed"


def test_hunk_is_found_after_other_edits() -> None:
    after = BEFORE.replace("one project", "a project").replace("ninety", "thirty")
    hunks = split_hunks(BEFORE, after)
    later = split_hunks(BEFORE, after.replace("# Tokens\n", "# Tokens\n\nRead this first of all.\n"))
    hunk = same_hunk(later, hunks[1])
    assert hunk
    assert (hunk.texts, hunk.first_after) == (hunks[1].texts, hunks[1].first_after + 2)
    assert same_hunk(split_hunks(BEFORE, after.replace("thirty", "twenty")), hunks[1]) is None


def test_conflicting_lines_are_those_of_our_side() -> None:
    ours = BEFORE.replace("# Tokens\n", "# Tokens\n\nRead this first.\n").replace("ninety", "thirty")
    [lines] = conflicting_lines(BEFORE, ours, BEFORE.replace("ninety", "sixty"))
    assert [ours.split("\n")[line] for line in lines] == ["It expires after thirty days."]
    assert line_numbers(lines) == "line 9"
    assert conflicting_lines(BEFORE, ours, BEFORE.replace("one project", "a project")) == []


@given(base=TEXTS, ours=TEXTS, theirs=TEXTS)
def test_lines_conflict_exactly_if_a_merge_has_conflicts(base: str, ours: str, theirs: str) -> None:
    assert len(conflicting_lines(base, ours, theirs)) == merge_text(base, ours, theirs).conflicts


@each_case(
    ("before", "after", "size"),
    [
        ("a\n", "a\nb\n", "1 line added"),
        ("a\n", "a\nb\nc\n", "2 lines added"),
        ("a\nb\n", "a\n", "1 line removed"),
        ("a\nb\nc\n", "a\n", "2 lines removed"),
        ("a\n", "b\nc\n", "2 lines added, 1 removed"),
        ("a\nb\n", "a\n\n\nb\n", "blank lines"),
        ("a\nb\n", "a\n\nc\n\nb\n", "1 line added"),
        ("a\n", "b\n" + "c\n" * 1200, "1,201 lines added, 1 removed"),
        ("a\n" * 1200 + "z", "b\nz", "1 line added, 1,200 removed"),
    ],
)
def test_size_of_a_hunk(before: str, after: str, size: str) -> None:
    assert hunk_size(split_hunks(before, after)[0]) == size


@each_case(
    ("lines", "text"),
    [(range(4, 5), "line 5"), (range(2, 5), "lines 3 to 5"), (range(3, 5), "lines 4 to 5"), (range(3, 3), "line 4")],
)
def test_line_numbers(lines: range, text: str) -> None:
    assert line_numbers(lines) == text


def test_paragraph_is_added_with_the_blank_line_before_it() -> None:
    before = "one\n\ntwo\n\nthree\n"
    [hunk] = split_hunks(before, "one\n\ntwo\n\nnew\n\nthree\n")
    [part] = hunk.parts
    assert (part.first_before, part.first_after, part.added) == (3, 3, ("\n", "new\n"))
    assert (part.lines_before, part.lines_after) == (range(3, 3), range(3, 5))
    [gone] = split_hunks("one\n\ntwo\n\nnew\n\nthree\n", before)
    assert (gone.parts[0].first_before, gone.parts[0].removed, gone.first_after) == (3, ("\n", "new\n"), 3)
    [again] = split_hunks("x\n", "x\nx\n")
    assert (again.parts[0].first_before, again.parts[0].added) == (0, ("x\n",))
    [third] = split_hunks("x\n" * 3, "x\n" * 4)
    assert third.parts[0].first_before == 0
    first, second = split_hunks("a\n\nb\n\nc\n", "A\n\nb\n\nnew\n\nc\n")
    assert (first.parts[0].lines_after, second.parts[0].lines_after) == (range(1), range(3, 5))


def test_nearest_of_the_same_hunks_is_found() -> None:
    before = "a\n\nx\n\nb\n\nx\n\nc\n"
    hunks = split_hunks(before, before.replace("x", "y"))
    assert hunks[0].texts == hunks[1].texts
    assert [same_hunk(hunks, hunk) for hunk in hunks] == hunks
    assert same_hunk([], hunks[0]) is None
