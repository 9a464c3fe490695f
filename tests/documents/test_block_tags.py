"""All tags of the registry are rendered with their content: in the terminal, as HTML, as Typst and as nodes."""

import json
import re
from html import escape
from typing import Any

from tests.table import each_case

from presscheck.documents.block_tags import BLOCK_TAGS, Attribute, BlockTag
from presscheck.documents.markdown.links import find_links
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.from_tags import READERS
from presscheck.documents.nodes.to_markdown import nodes_to_markdown
from presscheck.documents.terminal import custom_tags as terminal
from presscheck.documents.terminal.page_lines import render_page
from presscheck.service.pdf import typst_document
from presscheck.service.pdf.typst_document import render_typst
from presscheck.service.pdf.typst_inlines import web_target
from presscheck.service.web.html import custom_tags as html
from presscheck.service.web.html.page import Included, ResolvedLink, render_page_html
from presscheck.text.styled_text import plain

TABLES = {
    "terminal": terminal.RENDERERS,
    "web page": html.RENDERERS,
    "PDF": typst_document.RENDERERS,
    "nodes": READERS,
}
WORDS = "Words of the content."
PARENTS = {"tab": "tabs", "step": "stepper", "column": "columns", "update": "updates"}
VALUES = {
    "text": "value",
    "flag": "true",
    "count": "3",
    "length": "50%",
    "file": "files/manual.pdf",
    "address": "other.md",
    "spec": "petstore",
    "names": "Pet,Order",
    "tags": "news",
}
SPECIAL = {
    "code": f'{{% code title="value" %}}\n```text\n{WORDS}\n```\n{{% endcode %}}',
    "details": f"<details>\n\n<summary>Summary</summary>\n\n{WORDS}\n\n</details>",
    "div": '<div data-with-frame="true"><figure><img src="a.png" alt=""><figcaption>'
    f"<p>{WORDS}</p></figcaption></figure></div>",
    "if": f"{{% if visitor.claims.beta %}}\n{WORDS}\n{{% endif %}}",
    "include": '{% include "snippets/words.md" %}',
    "@": '{% @diagrams/chart title="value" %}',
}


class Context:
    """A site on which all links resolve and all conditions are true."""

    def leads(self, target: str, source: str) -> ResolvedLink | None:
        return ResolvedLink(f"https://docs.test/{target}")

    def included(self, target: str, source: str) -> Included | None:
        return Included(WORDS, target)

    def component(self, integration: str, block: str, props: dict[str, Any]) -> None:
        return None

    def specification(self, name: str, source: str, *, is_file: bool) -> None:
        return None

    def model_url(self, reader: Any, name: str) -> None:
        return None

    def holds(self, condition: str) -> bool:
        return True

    def variable(self, name: str) -> str | None:
        return None


def value_of(attribute: Attribute) -> str:
    return attribute.choices[0] if attribute.choices else VALUES[attribute.kind]


def opened(tag: BlockTag) -> str:
    values = "".join(f' {attribute.name}="{value_of(attribute)}"' for attribute in tag.attributes)
    return f"{{% {tag.name}{values} %}}"


def sample(tag: BlockTag) -> str:
    """Return Markdown of a tag with all its attributes and some content."""
    if tag.name in SPECIAL:
        return SPECIAL[tag.name]
    child = next((name for name, parent in PARENTS.items() if parent == tag.name), "")
    inner = sample_of_part(BLOCK_TAGS[child]) if child else SPECIAL["code"] if tag.name == "prompt" else WORDS
    if tag.content == "nothing":
        return opened(tag)
    text = f"{opened(tag)}\n{inner}\n{{% end{tag.name} %}}"
    if tag.name in PARENTS:
        parent = BLOCK_TAGS[PARENTS[tag.name]]
        return f"{opened(parent)}\n{text}\n{{% end{parent.name} %}}"
    return text


def sample_of_part(tag: BlockTag) -> str:
    return f"{opened(tag)}\n{WORDS}\n{{% end{tag.name} %}}"


