"""Schemas of visitor claims: validation with the lines of mistakes, and changes of single claims."""

import json
from typing import Any

import pytest
from tests.table import each_case

from presscheck.documents.visitors.claim_schema import (
    DEEPEST,
    claim_at,
    empty_schema,
    read_schema,
    schema_claims,
    schema_mistakes,
    schema_text,
    with_claim,
)

PLAN = {"type": "string", "description": "The plan", "enum": ["free", "pro"]}
BETA = {"type": "boolean", "description": "Is in the beta"}


def schema(**claims: Any) -> dict[str, Any]:
    return {**empty_schema(), "properties": claims}


WHOLE = schema(
    plan=PLAN,
    teams={"type": "array", "description": "", "items": {"type": "string", "description": ""}},
    unsigned={**schema(beta=BETA), "description": "Not signed"},
)


def test_valid_schema_has_no_mistakes_and_survives_the_editor() -> None:
    read = read_schema(schema_text(WHOLE))
    assert read.value == WHOLE
    assert read.mistakes == ()
    assert [(claim.expression, claim.kind, claim.values, claim.items) for claim in schema_claims(WHOLE)] == [
        ("visitor.claims.plan", "string", ("free", "pro"), ""),
        ("visitor.claims.teams", "array", (), "string"),
        ("visitor.claims.unsigned", "object", (), ""),
        ("visitor.claims.unsigned.beta", "boolean", (), ""),
    ]
    assert next(schema_claims(schema(**{'my "x"': BETA}))).expression == 'visitor.claims["my \\"x\\""]'


TEXT = """{
  "type": "object",
  "properties": {
    "plan": {"type": "string", "description": "The plan",
      "enum": ["free", 3]},
    "seats": {"type": "integer", "description": "Seats"},
    "beta": {
      "type": "boolean"
    },
    "teams": [],
    "seats": {"type": "number", "description": "Seats", "minimum": 1}
  },
  "additionalProperties": true
}
"""


def test_every_mistake_has_its_line() -> None:
    assert [str(mistake) for mistake in read_schema(TEXT).mistakes] == [
        'line 5: properties.plan.enum: must be a list of texts, such as ["free", "pro"]',
        'line 7: properties.beta: needs a "description": a text',
        'line 10: properties.teams: must be an object, such as {"type": "string", "description": "…"}',
        "line 11: properties.seats: is there twice: only the last one would count",
        "line 11: properties.seats.minimum: is not supported here: only type, description, enum",
        'line 13: additionalProperties: needs "additionalProperties": false',
    ]


@each_case(
    ("text", "line", "words"),
    [
        ('{\n  "type": "object",\n}', 2, "a comma after the last item (column 19)"),
        ('{"a": [1,\n\n]}', 1, "a comma after the last item (column 9)"),
        ('{"a": 1, b}', 1, "a name in double quotes is missing"),
        ('{\n"type": \n', 3, "a value is missing"),
        ('{"a": 1\n "b": 2}', 2, "a comma is missing"),
        ('{"a" 1}', 1, "a colon is missing"),
        ("{} {}", 1, "more text after the end"),
        ('{"a": "b', 1, "no closing quote"),
        ("", 1, "a value is missing"),
        ("[" * 5000, 1, "nested too deep"),
        ("[]", 1, "must be an object"),
        ("9" * 9000, 1, "not valid JSON"),
    ],
)
def test_invalid_schema_has_a_mistake_with_its_line(text: str, line: int, words: str) -> None:
    mistake = read_schema(text).mistakes[0]
    assert mistake.line == line
    assert words in mistake.message


def nested(depth: int) -> dict[str, Any]:
    inner = schema(beta=BETA)
    for _ in range(depth):
        inner = schema(o={**inner, "description": "d"})
    return inner


def test_objects_are_nested_up_to_a_limit() -> None:
    assert not list(schema_mistakes(nested(DEEPEST - 1)))
    assert any("nested deeper" in mistake.message for mistake in schema_mistakes(nested(DEEPEST)))
    assert list(schema_claims(nested(500)))


def test_claim_is_added_renamed_moved_and_deleted() -> None:
    changed = with_claim(WHOLE, ("tier",), BETA, former=("plan",))
    assert [*changed["properties"]] == ["tier", "teams", "unsigned"], "a renamed claim keeps its place"
    assert claim_at(changed, ("tier",)) == BETA
    moved = with_claim(WHOLE, ("unsigned", "plan"), PLAN, former=("plan",))
    assert claim_at(moved, ("plan",)) is None
    assert claim_at(moved, ("unsigned", "plan")) == PLAN
    assert [*with_claim(WHOLE, ("plan",), None)["properties"]] == ["teams", "unsigned"]
    with pytest.raises(LookupError):
        with_claim(WHOLE, ("plan", "x"), BETA)
    assert WHOLE["properties"]["plan"] is PLAN, "the schema itself stays"


@each_case("value", [None, 3, [], {}, {"properties": 3}, {"properties": {"a": 3, "b": {"enum": 3}}}])
def test_unusual_schema_of_a_service_is_read(value: Any) -> None:
    claims = list(schema_claims(value))
    assert [claim.name for claim in claims] in ([], ["b"])
    assert list(schema_mistakes(json.loads(json.dumps(value))))
