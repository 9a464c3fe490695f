"""`lost_types`: types of a tree that its Markdown lacks; none if the Markdown is complete."""

import pytest
from tests.documents.node_samples import BLOCKS, INLINES, MARKS
from tests.generated_docs.documentation import Documentation, check_page
from tests.table import each_case

from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.lost_types import lost_types
from presscheck.documents.nodes.to_markdown import nodes_to_markdown
from presscheck.documents.pages.front_matter import split_front_matter


@each_case("text", [*BLOCKS.values(), *INLINES.values(), *MARKS.values()])
def test_samples_lose_no_types(text: str) -> None:
    tree = markdown_to_nodes(text)
    assert lost_types(tree, nodes_to_markdown(tree)) == ()


def test_missing_types_are_listed_once_in_order() -> None:
    document = markdown_to_nodes("\n\n".join((BLOCKS["tabs"], BLOCKS["stepper"], INLINES["button"], "Some words.")))
    document["nodes"] += [{"object": "block", "type": kind, "nodes": []} for kind in ("poll", "widget", "poll")]
    assert lost_types(document, f"{BLOCKS['stepper']}\n\n{{% widget %}}") == ("tabs", "code", "button", "poll")
    assert lost_types(markdown_to_nodes("## Words\n\n- :smile:\n\n> ![a](b.png)"), "Words") == ()


@pytest.mark.documentation("varied")
def test_pages_lose_nothing(documentation: Documentation) -> None:
    def check(markdown: str) -> None:
        tree = markdown_to_nodes(split_front_matter(markdown)[1])
        assert lost_types(tree, nodes_to_markdown(tree)) == ()

    for page in documentation.pages[::8]:
        check_page(documentation, page, check)
