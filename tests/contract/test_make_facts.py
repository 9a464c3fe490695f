"""`make_facts`: prose is removed, unknown keywords are errors, and the output is deterministic."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.contract.description import FACTS
from tests.contract.make_facts import facts_of, make_facts

SCHEMA = {
    "type": "object",
    "description": "A lamp.",
    "properties": {
        "description": {"type": "string", "maxLength": 9, "example": "bright"},
        "kind": {"oneOf": [{"$ref": "#/components/schemas/Kind"}, {"type": "null"}]},
    },
    "required": ["kind"],
}


def write_descriptions(folder: Path, **schemas: Any) -> Path:
    """Write the descriptions of one operation and some further ones. Returns the folder."""
    folder.mkdir()
    part = {
        "operationId": "listLamps",
        "params": [],
        "body": None,
        "responses": {"200": SCHEMA, "404": SCHEMA, "default": SCHEMA},
    }
    newer = {**part, "params": [{"name": "page", "in": "query", "required": False, "schema": {"type": "string"}}]}
    operation = {"method": "GET", "path": "/lamps", "eras": ["0.146.0", "0.202.0"], "in_document": True}
    releases = {"in_0_146_0": part, "in_0_202_0": newer}
    embed = {**part, "method": "GET", "path": "/urls/published", "responses": {"200": {"$ref": "#/x/Shade"}}}
    others = [{**embed, "operationId": name} for name in ("getPublishedContentByUrl", "listShades")]
    further = {"operations": others, "schemas": {"Shade": SCHEMA, "Bulb": SCHEMA}}
    (folder / "operations.json").write_text(json.dumps([operation | releases]))
    (folder / "schemas.json").write_text(json.dumps(schemas))
    (folder / "schemas-newest-differences.json").write_text(json.dumps({}))
    (folder / "newest-operations.json").write_text(json.dumps(further))
    return folder


def test_prose_is_removed_but_not_properties_with_its_names() -> None:
    assert facts_of(SCHEMA) == {
        "type": "object",
        "properties": {
            "description": {"type": "string", "maxLength": 9},
            "kind": {"oneOf": [{"$ref": "Kind"}, {"type": "null"}]},
        },
        "required": ["kind"],
    }


def test_unknown_keyword_is_an_error() -> None:
    with pytest.raises(ValueError, match="dependentRequired"):
        facts_of({"items": {"dependentRequired": {}}})


def test_newer_release_is_stored_as_differences(tmp_path: Path) -> None:
    make_facts(write_descriptions(tmp_path / "api", Kind={"type": "string"}), tmp_path / "facts")
    releases = json.loads((tmp_path / "facts" / "operations.json").read_text())["GET /lamps"]
    assert set(releases["0.146.0"]["responses"]) == {"200", "404"}
    assert releases["0.146.0"]["responses"]["404"] is None
    assert releases["0.202.0"] == {"query": {"properties": {"page": {"type": "string"}}, "required": []}}


def test_only_further_operations_of_presscheck_are_written(tmp_path: Path) -> None:
    make_facts(write_descriptions(tmp_path / "api"), tmp_path / "facts")
    assert set(json.loads((tmp_path / "facts" / "operations.json").read_text())) == {
        "GET /lamps",
        "GET /urls/published",
    }
    assert set(json.loads((tmp_path / "facts" / "newest_schemas.json").read_text())) == {"Shade"}


def test_output_is_independent_of_the_order_of_schemas(tmp_path: Path) -> None:
    ordered = write_descriptions(tmp_path / "there", Kind={"type": "string"}, Lamp=SCHEMA)
    reversed_order = write_descriptions(tmp_path / "back", Lamp=dict(reversed(SCHEMA.items())), Kind={"type": "string"})
    for folder in (ordered, reversed_order):
        make_facts(folder, folder / "facts")
    for path in (ordered / "facts").iterdir():
        assert path.read_bytes() == (reversed_order / "facts" / path.name).read_bytes()
    assert {path.name for path in (ordered / "facts").iterdir()} == {path.name for path in FACTS.iterdir()}
