"""Page diffs: words, blocks, moves, whole pages, source, and folds."""

from __future__ import annotations

import re

from tests.documents.diff_rows import drawn, page
from tests.documents.page_samples import AFTER, BEFORE, Writer
from tests.table import each_case

from presscheck.documents.diff.page_diff import compare, difference_lines
from presscheck.text.styled_text import Span, plain


def in_page(text: str, start: str, context: int = 0) -> list[str]:
    """Return the lines of the sample page from the line that starts with a text to the next blank line."""
    lines = page(BEFORE, AFTER, context=None)
    first = next(number for number, line in enumerate(lines) if line.startswith(start))
    end = next((number for number in range(first, len(lines)) if not lines[number].strip()), len(lines))
    return lines[first:end]


class TestProse:
    def test_words_in_a_paragraph(self) -> None:
        assert in_page(AFTER, "~ A token") == [
            "~ A token belongs to one [-workspace-] {+project+}. It carries the",
            "~ rights of the member who made it{+, and expires after 90+}",
            "~ {+days+}.",
        ]

    def test_unchanged_line_of_a_changed_paragraph_has_no_mark(self) -> None:
        before = "One two three four five six. " * 4
        lines = page(before, before.replace("One", "A", 1), 40)
        assert [line[:1] for line in lines] == ["~", " ", " ", " "]

    def test_heading(self) -> None:
        assert in_page(AFTER, "~ Scopes") == ["~ Scopes {+and rights+}"]

    def test_hint_style_changed(self) -> None:
        assert in_page(AFTER, "− ▍") == ["− ▍ Note", "+ ▍ Warning", "  ▍ Tokens are shown once."]

    def test_cells_and_rows(self) -> None:
        assert in_page(AFTER, "  Field") == [
            "  Field    Type    What it is",
            "  ───────  ──────  ───────────────────────────────────────",
            "~ name     [-text-]    The name of the token, as people see it",
            "~          {+string+}",
            "  scope    text    What it may do",
            "− old      number  Not used",
            "+ expires  date    When it stops working",
        ]

    def test_items(self) -> None:
        assert in_page(AFTER, "  1.") == [
            "  1. Open the settings.",
            "  2. Choose Tokens.",
            "~ reads the same, but is written differently",
            "     ◦ nested one",
            "     ◦ nested two",
            "~ 3. Press New token [-(new.md)-] {+(tokens/new.md)+}.",
            "+ 4. Copy it.",
        ]

    def test_code_by_line(self) -> None:
        lines = in_page(AFTER, "− token")
        assert lines[:3] == ['− token = "[-abc-]"', '+ token = "{+def+}"', "  retries = 3"]

    def test_old_lines_of_code_come_before_new_ones(self) -> None:
        lines = page("```\na = 1\nb = 2\n```", "```\na = 3\nb = 4\n```")
        assert lines == ["− a = [-1-]", "− b = [-2-]", "+ a = {+3+}", "+ b = {+4+}"]

    def test_link_target_changed(self) -> None:
        [*_, last] = in_page(AFTER, "  Old tokens")
        assert last.endswith("[-(scopes.md)-] {+(rights.md)+}.")

    def test_cards_show_the_lines_that_read_differently(self) -> None:
        assert in_page(AFTER, "  → Two") == ["  → Two", "−   The [-second-] card", "+   The {+other+} card"]

    def test_word_style_changed(self) -> None:
        assert page("It is now here.", "It is **now** here.") == ["~ It is [-now-] {+now+} here."]

    def test_different_source_with_equal_reading_is_noted(self) -> None:
        lines = page("It is *now* here.", "It is _now_ here.")
        assert lines == ["  It is now here.", "~ reads the same, but is written differently"]

    def test_rewritten_paragraph_follows_the_old_one(self) -> None:
        before, after = "The quick brown fox jumps over the lazy dog.", "Every token now belongs to the project."
        assert page(before, after) == [f"− {before}", "", f"+ {after}"]

    def test_code_background_does_not_spread(self) -> None:
        [line] = drawn("Run `make` now.", "Run `make` then.").lines
        assert Span("make", "code") in line

    def test_added_hint_shows_its_kind_and_no_end(self) -> None:
        hint = '{% hint style="danger" %}\nNever share it.\n\nReally.\n{% endhint %}'
        assert page("One.", f"One.\n\n{hint}") == [
            *("  One.", "", "+ ▍ Danger", "+ ▍ Never share it.", "+ ▍", "+ ▍ Really."),
        ]

    def test_moved_end_of_a_hint(self) -> None:
        before = "{% hint style='info' %}\nOne two.\n{% endhint %}\n\nThree four."
        after = "{% hint style='info' %}\nOne two.\n\nThree four.\n{% endhint %}"
        marked = [line for line in page(before, after) if line.startswith(("+", "−"))]
        assert marked == ["− [end of hint]", "+ [end of hint]"], "readers never see braces"

    @each_case(
        ("before", "after", "marked"),
        [
            (
                "One.",
                "{% tabs %}\n{% tab title='A' %}\nOne.\n{% endtab %}\n{% endtabs %}",
                {"+ [tabs]"},
            ),
            ("{% if visitor.x %}\nOne.\n{% endif %}", "One.", {"− [if visitor.x]"}),
            (
                "{% code title='a' %}\nOne.\n{% endcode %}",
                "{% code title='a' overflow='wrap' %}\nOne.\n{% endcode %}",
                {"− [code title='a']", "+ [code title='a' overflow='wrap']"},
            ),
        ],
    )
    def test_invisible_tag_is_named_in_words(self, before: str, after: str, marked: set[str]) -> None:
        for mode in ("prose", "split"):
            text = "\n".join(plain(line) for line in drawn(before, after, 160, mode=mode).lines)
            assert "{%" not in text, text
            for line in marked:
                assert re.sub(r"\W+", " ", line) in re.sub(r"\W+", " ", text), (line, text)

    def test_table_without_room_for_its_columns(self) -> None:
        table = "| " + " | ".join(f"columnname{n}" for n in range(6)) + " |\n|" + "---|" * 6
        assert max(len(line) for line in page("", table, 30)) <= 30
        assert "columnname0 │ columnname1" in page("", table, 30)[0]


