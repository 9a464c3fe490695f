"""Blocks and cells by the ids that a service gives them, and back."""

from typing import Any

import pytest

from presscheck.documents.nodes.reading import nodes_of
from presscheck.documents.nodes.targets import CellIds, cell_ids, key_of, words_of_cell, words_of_node

PAGE = """A token belongs to you.

- Make one
- Keep it

{% tabs %}
{% tab title="Table" %}
Inside.
{% endtab %}
{% endtabs %}

| Kind | Lasts | Notes |
|---|---|---|
| Tokens | `90` days | |
| Keys | none | **old** |
| Keys | none | **old** |
"""


@pytest.mark.parametrize("words", ["A token belongs to you.", "Keep it", "Inside."])
def test_a_block_is_found_by_its_words_and_by_its_key(words: str) -> None:
    nodes = nodes_of(PAGE)
    key = key_of(nodes, words)
    assert key
    assert words_of_node(nodes, key) == words


def test_what_is_not_there_is_not_found() -> None:
    nodes = nodes_of(PAGE)
    assert key_of(nodes, "Nowhere") is None
    assert key_of(nodes, "") is None
    assert words_of_node(nodes, "none") == ""
    assert words_of_cell(nodes, CellIds("none", "none")) == ""
    assert cell_ids(nodes, ["Tokens", "30 days", ""], 1) is None


def test_a_cell_is_found_by_its_row_and_column_and_back() -> None:
    nodes = nodes_of(PAGE)
    for row, column, quote in (
        (["Tokens", "`90` days", ""], 1, "Tokens › 90 days"),
        (["Tokens", "`90` days", ""], 0, "Tokens ›"),
        (["Keys", "none", "**old**"], 2, "Keys › old"),
    ):
        ids = cell_ids(nodes, row, column)
        assert ids
        assert words_of_cell(nodes, ids) == quote


HOSTILE: list[dict[str, Any]] = [
    {},
    {"nodes": [{"object": "block", "type": "table"}]},
    {"nodes": [{"object": "block", "type": "table", "data": {"records": [], "definition": 7, "view": "x"}}]},
    {"nodes": [{"object": "block", "type": "table", "data": {"records": {"r": None}, "definition": {}, "view": {}}}]},
]


@pytest.mark.parametrize("nodes", HOSTILE, ids=range(len(HOSTILE)))
def test_a_tree_that_lacks_parts_finds_nothing(nodes: dict[str, Any]) -> None:
    assert words_of_cell(nodes, CellIds("r", "d")) == ""
    assert cell_ids(nodes, ["a"], 0) is None
    assert key_of(nodes, "a") is None
