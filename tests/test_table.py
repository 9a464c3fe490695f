"""A table in one test: all rows are checked, and each that fails is named."""

import pytest
from tests.table import each_row


def test_every_row_that_fails_is_named_with_its_reason() -> None:
    checked: list[int] = []

    @each_row([("one", 1), ("two", 2), ("three", 3), ("four", 4)])
    def check(number: int) -> None:
        checked.append(number)
        assert number != 2, "an even number"
        if number == 3:
            with pytest.raises(ValueError, match="x"):
                pass
        int("four" if number == 4 else "1")

    with pytest.raises(AssertionError) as failed:
        check()
    assert checked == [1, 2, 3, 4]
    head, *rows = str(failed.value).splitlines()
    assert head == "3 of 4 rows failed"
    assert [row for row in rows if row.startswith("two: AssertionError: an even number")]
    assert [row for row in rows if row.startswith("three: Failed: DID NOT RAISE")]
    assert [row for row in rows if row.startswith("four: ValueError: invalid literal")]


def test_a_table_without_rows_fails() -> None:
    @each_row([])
    def check(_number: int) -> None:
        raise NotImplementedError

    with pytest.raises(AssertionError, match="tests nothing"):
        check()


@each_row([("two words", "two", "words")])
def test_a_row_is_its_name_and_the_arguments(first: str, second: str) -> None:
    assert (first, second) == ("two", "words")
