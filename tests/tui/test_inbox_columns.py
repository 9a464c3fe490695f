"""The columns of the inbox: rows fit the screen, and cells are below their headings."""

import pytest

from presscheck.text.styled_text import Span, plain, width
from presscheck.tui.screens.inbox.row_renderer import (
    LEFT_OUT,
    TITLES,
    NaturalWidths,
    columns_for,
    heading_line,
    row_line,
)

NATURAL = NaturalWidths(subject=30, space=12, author=8, age=6, comments=7, viewed=5, reviews=5, names=24, own=7, held=2)


@pytest.mark.parametrize("has_headings", [True, False])
@pytest.mark.parametrize("total", [20, 38, 60, 78, 97, 98, 118, 157, 158, 198])
def test_a_row_fits_the_screen_and_keeps_its_subject(total: int, has_headings: bool) -> None:
    columns = columns_for(total, NATURAL, has_headings=has_headings)
    cells = [(Span("x" * 60),) for _ in TITLES]
    line = row_line(columns, (Span("  #7 "),), (Span("s" * 60),), cells)
    assert width(line) <= total
    assert plain(line).count("s") >= min(24, total - 6) or not any(
        size for name, size in zip(TITLES, columns.sizes, strict=True) if name in LEFT_OUT
    ), "a subject is cut only when nothing is left to leave out"
    if total >= 118:
        assert all(columns.sizes), "a wide screen has them all"
    if has_headings and total >= 60:
        headings = plain(heading_line(columns))
        assert all(
            titles[0 if columns.is_wide else 1] in headings
            for titles, size in zip(TITLES.values(), columns.sizes, strict=True)
            if size
        )


def test_without_headings_the_cells_name_their_column() -> None:
    sizes = {
        has_headings: dict(zip(TITLES, columns_for(118, NATURAL, has_headings=has_headings).sizes, strict=True))
        for has_headings in (True, False)
    }
    assert sizes[False]["viewed"] == len("12/12 viewed")
    assert sizes[True]["viewed"] == len("Viewed")
    assert dict(zip(TITLES, columns_for(80, NATURAL, has_headings=False).sizes, strict=True))["viewed"] in (0, 5)


def test_names_of_reviewers_are_shown_from_158_columns() -> None:
    assert not columns_for(157, NATURAL, has_headings=True).has_names
    widest = columns_for(158, NATURAL, has_headings=True)
    assert widest.has_names
    assert dict(zip(TITLES, widest.sizes, strict=True))["reviews"] == 24
