"""Schemas of visitor claims as the service accepts them, and the conditions that it suggests for one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from presscheck.documents.visitors.claim_schema import schema_claims, schema_mistakes
from presscheck.service.http.operations import ApiError


def require_visitor_schema(schema: dict[str, Any]) -> None:
    """Checks a schema of visitor claims.

    Raises:
        ApiError: 400, naming the field.
    """
    for mistake in schema_mistakes(schema):
        where = "".join(f".{step}" for step in mistake.path)
        raise ApiError(400, f"jsonSchema{where}: {mistake.message}")


def conditions_for(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Suggests conditions for a schema, each with a description and its expression."""
    for claim in schema_claims(schema):
        path = claim.expression
        described = claim.description.rstrip(".") or path
        if claim.kind == "boolean":
            yield described, f"{path} == true"
        for value in claim.values if claim.kind != "array" else ():
            yield f"{described}: {value}", f"{path} == {json.dumps(value, ensure_ascii=False)}"
