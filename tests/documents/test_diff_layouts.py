"""The side-by-side view of diffs, and invariants of all views: prose, split and source show the same changes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tests.documents.diff_rows import drawn, told
from tests.documents.page_samples import AFTER, BEFORE, WORDS, Writer
from tests.table import each_case

from presscheck.documents.diff.block_pairs import SegmentPair
from presscheck.documents.diff.page_diff import DifferenceLines, Mode, compare, difference_lines
from presscheck.text.styled_text import Line, Span, plain, width

BETWEEN = Span(" │ ", "quiet")
MARKS = "+−~↕"
VIEWS: tuple[Mode, ...] = ("prose", "split", "source")
WIDE = 800


def halves(line: Line) -> tuple[Line, Line]:
    """Return the parts of a line left and right of the separator; without a separator, all is on the left."""
    at = line.index(BETWEEN) if BETWEEN in line else len(line)
    return line[:at], line[at + 1 :]


def beside(before: str, after: str, columns: int = 63, context: int | None = None) -> list[tuple[str, str]]:
    """Return both sides of each line as readable texts."""
    lines = drawn(before, after, columns, mode="split", context=context).lines
    return [(told(left), told(right)) for left, right in map(halves, lines)]


class TestSideBySide:
    def test_removed_words_left_added_words_right(self) -> None:
        assert beside("A token of one workspace.", "A token of one project.") == [
            ("~ A token of one [-workspace-].", "~ A token of one {+project+}.")
        ]

    def test_shorter_side_is_padded(self) -> None:
        found = beside("One here.\n\nEnd.", "One here, and much more than there was before it.\n\nEnd.")
        assert found == [
            ("  One here.", "~ One here{+, and much more than+}"),
            ("", "~ {+there was before it+}."),
            ("", ""),
            ("  End.", "  End."),
        ]

    def test_added_block_has_an_empty_left_side(self) -> None:
        assert ("", "+ Two and three.") in beside("One.\n\nEnd.", "One.\n\nTwo and three.\n\nEnd.")
        assert ("− Two and three.", "") in beside("One.\n\nTwo and three.\n\nEnd.", "One.\n\nEnd.")

    def test_moved_block_is_shown_at_both_places(self) -> None:
        moved = "This is a sentence of many words."
        found = beside(f"{moved}\n\nOne a.\n\nTwo b.", f"One a.\n\nTwo b.\n\n{moved}", 83)
        assert ("↕ moved further down", "") in found
        assert (f"↕ {moved}", "") in found
        assert ("", "↕ moved here, from further up") in found
        assert ("", f"↕ {moved}") in found

    def test_code_aligns_line_by_line(self) -> None:
        found = beside('```\na = 1\nb = "x"\n```', '```\na = 1\nb = "y"\n```')
        assert ("  a = 1", "  a = 1") in found
        assert ('~ b = "[-x-]"', '~ b = "{+y+}"') in found

    def test_cells_of_a_table(self) -> None:
        found = beside("| a | b |\n|---|---|\n| one | text |", "| a | b |\n|---|---|\n| one | string |")
        assert found == [
            ("  a    b", "  a    b"),
            ("  ───  ──────", "  ───  ──────"),
            ("~ one  [-text-]", "~ one  {+string+}"),
        ]

    def test_unchanged_lines_are_folded_on_both_sides(self) -> None:
        same = "\n\n".join(f"Paragraph {number}." for number in range(9))
        found = [told(line) for line in drawn(f"{same}\n\nx", f"{same}\n\ny", mode="split", context=1).lines]
        assert found[0] == "  … 8 unchanged lines"

    def test_new_page_has_an_empty_left_side(self) -> None:
        assert all(not left for left, _ in beside("", AFTER))

    def test_insertions_stand_on_the_right(self) -> None:
        shown = drawn(BEFORE, AFTER, 101, mode="split")
        assert {width(halves(line)[0]) for line in shown.lines if BETWEEN in line} == {width(shown.beside[:-1])}


def blocks_of(mode: Mode, before: str, after: str) -> tuple[tuple[SegmentPair, ...], DifferenceLines]:
    found = compare(before, after)
    shown = difference_lines(found, WIDE, mode=mode, context=None)
    return (found.source if mode == "source" else found.blocks), shown


def mark(line: Line) -> str:
    """Return the margins of a line, or of its two sides."""
    return "".join(side[0].text.strip() for side in halves(line) if side and side[0].text.strip() in MARKS)


def words_of(lines: Iterable[Line]) -> list[str]:
    """Return the visible words in reading order; changed tags are named in brackets."""
    texts = (re.sub(r"\[[\w-]+( [^\]]*)?\]", "", plain(line)) for line in lines)
    return [word for text in texts for word in re.findall(r"\w+", text) if word.lower() in WORDS]


def pages(part: int) -> list[tuple[str, str]]:
    """Return ten of a hundred pairs of pages, always the same."""
    found: list[tuple[str, str]] = []
    for seed in range(1_000 + part, 1_100, 10):
        writer = Writer(seed)
        before = writer.page(6)
        found.append((before, writer.edited(before, 3)))
    return found


class TestEveryView:
    @each_case("part", range(10))
    def test_only_differences_are_marked(self, part: int) -> None:
        for before, after in pages(part):
            for mode in VIEWS:
                blocks, shown = blocks_of(mode, before, after)
                lines = zip(shown.blocks, shown.lines, strict=True)
                marked = {block for block, line in lines if block is not None and mark(line)}
                pieces = [(one.kind, one.after or one.before) for one in blocks]
                differs = {number for number, one in enumerate(blocks) if one.kind != "same"}
                hidden = {
                    number for number, (kind, piece) in enumerate(pieces) if kind == "moved" or piece.kind == "end"
                }
                assert differs - hidden <= marked <= differs, (mode, before, after)

    @each_case("part", range(10))
    def test_side_by_side_contains_both_texts(self, part: int) -> None:
        for before, after in pages(part):
            sides = list(zip(*map(halves, drawn(before, after, WIDE, mode="split", context=None).lines), strict=True))
            for text, side in zip((before, after), sides or [(), ()], strict=True):
                alone = drawn(text, text, WIDE // 2, context=None).lines
                assert words_of(list(side)) == words_of(list(alone)), (before, after)

    @each_case("part", range(10))
    def test_source_mode_reconstructs_both_texts(self, part: int) -> None:
        for before, after in pages(part):
            lines = [plain(line) for line in drawn(before, after, WIDE, mode="source", context=None).lines]
            for text, other in ((before, "+"), (after, "−")):
                assert [line[2:].rstrip() for line in lines if line[:1] != other] == [
                    line.rstrip() for line in text.rstrip("\n").split("\n") if text.strip()
                ]
