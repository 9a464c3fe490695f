"""All blocks, inlines and marks of the published schema are drawn, the same from Markdown as from nodes."""

from __future__ import annotations

import os
import re
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from tests.contract.description import DOCUMENTED, NEWEST, schema_called, schema_names
from tests.documents.drawn_blocks import SAMPLES
from tests.documents.node_samples import BLOCKS, INLINES
from tests.documents.written_words import unseen_words, written_words
from tests.generated_docs.documentation import Documentation, check_page
from tests.generated_docs.prose import markers_in
from tests.table import each_case

from presscheck.documents.block_tags import BLOCK_TAGS
from presscheck.documents.markdown.links import LinkTarget
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.to_markdown import nodes_to_markdown
from presscheck.documents.pages.front_matter import split_front_matter
from presscheck.documents.terminal.controls import Controls, is_control, target
from presscheck.documents.terminal.custom_tags import UNKNOWN
from presscheck.documents.terminal.page_lines import PageLines, render_page
from presscheck.documents.terminal.references import Included, NoReferences
from presscheck.text.styled_text import Line, plain, width

PICTURES = Path(__file__).parent / "drawn_blocks.txt"
WIDTH = 60
NAME = re.compile(r"Document(Block|Inline|Mark)(?=[A-Z])")


def types_in(node: Any) -> set[str]:
    """Return the types of a node and of all nodes and marks in it."""
    found = {str(node["type"])} if isinstance(node, dict) and "type" in node else set[str]()
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        found |= types_in(inner)
    return found


def picture() -> str:
    """Return all samples and their drawings, with the styles of text that is not plain."""
    parts: list[str] = []
    for name, text in SAMPLES.items():
        lines = [
            "".join(f"{span.text}{{{span.style}}}" if span.style.strip() else span.text for span in line).rstrip()
            for line in render_page(text, WIDTH)
        ]
        parts.append("\n".join((f"== {name}", *lines)))
    return "\n\n".join(parts) + "\n"


def test_all_types_of_the_schema_have_a_sample() -> None:
    """Types that a new release adds need a sample."""
    drawn: set[str] = set()
    for text in SAMPLES.values():
        drawn |= types_in(markdown_to_nodes(text))
    missing = [
        name
        for release in (DOCUMENTED, NEWEST)
        for name in schema_names(release)
        if NAME.match(name)
        for kind in schema_called(name, release)["properties"]["type"]["enum"]
        if kind not in drawn
    ]
    assert missing == []


def test_samples_match_the_stored_drawings() -> None:
    drawn = picture()
    if os.environ.get("PRESSCHECK_UPDATE_GOLDEN"):
        PICTURES.write_text(drawn, "utf-8")
    assert drawn == PICTURES.read_text("utf-8")
    for sign in ("{%", UNKNOWN, "$$", "](", "<details", ":smile:"):
        assert sign not in drawn


@each_case("name", SAMPLES)
def test_nodes_of_samples_are_drawn_like_their_markdown(name: str) -> None:
    nodes = markdown_to_nodes(SAMPLES[name])
    assert render_page(nodes_to_markdown(nodes), WIDTH) == render_page(SAMPLES[name], WIDTH)


def shown_words(lines: list[Line]) -> str:
    return "\n".join(plain(line) for line in lines)


def words_of(lines: list[Line]) -> list[str]:
    """Return the words of a drawing, without the box-drawing characters."""
    return sorted(re.sub(r"[─│▍]+", " ", shown_words(lines)).split())


def styled(lines: list[Line]) -> list[list[tuple[str, set[str], str | None]]]:
    """Return a drawing with the marks of each text in a fixed order."""
    return [[(span.text, {*span.style.split()}, span.link) for span in line] for line in lines]


NO_SCHEMA = re.compile(r"\[\^|<pre\b|<th\b[^<>]*\balign=|\{% \w+[^%{}]*$", re.MULTILINE)
"""What nodes have no place for, so that it moves: footnotes stand where they are named; lines of code in a cell and the
side of a column of numbers are lost, and so is the break in a tag that never ends."""
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
NOT_READ = {"hidden", "surplus", "true"}
"""Words of generated pages that are not shown: in hidden columns, in cells beyond the last column, and check marks."""


