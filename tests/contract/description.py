"""The published API descriptions of both releases as data: operations, schemas and example values.

The data is in `facts/`; `make_facts.py` extracts it from the descriptions.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar

FACTS = Path(__file__).with_name("facts")
DOCUMENTED, NEWEST = "0.146.0", "0.202.0"

Schema = dict[str, Any]
Result = TypeVar("Result")


@cache
def _read(name: str) -> Any:
    return json.loads((FACTS / name).read_text("utf-8"))


@cache
def operations() -> dict[tuple[str, str], dict[str, Schema]]:
    """Return all operations by method and path: for each release, the parameters, the body and the responses."""
    facts: dict[tuple[str, str], dict[str, Schema]] = {}
    for key, releases in _read("operations.json").items():
        method, _, path = key.partition(" ")
        # the newer release is stored by its differences
        older = releases.get(DOCUMENTED, {})
        facts[method, path] = {release: {**older, **parts} for release, parts in releases.items()}
    return facts


@cache
def documented() -> set[tuple[str, str]]:
    """Return method and path of each operation in the document that the service publishes."""
    return {(method, path) for method, _, path in (key.partition(" ") for key in _read("document.json"))}


def schema_called(name: str, release: str) -> Schema:
    """Return a schema. Of the newest release, only the schemas that differ are stored."""
    newer = _read("newest_schemas.json") if release == NEWEST else {}
    return newer.get(name) or _read("schemas.json")[name]


def schema_names(release: str) -> list[str]:
    """Return the names of all schemas of a release, sorted."""
    newer = _read("newest_schemas.json") if release == NEWEST else {}
    return sorted({*_read("schemas.json"), *newer})


def _read_once(read: "Callable[[Described], Result]") -> "Callable[[Described], Result]":
    """Cache a method per schema and release: large documents need the same result thousands of times."""
    results: dict[tuple[int, str], tuple[Schema, Result]] = {}

    @wraps(read)
    def read_cached(described: "Described") -> Result:
        key = id(described.schema), described.release
        if key not in results:
            results[key] = described.schema, read(described)  # storing the schema keeps its id from being reused
        return results[key][1]

    return read_cached


@dataclass(frozen=True)
class Described:
    """A schema of a release, with methods that follow references and combinations."""

    schema: Schema
    release: str

    def resolved(self) -> "Described":
        schema = self.schema
        while "$ref" in schema:
            schema = schema_called(schema["$ref"], self.release)
        return Described(schema, self.release)

    @_read_once
    def parts(self) -> list["Described"]:
        """Return the schema and all schemas that it combines with allOf, oneOf and anyOf."""
        here = self.resolved()
        schemas = [here]
        for word in ("allOf", "oneOf", "anyOf"):
            for part in here.schema.get(word, ()):
                schemas += Described(part, self.release).parts()
        return schemas

    @_read_once
    def properties(self) -> dict[str, list["Described"]]:
        """Return the schemas of all properties of all parts, by name."""
        schemas: dict[str, list[Described]] = {}
        for part in self.parts():
            for name, schema in part.schema.get("properties", {}).items():
                schemas.setdefault(name, []).append(Described(schema, self.release))
        return schemas

    @_read_once
    def required(self) -> set[str]:
        """Return the names of the properties that are required in all variants that are objects."""
        here = self.resolved().schema
        names = set(here.get("required", ()))
        for variant in here.get("allOf", ()):
            names |= Described(variant, self.release).required()
        for word in ("oneOf", "anyOf"):
            each = [
                Described(variant, self.release).required()
                for variant in here.get(word, ())
                if Described(variant, self.release).resolved().schema.get("type") not in ("null", "string")
                and variant.get("enum") != [None]
            ]
            names |= set.intersection(*each) if each else set()
        return names

    def words(self) -> set[str]:
        """Return the strings of its enumerations."""
        return {word for part in self.parts() for word in part.schema.get("enum", ()) if isinstance(word, str)}

    def limit(self, word: str) -> Any:
        """Return the value of a keyword such as maxLength, or None if no part has it."""
        return next((part.schema[word] for part in self.parts() if word in part.schema), None)

    def items(self) -> "Described | None":
        """Return the schema of the items of an array."""
        return self._inside("items")

    def values(self) -> "Described | None":
        """Return the schema of the values of a map."""
        return self._inside("additionalProperties")

    def _inside(self, word: str) -> "Described | None":
        schemas = (part.schema[word] for part in self.parts() if isinstance(part.schema.get(word), dict))
        schema = next(schemas, None)
        return None if schema is None else Described(schema, self.release)


def example(described: Described, turn: int = 0, depth: int = 0, *, whole: bool = True) -> Any:
    """Return an example value of a schema.

    Args:
        described: the schema.
        turn: index of the variant to use, modulo the number of variants.
        depth: depth of the value in the whole example.
        whole: include optional properties.
    """
    here = described.resolved()
    schema = here.schema
    variants = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
    pieces = [*schema.get("allOf", ()), *([variants[turn % len(variants)]] if variants else [])]
    if pieces or "properties" in schema:
        value = _object(here, turn, depth, whole)
        for piece in pieces:
            part_value = example(Described(piece, here.release), turn, depth, whole=whole)
            if not isinstance(part_value, dict):
                return part_value
            value |= part_value
        return value
    if "enum" in schema:
        return schema["enum"][turn % len(schema["enum"])]
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[turn % len(kind)]
    if kind == "array":
        return [] if depth > 6 else [example(Described(schema["items"], here.release), turn, depth + 1, whole=whole)]
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        part_value = Described(schema["additionalProperties"], here.release)
        return {} if depth > 6 else {"some": example(part_value, turn, depth + 1, whole=whole)}
    simple = {"string": "x" * (schema.get("minLength") or 1), "number": 7, "integer": 7, "boolean": True, "null": None}
    return simple.get(kind, {})


def _object(here: Described, turn: int, depth: int, whole: bool) -> Schema:
    required = set(here.schema.get("required", ()))
    return {
        name: example(Described(schema, here.release), turn, depth + 1, whole=whole)
        for name, schema in here.schema.get("properties", {}).items()
        if name in required or (whole and depth < 4)
    }
