"""Schemas of visitor claims: JSON Schema draft 7, limited to a few types, with a description for each claim.

A schema is edited as JSON; `read_schema` reports each mistake with its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from presscheck.documents.attribute_json import parse_json

PRIMITIVES = ("boolean", "string", "number")
TYPES = (*PRIMITIVES, "array", "object")
DRAFT = "http://json-schema.org/draft-07/schema#"
DEEPEST = 16
"""Maximum nesting depth of objects."""
MOST_MISTAKES = 20
"""Maximum number of mistakes that are reported."""

Step = str | int
"""A key of an object, or an index of an array."""
_NAME = re.compile(r"[A-Za-z_$][\w$-]*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+')


class Claim(NamedTuple):
    """A claim of a schema.

    Attributes:
        path: the names of the objects that contain the claim, and the name of the claim.
        kind: the type; empty if the schema lacks it.
        values: the allowed values; empty if all values of the type are allowed.
        description: the meaning of the claim.
        items: the type of the items of an array.
    """

    path: tuple[str, ...]
    kind: str
    values: tuple[str, ...] = ()
    description: str = ""
    items: str = ""

    @property
    def name(self) -> str:
        """The path as it is displayed."""
        return ".".join(self.path)

    @property
    def expression(self) -> str:
        """The path as it is written in conditions."""
        steps = (f".{name}" if _NAME.fullmatch(name) else f"[{json.dumps(name)}]" for name in self.path)
        return f"visitor.claims{''.join(steps)}"


class Mistake(NamedTuple):
    """A mistake in a schema.

    Attributes:
        path: the keys that lead to the mistake.
        message: the mistake, and what is valid instead.
        line: the line in the text, from 1; 0 if the schema is not a text.
    """

    path: tuple[Step, ...]
    message: str
    line: int = 0

    def __str__(self) -> str:
        path = ".".join(map(str, self.path))
        return f"line {self.line}: " * bool(self.line) + f"{path}: " * bool(path) + self.message


class SchemaText(NamedTuple):
    """A schema that was read from a text, and its mistakes; `value` is None if the text is not a JSON object."""

    value: dict[str, Any] | None
    mistakes: tuple[Mistake, ...]


def empty_schema() -> dict[str, Any]:
    """Return a schema without claims."""
    return {"type": "object", "properties": {}, "additionalProperties": False}


def schema_text(schema: Mapping[str, Any]) -> str:
    """Format a schema for editing."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def read_schema(text: str) -> SchemaText:
    """Read a schema from a text. The mistakes are sorted by line."""
    try:
        value = parse_json(text)
    except json.JSONDecodeError as error:
        error = _at_comma(error)
        return SchemaText(None, (Mistake((), f"not valid JSON: {_in_words(error)}", error.lineno),))
    except ValueError as error:
        return SchemaText(None, (Mistake((), f"not valid JSON: {error}", 1),))
    lines, repeated = _lines_of(text)
    mistakes = [Mistake(path, "is there twice: only the last one would count", line) for path, line in repeated]
    mistakes += [mistake._replace(line=_line(lines, mistake.path)) for mistake in schema_mistakes(value)]
    mistakes.sort(key=lambda mistake: mistake.line)
    is_object = isinstance(value, dict)
    return SchemaText(cast("dict[str, Any]", value) if is_object else None, tuple(mistakes[:MOST_MISTAKES]))


def schema_mistakes(schema: Any) -> Iterator[Mistake]:
    """Yield the mistakes of a schema."""
    if not isinstance(schema, dict):
        yield Mistake((), 'must be an object, such as {"type": "object", "properties": {…}}')
        return
    whole = cast("dict[str, Any]", schema)
    if whole.get("$schema", DRAFT) != DRAFT:
        yield Mistake(("$schema",), f'must be "{DRAFT}", or missing')
    yield from _object_mistakes({name: value for name, value in whole.items() if name != "$schema"}, (), 0)


def schema_claims(schema: Any) -> Iterator[Claim]:
    """Yield the claims of a schema in order, each before the claims in it; invalid claims are skipped."""
    yield from _claims(schema, (), 0)


