"""Comparison of two versions of an OpenAPI description: breaking and compatible changes."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tests.table import each_case

from presscheck.documents.terminal.openapi import schema_lines
from presscheck.engine.integrations.settings import absolute, is_of_integration, read_options
from presscheck.engine.openapi.comparison import compare
from presscheck.engine.openapi.description_file import read_description
from presscheck.engine.openapi.versions import KEPT, SeenVersions
from presscheck.errors import InvalidArgument, MalformedAnswer

PET: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "maxLength": 50},
        "tag": {"type": "string", "enum": ["dog", "cat"]},
        "age": {"type": "integer"},
        "friend": {"$ref": "#/components/schemas/Pet"},
    },
}
JSON = "application/json"


def body(schema: Any) -> dict[str, Any]:
    return {"content": {JSON: {"schema": schema}}}


REF = {"$ref": "#/components/schemas/Pet"}
OLD: dict[str, Any] = {
    "openapi": "3.1.0",
    "components": {"schemas": {"Pet": PET}},
    "paths": {
        "/pets": {
            "get": {
                "parameters": [
                    {"in": "query", "name": "limit", "schema": {"type": "integer"}},
                    {"in": "query", "name": "sort", "schema": {"type": "string"}},
                ],
                "responses": {"200": body({"type": "array", "items": REF}), "404": {}},
            },
            "post": {"requestBody": body(REF), "responses": {"201": body(REF)}},
        },
        "/pets/{id}": {
            "parameters": [{"in": "path", "name": "id", "required": True, "schema": {"type": "string"}}],
            "get": {"responses": {"200": body(REF)}},
        },
    },
}
GET, POST, ONE = "GET /pets", "POST /pets", "GET /pets/{id}"
CASES: list[tuple[str, Any, set[tuple[bool, str, str]]]] = [
    ("paths./pets.get", None, {(True, GET, "removed")}),
    ("paths./pets.put", {"responses": {}}, {(False, "PUT /pets", "added")}),
    ("paths./pets.get.deprecated", True, {(False, GET, "is now deprecated")}),
    ("paths./pets.get.parameters.1", None, {(True, f"{GET} › query sort", "removed")}),
    ("paths./pets.get.parameters.0.required", True, {(True, f"{GET} › query limit", "is now required")}),
    ("paths./pets.get.parameters.0.schema.type", "number", {(False, f"{GET} › query limit", "type integer → number")}),
    ("paths./pets.get.parameters.0.schema.type", "string", {(True, f"{GET} › query limit", "type integer → string")}),
    ("paths./pets.get.responses.404", None, {(False, f"{GET} › response 404", "removed")}),
    ("paths./pets.get.responses.200", None, {(True, f"{GET} › response 200", "removed")}),
    ("paths./pets.get.security", [{"key": []}], {(True, f"{GET} › security", "is now required")}),
    ("paths./pets.post.requestBody.required", True, {(True, f"{POST} › body", "is now required")}),
    ("paths./pets.post.requestBody", None, {(True, f"{POST} › body", "removed")}),
    (
        "components.schemas.Pet.required",
        ["name", "age"],
        {(True, "Pet (request) › age", "is now required"), (False, "Pet (response) › age", "is now required")},
    ),
    (
        "components.schemas.Pet.required",
        [],
        {(False, "Pet (request) › name", "is now optional"), (True, "Pet (response) › name", "is now optional")},
    ),
    (
        "components.schemas.Pet.properties.tag.enum",
        ["dog", "owl"],
        {
            (True, "Pet (request) › tag", "value cat removed"),
            (True, "Pet (response) › tag", "value cat removed"),
            (False, "Pet (request) › tag", "value owl added"),
            (False, "Pet (response) › tag", "value owl added"),
        },
    ),
    (
        "components.schemas.Pet.properties.age",
        None,
        {(True, "Pet (request) › age", "removed"), (True, "Pet (response) › age", "removed")},
    ),
    (
        "components.schemas.Pet.properties.age.type",
        "number",
        {
            (False, "Pet (request) › age", "type integer → number"),
            (True, "Pet (response) › age", "type integer → number"),
        },
    ),
    ("components.schemas.Pet.properties.name.maxLength", 20, {(True, "Pet (request) › name", "maxLength 50 → 20")}),
    (
        "components.schemas.Pet",
        PET | {"required": ["name", "home"], "properties": {**PET["properties"], "home": {"type": "string"}}},
        {(True, "Pet (request) › home", "added, and is required"), (False, "Pet (response) › home", "added")},
    ),
    ("components.schemas.Pet.properties.name.description", "Its name", set()),
    ("info", {"version": "2"}, set()),
]


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return the old version with another value at a path; None removes the value."""
    new = deepcopy(OLD)
    *parents, last = path.split(".")
    target: Any = new
    for part in parents:
        target = target[int(part)] if isinstance(target, list) else target[part]
    key: Any = int(last) if isinstance(target, list) else last
    if value is None:
        del target[key]
    else:
        target[key] = value
    return new


@each_case(("path", "value", "found"), CASES)
def test_a_change_is_breaking_or_compatible(path: str, value: Any, found: set[tuple[bool, str, str]]) -> None:
    comparison = compare(OLD, changed(path, value))
    assert {(change.is_breaking, change.place, change.text) for change in comparison.changes} == found
    breaking = any(is_breaking for is_breaking, _, _ in found)
    assert comparison.outcome == ("breaking" if breaking else "compatible" if found else "identical")
    assert [change.is_breaking for change in comparison.changes] == sorted((one for one, _, _ in found), reverse=True)


