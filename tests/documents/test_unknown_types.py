"""Nodes of unknown types are drawn as boxes with their names and texts, wherever they are."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from tests.documents.node_samples import BLOCKS, INLINES, MARKS
from tests.documents.nodes import places

from presscheck.api.content import ContentDocument
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.to_markdown import nodes_to_markdown
from presscheck.documents.nodes.unknown_types import with_known_types
from presscheck.documents.nodes.validation import InvalidNode
from presscheck.documents.terminal.page_lines import render_page
from presscheck.text.styled_text import plain
from presscheck.tui.screens.references.included_texts import document_markdown

Node = dict[str, Any]


def text(words: str, *marks: str) -> Node:
    kinds = [{"object": "mark", "type": kind} for kind in marks]
    return {"object": "text", "leaves": [{"object": "leaf", "text": words, "marks": kinds}]}


def block(kind: str, *nodes: Node, **data: Any) -> Node:
    return {"object": "block", "type": kind, "data": data, "nodes": [*nodes]}


def inline(kind: str, *nodes: Node, **data: Any) -> Node:
    return {"object": "inline", "type": kind, "data": data, "nodes": [*nodes]}


def words(of: str) -> Node:
    return block("paragraph", text(of))


def document(*nodes: Node) -> Node:
    return {"object": "document", "data": {}, "nodes": [*nodes]}


def drawn(*nodes: Node) -> list[str]:
    lines = render_page(nodes_to_markdown(with_known_types(document(*nodes))), 60)
    return [plain(line).rstrip(" │─") for line in lines if plain(line).strip(" │─")]


def test_unknown_block_is_a_box_with_its_data_and_content() -> None:
    link = inline("link", text("here"), ref={"kind": "url", "url": "https://example.org"})
    gauge = block("gauge", value=3, parts=["a", {"of": "{b}"}])
    inner = (words("Which?"), block("option", text("Red, "), link), block("list-tasks", block("list-item", gauge)))
    assert drawn(block("poll", *inner, question="Why {% x %}?", summary="Sum", none=None)) == [
        "Unknown block: poll",
        "│ question: Why (% x %)?",
        "│ summary: Sum",
        "│ Which?",
        "│ Unknown block: option",
        "│ │ Red, here",
        "│ ☐ Unknown block: gauge",
        "│   │ value: 3",
        "│   │ parts: a, (b)",
    ]


def test_button_without_a_link_is_shown_as_its_label() -> None:
    link = {"kind": "url", "url": "https://example.org"}
    leads = inline("button") | {"data": {"label": "Go", "kind": "primary", "size": "large", "ref": link}}
    asks = inline("button") | {"data": {"label": "Ask", "kind": "secondary", "action": "assistant"}}
    assert drawn(block("paragraph", leads, text(" or "), asks)) == ["[ Go ] or [ Ask ]"]


def test_unknown_blocks_in_tabs_lists_and_other_groups_are_shown() -> None:
    tabs = block(
        "tabs", block("tabs-item", block("poll", words("In a tab")), title="One"), block("dial", words("Late"))
    )
    assert drawn(tabs) == ["─ One", "Unknown block: poll", "│ In a tab", "─ Tab", "Unknown block: dial", "│ Late"]
    items = block("list-unordered", block("list-item", words("one")), block("todo", text("two")))
    assert drawn(items) == ["• one", "• Unknown block: todo", "  │ two"]
    code = block("code", block("code-line", text("a")), block("fold", text("b")))
    assert drawn(code)[::2] == ["Unknown block: block-code", "│ │ a", "│ │ b"]
    assert drawn(block("tabs-item", words("alone"), title="One")) == [
        "Unknown block: tabs-item",
        "│ title: One",
        "│ alone",
    ]
    assert drawn(block("endhint", words("x")))[0] == "Unknown block: block-endhint"


def test_unknown_inline_is_shown_with_name_and_text_in_brackets() -> None:
    line = (
        text("A "),
        inline("badge", text("New")),
        text(" and "),
        inline("seal", state="green"),
        text(" end", "neon"),
    )
    assert drawn(block("paragraph", *line)) == ["A [badge: New] and [seal: green] end"]
    table = markdown_to_nodes(
        "<table><thead><tr><th>A</th></tr></thead><tbody><tr><td><p>b</p></td></tr></tbody></table>"
    )
    [cell] = [part for part in table["nodes"][0]["fragments"] if part["nodes"]]
    cell["nodes"].append(block("poll", words("c"), words("d")))
    assert "[poll: c d]" in " ".join(drawn(*table["nodes"]))


def test_unknown_types_are_not_written_but_shown() -> None:
    tree = document(block("hint", block("poll", words("Words")), style="info"))
    with pytest.raises(InvalidNode):
        nodes_to_markdown(tree)
    shown = document_markdown(ContentDocument.model_validate(tree))
    assert shown
    assert "Unknown block: poll" in " ".join(plain(line) for line in render_page(shown, 60))


def test_known_types_are_unchanged() -> None:
    for sample in (*BLOCKS.values(), *INLINES.values(), *MARKS.values()):
        tree = markdown_to_nodes(sample)
        assert with_known_types(tree) == tree


def test_any_tree_is_drawn_or_refused() -> None:
    chance = random.Random(7)
    junk: tuple[Any, ...] = (
        None,
        5,
        "",
        "odd",
        [],
        {},
        [None],
        {"object": "text"},
        {"object": "block", "type": []},
        True,
        "}",
    )
    documents = [markdown_to_nodes(sample) for sample in (*BLOCKS.values(), *INLINES.values())]
    written = 0
    for _ in range(600):
        tree = copy.deepcopy(chance.choice(documents))
        holder, name = chance.choice(list(places(tree)))
        holder[name] = chance.choice(junk)
        try:
            assert isinstance(nodes_to_markdown(with_known_types(tree)), str)
        except InvalidNode as wrong:
            assert wrong.path
        else:
            written += 1
    assert 200 < written < 600
    deep = words("x")
    for _ in range(900):
        deep = block("poll", deep)
    with pytest.raises(InvalidNode):
        nodes_to_markdown(with_known_types(document(deep)))
