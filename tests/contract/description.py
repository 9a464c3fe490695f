"""The published API descriptions, both releases, as data: operations, and schemas to read and to fill.

The facts stand in `facts/`; `make_facts.py` writes them from the descriptions.
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
    """Every operation by method and path: its releases, each with parameters, body and responses."""
    facts: dict[tuple[str, str], dict[str, Schema]] = {}
    for key, releases in _read("operations.json").items():
        method, _, path = key.partition(" ")
        # the newer release is stored by its differences
        older = releases.get(DOCUMENTED, {})
        facts[method, path] = {release: {**older, **parts} for release, parts in releases.items()}
    return facts


@cache
def documented() -> set[tuple[str, str]]:
    """The method and path of each operation of the published document of the service."""
    return {(method, path) for method, _, path in (key.partition(" ") for key in _read("document.json"))}


def schema_called(name: str, release: str) -> Schema:
    """A schema; the newest release is stored by its differences."""
    newer = _read("newest_schemas.json") if release == NEWEST else {}
    return newer.get(name) or _read("schemas.json")[name]


def schema_names(release: str) -> list[str]:
    """The names of all schemas."""
    newer = _read("newest_schemas.json") if release == NEWEST else {}
    return sorted({*_read("schemas.json"), *newer})


def _read_once(read: "Callable[[Described], Result]") -> "Callable[[Described], Result]":
    """Keep what is read of each schema: large documents ask for the same thousands of times."""
    kept: dict[tuple[int, str], tuple[Schema, Result]] = {}

    @wraps(read)
    def reading(described: "Described") -> Result:
        key = id(described.schema), described.release
        if key not in kept:
            kept[key] = described.schema, read(described)  # with the schema, whose id no other gets then
        return kept[key][1]

    return reading


@dataclass(frozen=True)
class Described:
    """A schema of a release, references and combinations read."""

    schema: Schema
    release: str

    def resolved(self) -> "Described":
        schema = self.schema
        while "$ref" in schema:
            schema = schema_called(schema["$ref"], self.release)
        return Described(schema, self.release)

    @_read_once
    def parts(self) -> list["Described"]:
        """What it is combined of by allOf, oneOf, anyOf; itself first."""
        here = self.resolved()
        found = [here]
        for word in ("allOf", "oneOf", "anyOf"):
            for one in here.schema.get(word, ()):
                found += Described(one, self.release).parts()
        return found

    @_read_once
    def properties(self) -> dict[str, list["Described"]]:
        """Every property that any part of it may have."""
        found: dict[str, list[Described]] = {}
        for part in self.parts():
            for name, schema in part.schema.get("properties", {}).items():
                found.setdefault(name, []).append(Described(schema, self.release))
        return found

    @_read_once
    def required(self) -> set[str]:
        """What each of its variants that is an object requires."""
        here = self.resolved().schema
        found = set(here.get("required", ()))
        for one in here.get("allOf", ()):
            found |= Described(one, self.release).required()
        for word in ("oneOf", "anyOf"):
            each = [
                Described(one, self.release).required()
                for one in here.get(word, ())
                if Described(one, self.release).resolved().schema.get("type") not in ("null", "string")
                and one.get("enum") != [None]
            ]
            found |= set.intersection(*each) if each else set()
        return found

    def words(self) -> set[str]:
        """Its enumeration, where it is one of strings."""
        return {word for part in self.parts() for word in part.schema.get("enum", ()) if isinstance(word, str)}

    def limit(self, word: str) -> Any:
        """A limit such as maxLength, where a part of it has one."""
        return next((part.schema[word] for part in self.parts() if word in part.schema), None)

    def items(self) -> "Described | None":
        """What an array holds."""
        return self._inside("items")

    def values(self) -> "Described | None":
        """What a map holds."""
        return self._inside("additionalProperties")

    def _inside(self, word: str) -> "Described | None":
        found = (part.schema[word] for part in self.parts() if isinstance(part.schema.get(word), dict))
        schema = next(found, None)
        return None if schema is None else Described(schema, self.release)


def example(described: Described, turn: int = 0, depth: int = 0, *, whole: bool = True) -> Any:
    """A value of a schema: of variants the one whose `turn` it is; with all properties, or only with the required."""
    here = described.resolved()
    schema = here.schema
    variants = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
    pieces = [*schema.get("allOf", ()), *([variants[turn % len(variants)]] if variants else [])]
    if pieces or "properties" in schema:
        found = _object(here, turn, depth, whole)
        for piece in pieces:
            value = example(Described(piece, here.release), turn, depth, whole=whole)
            if not isinstance(value, dict):
                return value
            found |= value
        return found
    if "enum" in schema:
        return schema["enum"][turn % len(schema["enum"])]
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[turn % len(kind)]
    if kind == "array":
        return [] if depth > 6 else [example(Described(schema["items"], here.release), turn, depth + 1, whole=whole)]
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        value = Described(schema["additionalProperties"], here.release)
        return {} if depth > 6 else {"some": example(value, turn, depth + 1, whole=whole)}
    simple = {"string": "x" * (schema.get("minLength") or 1), "number": 7, "integer": 7, "boolean": True, "null": None}
    return simple.get(kind, {})


def _object(here: Described, turn: int, depth: int, whole: bool) -> Schema:
    required = set(here.schema.get("required", ()))
    return {
        name: example(Described(schema, here.release), turn, depth + 1, whole=whole)
        for name, schema in here.schema.get("properties", {}).items()
        if name in required or (whole and depth < 4)
    }
