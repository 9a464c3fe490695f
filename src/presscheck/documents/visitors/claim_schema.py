"""Schemas of visitor claims: JSON Schema draft 7, limited to a few types, each claim with a description.

A schema is edited as JSON; `read_schema` tells each mistake in it with its line.
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
"""How deep objects of claims may be nested."""
MOST_MISTAKES = 20
"""How many mistakes of a schema are listed at once."""

Step = str | int
"""A key of an object, or an index of an array."""
_NAME = re.compile(r"[A-Za-z_$][\w$-]*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+')


class Claim(NamedTuple):
    """A claim of a schema.

    Attributes:
        path: the names that lead to it.
        kind: its type; empty if the schema does not tell.
        values: the values that it can have; empty if every value of its type.
        description: what it means.
        items: the type of the items of an array.
    """

    path: tuple[str, ...]
    kind: str
    values: tuple[str, ...] = ()
    description: str = ""
    items: str = ""

    @property
    def name(self) -> str:
        """Its path as it is shown."""
        return ".".join(self.path)

    @property
    def expression(self) -> str:
        """Its path as it is written in conditions."""
        steps = (f".{name}" if _NAME.fullmatch(name) else f"[{json.dumps(name)}]" for name in self.path)
        return f"visitor.claims{''.join(steps)}"


class Mistake(NamedTuple):
    """What is wrong with a schema.

    Attributes:
        path: the keys that lead there.
        message: what is wrong, and what is valid.
        line: the line in the text, from 1; 0 if the schema is no text.
    """

    path: tuple[Step, ...]
    message: str
    line: int = 0

    def __str__(self) -> str:
        where = ".".join(map(str, self.path))
        return f"line {self.line}: " * bool(self.line) + f"{where}: " * bool(where) + self.message


class SchemaText(NamedTuple):
    """A schema that was read from a text: its value, and what is wrong with it; the value is None if it is no JSON."""

    value: dict[str, Any] | None
    mistakes: tuple[Mistake, ...]


def empty_schema() -> dict[str, Any]:
    """A schema without claims."""
    return {"type": "object", "properties": {}, "additionalProperties": False}


def schema_text(schema: Mapping[str, Any]) -> str:
    """A schema as it is edited."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def read_schema(text: str) -> SchemaText:
    """Reads a schema from a text, with all mistakes in the order of their lines."""
    try:
        value = parse_json(text)
    except json.JSONDecodeError as error:
        error = _at_comma(error)
        return SchemaText(None, (Mistake((), f"not valid JSON: {_in_words(error)}", error.lineno),))
    except ValueError as error:
        return SchemaText(None, (Mistake((), f"not valid JSON: {error}", 1),))
    lines, repeated = _lines_of(text)
    found = [Mistake(path, "is there twice: only the last one would count", line) for path, line in repeated]
    found += [mistake._replace(line=_line(lines, mistake.path)) for mistake in schema_mistakes(value)]
    found.sort(key=lambda mistake: mistake.line)
    is_object = isinstance(value, dict)
    return SchemaText(cast("dict[str, Any]", value) if is_object else None, tuple(found[:MOST_MISTAKES]))


def schema_mistakes(schema: Any) -> Iterator[Mistake]:
    """What is wrong with a schema."""
    if not isinstance(schema, dict):
        yield Mistake((), 'must be an object, such as {"type": "object", "properties": {…}}')
        return
    whole = cast("dict[str, Any]", schema)
    if whole.get("$schema", DRAFT) != DRAFT:
        yield Mistake(("$schema",), f'must be "{DRAFT}", or missing')
    yield from _object_mistakes({name: value for name, value in whole.items() if name != "$schema"}, (), 0)


def schema_claims(schema: Any) -> Iterator[Claim]:
    """The claims of a schema in order, those in objects after their object; what is no claim is left out."""
    yield from _claims(schema, (), 0)


def claim_at(schema: Any, path: Sequence[str]) -> dict[str, Any] | None:
    """What a schema says of a claim; None if it does not have it."""
    found: Any = schema
    for name in path:
        properties = cast("dict[str, Any]", found).get("properties") if isinstance(found, dict) else None
        found = cast("dict[str, Any]", properties).get(name) if isinstance(properties, dict) else None
    return cast("dict[str, Any]", found) if isinstance(found, dict) and path else None


def with_claim(
    schema: Mapping[str, Any], path: Sequence[str], claim: Mapping[str, Any] | None, *, former: Sequence[str] = ()
) -> dict[str, Any]:
    """A copy of a schema with a claim, in the place of a former one if one is given; without it for None.

    Raises:
        LookupError: the object that the claim is to be in does not exist.
    """
    changed: dict[str, Any] = json.loads(json.dumps(schema))
    inside, name = _properties(changed, path[:-1]), path[-1]
    if former and tuple(former) != tuple(path):
        above, old = _properties(changed, former[:-1]), former[-1]
        if above is inside and claim is not None:  # renamed: it keeps its place
            items = [(name if key == old else key, value) for key, value in inside.items() if key != name or key == old]
            inside.clear()
            inside.update(items)
        else:
            above.pop(old, None)
    if claim is None:
        inside.pop(name, None)
    else:
        inside[name] = dict(claim)
    return changed


def _properties(schema: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    found = schema if not path else claim_at(schema, path)
    properties = found.get("properties") if found else None
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
        found: Any = claim.get("items")
        items = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
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
    known = ("type", "properties", "additionalProperties")
    yield from _unknown(value, (*known, "description") if path else known, path)
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


def _unknown(value: dict[str, Any], known: Sequence[str], path: tuple[Step, ...]) -> Iterator[Mistake]:
    for name in value:
        if name not in known:
            yield Mistake((*path, name), f"is not supported here: only {', '.join(known)}")


def _at_comma(error: json.JSONDecodeError) -> json.JSONDecodeError:
    """The error at a comma after the last item as Python 3.13 tells it; earlier ones ask for another item."""
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
    """The line of each value of a valid JSON text, that of its key if it has one; and the keys that are there twice."""
    lines: dict[tuple[Step, ...], int] = {(): 1}
    repeated: list[tuple[tuple[Step, ...], int]] = []
    path: list[Step] = []
    line, at, expects_key = 1, 0, False
    for token in _TOKEN.finditer(text):
        line += text.count("\n", at, token.start())
        at = token.start()
        found = token[0]
        if found == "{":
            path.append("")
            expects_key = True
        elif found == "[":
            path.append(0)
            lines[tuple(path)] = line
        elif found in "]}":
            path.pop()
            expects_key = False
        elif found == ",":
            last = path[-1] if path else ""
            expects_key = isinstance(last, str)
            if isinstance(last, int):
                path[-1] = last + 1
                lines[tuple(path)] = line
        elif expects_key:
            path[-1] = json.loads(found)
            if tuple(path) not in lines:
                lines[tuple(path)] = line
            elif not any(tuple(path[: len(other)]) == other for other, _ in repeated):
                repeated.append((tuple(path), line))
            expects_key = False
    return lines, repeated


def _line(lines: Mapping[tuple[Step, ...], int], path: tuple[Step, ...]) -> int:
    """The line of a place, or of what it would be in."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)
