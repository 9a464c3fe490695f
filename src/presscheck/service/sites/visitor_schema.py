"""Schemas of visitor claims: JSON Schema draft 7, limited to a few types, each with a description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from presscheck.service.http.operation_registry import ApiError

_TEXT = {"type": "string"}
_PRIMITIVE = {
    "type": "object",
    "properties": {
        "type": {"enum": ["boolean", "string", "number"]},
        "description": _TEXT,
        "enum": {"type": "array", "items": _TEXT},
    },
    "required": ["type", "description"],
    "additionalProperties": False,
}
_CLAIMS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "$schema": {"const": "http://json-schema.org/draft-07/schema#"},
        "type": {"const": "object"},
        "properties": {"type": "object", "additionalProperties": {"$ref": "#/definitions/claim"}},
        "additionalProperties": {"const": False},
    },
    "required": ["type", "properties", "additionalProperties"],
    "additionalProperties": False,
    "definitions": {
        "primitive": _PRIMITIVE,
        "claim": {
            "type": "object",
            "properties": {"type": {"enum": ["boolean", "string", "number", "array", "object"]}},
            "required": ["type", "description"],
            "allOf": [
                {"if": {"properties": {"type": {"const": kind}}}, "then": {"$ref": f"#/definitions/{kind}"}}
                for kind in ("array", "object")
            ]
            + [
                {
                    "if": {"properties": {"type": {"enum": ["boolean", "string", "number"]}}},
                    "then": {"$ref": "#/definitions/primitive"},
                }
            ],
        },
        "array": {
            "type": "object",
            "properties": {
                "type": {"const": "array"},
                "description": _TEXT,
                "items": {"$ref": "#/definitions/primitive"},
            },
            "required": ["type", "description", "items"],
            "additionalProperties": False,
        },
        "object": {
            "type": "object",
            "properties": {
                "type": {"const": "object"},
                "description": _TEXT,
                "properties": {"type": "object", "additionalProperties": {"$ref": "#/definitions/claim"}},
                "additionalProperties": {"const": False},
            },
            "required": ["type", "description", "properties", "additionalProperties"],
            "additionalProperties": False,
        },
    },
}


def require_visitor_schema(schema: dict[str, Any]) -> None:
    """Checks a schema of visitor claims.

    Raises:
        ApiError: 400, naming the field.
    """
    from jsonschema import Draft7Validator  # 109 ms, only when a schema is written

    checked = cast("Any", Draft7Validator(_CLAIMS))  # the type hints of the library are incomplete
    mistakes = sorted(checked.iter_errors(schema), key=lambda mistake: mistake.json_path)
    if mistakes:
        where = mistakes[0].json_path.removeprefix("$").lstrip(".")
        raise ApiError(400, f"jsonSchema{f'.{where}' if where else ''}: {mistakes[0].message}")


def conditions_for(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Suggests conditions for a schema, each with a description and its expression."""
    for path, claim in _claims(schema, "visitor.claims"):
        described = str(claim["description"]).rstrip(".") or path
        if claim["type"] == "boolean":
            yield described, f"{path} == true"
        for value in cast("list[str]", claim.get("enum", ())):
            yield f"{described}: {value}", f'{path} == "{value}"'


def _claims(schema: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, claim in cast("dict[str, dict[str, Any]]", schema["properties"]).items():
        if claim["type"] == "object":
            yield from _claims(claim, f"{path}.{name}")
        else:
            yield f"{path}.{name}", claim
