"""Extract the facts of the published API descriptions for the tests, without their prose.

    python -m tests.contract.make_facts FOLDER

FOLDER holds the descriptions of both releases: `operations.json`, `schemas.json` and `schemas-newest-differences.json`;
`newest-operations.json` has further operations of the newest release, of which only those that presscheck has are used.
The facts are names, types, limits, enumerations, patterns and references. Each line of the sorted JSON holds one
operation or schema, so that changes between releases are readable in Git.
"""

import argparse
import json
from pathlib import Path
from typing import Any, cast

from tests.contract.description import DOCUMENTED, FACTS, NEWEST

from presscheck.api.operation import every_operation

Schema = dict[str, Any]

VALUES = {"type", "required", "enum", "const", "format", "pattern", "nullable", "uniqueItems"} | {
    prefix + suffix for prefix in ("min", "max") for suffix in ("imum", "Length", "Items", "Properties")
}
"""Keywords whose values are copied."""
SCHEMAS = {"items", "additionalProperties", "propertyNames", "not"}
"""Keywords whose values are schemas."""
LISTS = {"oneOf", "anyOf", "allOf"}
"""Keywords whose values are lists of schemas."""
PROSE = {"description", "summary", "title", "example", "examples", "default", "deprecated", "readOnly", "discriminator"}
"""Keywords that no test reads. All other keywords are errors, so that no constraint is lost unnoticed."""


def facts_of(schema: Any) -> Any:
    """Return a schema without prose. Other values, such as `additionalProperties: false`, are returned unchanged."""
    if not isinstance(schema, dict):
        return schema
    facts: Schema = {}
    for keyword, value in cast(Schema, schema).items():
        if keyword in VALUES:
            facts[keyword] = value
        elif keyword in SCHEMAS:
            facts[keyword] = facts_of(value)
        elif keyword in LISTS:
            facts[keyword] = [facts_of(variant) for variant in value]
        elif keyword == "properties":
            facts[keyword] = {name: facts_of(inner) for name, inner in value.items()}
        elif keyword == "$ref":
            facts[keyword] = value.rpartition("/")[2]
        elif keyword not in PROSE:
            raise ValueError(f"unknown keyword {keyword!r}")
    return facts


def operation_facts(operation: Schema) -> Schema:
    """Return the id, parameters, body and responses of an operation; error responses have only their status codes."""
    responses = {
        code: facts_of(schema) if code.startswith("2") else None
        for code, schema in operation["responses"].items()
        if code.isdigit()
    }
    return {
        "operationId": operation["operationId"],
        "path": parameter_facts(operation, "path"),
        "query": parameter_facts(operation, "query"),
        "body": facts_of(operation["body"]),
        "responses": responses,
    }


def parameter_facts(operation: Schema, place: str) -> Schema:
    """Return the parameters in the path or in the query as one schema."""
    params = [param for param in operation["params"] if param["in"] == place]
    required = [param["name"] for param in params if param.get("required")]
    return {"properties": {param["name"]: facts_of(param["schema"]) for param in params}, "required": required}


def release_facts(operation: Schema) -> dict[str, Schema]:
    """Return the facts of an operation by release; the newer release has only the parts that differ."""
    facts: dict[str, Schema] = {}
    for release in operation["eras"]:
        described: Schema | None = operation.get("in_" + release.replace(".", "_"))
        parts = operation_facts(described) if described else {}
        older = facts.get(DOCUMENTED, {})
        facts[release] = {name: part for name, part in parts.items() if name not in older or older[name] != part}
    return facts


def newest_facts(description: Schema) -> tuple[Schema, Schema]:
    """Return the further operations that presscheck has, and the schemas that they refer to.

    An operation that presscheck uses in both releases has the same facts in the older one, which does not document it.
    """
    releases = {operation.operation_id: operation.release for operation in every_operation()}
    operations: Schema = {}
    for entry in description["operations"]:
        if entry["operationId"] in releases:
            facts = operation_facts(entry)
            is_newer = releases[entry["operationId"]] == NEWEST
            by_release = {NEWEST: facts} if is_newer else {DOCUMENTED: facts, NEWEST: {}}
            operations[f"{entry['method']} {entry['path']}"] = by_release
    schemas: Schema = {}
    queue = references_in(operations)
    while queue:
        name = queue.pop()
        if name in description["schemas"] and name not in schemas:
            schemas[name] = facts_of(description["schemas"][name])
            queue += references_in(schemas[name])
    return operations, schemas


def references_in(value: Any) -> list[str]:
    """Return the names of the schemas that the facts refer to."""
    if isinstance(value, list):
        return [name for item in value for name in references_in(item)]
    if not isinstance(value, dict):
        return []
    facts = cast(Schema, value)
    inner = [name for item in facts.values() for name in references_in(item)]
    return [*inner, facts["$ref"]] if isinstance(facts.get("$ref"), str) else inner


def write(path: Path, facts: dict[str, Any]) -> None:
    """Write a file of facts with an entry per line."""
    lines = [
        f"{json.dumps(key)}: {json.dumps(facts[key], sort_keys=True, separators=(',', ':'), ensure_ascii=False)}"
        for key in sorted(facts)
    ]
    path.parent.mkdir(exist_ok=True)
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def make_facts(folder: Path, facts: Path = FACTS) -> None:
    """Read the descriptions in `folder` and write their facts to the folder `facts`."""

    def read(name: str) -> Any:
        return json.loads((folder / name).read_text("utf-8"))

    entries = read("operations.json")
    operations = {f"{entry['method']} {entry['path']}": release_facts(entry) for entry in entries}
    newest = read("newest-operations.json")["operations"]
    keys = {entry["operationId"]: f"{entry['method']} {entry['path']}" for entry in newest}
    further, further_schemas = newest_facts(read("newest-operations.json"))
    operations = further | operations
    document = [f"{entry['method']} {entry['path']}" for entry in entries if entry["in_document"]]
    schemas = {name: facts_of(schema) for name, schema in read("schemas.json").items()}
    newer = {name: facts_of(schema) for name, schema in read("schemas-newest-differences.json").items()}
    newer |= further_schemas
    write(facts / "operations.json", operations)
    write(facts / "document.json", dict.fromkeys(document, True))
    write(facts / "newest_operations.json", keys)
    write(facts / "schemas.json", schemas)
    write(
        facts / "newest_schemas.json", {name: schema for name, schema in newer.items() if schemas.get(name) != schema}
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    make_facts(parser.parse_args().folder)