@each_case("table", TABLES)
def test_every_tag_has_a_renderer(table: str) -> None:
    missing, unknown = BLOCK_TAGS.keys() - TABLES[table].keys(), TABLES[table].keys() - BLOCK_TAGS.keys()
    assert not missing, f"{table}: no renderer for {', '.join(sorted(missing))}"
    assert not unknown, f"{table}: not in the registry: {', '.join(sorted(unknown))}"


@each_case("name", BLOCK_TAGS)
def test_content_is_shown_everywhere(name: str) -> None:
    tag = BLOCK_TAGS[name]
    text = sample(tag)
    words = WORDS if tag.content != "nothing" else {"include": "snippets/words.md", "@": "diagrams/chart"}[name]
    lines = " ".join(plain(line) for line in render_page(text, 200))
    assert words in lines
    assert (words in render_typst(text, web_target)) is (name != "if"), "a PDF has no conditions"
    shown = render_page_html(text, "page.md", Context()).html
    assert (WORDS if name == "include" else escape(words)) in shown


@each_case("name", BLOCK_TAGS)
def test_nodes_keep_the_tag(name: str) -> None:
    tag, text = BLOCK_TAGS[name], sample(BLOCK_TAGS[name])
    document = markdown_to_nodes(text)
    assert nodes_to_markdown(document) == f"{text}\n"
    if tag.node:
        assert f'"type": "{tag.node}"' in json.dumps(document)
    else:
        assert document["nodes"][0]["nodes"][0]["markdown"] is True


@each_case("name", [name for name, tag in BLOCK_TAGS.items() if tag.node and tag.attributes])
def test_nodes_know_every_attribute(name: str) -> None:
    """The data of a node has all attributes, so that none is left in its `markdown` extra."""
    document = json.dumps(markdown_to_nodes(sample(BLOCK_TAGS[name])))
    assert '"values": {' not in document.replace('"values": {}', "")
    for attribute in BLOCK_TAGS[name].attributes:
        if name != "code" or attribute.name == "title":
            assert f'"{attribute.key}": ' in document


@each_case("name", BLOCK_TAGS)
def test_names_of_tags_are_read_in_any_case(name: str) -> None:
    text = sample(BLOCK_TAGS[name])
    upper = re.sub(r"\{% [\w-]+", lambda tag: tag[0].upper(), text)
    for render in (
        lambda markdown: [plain(line) for line in render_page(markdown, 200)],
        lambda markdown: render_typst(markdown, web_target),
        lambda markdown: render_page_html(markdown, "page.md", Context()).html,
        lambda markdown: nodes_to_markdown(markdown_to_nodes(markdown)),
    ):
        assert str(render(upper)).lower() == str(render(text)).lower()
    assert [node["type"] for node in markdown_to_nodes(upper)["nodes"]] == [
        node["type"] for node in markdown_to_nodes(text)["nodes"]
    ]


def test_end_tag_after_words_is_read_in_any_case() -> None:
    [node] = markdown_to_nodes("{% If visitor.claims.beta %} words {% EndIf %}")["nodes"]
    assert (node["type"], node["data"]) == ("if", {"expression": "visitor.claims.beta"})


@each_case(
    ("old", "new"),
    [
        ('{% page-ref page="other.md" %}', '{% content-ref url="other.md" %}'),
        (
            '{% page-ref page="other.md" %}\n[Other](other.md)\n{% endpage-ref %}',
            '{% content-ref url="other.md" %}\n[Other](other.md)\n{% endcontent-ref %}',
        ),
        (
            '{% code-tabs %}\n{% code-tabs-item title="A" %}\nOne.\n{% endcode-tabs-item %}\n{% endcode-tabs %}',
            '{% tabs %}\n{% tab title="A" %}\nOne.\n{% endtab %}\n{% endtabs %}',
        ),
    ],
)
def test_former_names_of_tags_are_read(old: str, new: str) -> None:
    assert [plain(line) for line in render_page(old, 80)] == [plain(line) for line in render_page(new, 80)]
    assert render_page_html(old, "page.md", Context()).html == render_page_html(new, "page.md", Context()).html
    assert render_typst(old, web_target) == render_typst(new, web_target)
    assert nodes_to_markdown(markdown_to_nodes(old)) == f"{old}\n"
    assert [link.target for link in find_links(old)] == [link.target for link in find_links(new)]