def claim_at(schema: Any, path: Sequence[str]) -> dict[str, Any] | None:
    """Return the definition of a claim in a schema, or None."""
    definition: Any = schema
    for name in path:
        properties = cast("dict[str, Any]", definition).get("properties") if isinstance(definition, dict) else None
        definition = cast("dict[str, Any]", properties).get(name) if isinstance(properties, dict) else None
    return cast("dict[str, Any]", definition) if isinstance(definition, dict) and path else None


def with_claim(
    schema: Mapping[str, Any], path: Sequence[str], claim: Mapping[str, Any] | None, *, former: Sequence[str] = ()
) -> dict[str, Any]:
    """Return a copy of a schema with a claim added or replaced, or deleted if `claim` is None.

    Args:
        schema: the schema.
        path: the path of the claim.
        claim: its definition.
        former: the path that the claim had before, to rename or move it.

    Raises:
        LookupError: the object that is to contain the claim does not exist.
    """
    changed: dict[str, Any] = json.loads(json.dumps(schema))
    siblings, name = _properties(changed, path[:-1]), path[-1]
    if former and tuple(former) != tuple(path):
        old_siblings, old = _properties(changed, former[:-1]), former[-1]
        if old_siblings is siblings and claim is not None:  # a renamed claim keeps its place
            items = [
                (name if key == old else key, value) for key, value in siblings.items() if key != name or key == old
            ]
            siblings.clear()
            siblings.update(items)
        else:
            old_siblings.pop(old, None)
    if claim is None:
        siblings.pop(name, None)
    else:
        siblings[name] = dict(claim)
    return changed


def _properties(schema: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    parent = schema if not path else claim_at(schema, path)
    properties = parent.get("properties") if parent else None
    if not isinstance(properties, dict):
        raise LookupError(".".join(path))  # noqa: TRY004  # the object is missing, whatever is there instead
    return cast("dict[str, Any]", properties)


def _claims(schema: Any, above: tuple[str, ...], depth: int) -> Iterator[Claim]:
    properties = cast("dict[str, Any]", schema).get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or depth > DEEPEST:
        return
    for name, value in cast("dict[str, Any]", properties).items():
        if not isinstance(value, dict):
            continue
        claim = cast("dict[str, Any]", value)
        items_value: Any = claim.get("items")
        items = cast("dict[str, Any]", items_value) if isinstance(items_value, dict) else {}
        listed: Any = claim.get("enum", items.get("enum"))
        values = tuple(map(str, cast("list[Any]", listed))) if isinstance(listed, list) else ()
        texts = (claim.get("type"), claim.get("description"), items.get("type"))
        kind, description, kind_of_items = (text if isinstance(text, str) else "" for text in texts)
        yield Claim((*above, name), kind, values, description, kind_of_items)
        yield from _claims(claim, (*above, name), depth + 1)


def _object_mistakes(value: dict[str, Any], path: tuple[Step, ...], depth: int) -> Iterator[Mistake]:
    if value.get("type") != "object":
        yield Mistake((*path, "type") if "type" in value else path, 'needs "type": "object"')
    if value.get("additionalProperties") is not False:
        at = (*path, "additionalProperties") if "additionalProperties" in value else path
        yield Mistake(at, 'needs "additionalProperties": false')
    keywords = ("type", "properties", "additionalProperties")
    yield from _unknown(value, (*keywords, "description") if path else keywords, path)
    properties = value.get("properties")
    if not isinstance(properties, dict):
        yield Mistake((*path, "properties") if "properties" in value else path, 'needs "properties": {…}')
    elif depth == DEEPEST:
        yield Mistake(path, f"is nested deeper than {DEEPEST} objects")
    else:
        for name, claim in cast("dict[str, Any]", properties).items():
            yield from _claim_mistakes(claim, (*path, "properties", name), depth + 1)


def _claim_mistakes(claim: Any, path: tuple[Step, ...], depth: int) -> Iterator[Mistake]:
    if not isinstance(claim, dict):
        yield Mistake(path, 'must be an object, such as {"type": "string", "description": "…"}')
        return
    value = cast("dict[str, Any]", claim)
    kind = value.get("type")
    if kind not in TYPES:
        yield Mistake((*path, "type") if "type" in value else path, f'needs a "type": one of {", ".join(TYPES)}')
    if not isinstance(value.get("description"), str):
        yield Mistake((*path, "description") if "description" in value else path, 'needs a "description": a text')
    if kind == "object":
        yield from _object_mistakes(value, path, depth)
    elif kind == "array":
        yield from _unknown(value, ("type", "description", "items"), path)
        items = value.get("items")
        yield from _claim_mistakes(items, (*path, "items"), depth)
        if isinstance(items, dict) and cast("dict[str, Any]", items).get("type") in ("array", "object"):
            yield Mistake((*path, "items", "type"), f"must be one of {', '.join(PRIMITIVES)}")
    elif kind in PRIMITIVES:
        yield from _unknown(value, ("type", "description", "enum"), path)
        listed = value.get("enum", [])
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in cast("list[Any]", listed)):
            yield Mistake((*path, "enum"), 'must be a list of texts, such as ["free", "pro"]')