class TestMoves:
    BEFORE = (
        "# T\n\nOne alpha two words here.\n\nTwo beta other words there.\n\nThree gamma words.\n\nFour delta words."
    )
    AFTER = "# T\n\nTwo beta other words there.\n\nThree gamma words.\n\nFour delta words.\n\nOne alpha two words here."

    def test_moved_paragraph_is_neither_added_nor_removed(self) -> None:
        found = compare(self.BEFORE, self.AFTER)
        assert (found.added, found.removed) == (0, 0)
        lines = page(self.BEFORE, self.AFTER, context=None)
        assert "↕ moved further down: One alpha two words here." in lines
        assert lines[-2:] == ["↕ moved here, from further up", "↕ One alpha two words here."]

    def test_moved_the_other_way(self) -> None:
        lines = page(self.AFTER, self.BEFORE, context=None)
        assert lines[3:5] == ["↕ moved here, from further down", "↕ One alpha two words here."]
        assert lines[-1] == "↕ moved further up: One alpha two words here."

    def test_adjacent_blocks_move_together(self) -> None:
        extra = "\n\nFive other long words."
        before = self.BEFORE.replace("\n\nTwo", extra + "\n\nTwo")
        lines = page(before, self.AFTER + extra, context=None)
        assert "↕ moved further down: One alpha two words here. and 1 more" in lines
        assert lines.count("↕ moved here, from further up") == 1


class TestWholePages:
    def test_new_page_keeps_its_colours_with_a_mark_per_line(self) -> None:
        found = compare("", BEFORE)
        shown = difference_lines(found, 60)
        assert (found.kind, found.removed) == ("added", 0)
        assert shown.changes == (0,)
        assert {line[0].text for line in shown.lines if line} <= {"+ ", "  "}
        assert not [span for line in shown.lines for span in line[1:] if span.style == "added"]

    def test_removed_page_is_quiet(self) -> None:
        found = compare(BEFORE, "\n")
        shown = difference_lines(found, 60)
        assert (found.kind, found.added) == ("removed", 0)
        assert {line[0].text for line in shown.lines if line} <= {"− ", "  "}
        assert set(shown.anchors) == {None}

    def test_equal_pages(self) -> None:
        found = compare(BEFORE, BEFORE)
        assert (found.kind, found.added, found.removed) == ("same", 0, 0)
        assert difference_lines(found, 60).changes == ()
        assert page("", "") == []


