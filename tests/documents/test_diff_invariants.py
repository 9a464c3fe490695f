"""Invariants of diffs: they are complete, both sides are readable, hostile text is harmless, and they are fast."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from time import thread_time
from typing import Any

import pytest
from tests.documents.diff_rows import drawn, told
from tests.documents.page_samples import AFTER, BEFORE, Writer
from tests.hostile_strings import ACTS, HOSTILE
from tests.table import each_case

from presscheck.documents.diff.page_diff import PageDifference, compare, difference_lines, wrap
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import STYLES, Line, Span, plain, width

SEEDS = range(int(os.environ.get("PRESSCHECK_CASES", "4")))
"""Number of random pages; `make edits` uses 25."""


class TestPlaces:
    def test_change_starts_at_its_mark(self) -> None:
        shown = drawn(BEFORE, AFTER)
        starts = [told(shown.lines[number]) for number in shown.changes]
        assert [start[:9] for start in starts[:4]] == ["~ A token", "− ▍ Note", "~ Scopes ", "~ name   "]
        assert all(start[0] in "~−+↕" for start in starts)
        assert [*shown.changes] == sorted({*shown.changes})

    def test_adjacent_items_are_one_change(self) -> None:
        assert len(drawn("- a b\n- c d\n- e f", "- a b x\n- c d x\n- e f x").changes) == 1
        assert len(drawn("a b.\n\nc d.", "a b x.\n\nc d x.").changes) == 2

    def test_lines_have_anchors_and_blocks(self) -> None:
        shown = drawn(BEFORE, AFTER, context=None)
        source = AFTER.split("\n")
        for line, anchor in zip(shown.lines, shown.anchors, strict=True):
            words = set(
                re.findall(r"[a-zA-Z]{4,}", plain(tuple(one for one in line[1:] if "removed" not in one.style)))
            )
            if anchor is not None and words - {"Warning", "reads", "same", "written", "differently"}:
                near = set(re.findall(r"[a-zA-Z]+", " ".join(source[anchor : anchor + 2])))
                assert words <= near | {"reads", "same", "written", "differently", "Warning"}, (words, source[anchor])

    def test_below_a_line(self) -> None:
        shown = drawn("One.\n\nTwo.", "One.\n\nTwo " + "words " * 20 + ".", 40)
        below = shown.below(2)
        assert below == len(shown.lines) - 1
        assert shown.below(0) == 0
        assert drawn("One.", "").below(0) is None


class TestCounts:
    def test_counts_words_not_punctuation(self) -> None:
        difference = compare("Alpha beta gamma.", "Alpha xi omicron, gamma!")
        assert (difference.added, difference.removed) == (2, 1)

    def test_counts_added_and_removed_blocks(self) -> None:
        difference = compare("One two three.\n\nStays here.", "Stays here.\n\n```\nfour five\n```")
        assert (difference.added, difference.removed) == (2, 3)


def reading(lines: Iterable[Line], without: str) -> Counter[str]:
    """Return the words of one side of a diff, without the numbers of items."""
    counts: Counter[str] = Counter()
    mark = {"added": "+ ", "removed": "− "}[without]
    for line in lines:
        if line and line[0].text != mark:
            counts.update(
                re.findall(r"[a-zA-Z]+", "".join(one.text for one in line[1:] if without not in one.style.split()))
            )
    return counts


class TestRandomPages:
    @each_case("seed", SEEDS)
    def test_every_difference_is_shown(self, seed: int) -> None:
        writer = Writer(seed)
        before = writer.page()
        after = writer.edited(before, 6)
        difference = compare(before, after)
        shown = difference_lines(difference, 4_000, context=None)
        marked = {block for block, line in zip(shown.blocks, shown.lines, strict=True) if line and line[0].text != "  "}
        for number, one in enumerate(difference.blocks):
            piece = one.after or one.before
            assert piece
            if one.kind not in ("same", "moved") and piece.kind != "end":
                assert number in marked, one

    @each_case("seed", SEEDS)
    def test_diff_contains_each_side(self, seed: int) -> None:
        writer = Writer(seed)
        before = writer.page()
        after = writer.edited(before, 6)
        shown = drawn(before, after, 4_000, context=None).lines
        if any("↕" in plain(line)[:1] or "reads the same" in plain(line) for line in shown) or not after.strip():
            return
        for text, without in ((before, "added"), (after, "removed")):
            alone = reading(drawn(text, text, 4_000, context=None).lines, without)
            assert not alone - reading(shown, without)

    @each_case("seed", SEEDS)
    def test_lines_fit_and_styles_are_known(self, seed: int) -> None:
        writer = Writer(seed)
        before = writer.page()
        difference = compare(before, writer.edited(before, 10))
        for columns in (1, 2, 3, 7, 12, 25, 80):
            for mode in ("prose", "source"):
                for ascii_only in (True, False):
                    shown = difference_lines(difference, columns, mode=mode, ascii=ascii_only)  # type: ignore[arg-type]
                    assert max(map(width, shown.lines), default=0) <= columns
                    assert len(shown.lines) == len(shown.anchors) == len(shown.blocks)
                    assert {word for line in shown.lines for one in line for word in one.style.split()} <= STYLES


def test_ascii_mode_uses_only_ascii() -> None:
    shown = drawn(BEFORE, AFTER, ascii=True, context=1)
    assert all(plain(line).isascii() for line in shown.lines)


@pytest.mark.slow
def test_hostile_text_is_harmless() -> None:
    for text in HOSTILE[::16]:
        kinds = (text, f"# {text}", f"- {text}", f"| {text} |\n|---|\n| {text} |", f"```{text}\n{text}\n```")
        tagged = (
            f'{{% hint style="{text}" %}}\n{text}\n{{% endhint %}}\n\n{{% tab title="{text}" %}}\nx\n{{% endtab %}}'
        )
        before = "\n\n".join(
            (*kinds, f"[{text}](https://{text})", tagged, f"<details>\n<summary>{text}</summary>\n\nx\n</details>")
        )
        for after in ("", before.replace("x", "y"), f"new words\n\n{before} {text}"):
            for mode in ("prose", "source"):
                shown = drawn(before, after, 50, mode=mode, context=1)
                for line in shown.lines:
                    assert not ACTS.search(plain(line)), (text, line)
                    assert not [one for one in line if one.link and ACTS.search(one.link)]
                    assert width(line) <= 50


def test_wrapping_an_empty_line_returns_one_line() -> None:
    assert wrap((), 10) == [()]
    assert [plain(line) for line in wrap((Span("one two three"),), 8)] == ["one two", "three"]


def seconds(before: str, after: str, **manner: Any) -> float:
    started = thread_time()
    shown = drawn(before, after, 80, **manner)
    assert shown.changes
    return thread_time() - started


class TestTime:
    """Time limits are several times the usual duration, so that only a worse complexity exceeds them."""

    def test_long_page_with_sixty_edits(self) -> None:
        writer = Writer(1)
        text = writer.page(250)
        after = writer.edited(text, 60)
        assert min(seconds(text, after) for _ in range(3)) < 0.5

    @each_case("mode", ["prose", "source"])
    def test_five_thousand_lines(self, mode: str) -> None:
        writer = Writer(2)
        lines = [writer.words(6, 9) if n % 2 else "" for n in range(5_000)]
        others = [writer.words(6, 9) if n % 83 == 0 else line for n, line in enumerate(lines)]
        assert min(seconds("\n".join(lines), "\n".join(others), mode=mode) for _ in range(2)) < 1.5

    @pytest.mark.slow
    def test_unrelated_and_slightly_changed_pages(self) -> None:
        writer = Writer(3)
        lines, others = ([writer.words(6, 9) if n % 2 else "" for n in range(2_000)] for _ in range(2))
        assert seconds("\n".join(lines), "\n".join(others)) < 2
        assert seconds("\n".join(lines), "\n".join(f"{line} more" if line else "" for line in lines)) < 2

    def test_endless_repetition(self) -> None:
        chance = Writer(4).random
        words = [chance.choice("ab") for _ in range(10_000)]
        assert seconds(" ".join(words), " ".join(words[::-1])) < 2
        code = "\n".join(words)
        assert seconds(f"```\n{code}\n```", f"```\n{code[::-1]}\n```") < 2


def test_diff_lines_are_sanitized() -> None:
    [line] = drawn("", "a\u202eb").lines
    assert plain(line) == "+ " + sanitize("a\u202eb")


def test_kind_of_a_page_diff() -> None:
    difference: PageDifference = compare("a", "b")
    assert difference.kind == "changed"
    assert [one.kind for one in difference.blocks] == ["removed", "added"]