def _unknown(value: dict[str, Any], keywords: Sequence[str], path: tuple[Step, ...]) -> Iterator[Mistake]:
    for name in value:
        if name not in keywords:
            yield Mistake((*path, name), f"is not supported here: only {', '.join(keywords)}")


def _at_comma(error: json.JSONDecodeError) -> json.JSONDecodeError:
    """Move an error to the comma after the last item, where Python 3.13 reports it; other errors are unchanged."""
    before = error.doc[: error.pos].rstrip()
    if before.endswith(",") and error.doc[error.pos : error.pos + 1] in ("]", "}"):
        return json.JSONDecodeError("Illegal trailing comma before end of object", error.doc, len(before) - 1)
    return error


def _in_words(error: json.JSONDecodeError) -> str:
    message = {
        "Expecting value": "a value is missing",
        "Expecting ',' delimiter": "a comma is missing, or a bracket",
        "Expecting ':' delimiter": "a colon is missing",
        "Expecting property name enclosed in double quotes": "a name in double quotes is missing",
        "Illegal trailing comma before end of object": "there is a comma after the last item",
        "Illegal trailing comma before end of array": "there is a comma after the last item",
        "Extra data": "there is more text after the end",
        "Unterminated string starting at": "a text has no closing quote",
    }.get(error.msg, error.msg)
    return f"{message} (column {error.colno})"


def _lines_of(text: str) -> tuple[dict[tuple[Step, ...], int], list[tuple[tuple[Step, ...], int]]]:
    """Return the lines of the values in a valid JSON text, and the repeated keys with their lines.

    The line of a member is the line of its key.
    """
    lines: dict[tuple[Step, ...], int] = {(): 1}
    repeated: list[tuple[tuple[Step, ...], int]] = []
    path: list[Step] = []
    line, at, expects_key = 1, 0, False
    for token in _TOKEN.finditer(text):
        line += text.count("\n", at, token.start())
        at = token.start()
        mark = token[0]
        if mark == "{":
            path.append("")
            expects_key = True
        elif mark == "[":
            path.append(0)
            lines[tuple(path)] = line
        elif mark in "]}":
            path.pop()
            expects_key = False
        elif mark == ",":
            last = path[-1] if path else ""
            expects_key = isinstance(last, str)
            if isinstance(last, int):
                path[-1] = last + 1
                lines[tuple(path)] = line
        elif expects_key:
            path[-1] = json.loads(mark)
            if tuple(path) not in lines:
                lines[tuple(path)] = line
            elif not any(tuple(path[: len(other)]) == other for other, _ in repeated):
                repeated.append((tuple(path), line))
            expects_key = False
    return lines, repeated


def _line(lines: Mapping[tuple[Step, ...], int], path: tuple[Step, ...]) -> int:
    """Return the line of a value, or of the nearest value that contains it."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)
