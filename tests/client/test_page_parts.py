"""Pages that are read in parts have the same items, cursor, total and errors as pages that are read as a whole."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from tests.table import each_case

from presscheck.api.operation import MAX_PAGE
from presscheck.api.spaces import ListSpaces
from presscheck.client.page_parts import ITEMS_PER_PART, PageParts, read_page_in_parts
from presscheck.client.responses import read_answer, read_json
from presscheck.errors import MalformedAnswer

CALL = ListSpaces(organization_id="o")


def space(number: int, **more: Any) -> dict[str, Any]:
    return {"object": "space", "id": f"s{number}", "title": f"Guide {number}", **more}


def items(page: PageParts) -> list[Any]:
    return [item for part in range(page.parts) for item in page.items(part)]


@each_case("count", [0, 1, ITEMS_PER_PART, ITEMS_PER_PART + 1, 3 * ITEMS_PER_PART])
@each_case("indent", [None, 2])
def test_all_items_are_in_the_parts(count: int, indent: int | None) -> None:
    listed = [
        space(number, title='Ünï "quoted", [x] {y} \\ 田中 😀', icon={"a": [1, {"b": "]"}]}) for number in range(count)
    ]
    answer = {"next": {"page": "p2"}, "items": listed, "count": count, "total": 7000}
    page = read_page_in_parts(CALL, json.dumps(answer, indent=indent, ensure_ascii=bool(indent)).encode())
    assert items(page) == listed
    assert (page.cursor, page.total) == ("p2", 7000)
    assert page.parts == max(1, -(-count // ITEMS_PER_PART))


def test_last_of_duplicate_fields_counts_as_in_json() -> None:
    page = read_page_in_parts(CALL, b'{"items":[{"id":"a"},{"id":"b"}],"total":1,"items":[{"id":"c"}],"total":2}')
    assert (items(page), page.cursor, page.total) == ([{"id": "c"}], None, 2)


MALFORMED = [
    "",
    "[]",
    "null",
    '"items"',
    "{}",
    '{"items":null}',
    '{"items":{}}',
    '{"items":[}',
    '{"items":[{"id":"a"}',
    '{"items":[{"id":"a"}]',
    '{"items":[{"id":"a"},]}',
    '{"items":[,]}',
    '{"items":[{"id":"a"} {"id":"b"}]}',
    '{"items":[]} {}',
    '{"items":[],}',
    '{,"items":[]}',
    "{items:[]}",
    '{1:2,"items":[]}',
    '{"items" []}',
    '{"items":[{"id":7}]}',
    '{"items":["a"]}',
    '{"items":[{"id":"a","title":"\\ud800"}]}',
    '{"items":[{"id":"a","title":"\x01"}]}',
    '{"items":[],"next":"p2"}',
    '{"items":[],"total":"many"}',
    '{"items":[{"id":"a","x":' + "9" * 5000 + "}]}",
    '{"items":[{"id":"a","x":' + "[" * 5000 + "]" * 5000 + "}]}",
    "\ufeff" + '{"items":[]}',
    json.dumps({"items": [*map(space, range(250)), {"id": 1}]}),
    json.dumps({"items": [*map(space, range(MAX_PAGE + 1))]}),
]


@each_case("text", MALFORMED)
def test_malformed_page_has_the_same_error_as_if_read_whole(text: str) -> None:
    body = text.encode()
    with pytest.raises(MalformedAnswer) as whole:
        read_answer(CALL, body)
        read_json(CALL, body)
    with pytest.raises(MalformedAnswer) as taken_apart:
        read_page_in_parts(CALL, body)
    assert taken_apart.value.message == whole.value.message


def test_invalid_utf_8_is_a_malformed_answer() -> None:
    with pytest.raises(MalformedAnswer):
        read_page_in_parts(CALL, b'{"items":[],"x":"\xff"}')


@pytest.mark.slow
def test_a_long_page_takes_little_more_memory_than_its_text() -> None:
    body = json.dumps({"items": [space(number, slug="x" * 300) for number in range(2500)]}).encode()

    def peak(read: Any) -> int:
        read()  # fill caches before the measurement
        tracemalloc.start()
        try:
            read()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    def parts() -> None:
        page = read_page_in_parts(CALL, body)
        for part in range(page.parts):
            page.items(part)

    assert peak(parts) < 1.5 * len(body)
    assert peak(lambda: (read_answer(CALL, body), read_json(CALL, body))) > 3 * len(body)
