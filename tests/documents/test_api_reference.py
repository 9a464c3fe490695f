"""API references: all features of a specification as HTML and as Markdown, limits, cycles, and hostile texts."""

from __future__ import annotations

import ast
import os
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path
from time import thread_time
from typing import Any

import pytest
from tests.documents.api_pages import REQUESTS, block_of, drawn, html_of, markdown_of, pets, reader_of
from tests.hostile_strings import HOSTILE
from tests.table import each_case

from presscheck.documents.openapi.blocks import BlockReference
from presscheck.documents.openapi.code_samples import SampleRequest, samples_of
from presscheck.documents.openapi.examples import example_of
from presscheck.documents.openapi.operation import origin_of_server, read_operation
from presscheck.documents.openapi.schema_tree import DEEPEST, MOST_NODES, SchemaNode, SchemaTrees
from presscheck.documents.openapi.searched_text import LONGEST, searched_markdown
from presscheck.documents.openapi.specification import SpecificationError, SpecificationReader, read_specification

GOLDEN = Path(__file__).with_name("api_reference.txt")
MODELS = '{% openapi-schemas spec="x" schemas="Pet, Owner,Unknown" %}'


def golden() -> str:
    reader = pets()
    parts: list[str] = []
    for block in (*map(block_of, reader.specification.entries), MODELS):
        page = drawn(block, reader)
        outline = " ".join(heading.fragment for heading in page.outline)
        html = re.sub(r"(?<=>)(?=<(?!/))", "\n", page.html)
        parts.append(
            f"== {block}\n-- outline: {outline}; connects to: {' '.join(page.connections)}\n{html}\n"
            f"-- Markdown\n{markdown_of(block, reader)}\n"
        )
    return "\n".join(parts)


def test_references_match_the_stored_output() -> None:
    text = golden()
    if os.environ.get("PRESSCHECK_UPDATE_GOLDEN"):
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8"), "PRESSCHECK_UPDATE_GOLDEN=1 writes it anew: read the difference"


