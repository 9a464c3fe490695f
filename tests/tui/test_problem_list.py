"""Rows of problem lists: wrapped text and aligned labels."""

from presscheck.text.styled_text import Span, plain, width
from presscheck.tui.screens.problem_list import ProblemRow, wrapped_rows

LONG = "ada and jon requested changes, and the space requires two approvals of people who did not write it"


def texts(rows: list[ProblemRow[str]], columns: int) -> list[str]:
    return [plain(row.line) for row in wrapped_rows(rows, columns)]


def test_long_problem_continues_below_its_first_word_in_notes() -> None:
    row = ProblemRow((Span(" ✗ "), Span("reviews  "), Span(LONG)), "target")
    lines = wrapped_rows([row], 60)
    assert [plain(line.line)[:12].strip() for line in lines] == ["✗ reviews", "", ""]
    assert " ".join(plain(line.line)[12:].strip() for line in lines) == LONG
    assert all(width(line.line) <= 60 for line in lines)
    assert [(line.target, line.is_note) for line in lines] == [("target", False), (None, True), (None, True)]
    assert wrapped_rows([row], 200) == [row]


def test_labels_are_aligned_if_all_lines_fit() -> None:
    rows = [ProblemRow[str]((Span(f"  {LONG}"),), label=(Span(label),)) for label in ("Tokens", "An introduction")]
    assert {text.index(LONG) for text in texts(rows, 160)} == {17}
    narrow = texts(rows, 100)
    assert [text.startswith(" ") for text in narrow] == [False, True, False, True]
    assert len(narrow[1]) - len(narrow[1].lstrip()) == len("Tokens  ")