@pytest.mark.slow
@pytest.mark.documentation("varied-1")
def test_pages_are_drawn_whole_at_three_widths(documentation: Documentation) -> None:
    """No line is too wide, no word is missing, no known block is drawn as unknown. Each page has one width."""

    def check(markdown: str, columns: int) -> None:
        written = written_words(markdown) - (NOT_READ if documentation.generated else set())
        lines = render_page(markdown, columns)
        assert [plain(line) for line in lines if width(line) > columns] == []
        shown = shown_words(lines)
        assert CONTROL.findall(shown) == []
        unknown = set(re.findall(rf"{UNKNOWN}: (\S+)", shown))
        assert not unknown & BLOCK_TAGS.keys() if documentation.generated else not unknown
        assert unseen_words(written | markers_in(markdown), shown) == []

    for page, columns in zip(documentation.sample(3), cycle((40, 80, 160)), strict=False):
        check_page(documentation, page, lambda markdown, columns=columns: check(markdown, columns))


@pytest.mark.slow
@pytest.mark.documentation("varied-1")
def test_nodes_of_pages_are_drawn_like_their_markdown(documentation: Documentation) -> None:
    def check(markdown: str) -> None:
        body = split_front_matter(markdown)[1]
        lines, again = render_page(body, 80), render_page(nodes_to_markdown(markdown_to_nodes(body)), 80)
        if NO_SCHEMA.search(body):
            assert words_of(again) == words_of(lines)
        else:
            assert styled(again) == styled(lines)

    for page in documentation.sample(3)[::2]:
        check_page(documentation, page, check)


def test_missing_words_are_reported() -> None:
    text = '---\ntitle: x\n---\n{% hint style="info" %}\nSeen [label](a/gone.md "tip") and `code`, caf\u00e9.'
    assert written_words(text) == {"Seen", "label", "and", "code", "caf\u00e9"}
    assert unseen_words({"Seen", "and", "gone", "codes"}, "▍ Seen and co\n▍ des") == ["gone"]


@pytest.mark.slow
@pytest.mark.documentation("varied-1")
def test_controls_change_one_block(documentation: Documentation) -> None:
    """Using a control gives the same page as a layout with its value, within the width; opened, nothing is missing."""

    def check(markdown: str) -> None:
        controls = Controls()
        page = PageLines(markdown, 50, controls=controls)
        page.advance(60)
        keys = {mark.key: mark for number in range(len(page.lines)) for mark in page.marks(number)}
        for mark in list(keys.values())[:8]:
            page.set(target(mark.key, 1 - mark.value if mark.most <= 1 else mark.most))
        page.advance(60)
        again = PageLines(markdown, 50, controls=controls)
        again.advance(60)
        assert (page.lines, page.line_of_block, page.links, page.headings) == (
            again.lines,
            again.line_of_block,
            again.links,
            again.headings,
        )
        assert [plain(line) for line in page.lines if width(line) > 50] == []
        controls.shows_all, controls.folded = True, set()
        opened = PageLines(markdown, 50, controls=controls)
        opened.advance(60)
        whole = [tuple(span for span in line if not is_control(span.link)) for line in opened.lines]
        assert shown_words(whole) == shown_words(render_page(markdown, 50))

    for page in documentation.sample(3)[::4]:
        check_page(documentation, page, check)


class Space(NoReferences):
    """A space with two pages, reusable content, a variable and an API specification."""

    def target(self, address: str) -> LinkTarget | None:
        titles = {"start.md": "Getting started", "/~/pages/p1": "Second page"}
        if address.endswith("gone.md"):
            return LinkTarget(is_broken=True)
        return LinkTarget(titles[address]) if address in titles else None

    def included(self, address: str) -> Included | None:
        return Included("Shared note", f'Words of it.\n\n{{% include "{address}" %}}')

    def variable(self, expression: str) -> str | None:
        return {"space.vars.version": "4.2"}.get(expression)

    def specification(self, name: str) -> dict[str, Any] | None:
        return API if name == "pets" else None


API: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/pets": {
            "parameters": [{"$ref": "#/components/parameters/Trace"}],
            "post": {
                "summary": "Add a pet",
                "parameters": [
                    {"name": "dry", "in": "query", "required": True, "schema": {"type": "boolean", "default": False}}
                ],
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}},
                "responses": {"201": {"description": "Added"}, "409": {"description": "There is one"}},
            },
        }
    },
    "webhooks": {"born": {"post": {"description": "A pet was born."}}},
    "components": {
        "parameters": {"Trace": {"name": "X-Trace", "in": "header", "schema": {"type": "string", "format": "uuid"}}},
        "schemas": {
            "Pet": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "description": "What it is called."},
                    "kind": {"enum": ["cat", "dog"]},
                    "parents": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}},
                },
            }
        },
    },
}


def drawn(text: str, columns: int = 70) -> str:
    page = PageLines(text, columns, references=Space())
    page.advance(60)
    return shown_words(page.lines)


