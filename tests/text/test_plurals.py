"""Numbers with their nouns."""

import pytest

from presscheck.text.plurals import count


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 pages"), (1, "1 page"), (2, "2 pages"), (-1, "-1 pages"), (12345, "12,345 pages")]
)
def test_a_noun_has_an_s_except_after_one(number: int, text: str) -> None:
    assert count(number, "page") == text


def test_a_plural_can_be_given() -> None:
    assert [count(number, "reply", "replies") for number in (1, 2)] == ["1 reply", "2 replies"]
