"""JSON in attributes is parsed up to a depth limit, which is the same on all Python versions."""

import json

import pytest
from tests.table import each_case

from presscheck.documents.attribute_json import MAX_DEPTH, parse_json


@each_case("opening", ["[", '{"a":'])
def test_nesting_is_limited(opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    assert parse_json(opening * MAX_DEPTH + "1" + closing * MAX_DEPTH)
    with pytest.raises(ValueError, match="nested too deep"):
        parse_json(opening * (MAX_DEPTH + 1) + "1" + closing * (MAX_DEPTH + 1))


@each_case("value", [["["] * 500, ['\\"[[{' * 200, {"{" * 300: "]"}], [[] for _ in range(400)]])
def test_brackets_in_strings_and_siblings_do_not_count_as_nesting(value: object) -> None:
    assert parse_json(json.dumps(value)) == value


def test_invalid_json_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        parse_json("[1,")
