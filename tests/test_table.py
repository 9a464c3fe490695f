"""A table in one test: all rows are checked, and each that fails is named."""

import asyncio
from pathlib import Path

import pytest
from tests.table import each_case, each_row


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


def test_table_without_rows_fails() -> None:
    @each_row([])
    def check(_number: int) -> None:
        raise NotImplementedError

    with pytest.raises(AssertionError, match="tests nothing"):
        check()


@each_row([("two words", "two", "words")])
def test_row_is_its_name_and_the_arguments(first: str, second: str) -> None:
    assert (first, second) == ("two", "words")


def test_every_case_that_fails_is_named_by_its_values() -> None:
    checked: list[tuple[str, int]] = []

    @each_case("word", ["a", "b"])
    @each_case(("number", "other"), [(1, 1), (2, 1)])
    def check(word: str, number: int, other: int) -> None:
        checked.append((word, number))
        assert number == other, "unequal"

    with pytest.raises(AssertionError) as failed:
        check()
    assert checked == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    assert [line.split(": ")[0] for line in str(failed.value).splitlines() if ": AssertionError" in line] == [
        "word='a'",
        "number=2, other=1",
        "word='b'",
        "number=2, other=1",
    ]


def test_asynchronous_cases_are_awaited() -> None:
    @each_case("number", [1, 2])
    async def check(number: int) -> None:
        await asyncio.sleep(0)
        assert number == 1

    with pytest.raises(AssertionError, match="1 of 2 rows failed\nnumber=2"):
        asyncio.run(check())


class TestMethod:
    folders: set[Path] = set()  # noqa: RUF012

    @each_case("number", [1, 2])
    def test_each_case_has_a_folder_of_its_own(self, tmp_path: Path, number: int) -> None:
        assert tmp_path.is_dir() and tmp_path not in self.folders and (not self.folders or number == 2)
        self.folders.add(tmp_path)
