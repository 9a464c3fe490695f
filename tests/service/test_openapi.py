"""The description of the service is valid OpenAPI and has every operation."""

import re
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from presscheck.api.operation import every_operation
from presscheck.api.spaces import Space
from presscheck.service.http.openapi import describe, operation_id

OPERATIONS = every_operation()
SHARE = 6
"""One of this many operations is validated, with everything that it refers to; each takes about 10 ms."""


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    return describe(OPERATIONS)


def each(described: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method.upper(), path, told) for path, methods in described["paths"].items() for method, told in methods.items()
    ]


@pytest.mark.slow
def test_the_description_is_valid_openapi() -> None:
    assert list(OpenAPIV31SpecValidator(describe(OPERATIONS[::SHARE])).iter_errors()) == []


def test_every_operation_is_described_once(described: dict[str, Any]) -> None:
    told = {told["operationId"]: method for method, _, told in each(described)}
    assert told == {operation_id(operation): operation.method() for operation in OPERATIONS}
    published = {operation.operation_id for operation in OPERATIONS if operation.operation_id}
    assert published <= told.keys()
    assert {"getSpaceById", "getCurrentUser"} & published
    shapes = [re.sub(r"{\w+}", "{}", path) for path in described["paths"]]
    assert len(shapes) == len(set(shapes)), "two templates for the same path"


def test_fields_are_described_in_path_query_or_body(described: dict[str, Any]) -> None:
    by_name = {told["operationId"]: told for _, _, told in each(described)}
    for operation in OPERATIONS:
        told = by_name[operation_id(operation)]
        names = {field: info.alias or field for field, info in operation.model_fields.items()}
        path = {parameter["name"] for parameter in told["parameters"] if parameter["in"] == "path"}
        query = {parameter["name"] for parameter in told["parameters"] if parameter["in"] == "query"}
        body = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        in_body = {operation.body_field} if operation.body_field else set(body.get("properties", {}))
        assert path == {names[field] for field in operation.path_fields()}
        assert query == {names[field] for field in operation.query_fields()}
        assert in_body == set(names.values()) - path - query, operation.__name__


def test_limits_patterns_and_required_fields(described: dict[str, Any]) -> None:
    listed = described["paths"]["/v1/spaces/{spaceId}/change-requests"]["get"]
    page, limit, status = listed["parameters"][1:4]
    assert page == {"name": "page", "in": "query", "required": False, "schema": {"type": "string"}}
    assert limit["schema"] == {"type": "integer", "minimum": 0, "maximum": 1000}
    assert status["schema"]["enum"] == ["draft", "open", "archived", "merged"]
    name = described["paths"]["/v1/integrations/{integrationName}"]["get"]["parameters"][0]
    assert (name["required"], name["schema"]["pattern"]) == (True, "^[A-Za-z0-9_.-]+$")
    review = described["paths"]["/v1/spaces/{spaceId}/change-requests/{changeRequestId}/reviews"]["post"]
    assert review["requestBody"]["required"]
    assert review["requestBody"]["content"]["application/json"]["schema"]["required"] == ["status"]


def test_only_fields_for_which_null_has_a_meaning_are_nullable(described: dict[str, Any]) -> None:
    space = described["components"]["schemas"]["Space"]
    nullable = {name for name, schema in space["properties"].items() if {"type": "null"} in schema.get("anyOf", ())}
    assert nullable == {"defaultLevel"}
    always = {"id", "title", "urls", "defaultLevel"}
    assert always <= set(space["required"])
    assert not {"deletedAt", "emoji", "parent"} & set(space["required"])
    assert set(space["properties"]) == {field.alias or name for name, field in Space.model_fields.items()}