def test_a_named_schema_is_listed_once_with_all_operations_that_use_it() -> None:
    [change] = [each for each in compare(OLD, changed(CASES[15][0], None)).changes if "response" in each.place]
    assert set(change.operations) == {GET, POST, ONE}
    renamed = json.loads(json.dumps(OLD).replace("{id}", "{pet}").replace('"id"', '"pet"'))
    assert compare(OLD, renamed).outcome == "identical", "clients do not name the parameters of a path"


def test_webhook_is_compared_in_the_opposite_direction() -> None:
    old = {"openapi": "3.1.0", "webhooks": {"born": {"post": {"requestBody": body(PET | {"required": []})}}}}
    new = {"openapi": "3.1.0", "webhooks": {"born": {"post": {"requestBody": body(PET)}}}}
    assert [compare(old, new).outcome, compare(new, old).outcome] == ["compatible", "breaking"]


def test_swagger_2_is_compared_too() -> None:
    def version(kind: str) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"a": {"type": kind}}}
        given = [{"in": "body", "name": "it", "schema": schema}, {"in": "query", "name": "q", "type": kind}]
        details = {"parameters": given, "responses": {"200": {"schema": schema}}}
        return {"swagger": "2.0", "paths": {"/a": {"post": details}}}

    places = {change.place for change in compare(version("string"), version("integer")).changes}
    assert places == {"POST /a › body › a", "POST /a › query q", "POST /a › response 200 › a"}


@pytest.mark.timeout(20)
def test_hostile_descriptions_end() -> None:
    knot = {"allOf": [{"$ref": "#/components/schemas/A"}] * 9, "properties": {n: {"$ref": "#/x"} for n in "ab"}}
    tree = {"properties": {n: {"allOf": [{"$ref": "#/components/schemas/B"}]} for n in "abcdefgh"}}
    strange: Any = {"components": {"schemas": {"A": knot, "B": tree, "C": {"$ref": "#/components/schemas/C"}}}}
    uses = {name: {"get": {"requestBody": body({"$ref": f"#/components/schemas/{name}"})}} for name in "ABC"}
    old, new = {**strange, "paths": uses}, {**deepcopy(strange), "paths": deepcopy(uses)}
    new["components"]["schemas"]["B"]["properties"]["a"]["title"] = "changed"
    new["components"]["schemas"]["A"]["type"] = ["object", 7, None]
    assert compare(old, new).changes
    odd = {"get": {"parameters": {}, "responses": [1]}}
    for wrong in ({"paths": []}, {"paths": {"/a": odd}}, {"paths": {"/a": 1}}):
        compare(OLD, wrong)
        compare(wrong, OLD)


@pytest.mark.timeout(20)
def test_exponential_references_are_read_once() -> None:
    schemas: dict[str, Any] = {
        f"A{number}": {"allOf": [{"$ref": f"#/components/schemas/A{number + 1}"}] * 2} for number in range(30)
    }
    schemas["A30"] = {"type": "object", "properties": {"a": {"type": "string"}}}
    old: dict[str, Any] = {"components": {"schemas": schemas}, "paths": {}}
    old["paths"]["/a"] = {"get": {"requestBody": body({"$ref": "#/components/schemas/A0"})}}
    new = deepcopy(old)
    new["components"]["schemas"]["A30"]["properties"]["a"]["type"] = "integer"
    assert [change.place for change in compare(old, new).changes] == ["A0 (request) › a"]
    schemas["A30"] = {"type": "object"}  # without lines, which are limited as well
    schemas["B"] = {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/A0"}}}
    assert len(schema_lines(old, "B", 80)) == 1


def test_different_versions_are_stored_up_to_a_limit(tmp_path: Path) -> None:
    seen = SeenVersions(tmp_path, "o1", "pets")
    assert seen.keep(OLD) is None
    assert seen.keep(deepcopy(OLD)) is None
    for number in range(KEPT + 2):
        before = seen.keep(changed("info", {"version": str(number)}))
    assert before
    assert before.description()["info"] == {"version": str(KEPT)}
    assert len(seen.every()) == KEPT
    again = seen.keep(changed("info", {"version": str(KEPT + 1)}))
    assert again == before, "the same version is no other one"
    assert {file.stat().st_mode & 0o777 for file in tmp_path.rglob("*.gz")} == {0o600}


@each_case(
    ("text", "reason"),
    [("{", "invalid JSON or YAML in line 1"), ("[1]", "no OpenAPI"), ("a: 1", "no OpenAPI"), ("{\n: [", "in line")],
)
def test_error_names_a_file_that_is_not_a_description(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "old.yaml"
    file.write_text(text)
    with pytest.raises(InvalidArgument, match="--file") as error:
        read_description(file, "--file")
    assert reason in error.value.reason


class Answers:
    """A client that downloads the same text from every URL."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def download(self, call: Any, url: str) -> bytes:
        return self.text.encode()


async def test_options_of_an_integration_are_read_in_each_form() -> None:
    endpoint = "http://127.0.0.1:8080/integrations/lamp"
    assert absolute("/channels", endpoint) == f"{endpoint}/channels"
    assert absolute("https://127.0.0.1:8080/x?a=1", endpoint) == "http://127.0.0.1:8080/x?a=1"
    assert is_of_integration("http://127.0.0.1:8080/x", endpoint)
    assert not is_of_integration("https://else.example/x", endpoint)
    assert not is_of_integration("/x", "")
    listed = [{"id": "a", "label": "A\x1b[2J"}, {"value": "b"}, {"label": "without"}, 3]
    call: Any = None
    for text in (json.dumps(listed), json.dumps({"items": listed})):
        [first, second] = await read_options(Answers(text), call, "")
        assert first[0] == "a" and "\x1b" not in first[1]
        assert second == ("b", "b")
    for text in ("<html>", "{}", '"text"'):
        with pytest.raises(MalformedAnswer):
            await read_options(Answers(text), call, "")
