"""Comment targets: blocks and cells by the service's ids, and back."""

from typing import Any

from tests.table import each_case

from presscheck.documents.nodes.comment_targets import CellIds, block_words, cell_words, find_block_key, find_cell
from presscheck.documents.nodes.from_markdown import markdown_to_nodes

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


@each_case("words", ["A token belongs to you.", "Keep it", "Inside."])
def test_block_found_by_words_and_key(words: str) -> None:
    nodes = markdown_to_nodes(PAGE)
    key = find_block_key(nodes, words)
    assert key
    assert block_words(nodes, key) == words


def test_missing_target_is_not_found() -> None:
    nodes = markdown_to_nodes(PAGE)
    assert find_block_key(nodes, "Nowhere") is None
    assert find_block_key(nodes, "") is None
    assert block_words(nodes, "none") == ""
    assert cell_words(nodes, CellIds("none", "none")) == ""
    assert find_cell(nodes, ["Tokens", "30 days", ""], 1) is None


def test_cell_found_by_row_and_column_and_back() -> None:
    nodes = markdown_to_nodes(PAGE)
    for row, column, quote in (
        (["Tokens", "`90` days", ""], 1, "Tokens › 90 days"),
        (["Tokens", "`90` days", ""], 0, "Tokens ›"),
        (["Keys", "none", "**old**"], 2, "Keys › old"),
    ):
        ids = find_cell(nodes, row, column)
        assert ids
        assert cell_words(nodes, ids) == quote


HOSTILE: list[dict[str, Any]] = [
    {},
    {"nodes": [{"object": "block", "type": "table"}]},
    {"nodes": [{"object": "block", "type": "table", "data": {"records": [], "definition": 7, "view": "x"}}]},
    {"nodes": [{"object": "block", "type": "table", "data": {"records": {"r": None}, "definition": {}, "view": {}}}]},
]


@each_case("nodes", HOSTILE)
def test_incomplete_tree_finds_nothing(nodes: dict[str, Any]) -> None:
    assert cell_words(nodes, CellIds("r", "d")) == ""
    assert find_cell(nodes, ["a"], 0) is None
    assert find_block_key(nodes, "a") is None