def test_references_are_drawn_with_their_content() -> None:
    assert "→ Getting started start.md" in drawn(BLOCKS["content-ref"].replace("guides/", ""))
    assert "By Getting started it begins" in drawn(INLINES["mention"])
    assert "Second page" in drawn('[x](/~/pages/p1 "mention")')
    assert "words ⚠ and" in drawn("Some [words](gone.md) and more")
    assert "→ gone.md ⚠" in drawn('{% content-ref url="gone.md" %}\n[gone.md](gone.md)\n{% endcontent-ref %}')
    assert "It is 4.2 now." in drawn(INLINES["expression"])
    included = drawn(BLOCKS["reusable-content"])
    assert "Reusable content: Shared note" in included
    assert included.count("Words of it.") == 1, "what includes itself is drawn once"


def test_cards_with_a_missing_page_or_cover_are_marked_as_broken() -> None:
    cards = BLOCKS["table of cards"]
    assert [line.strip() for line in drawn(cards).splitlines()] == ["▣ sky.png", "→ a"]
    for text in (broken := cards.replace("start.md", "gone.md"), nodes_to_markdown(markdown_to_nodes(broken))):
        assert [line.strip() for line in drawn(text).splitlines()] == ["▣ sky.png", "→ a ⚠"]
    no_cover = cards.replace('href="sky.png"', 'href="a/gone.md"')
    assert [line.strip() for line in drawn(no_cover).splitlines()] == ["▣ gone.md ⚠", "→ a"]


def test_icon_of_a_step_is_before_text_or_above_other_blocks() -> None:
    step = '{% stepper %}\n{% step icon="octopus-x" %}\nTEXT\n{% endstep %}\n{% endstepper %}'
    assert drawn(step.replace("TEXT", "## Begin\n\nDo.")) == "1  [octopus-x] Begin\n│  \n│  Do."
    assert drawn(step.replace("TEXT", "![Sky](sky.png)")) == "1  [octopus-x]\n│  ▣ Sky"
    assert drawn(step.replace("TEXT", "a" * 15), 20) == f"1  [octopus-x]\n│  {'a' * 15}"
    assert drawn(step.replace("TEXT", "").replace("octopus-x", "bolt")) == "1  ↯"
    assert drawn(step.replace("TEXT", "").replace("octopus-x", "rocket")) == "1  🚀"
    assert all(width(line) <= 9 for line in render_page(step.replace("octopus-x", "octopus-x" * 9), 9))


def test_operations_are_drawn_with_parameters_and_schemas() -> None:
    operation = drawn(BLOCKS["openapi-operation"])
    for words in (
        "▾ POST /pets pets",
        "Add a pet",
        "X-Trace string (uuid)",
        "dry boolean required default False",
        "name string required",
        "What it is called.",
        "parents array of Pet",
        "409 There is one",
    ):
        assert words in operation
    assert "A pet was born." in drawn(BLOCKS["openapi-webhook"])
    schemas = drawn(BLOCKS["openapi-schemas"])
    assert "cat | dog" in schemas
    assert "not in the specification" in schemas, "there is no schema Error"


def test_deep_schemas_and_formulas_are_limited() -> None:
    nested: dict[str, Any] = {"type": "string"}
    for _ in range(200):
        nested = {"type": "object", "properties": {"inner": nested}}
    API["components"]["schemas"]["Error"] = nested
    try:
        assert drawn(BLOCKS["openapi-schemas"]).count("inner") < 20
    finally:
        del API["components"]["schemas"]["Error"]
    assert drawn("$$" + "\\frac" * 5000 + "$$").count("frac") == 5000
    assert drawn("$$\\sqrt{x^2+1} \\le \\alpha_{ij}$$") == "√(x²+1) ≤ αᵢⱼ"


def test_alternative_text_of_an_image_is_read_as_text() -> None:
    image = "![Ink &amp; *paper* \\* `x`\n2](a.png)"
    assert drawn(image) == "▣ Ink & paper * x 2"
    assert drawn(nodes_to_markdown(markdown_to_nodes(image))) == "▣ Ink & paper * x 2"


def test_code_in_a_cell_keeps_its_lines() -> None:
    cell = "<p>For example:</p><pre><code>points:\n  id=1\n</code></pre>and so on<p>End</p>"
    lines = drawn(f"<table><thead><tr><th>A</th></tr></thead><tbody><tr><td>{cell}</td></tr></tbody></table>")
    assert [line.strip() for line in lines.splitlines()[2:]] == ["For example:", "points:", "id=1", "and so on", "End"]