class _Balance(HTMLParser):
    """Checks the nesting of elements, and collects ids and the targets of links within the page."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert tag in ALLOWED, tag
        assert not any(name.startswith("on") for name in given), attrs
        self.ids += [str(given["id"])] if "id" in given else []
        self.targets += [str(given["href"])[1:]] if str(given.get("href", "")).startswith("#") else []
        if tag not in ("input", "br", "img", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


ALLOWED = frozenset(
    re.findall(
        r"\w+",
        "section h2 h3 h4 h5 h6 a p strong code span div ul ol li dl dt dd details summary figure figcaption pre em s"
        " sup form label select option input textarea button table thead tbody tr th td br img blockquote hr",
    )
)


def require_sound(html: str) -> _Balance:
    parser = _Balance()
    parser.feed(html)
    assert not parser.open and len(set(parser.ids)) == len(parser.ids)
    assert set(parser.targets) <= set(parser.ids), "every link in the page has its target"
    return parser


def test_references_are_valid_html_without_scripts() -> None:
    require_sound(html_of(pets()))


def test_circular_schemas_end_with_a_link_to_the_fields_above() -> None:
    html = drawn('{% openapi-schemas spec="x" schemas="Problem" %}', pets()).html
    assert re.findall(r'id="(Site-schema-\d+)"', html) == re.findall(r'href="#(Site-schema-\d+)"', html) != []
    assert html.count("<code>message</code>") == 1


def test_unknown_operations_fall_back_to_the_block() -> None:
    block = '{% openapi-operation spec="x" path="/none" method="get" %}'
    for reader in (pets(), None):
        html = drawn(block, reader).html
        assert "<code>/none</code>" in html and "Described in x" in html
    assert 'class="api"' in drawn('{% openapi src="a.yaml" path="/pets" method="GET" %}', pets()).html


def test_descriptions_draw_no_blocks_of_references() -> None:
    inner = '{% openapi-operation spec="x" path="/a" method="get" %}'
    reader = reader_of({"paths": {"/a": {"get": {"summary": "A", "description": f"B\n\n{inner}"}}}})
    assert drawn(inner, reader).html.count("<h2") == 1


def operation(**details: Any) -> dict[str, Any]:
    return {"paths": {"/a": {"post": details}}, "servers": [{"url": "https://example.org"}]}


@each_case(
    ("schema", "kind"),
    [
        ({"type": "string", "format": "date"}, "string (date)"),
        ({"type": ["string", "null"]}, "string or null"),
        ({"type": "integer", "nullable": True}, "integer or null"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string or null"),
        ({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}, "array of array of integer"),
        ({"items": {"type": "string"}}, "array of string"),
        ({"enum": ["a", "b"]}, "string"),
        ({"properties": {"a": {}}}, "object"),
        ({"allOf": [{"type": "object"}, {"format": "x"}]}, "object (x)"),
        ({}, "any"),
        (True, "any"),
    ],
)
def test_types_are_short(schema: Any, kind: str) -> None:
    assert SchemaTrees(reader_of({})).tree(schema).type == kind


def field(node: SchemaNode, name: str) -> SchemaNode:
    return dict(node.fields)[name]


def test_all_of_is_merged() -> None:
    node = SchemaTrees(pets()).tree({"$ref": "#/components/schemas/Pet"}, "response")
    names = [name for name, _ in node.fields]
    assert names == ["name", "id", "kind", "weight", "owner", "food", "tags", "old"], "a secret is only sent"
    assert field(node, "name").flags == ["required"] and field(node, "id").flags == ["required", "read-only"]
    assert [choice.description for choice in field(node, "kind").choices] == ["Purrs", "Barks"]
    assert [(label, [one.name for one in some]) for label, some in field(node, "food").groups] == [
        ("One of (see type)", ["Dry", "Wet"])
    ]
    sent = SchemaTrees(pets()).tree({"$ref": "#/components/schemas/Pet"}, "request")
    assert "secret" in dict(sent.fields) and "id" not in dict(sent.fields)


def test_limits_are_named_in_both_forms() -> None:
    for schema in ({"exclusiveMinimum": 3}, {"minimum": 3, "exclusiveMinimum": True}):
        node = SchemaTrees(reader_of({})).tree({"type": "integer", **schema})
        assert [(fact.label, fact.value) for fact in node.facts] == [("Greater than", "3")]


def count(node: SchemaNode) -> int:
    inner = [field for _, field in node.fields] + [one for _, some in node.groups for one in some]
    return 1 + sum(map(count, inner))


@pytest.mark.attack("deep and circular data")
@each_case("word", ["allOf", "oneOf", "properties"])
def test_exponentially_growing_schemas_are_limited(word: str) -> None:
    def part(level: int) -> dict[str, Any]:
        both = [
            {"$ref": f"#/components/schemas/S{level + 1}"},
            {"type": "object", "allOf": [{"$ref": f"#/components/schemas/S{level + 1}"}]},
        ]
        return {"properties": dict(zip("ab", both, strict=True))} if word == "properties" else {word: both}

    schemas = {f"S{level}": part(level) for level in range(60)}
    reader = reader_of({"components": {"schemas": schemas}})
    start = thread_time()
    node = SchemaTrees(reader).tree({"$ref": "#/components/schemas/S0"})
    example_of(reader, {"$ref": "#/components/schemas/S0"})
    assert thread_time() - start < 5 and count(node) <= 4 * MOST_NODES


def test_deep_fields_end_with_a_link_to_the_model() -> None:
    schemas = {
        f"S{level}": {"properties": {"next": {"$ref": f"#/components/schemas/S{level + 1}"}}} for level in range(20)
    }
    html = drawn('{% openapi-schemas spec="x" schemas="S0" %}', reader_of({"components": {"schemas": schemas}})).html
    assert html.count("<code>next</code>") == DEEPEST and f'<a href="/models#S{DEEPEST}">' in html


def test_large_schemas_are_drawn_less_deep_instead_of_truncated() -> None:
    schemas = {
        f"S{level}": {"properties": {f"f{at}": {"$ref": f"#/components/schemas/S{level + 1}"} for at in range(12)}}
        for level in range(9)
    }
    node = SchemaTrees(reader_of({"components": {"schemas": schemas}})).tree({"$ref": "#/components/schemas/S0"})
    assert [len(inner.fields) for _, inner in node.fields] == [12] * 12, "all fields have the same depth"
    assert all(field.is_cut for _, inner in node.fields for _, field in inner.fields)
    wide = {"properties": {f"f{at}": {"type": "string"} for at in range(MOST_NODES - 2)}}
    assert len(SchemaTrees(reader_of({})).tree(wide).fields) == MOST_NODES - 2


@pytest.mark.slow
@pytest.mark.attack("Unicode and escape sequences")
def test_hostile_texts_stay_text() -> None:
    for text in (
        *HOSTILE[::12],
        '"><script>alert(1)</script>',
        "</textarea><img src=x onerror=alert(1)>",
        "javascript:alert(1)",
    ):
        schema = {
            "title": text,
            "type": text,
            "format": text,
            "description": text,
            "default": text,
            "enum": [text],
            "properties": {text: {"$ref": f"#/components/schemas/{text}"}},
            "pattern": text,
            "example": text,
            "required": [text],
            "discriminator": {"propertyName": text},
            "oneOf": [{"title": text}, {"title": text}],
        }
        plain = {name: schema[name] for name in ("title", "type", "format", "default", "enum", "pattern", "example")}
        parameters = [
            {"name": text, "in": place, "schema": schema if place == "query" else plain, "required": True}
            for place in ("path", "query", "header", "cookie")
        ]
        details = {
            "summary": text,
            "description": text,
            "operationId": text,
            "parameters": parameters,
            "tags": [text],
            "requestBody": {
                "description": text,
                "content": {text: {"schema": plain}, "application/json": {"schema": schema}},
            },
            "responses": {
                text: {
                    "description": text,
                    "headers": {text: {"schema": plain}},
                    "content": {text: {"schema": {"$ref": f"#/components/schemas/{text}"}, "example": text}},
                }
            },
            "security": [{text: [text]}],
            "servers": [{"url": text, "description": text, "variables": {text: {"default": text}}}],
            "callbacks": {text: {text: {text: {"summary": text}}}},
        }
        scheme = {"type": "apiKey", "in": text, "name": text, "description": text}
        document = {
            "paths": {"/a": {"post": details}},
            "components": {"schemas": {text: schema}, "securitySchemes": {text: scheme}},
        }
        reader = reader_of(document)
        block = '{% openapi-operation spec="x" path="/a" method="post" %}'
        page = drawn(block, reader)
        require_sound(page.html)
        assert "<script" not in page.html.lower() and 'href="javascript' not in page.html
        assert all(re.fullmatch(r"https?://[a-z0-9.-]+(:\d+)?", origin) for origin in page.connections)
        assert markdown_of(block, reader)


@each_case("wrong", [None, 1, "x", [], [None], {}, {"a": None}, True, {"$ref": "#/x"}, {"$ref": 1}, [[]]])
def test_values_of_wrong_types_are_ignored(wrong: Any) -> None:
    names = (
        "parameters",
        "requestBody",
        "responses",
        "security",
        "servers",
        "callbacks",
        "tags",
        "summary",
        "x-codeSamples",
        "deprecated",
    )
    for name in names:
        document = operation(**{name: wrong}) | {"components": {"schemas": {"A": wrong}}}
        reader = reader_of(document)
        require_sound(html_of(reader))
    media = {
        "schema": dict.fromkeys(
            (
                "type",
                "properties",
                "items",
                "oneOf",
                "allOf",
                "enum",
                "required",
                "example",
                "examples",
                "additionalProperties",
                "discriminator",
                "default",
                "minimum",
            ),
            wrong,
        ),
        "examples": wrong,
    }
    reader = reader_of(
        operation(
            requestBody={"content": {"application/json": media}},
            responses={"200": {"content": wrong, "headers": wrong}},
        )
    )
    require_sound(html_of(reader))
    for section in ("paths", "webhooks", "components", "servers", "info", "security", "tags"):
        require_sound(html_of(reader_of(operation() | {section: wrong})))


@each_case(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b"a: [",
        b'{"openapi": ',
        b"openapi: !!python/name:os.system",
        b"x: 1",
        b"openapi: 3.1.0\nx-changelog: {2024-01-01: first}",
    ],
)
def test_other_files_are_not_read_as_specifications(content: bytes) -> None:
    with pytest.raises(SpecificationError):
        read_specification(content)


def test_dates_and_numbers_in_yaml_are_text_like_in_json() -> None:
    text = b"openapi: 3.0.0\npaths: {/a: {get: {summary: A, responses: {200: {description: 2025-01-31}}}}}\n"
    found = read_operation(SpecificationReader(read_specification(text)), "operation", "/a", "get")
    assert found is not None and [(one.status, one.description) for one in found.responses] == [("200", "2025-01-31")]


def test_swagger_2_is_read() -> None:
    document = {
        "swagger": "2.0",
        "host": "example.org",
        "basePath": "/v2",
        "schemes": ["https", "http"],
        "consumes": ["application/json"],
        "produces": ["application/json"],
        "securityDefinitions": {
            "a": {"type": "basic"},
            "b": {"type": "oauth2", "flow": "accessCode", "tokenUrl": "https://example.org/t", "scopes": {"r": "Read"}},
        },
        "security": [{"a": []}],
        "definitions": {"Pet": {"properties": {"name": {"type": "string"}}}},
        "parameters": {"limit": {"name": "limit", "in": "query", "type": "integer", "maximum": 9}},
        "paths": {
            "/pets": {
                "post": {
                    "parameters": [
                        {"$ref": "#/parameters/limit"},
                        {"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}},
                    ],
                    "responses": {
                        "200": {
                            "description": "OK",
                            "schema": {"type": "array", "items": {"$ref": "#/definitions/Pet"}},
                            "examples": {"application/json": [{"name": "Tom"}]},
                        }
                    },
                },
                "put": {
                    "parameters": [{"name": "file", "in": "formData", "type": "file"}],
                    "responses": {},
                    "security": [{"b": ["r"]}],
                },
            }
        },
    }
    reader = reader_of(document)
    post = read_operation(reader, "operation", "/pets", "POST")
    assert post is not None and [server.url for server in post.servers] == [
        "https://example.org/v2",
        "http://example.org/v2",
    ]
    limit = post.parameters["query"][0].node
    assert (limit.type, [fact.value for fact in limit.facts]) == ("integer", ["9"])
    assert [name for name, _ in post.body[0].node.fields] == ["name"] and post.is_body_required
    assert post.responses[0].content[0].examples == [("", '[\n  {\n    "name": "Tom"\n  }\n]')]
    assert post.security[0][0].title == "User name and password"
    put = read_operation(reader, "operation", "/pets", "put")
    assert put is not None and put.body[0].media_type == "multipart/form-data"
    assert put.security[0][0].scopes == [("r", "Read")]


@each_case("request_", REQUESTS)
def test_samples_are_valid_code(request_: SampleRequest) -> None:
    samples = {title: code for title, _, code in samples_of(request_)}
    assert shlex.split(samples["curl"].replace("\\\n", ""))[0] == "curl"
    assert request_.address in shlex.split(samples["curl"].replace("\\\n", ""))
    tree = ast.parse(samples["Python"])
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Call))
    given = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
    if request_.is_json:
        assert given["json"] == request_.body
    assert samples == {title: code for title, _, code in samples_of(request_)}


@each_case(
    ("url", "origin"),
    [
        ("https://example.org/v1", "https://example.org"),
        ("http://localhost:8080", "http://localhost:8080"),
        ("https://example.org;script-src *", ""),
        ("https://a b/", ""),
        ("/v1", ""),
        ("javascript:alert(1)", ""),
        ("https://*", ""),
        ("https://user:pass@example.org/", "https://example.org"),
        ("https://example.org:99999", ""),
    ],
)
def test_only_plain_origins_enter_the_policy(url: str, origin: str) -> None:
    assert origin_of_server(url) == origin


def test_large_specification_is_parsed_by_parts() -> None:
    schemas = {
        f"S{number}": {"properties": {f"f{at}": {"type": "string", "description": "x" * 50} for at in range(20)}}
        for number in range(1000)
    }
    paths = {
        f"/a{number}": {
            "get": {
                "responses": {
                    "200": {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/S{number}"}}}}
                }
            }
        }
        for number in range(1000)
    }
    reader = reader_of({"paths": paths, "components": {"schemas": schemas}})
    start = thread_time()
    assert "<code>f19</code>" in drawn('{% openapi-operation spec="x" path="/a7" method="get" %}', reader).html
    assert thread_time() - start < 1
    assert len(reader._parsed) == 2, "only the path and its schema are parsed"
    assert reader.specification.weight() < 5_000_000


def test_search_text_has_names_and_descriptions_once_and_is_limited() -> None:
    again = {"$ref": "#/components/schemas/Node"}
    node = {"type": "object", "description": "# A node\n```", "properties": {"next": again}}
    wide = {"type": "object", "properties": {f"field_{number}": {"type": "string"} for number in range(2_000)}}
    content = {"application/json": {"schema": {"allOf": [again, {"enum": ["a", 1]}]}}}
    operation = {"summary": "Get *all* nodes", "parameters": [{"name": "limit", "description": "How many"}]}
    operation |= {"responses": {"200": {"description": "Found", "content": content}}}
    paths = {"/nodes": {"get": operation}}
    reader = reader_of({"paths": paths, "components": {"schemas": {"Node": node, "Wide": wide}}})
    text = searched_markdown(reader, BlockReference("s", False, "operation", "/nodes", "get", ()))
    assert text.split("\n")[:5] == ["## Get \\*all\\* nodes", "", "GET /nodes", "limit How many", "200 Found"]
    assert text.split("\n")[5:] == ["application/json", "object # A node ```", "a 1", "next", ""]
    models = searched_markdown(reader, BlockReference("s", False, "models", "", "", ("Wide", "None", "Node")))
    assert [line for line in models.split("\n") if line.startswith("#")] == ["## Wide", "## Node"]
    assert LONGEST - 100 < models.index("## Node") < LONGEST + 100
    assert searched_markdown(reader, BlockReference("s", False, "operation", "/none", "get", ())) == ""
