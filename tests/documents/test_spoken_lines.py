"""Diffs in words for screen readers."""

from tests.table import each_case

from presscheck.documents.diff.page_diff import compare
from presscheck.documents.diff.spoken_lines import spoken_lines


def spoken(before: str, after: str, context: int | None = 3) -> list[str]:
    lines = spoken_lines(compare(before, after), context=context)
    return [f"{line.number} {line.text}" if line.number else line.text for line in lines]


@each_case(
    ("before", "after", "expected"),
    [
        ("It lasts 30 days.", "It lasts 90 days.", ["1 changed: It lasts [removed: 30] [added: 90] days."]),
        ("It lasts.", "It lasts for a day.", ["1 changed: It lasts [added: for a day]."]),
        ("", "New words.", ["1 added: New words."]),
        ("Old words.", "", ["1 removed: Old words."]),
        ("Same.", "Same.", ["1 unchanged line left out"]),
        ("* one\n* two", "* one\n* two\n* three of them", ["1 one", "2 two", "3 added: three of them"]),
        (
            "| a | b |\n|---|---|\n| 1 | 2 |",
            "| a | b |\n|---|---|\n| 1 | 3 |",
            ["1 | a | b |", "2 changed: | 1 | [removed: 2] [added: 3] |"],
        ),
    ],
)
def test_changes_are_described_in_words(before: str, after: str, expected: list[str]) -> None:
    assert spoken(before, after) == expected


def test_moved_block_is_read_at_both_places() -> None:
    first, others = (
        "This paragraph goes to the end of it all.",
        "One more thing.\n\nAnd another thing.\n\nThe last thing.",
    )
    lines = spoken(f"{first}\n\n{others}", f"{others}\n\n{first}")
    assert f"1 moved away: {first}" in lines
    assert f"5 moved here: {first}" in lines


def test_line_numbers_do_not_depend_on_omitted_lines() -> None:
    before = "\n\n".join(f"Paragraph number {number}." for number in range(20))
    after = before.replace("number 10.", "number ten.")
    few, all_lines = spoken(before, after, 1), spoken(before, after, None)
    assert few == [
        "9 unchanged lines left out",
        "10 Paragraph number 9.",
        "11 changed: Paragraph number [removed: 10] [added: ten].",
        "12 Paragraph number 11.",
        "8 unchanged lines left out",
    ]
    assert set(few) & set(all_lines) == set(few[1:4])
    assert len(all_lines) == 20
