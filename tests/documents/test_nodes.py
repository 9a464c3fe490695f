"""Markdown to nodes and back: the meaning is preserved, trees match the published schema, invalid trees are refused."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterator
from html import unescape
from time import thread_time
from typing import Any

import pytest
from tests.documents.node_samples import BLOCKS, INLINES, MARKS, WORDS
from tests.documents.node_schema import DOCUMENTED, NEWEST, faults_of
from tests.documents.nodes import places
from tests.generated_docs.documentation import Documentation, check_page
from tests.table import each_case

from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.schema import ALLOWED_CHILDREN
from presscheck.documents.nodes.to_markdown import nodes_to_markdown
from presscheck.documents.nodes.validation import InvalidNode
from presscheck.service.web.html.page import ResolvedLink, render_page_html

Node = dict[str, Any]


def every(node: Node) -> Iterator[Node]:
    yield node
    for name in ("nodes", "fragments", "leaves", "marks"):
        for one in node.get(name, ()):
            yield from every(one)


def kinds(document: Node) -> set[str]:
    return {node["type"] for node in every(document) if "type" in node}


def bare(value: Any) -> Any:
    """Return a tree without keys and without the extras for Markdown."""
    if isinstance(value, list):
        return [bare(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: bare(item) for name, item in value.items() if name not in ("key", "markdown")}


@each_case("name", BLOCKS)
def test_block_round_trip(name: str) -> None:
    document = markdown_to_nodes(BLOCKS[name])
    assert [node["type"] for node in document["nodes"]] == [name.split()[0]]
    assert not any(node.get("markdown") is True for node in every(document)), "nothing is kept as it was written"
    assert nodes_to_markdown(document) == BLOCKS[name] + "\n"
    assert faults_of(document, DOCUMENTED) == [] or faults_of(document, NEWEST) == []


@each_case("name", INLINES)
def test_inline_round_trip(name: str) -> None:
    document = markdown_to_nodes(INLINES[name])
    first = document["nodes"][0]["nodes"]
    assert next(one["type"] for one in first if one["object"] != "text") == name.split()[0]
    assert not any(node.get("markdown") is True for node in every(document))
    assert nodes_to_markdown(document) == INLINES[name] + "\n"
    assert faults_of(document, DOCUMENTED) == [] or faults_of(document, NEWEST) == []


@each_case("name", MARKS)
def test_mark_round_trip(name: str) -> None:
    document = markdown_to_nodes(MARKS[name])
    assert next(one["type"] for one in every(document) if one["object"] == "mark") == name.split()[0]
    assert nodes_to_markdown(document) == MARKS[name] + "\n"


@each_case("words", WORDS)
def test_plain_words_stay_plain(words: str) -> None:
    document = markdown_to_nodes(words)
    assert kinds(document) == {"paragraph"}
    assert nodes_to_markdown(document) == words + "\n"
    assert markdown_to_nodes(nodes_to_markdown(document)) == document


def test_every_kind_of_block_has_a_sample() -> None:
    seen = {kind for text in BLOCKS.values() for kind in kinds(markdown_to_nodes(text))}
    assert set(ALLOWED_CHILDREN) - {"document", "annotation-body"} <= seen
    assert ALLOWED_CHILDREN["document"] <= seen


@each_case("text", [*BLOCKS.values(), *INLINES.values(), *MARKS.values()])
def test_foreign_nodes_round_trip(text: str) -> None:
    """Trees of other services have no extras for Markdown."""
    document = bare(markdown_to_nodes(text))
    assert bare(markdown_to_nodes(nodes_to_markdown(document))) == document or ":smile:" in text


# Markdown without a node is preserved, and keys stay the same for unedited blocks.


@each_case(
    "text",
    [
        "{% sparkle a=1 %}\nIn _it_.\n{% endsparkle %}\n",
        "<!-- said -->\n",
        "a <blink>b</blink> c\n",
        "[^1]: Nobody asked.\n",
    ],
)
def test_markdown_without_a_node_is_kept(text: str) -> None:
    document = markdown_to_nodes(text)
    assert any(node.get("markdown") is True for node in every(document))
    assert nodes_to_markdown(document) == text


def test_unknown_attribute_is_kept() -> None:
    text = '{% hint style="info" mood="good" %}\nx\n{% endhint %}\n'
    document = markdown_to_nodes(text)
    assert document["nodes"][0]["type"] == "hint"
    assert nodes_to_markdown(document) == text


def test_keys_depend_on_content() -> None:
    before, after = markdown_to_nodes("One.\n\nTwo.\n\nTwo.\n"), markdown_to_nodes("New.\n\nOne.\n\nTwo.\n\nTwo.\n")
    keys = [node["key"] for node in before["nodes"]]
    assert keys == [node["key"] for node in after["nodes"]][1:]
    every_key = [node["key"] for node in every(after) if "key" in node]
    assert len(set(every_key)) == len(every_key)


def test_changed_node_is_written_with_its_change() -> None:
    document = markdown_to_nodes('> [!NOTE]\n> Mind.\n\n![Sky](sky.png "T")\n')
    document["nodes"][0]["data"]["style"] = "danger"
    document["nodes"][1]["nodes"][0]["data"]["width"] = 300
    assert nodes_to_markdown(document) == (
        '{% hint style="danger" %}\nMind.\n{% endhint %}\n\n'
        '<figure><img src="sky.png" alt="Sky" width="300"><figcaption><p>T</p></figcaption></figure>\n'
    )


# Foreign trees are validated before they are written.


def changed(path: str, value: Any) -> Node:
    text = '## A\n\n[b](c.md)\n\n{% embed url="https://example.org" %}\n\n| a |\n| --- |\n| b |\n'
    document = markdown_to_nodes(text)
    at: Any = document
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        at = at[step]
    at[last] = value
    return document


@each_case(
    ("path", "value", "wrong"),
    [
        ("object", "page", "document.object: is not document"),
        ("nodes", None, "document.nodes: is not a list"),
        ("nodes.0", "words", "document.nodes[0]: is not an object"),
        ("nodes.0.type", "heading-9", "document.nodes[0].type: 'heading-9' is not allowed here"),
        ("nodes.0.type", ["x"], "document.nodes[0].type: ['x'] is not allowed here"),
        ("nodes.0.nodes.0.leaves.0.text", 5, "document.nodes[0].nodes[0].leaves[0].text: is not a text"),
        ("nodes.0.nodes.0.leaves.0.marks", [{"type": "loud"}], "leaves[0].marks[0].type: 'loud' is not a mark"),
        ("nodes.1.nodes.0.data.ref", {"kind": "page"}, "data.ref.page: is not a text"),
        ("nodes.2.data.url", None, "document.nodes[2].data.url: is not a text"),
        ("nodes.3.data.view.columns", ["none"], "data.view.columns[0]: is not a defined column"),
        ("nodes.3.data.records", [], "document.nodes[3].data.records: is not an object"),
    ],
)
def test_invalid_tree_is_refused_with_its_path(path: str, value: Any, wrong: str) -> None:
    with pytest.raises(InvalidNode, match=re.escape(wrong)):
        nodes_to_markdown(changed(path, value))


def test_mutated_tree_is_written_or_refused() -> None:
    chance = random.Random(7)
    junk = (None, 5, -1, "x", "", [], {}, [None], {"kind": "x"}, {"object": "text"}, True, 1e300, ["a"], "}")
    documents = [markdown_to_nodes(text) for text in (*BLOCKS.values(), *INLINES.values())]
    written = 0
    for _ in range(150):
        document = copy.deepcopy(chance.choice(documents))
        holder, name = chance.choice(list(places(document)))
        holder[name] = chance.choice(junk)
        try:
            assert isinstance(nodes_to_markdown(document), str)
        except InvalidNode as wrong:
            assert wrong.path
        else:
            written += 1
    assert 0 < written < 150


@each_case(
    "text",
    [
        "[^1]" * 1000 + "\n\n[^1]: " + "long " * 2000,
        "**a" * 2000,
        "<b>" * 2000 + "</i>" * 2000,
        "> " * 400 + "a",
        "- " * 300 + "a",
        "{% hint %}\n" * 300 + "{% endhint %}\n" * 300,
    ],
)
def test_hostile_texts_are_fast(text: str) -> None:
    start = thread_time()
    document = markdown_to_nodes(text)
    assert thread_time() - start < 3
    assert nodes_to_markdown(document) or len(document["nodes"]) > 0


# Documentation keeps its meaning.


class Around:
    """The surroundings of a page without a site."""

    def leads(self, target: str, source: str) -> ResolvedLink | None:
        return ResolvedLink(target)

    def included(self, target: str, source: str) -> None:
        return None

    def specification(self, name: str, source: str, *, is_file: bool) -> None:
        return None

    def model_url(self, reader: Any, name: str) -> None:
        return None

    def holds(self, condition: str) -> bool:
        return True

    def variable(self, name: str) -> str | None:
        return None


def meaning(markdown: str) -> tuple[list[str], list[str]]:
    """Return the visible words of a page, and the targets of its links and images."""
    html = render_page_html(markdown, "page.md", Around()).html
    words = unescape(re.sub(r"<[^<>]*>", " ", html)).split()
    return words, sorted(re.findall(r'(?:href|src)="([^"]*)"', html))


@pytest.mark.slow
@pytest.mark.documentation("handbook", "varied-1")
def test_pages_keep_their_meaning(documentation: Documentation) -> None:
    def check(markdown: str, *, is_read: bool) -> None:
        document = markdown_to_nodes(markdown)
        again = nodes_to_markdown(document)
        assert markdown_to_nodes(again) == document
        if is_read and (documentation.generated is None or documentation.name.startswith("handbook")):
            assert meaning(again) == meaning(markdown)

    for number, page in enumerate([page for page in documentation.pages if len(page.text) < 40_000][::3]):
        check_page(documentation, page, lambda markdown, number=number: check(markdown, is_read=number % 2 == 0))


@pytest.mark.documentation("handbook", "manual")
def test_pages_match_the_published_schema(documentation: Documentation) -> None:
    for page in documentation.pages[::20]:
        assert faults_of(markdown_to_nodes(page.text)) == [], page.path


def test_differences_from_the_published_schema_are_reported() -> None:
    document = markdown_to_nodes('{% hint style="info" %}\nx\n{% endhint %}\n')
    document["nodes"][0]["data"]["style"] = "loud"
    assert "'loud'" in faults_of(document)[0]
    document["nodes"][0] = {"object": "block", "type": "list-item", "nodes": []}
    assert "is not allowed here" in faults_of(document)[0]
