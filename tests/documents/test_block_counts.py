"""No block of a page is missing in its node tree, whatever blocks contain it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from tests.documents.node_samples import BLOCKS
from tests.documents.node_schema import NEWEST, faults_of
from tests.documents.written_blocks import body, kept, written
from tests.generated_docs.documentation import Documentation, check_page
from tests.table import each_case

from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.schema import ALLOWED_CHILDREN, HOLDS_BLOCKS
from presscheck.documents.nodes.to_markdown import nodes_to_markdown

Node = dict[str, Any]


def lost(markdown: str) -> dict[str, tuple[int, int]]:
    """Return the kinds of blocks of which the tree has fewer than the text, with both counts."""
    there, here = written(markdown), kept(markdown_to_nodes(body(markdown)))
    return {kind: (count, here[kind]) for kind, count in there.items() if count > here[kind]}


@pytest.mark.documentation("handbook", "varied", "manual")
def test_no_block_is_missing_in_the_tree(documentation: Documentation) -> None:
    def check(markdown: str) -> None:
        assert lost(markdown) == {}

    for page in documentation.sample(3):
        check_page(documentation, page, check)


@pytest.mark.documentation("varied")
def test_trees_have_the_published_shape(documentation: Documentation) -> None:
    def check(markdown: str) -> None:
        assert faults_of(markdown_to_nodes(body(markdown)), NEWEST) == []

    for page in documentation.pages[::10]:
        check_page(documentation, page, check)


@pytest.mark.documentation("varied")
def test_counts_in_text_and_tree_are_nearly_equal(documentation: Documentation) -> None:
    """Guards the counter itself: if it overlooked blocks, no block would be missing."""
    pages = [(written(page.text), kept(markdown_to_nodes(body(page.text)))) for page in documentation.sample(3)]
    for kind in ("list-item", "cell", "hint", "tabs-item", "stepper-step", "expandable", "picture", "content-ref"):
        there, here = (sum(counts[kind] for counts in side) for side in zip(*pages, strict=True))
        assert there >= 0.95 * here, kind


def bare(value: Any) -> Any:
    """Return a tree without keys."""
    if isinstance(value, list):
        return [bare(item) for item in value]
    return {name: bare(item) for name, item in value.items() if name != "key"} if isinstance(value, dict) else value


def indented(text: str, mark: str) -> str:
    return "\n".join(f"{mark}{line}".rstrip() for line in text.split("\n"))


AROUND = {
    "if": "{{% if visitor.claims.beta %}}\n{}\n{{% endif %}}",
    "blockquote": "> {}",
    "hint": '{{% hint style="info" %}}\n{}\n{{% endhint %}}',
    "list-item": "- One.\n\n  {}\n- Two.\n- Three.",
    "update": '{{% updates format="full" %}}\n{{% update date="2026-01-02" %}}\n{}\n{{% endupdate %}}\n'
    "{{% endupdates %}}",
    "tabs-item": '{{% tabs %}}\n{{% tab title="A" %}}\n{}\n{{% endtab %}}\n{{% endtabs %}}',
    "stepper-step": "{{% stepper %}}\n{{% step %}}\n{}\n{{% endstep %}}\n{{% endstepper %}}",
    "column": "{{% columns %}}\n{{% column %}}\n{}\n{{% endcolumn %}}\n{{% endcolumns %}}",
    "expandable-body": "<details>\n\n<summary>More</summary>\n\n{}\n\n</details>",
    "annotation-body": "[^1]: One.\n\n    {}\n\nA [word](#user-content-fn-1)[^1].",
}
DEEP = [kind for kind in AROUND if kind != "annotation-body"]
"""Blocks that may be nested; footnotes are only at the top level."""
MARGINS = {"blockquote": "> ", "list-item": "  ", "annotation-body": "    "}


def around(kind: str, text: str) -> str:
    """Return Markdown that wraps a text in a block of this kind."""
    text = indented(text, MARGINS.get(kind, ""))
    return AROUND[kind].format(text.removeprefix(MARGINS.get(kind, "")))


def inside(node: Node, kind: str) -> list[Node] | None:
    """Return the content of the first block of this kind, without the words before it in an item or a footnote."""
    for name in ("nodes", "fragments"):
        for inner in node.get(name) or ():
            if kind in (inner.get("type"), inner.get("fragment")):
                return inner["nodes"][1:] if kind in ("list-item", "annotation-body") else inner["nodes"]
            if (nodes := inside(inner, kind)) is not None:
                return nodes
    return None


def test_all_container_blocks_are_tested() -> None:
    assert {*AROUND, "document"} == set(HOLDS_BLOCKS)
    assert all("paragraph" in ALLOWED_CHILDREN[kind] for kind in HOLDS_BLOCKS)


@each_case("outer", AROUND)
def test_blocks_are_the_same_in_all_other_blocks(outer: str) -> None:
    for name, text in BLOCKS.items():
        page = around(outer, text)
        document = markdown_to_nodes(page)
        assert bare(inside(document, outer)) == bare(markdown_to_nodes(text)["nodes"]), name
        assert lost(page) == {}, name
        again = nodes_to_markdown(document)
        assert markdown_to_nodes(again) == document, name
        assert nodes_to_markdown(markdown_to_nodes(again)) == again, name
        if outer == "list-item":
            assert [len(list_node["nodes"]) for list_node in document["nodes"]] == [3], name


INNER = ("list-tasks", "table of HTML", "images", "code", "tabs", "hint")


@each_case(("number", "outer", "middle"), [(number, *pair) for number, pair in enumerate(product(DEEP, DEEP))])
def test_blocks_nest_at_any_depth(number: int, outer: str, middle: str) -> None:
    # two of them in each pair: each of them meets each block, as the outer and as the middle one
    for name in INNER[(number + number // len(DEEP)) % 3 :: 3]:
        page = around(outer, around(middle, BLOCKS[name]))
        document = markdown_to_nodes(page)
        assert lost(page) == {}, name
        assert faults_of(document, NEWEST) == [], name
        assert markdown_to_nodes(nodes_to_markdown(document)) == document, name


@each_case(
    ("text", "kinds"),
    [
        (
            '{% stepper %}\n{% step %}\n{% tabs %}\n{% tab title="A" %}\nOne.\n{% endtab %}\n{% endtabs %}\n'
            "{% endstep %}\n{% endstepper %}",
            {"tabs": 1, "tabs-item": 1, "stepper-step": 1},
        ),
        ('* a\n\n  <figure><img src="a.png" alt=""></figure>\n* b\n* c', {"list-item": 3, "picture": 1}),
        ('1. a\n   <figure><img src="a.png" alt=""></figure>\n2. b\n   * c', {"list-item": 3, "picture": 1}),
        ('<div align="center"><img src="a.png" alt="A"></div>', {"images": 1, "picture": 1}),
        ('<div data-with-frame="true">\n<img src="a.png" width="300">\n<img src="b.png">\n</div>', {"picture": 2}),
        ("<ul><li>a</li><li>b<ol><li>c</li></ol></li></ul>", {"list-item": 3}),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td colspan=2>c</td></tr></table>", {"cell": 6}),
        ("| a |\n| --- |\n| <p>b</p><ul><li>c</li><li>*d*</li></ul> |", {"cell": 2, "list-item": 2}),
        (
            '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td><p align="center"><span>x</span></p>'
            "<ul><li>b</li><li><p>c</p><p>d</p></li></ul></td></tr></tbody></table>",
            {"cell": 2, "list-item": 2},
        ),
        ('{% page-ref page="guide.md" %}', {"content-ref": 1}),
        (
            '{% code-tabs %}\n{% code-tabs-item title="a.js" %}\n```js\nx\n```\n{% endcode-tabs-item %}\n'
            "{% endcode-tabs %}",
            {"tabs": 1, "tabs-item": 1, "code": 1},
        ),
        ("{% api-method-description %}\n* a\n* b\n{% endapi-method-description %}", {"list-item": 2}),
        ('{% tab title="A" %}\n* a\n{% endtab %}', {"list-item": 1}),
        ("<div>\n\n* a\n* b\n\n</div>", {"list-item": 2}),
        ('{% hint style="working" %}\n* a\n{% endhint %}', {"hint": 1, "list-item": 1}),
        ("<details>\n\n* a\n\n</details>", {"expandable": 1, "list-item": 1}),
    ],
)
def test_structure_is_kept(text: str, kinds: dict[str, int]) -> None:
    document = markdown_to_nodes(text)
    assert {kind: kept(document)[kind] for kind in kinds} == kinds
    again = nodes_to_markdown(document)
    assert markdown_to_nodes(again) == document
    assert nodes_to_markdown(markdown_to_nodes(again)) == again
    assert faults_of(document, NEWEST) == []


@each_case(
    "text",
    [
        '<div align="center"><img src="a.png" alt="A"></div>\n',
        "<ul><li>a</li><li>b<ol><li>c</li></ol></li></ul>\n",
        "<table>\n<tr><td>a</td><td class=x>b</td></tr>\n<tr><td colspan=2>c</td></tr>\n</table>\n",
        "| a |\n| --- |\n| <p>b</p><ul><li>c</li><li>_d_</li></ul> |\n",
        "| a |\n| --- |\n| :smile: |\n| $$x$$ |\n",
        "- [ ] ![Sky](sky.png)\n- [x] ![](b.png)\n",
        "- a\n\n  <ul><li>b</li></ul>\n\n- c\n",
        '{% page-ref page="guide.md" %}\n',
        '{% page-ref page="guide.md" %}\n[The guide](guide.md)\n{% endpage-ref %}\n',
        '{% code-tabs %}\n{% code-tabs-item title="a" %}\nx\n{% endcode-tabs-item %}\n{% endcode-tabs %}\n',
        "{% api-method-description %}\n- a\n- b\n{% endapi-method-description %}\n",
        '{% tab title="A" %}\n- a\n{% endtab %}\n',
        '{% hint style="working" %}\nx\n{% endhint %}\n',
    ],
)
def test_markdown_without_a_node_is_preserved(text: str) -> None:
    assert nodes_to_markdown(markdown_to_nodes(text)) == text


def test_changed_cell_of_an_odd_table_is_written() -> None:
    document = markdown_to_nodes("<table><tr><td>a</td></tr><tr><td colspan=2>b</td></tr></table>")
    document["nodes"][0]["fragments"][1]["nodes"][0]["nodes"][0]["leaves"][0]["text"] = "changed"
    assert "<td>changed</td>" in nodes_to_markdown(document)
