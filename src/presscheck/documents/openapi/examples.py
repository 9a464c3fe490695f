"""Example values of schemas: the same schema always has the same example."""

from __future__ import annotations

from typing import Any, cast

from presscheck.documents.openapi.schema_tree import Direction, SchemaTrees
from presscheck.documents.openapi.specification import SpecificationReader, mapping, referenced_name, sequence, text

DEEPEST = 5
"""Maximum nesting depth of an example."""
MOST_VALUES = 150
"""Maximum number of values of an example."""
_FORMATS = {
    "date": "2025-01-31",
    "date-time": "2025-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "P1D",
    "email": "name@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com",
    "url": "https://example.com",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "byte": "dGV4dA==",
    "binary": "file",
    "password": "secret",
}
_LEFT_OUT = {"request": "readOnly", "response": "writeOnly", "both": ""}


def example_of(reader: SpecificationReader, schema: Any, direction: Direction = "both") -> Any:
    """Return an example value of a schema. Examples and defaults in the schema take precedence over generated ones."""
    return _Examples(reader, direction).of(schema, 0, ())


def media_examples(reader: SpecificationReader, media: Any, direction: Direction) -> list[tuple[str, Any]]:
    """Return the examples of a media type, each with its name.

    Without an example, return one that is generated from the schema, with an empty name. Without a schema, return
    nothing.
    """
    fields = mapping(media)
    if "example" in fields:
        return [("", fields["example"])]
    named: list[tuple[str, Any]] = []
    for name, value in mapping(fields.get("examples")).items():
        example = reader.resolved(value)
        if "value" in example:
            named.append((text(example.get("summary")) or name, example["value"]))
    if named:
        return named
    return [("", example_of(reader, fields["schema"], direction))] if isinstance(fields.get("schema"), dict) else []


def parameter_example(reader: SpecificationReader, parameter: Any) -> Any:
    """Return the first example in a parameter or its schema, or else the default, or else None."""
    fields = mapping(parameter)
    schema = reader.resolved(fields.get("schema"))
    examples = [reader.resolved(value) for value in mapping(fields.get("examples")).values()]
    stated = (
        fields.get("example"),
        *(value.get("value") for value in examples),
        schema.get("example"),
        *sequence(schema.get("examples"))[:1],
        schema.get("default"),
    )
    return next((value for value in stated if value is not None), None)


class _Examples:
    def __init__(self, reader: SpecificationReader, direction: Direction) -> None:
        self._direction: Direction = direction
        self._trees = SchemaTrees(reader)
        self._left = MOST_VALUES

    def of(self, schema: Any, depth: int, parents: tuple[str, ...]) -> Any:
        name = referenced_name(schema)
        self._left -= 1
        if depth > DEEPEST or self._left < 0 or (name and name in parents):
            return None
        whole = self._trees.merged(schema, parents)
        values = whole.values
        parents = (*parents, name) if name else parents
        for key in ("example", "default", "const"):
            if values.get(key) is not None:
                return values[key]
        for key in ("examples", "enum"):
            stated = sequence(values.get(key))
            if stated:
                return stated[0]
        kind = self._kind(values.get("type"))
        parts = [self.of(alternatives[0], depth + 1, parents) for _, alternatives in whole.groups]
        if kind in ("", "object") and (mapping(values.get("properties")) or kind or not parts):
            example = self._object(values, depth, parents) if kind or "properties" in values else None
            for part in parts:
                example = (
                    cast("dict[str, Any]", example) | part
                    if isinstance(part, dict) and isinstance(example, dict)
                    else example
                )
            if example is not None or not parts:
                return example
        if parts:
            return parts[0]
        if kind == "array" or "items" in values:
            item = self.of(values["items"], depth + 1, parents) if isinstance(values.get("items"), dict) else None
            return [] if item is None else [item]
        return self._plain(kind, values)

    def _object(self, values: Any, depth: int, parents: tuple[str, ...]) -> dict[str, Any]:
        example: dict[str, Any] = {}
        required = sequence(values.get("required"))
        for name, schema in mapping(values.get("properties")).items():
            resolved = self._trees.merged(schema).values
            if resolved.get(_LEFT_OUT[self._direction]) is True:
                continue
            value = self.of(schema, depth + 1, parents)
            if value is not None or name in required:
                example[name] = value
        more = values.get("additionalProperties")
        if isinstance(more, dict) and not example:
            value = self.of(more, depth + 1, parents)
            example["name"] = value
        return example

    @staticmethod
    def _kind(kind: Any) -> str:
        if isinstance(kind, list):
            return next((item for item in cast("list[Any]", kind) if isinstance(item, str) and item != "null"), "")
        return text(kind)

    @staticmethod
    def _plain(kind: str, values: Any) -> Any:
        least = values.get("minimum")
        match kind:
            case "integer":
                return least if isinstance(least, int) and not isinstance(least, bool) else 1
            case "number":
                return least if isinstance(least, int | float) and not isinstance(least, bool) else 1.5
            case "boolean":
                return True
            case "string":
                return _FORMATS.get(text(values.get("format")), "text")
            case _:
                return None