class TestSource:
    def test_source_lines(self) -> None:
        lines = page(BEFORE, AFTER, 80, mode="source", context=0)
        assert lines[lines.index("− A token belongs to one [-workspace-]. It carries the rights of the") :][:4] == [
            "− A token belongs to one [-workspace-]. It carries the rights of the",
            "− member who made it.",
            "+ A token belongs to one {+project+}. It carries the rights of the",
            "+ member who made it{+, and expires after 90 days+}.",
        ]

    def test_indents_and_blanks_are_kept_on_both_sides(self) -> None:
        assert page("    a  b c d e", "  a b  c d f", mode="source") == ["−     a  b c d [-e-]", "+   a b  c d {+f+}"]

    def test_long_line_wraps_below_its_indent(self) -> None:
        lines = page("", "  - " + "word " * 12, 30, mode="source")
        assert lines[0].startswith("+   - word")
        assert all(line.startswith("+   word") for line in lines[1:])

    @each_case("seed", range(40))
    def test_diff_contains_both_texts(self, seed: int) -> None:
        writer = Writer(seed)
        before = writer.page(12)
        after = writer.edited(before)
        if not after.strip():
            return
        shown = drawn(before, after, 10_000, mode="source", context=None)
        sides = {"−": before, "+": after}
        for mark, text in sides.items():
            other = "+" if mark == "−" else "−"
            lines = [plain(line)[2:] for line in shown.lines if not plain(line).startswith(other)]
            assert [line.rstrip() for line in lines] == [line.rstrip() for line in text.rstrip("\n").split("\n")]


class TestFolding:
    TEXT = "# Title\n\n" + "\n\n".join(f"Paragraph number {n}." for n in range(10)) + "\n\n## Part\n\n"
    TEXT += "\n\n".join(f"Sentence number {n}." for n in range(10)) + "\n"

    def test_fold_counts_lines_and_names_its_end(self) -> None:
        lines = page(self.TEXT, self.TEXT.replace("Sentence number 5", "Sentence numbered 5"), context=1)
        assert lines == [
            *("  … 16 unchanged lines · Part", "", "  Sentence number 4.", ""),
            *("~ Sentence [-number-] {+numbered+} 5.", "", "  Sentence number 6.", "", "  … 3 unchanged lines"),
        ]

    def test_fold_names_its_heading_as_readers_see_it(self) -> None:
        text = self.TEXT.replace("## Part", '## The **last** `part` <a href="#d5e46" id="d5e46"></a>')
        lines = page(text, text.replace("Sentence number 5", "Sentence numbered 5"), context=1)
        assert lines[0] == "  … 16 unchanged lines · The last part"

    def test_fold_names_the_open_tab(self) -> None:
        lines = page(BEFORE, BEFORE.replace("Then go on.", "Then stop."), context=0)
        assert lines[0].endswith("unchanged lines · Scopes › Unix")

    def test_context_is_counted_in_lines_of_whole_blocks(self) -> None:
        before = "".join(f"one {n}\ntwo {n}\n\n" for n in range(9))
        lines = page(before, before.replace("one 4", "other 4"), context=3)
        assert [line for line in lines if "unchanged" in line] == ["  … 4 unchanged lines"] * 2
        assert sum(line.startswith("  one") for line in lines) == 4, "two blocks of two lines on either side"

    def test_three_lines_stay_beside_a_change(self) -> None:
        before = "".join(f"Sentence {n}.\n\n" for n in range(30))
        lines = page(before, before.replace("Sentence 15", "Sentences 15"))
        assert [line for line in lines if "unchanged" in line] == ["  … 12 unchanged lines", "  … 11 unchanged lines"]

    def test_single_block_is_not_folded(self) -> None:
        lines = page("a a.\n\nb b.\n\nc c.", "a x.\n\nb b.\n\nc x.", context=0)
        assert "  b b." in lines

    def test_kept_blocks_are_not_folded(self) -> None:
        shown = drawn(self.TEXT, self.TEXT.replace("number 5", "numbered 5"), context=0, keep=(6,))
        below = shown.below(6)
        assert below is not None
        assert plain(shown.lines[below]) == "  Paragraph number 2."

    def test_folded_code_has_no_blank_lines(self) -> None:
        code = "\n".join(f"line{n}" for n in range(30))
        lines = page(f"```\n{code}\n```", f"```\n{code.replace('line15', 'other15')}\n```", context=1)
        assert lines == [
            *("  … 14 unchanged lines", "  line14", "− line15", "+ other15", "  line16"),
            "  … 13 unchanged lines",
        ]
