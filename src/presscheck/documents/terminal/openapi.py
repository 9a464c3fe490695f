"""Renders operations of an OpenAPI description as terminal lines: parameters, body, responses and schemas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, remaining_cells, with_prefix, wrap

DEEPEST = 6
"""Maximum nesting depth of a schema."""
MOST_SCHEMAS = 5_000
"""Maximum number of schemas read for an operation. Nested `allOf` can double their number without adding lines."""
MOST_LINES = 2_000
"""Maximum number of lines of an operation."""
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
Object = Mapping[str, Any]


class Operation(NamedTuple):
    """An operation of a description, and the parameters shared by all operations of its path."""

    details: Object
    shared: Sequence[Any]


def find_operation(description: Object, path: str, method: str) -> Operation | None:
    """Return the operation with this path and method, or None."""
    return _operation(_mapping(_mapping(description.get("paths")).get(path)), method)


def find_webhook(description: Object, name: str, method: str) -> Operation | None:
    """Return the webhook with this name and method, or None."""
    return _operation(_mapping(_mapping(description.get("webhooks")).get(name)), method)


def _operation(item: Object, method: str) -> Operation | None:
    details = item.get(method.lower())
    shared = item.get("parameters")
    return (
        Operation(_mapping(details), cast("Sequence[Any]", shared if isinstance(shared, list) else ()))
        if isinstance(details, dict)
        else None
    )


class Listed(NamedTuple):
    """An entry of an API description: an operation, a webhook or a schema.

    Attributes:
        kind: `operation`, `webhook` or `schema`.
        method: the HTTP method in lower case; empty for a schema.
        name: the path of an operation, or the name of a webhook or schema.
        summary: a short description; untrusted text.
        group: the first tag; untrusted text.
        is_deprecated: whether it should not be used any more.
    """

    kind: str
    method: str
    name: str
    summary: str = ""
    group: str = ""
    is_deprecated: bool = False


def contents(description: Object) -> list[Listed]:
    """Return the operations, webhooks and schemas of a description, in order."""
    entries: list[Listed] = []
    for section, kind in (("paths", "operation"), ("webhooks", "webhook")):
        for name, item in _mapping(description.get(section)).items():
            for method, details in _mapping(item).items():
                if method.lower() in METHODS and isinstance(details, dict):
                    operation = _mapping(details)
                    tags = _sequence(operation.get("tags"))
                    words = str(operation.get("summary") or operation.get("operationId") or "")
                    is_deprecated = operation.get("deprecated") is True
                    entries.append(
                        Listed(kind, method.lower(), str(name), words, str(tags[0]) if tags else "", is_deprecated)
                    )
    for name, schema in _mapping(_mapping(description.get("components")).get("schemas")).items():
        words = str(_mapping(schema).get("title") or _mapping(schema).get("description") or "")
        entries.append(Listed("schema", "", str(name), words))
    return entries


def listed_lines(description: Object, listed: Listed, columns: int) -> list[Line]:
    """Render an entry of a description."""
    if listed.kind == "schema":
        return schema_lines(description, listed.name, columns)
    find = find_webhook if listed.kind == "webhook" else find_operation
    operation = find(description, listed.name, listed.method)
    return operation_lines(description, operation, columns) if operation else []


def description_in(filesystem: Any) -> Object | None:
    """Return the API description in the files of a specification, or None.

    The files are an object by name, or a list. In a list, the file with `isEntrypoint` takes precedence.
    """
    candidates: Iterable[Any] = ()
    if isinstance(filesystem, dict):
        candidates = cast("dict[str, Any]", filesystem).values()
    elif isinstance(filesystem, list):
        files = [
            cast("dict[str, Any]", candidate)
            for candidate in cast("list[Any]", filesystem)
            if isinstance(candidate, dict)
        ]
        candidates = [
            candidate.get("specification")
            for candidate in sorted(files, key=lambda candidate: not candidate.get("isEntrypoint"))
        ]
    for candidate in candidates:
        if isinstance(candidate, dict) and ("openapi" in candidate or "swagger" in candidate or "paths" in candidate):
            return cast("dict[str, Any]", candidate)
    return None


def operation_lines(description: Object, operation: Operation, columns: int) -> list[Line]:
    """Render the summary, the parameters, the body and the responses of an operation."""
    return list(_Writer(description, columns).operation(operation))


def schema_lines(description: Object, name: str, columns: int) -> list[Line]:
    """Render a named schema with its properties; nothing if the description lacks the schema."""
    schemas = _mapping(_mapping(description.get("components")).get("schemas"))
    if name not in schemas:
        return []
    return list(_Writer(description, columns).schema(_mapping(schemas[name])))


def _mapping(value: Any) -> Object:
    return cast("Object", value) if isinstance(value, dict) else {}


def _sequence(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list) else ()


class _Writer:
    def __init__(self, description: Object, columns: int) -> None:
        self._description, self._columns = description, columns
        self._written = 0
        self._schemas = 0

    def operation(self, operation: Operation) -> Iterator[Line]:
        details = operation.details
        if details.get("deprecated") is True:
            yield (Span("deprecated", "waiting"),)
        for name, style in (("summary", "strong"), ("description", "")):
            yield from self._text(details.get(name), style)
        parameters = [
            self._resolved(parameter) for parameter in (*operation.shared, *_sequence(details.get("parameters")))
        ]
        for place, title in (("path", "Path"), ("query", "Query"), ("header", "Header"), ("cookie", "Cookie")):
            inside = [parameter for parameter in parameters if parameter.get("in") == place]
            if inside:
                yield from self._heading(f"{title} parameters")
                for parameter in inside:
                    schema = self._resolved(parameter.get("schema") or parameter)
                    yield from self._field(
                        str(parameter.get("name", "")), schema, parameter.get("required") is True, parameter, 0, ()
                    )
        body = self._resolved(details.get("requestBody"))
        for kind, media in _mapping(body.get("content")).items():
            yield from self._heading(f"Body  {kind}")
            yield from self.schema(self._resolved(_mapping(media).get("schema")))
        responses = _mapping(details.get("responses"))
        if responses:
            yield from self._heading("Responses")
        for status, response in responses.items():
            yield from self._response(str(status), self._resolved(response))

    def _response(self, status: str, response: Object) -> Iterator[Line]:
        style = "added strong" if status.startswith("2") else "removed strong" if status[:1] in "45" else "strong"
        words = str(response.get("description") or "")
        yield from self._wrapped([Span(sanitize(status), style), Span(f"  {sanitize(words)}")], 0)
        for kind, media in _mapping(response.get("content")).items():
            yield from self._wrapped([Span(sanitize(str(kind)), "quiet")], 1)
            yield from self.schema(self._resolved(_mapping(media).get("schema")), depth=1)

    def schema(self, schema: Object, *, depth: int = 0, parents: tuple[str, ...] = ()) -> Iterator[Line]:
        """Yield the properties of a schema, or the type of a schema without properties."""
        name = _name(schema)
        schema = self._resolved(schema)
        self._schemas += 1
        if depth >= DEEPEST or name in parents or self._written > MOST_LINES or self._schemas > MOST_SCHEMAS:
            return
        parents = (*parents, name) if name else parents
        if not depth:
            yield from self._text(schema.get("description"), "")
        properties = _mapping(schema.get("properties"))
        required = _sequence(schema.get("required"))
        for key, value in properties.items():
            field = self._resolved(value)
            yield from self._field(str(key), field, key in required, field, depth, parents, _name(_mapping(value)))
        for word in ("allOf", "oneOf", "anyOf"):
            parts = _sequence(schema.get(word))
            for number, part in enumerate(parts):
                if word != "allOf":
                    title = _name(_mapping(part)) or self._type(self._resolved(part))
                    yield from self._wrapped(
                        [Span("or " if number else "one of ", "quiet"), Span(sanitize(title))], depth
                    )
                yield from self.schema(_mapping(part), depth=depth + (word != "allOf"), parents=parents)
        items = schema.get("items")
        if isinstance(items, dict):
            if not depth:
                yield from self._wrapped([Span(sanitize(self._type(schema)), "quiet")], depth)
            yield from self.schema(cast("Object", items), depth=depth + 1, parents=parents)
        elif not depth and not properties and not any(schema.get(word) for word in ("allOf", "oneOf", "anyOf")):
            yield from self._wrapped([Span(sanitize(self._type(schema)), "quiet")], depth)

    def _field(
        self,
        name: str,
        schema: Object,
        is_required: bool,
        documented: Object,
        depth: int,
        parents: tuple[str, ...],
        named: str = "",
    ) -> Iterator[Line]:
        runs = [Span(sanitize(name), "code strong"), Span(f"  {sanitize(named or self._type(schema))}", "quiet")]
        if is_required:
            runs.append(Span("  required", "waiting"))
        if documented.get("deprecated") is True:
            runs.append(Span("  deprecated", "waiting"))
        for key, word in (("default", "default"), ("example", "example")):
            if isinstance(schema.get(key), str | int | float | bool):
                runs.append(Span(f"  {word} {sanitize(str(schema[key]))}", "quiet"))
        choices = _sequence(schema.get("enum"))
        if choices:
            runs.append(Span(f"  {sanitize(' | '.join(map(str, choices[:20])))}", "quiet"))
        yield from self._wrapped(runs, depth)
        words = documented.get("description")
        if isinstance(words, str) and words.strip():
            yield from self._wrapped([Span(sanitize(" ".join(words.split())))], depth + 1)
        if named not in parents or not named:
            inner = parents if not named else (*parents, named)
            if (
                isinstance(schema.get("properties"), dict)
                or isinstance(schema.get("items"), dict)
                or any(schema.get(word) for word in ("allOf", "oneOf", "anyOf"))
            ):
                yield from self.schema({**schema, "description": None}, depth=depth + 1, parents=inner)

    def _type(self, schema: Object) -> str:
        """Return a short form of a schema's type, such as `string (date)` or `array of Pet`."""
        kind = schema.get("type")
        text = " or ".join(map(str, cast("list[Any]", kind))) if isinstance(kind, list) else str(kind or "any")
        if text == "any" and isinstance(schema.get("properties"), dict):
            text = "object"
        items = schema.get("items")
        if text == "array" and isinstance(items, dict):
            inner = cast("Object", items)
            text = f"array of {_name(inner) or self._type(self._resolved(inner))}"
        return f"{text} ({schema['format']})" if isinstance(schema.get("format"), str) else text

    def _resolved(self, value: Any) -> Object:
        """Return an object, following its `$ref` within the description."""
        resolved = _mapping(value)
        for _ in range(DEEPEST):
            address = resolved.get("$ref")
            if not isinstance(address, str):
                return resolved
            target: Any = self._description if address.startswith("#/") else {}
            for part in address[2:].split("/"):
                target = _mapping(target).get(part.replace("~1", "/").replace("~0", "~"))
            resolved = _mapping(target)
        return resolved

    def _heading(self, text: str) -> Iterator[Line]:
        yield ()
        yield from self._wrapped([Span(sanitize(text), "heading")], 0)

    def _text(self, text: Any, style: str) -> Iterator[Line]:
        if isinstance(text, str) and text.strip():
            for paragraph in text.strip().split("\n\n"):
                yield from self._wrapped([Span(sanitize(" ".join(paragraph.split())), style)], 0)

    def _wrapped(self, runs: list[Span], depth: int) -> Iterator[Line]:
        if self._written > MOST_LINES:
            return
        indent = depth * 2
        narrow = remaining_cells(self._columns, indent)
        lines = wrap(runs, narrow or self._columns)
        self._written += len(lines)
        blank = (Span(" " * indent),) if narrow and indent else ()
        yield from with_prefix(lines, blank, blank)


def _name(schema: Object) -> str:
    """Return the name of the schema that a `$ref` refers to, or an empty string."""
    address = schema.get("$ref")
    return address.rpartition("/")[2] if isinstance(address, str) else ""
