"""Comparison of two versions of an OpenAPI description, to find the changes that break clients of the old version.

A change is breaking if a formerly valid request can now be refused, or if a response can now lack a value or have a
value that a client of the old version does not expect. A change in a named schema is reported once, with all operations
that use the schema. Descriptions are untrusted: references may be circular, have no target, or have the wrong type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, cast

from presscheck.documents.terminal.openapi import METHODS
from presscheck.text.phrases import count

Object = Mapping[str, Any]
Direction = Literal["request", "response"]
DEEPEST = 40
"""Maximum nesting of compared schemas."""
MOST_CHANGES = 5_000
"""Maximum number of reported changes; descriptions with more changes have little in common."""
EMPTY: Object = {}
LIMITS = {
    "minimum": 1,
    "exclusiveMinimum": 1,
    "minLength": 1,
    "minItems": 1,
    "minProperties": 1,
    "maximum": -1,
    "exclusiveMaximum": -1,
    "maxLength": -1,
    "maxItems": -1,
    "maxProperties": -1,
}
"""Limits of values: 1 if a larger limit refuses more values, -1 if a smaller limit refuses more values."""


class Change(NamedTuple):
    """A difference between two versions.

    Attributes:
        is_breaking: whether a client of the old version can fail.
        place: the place, such as `GET /pets › query limit` or `Pet (response) › name`; untrusted text.
        text: the change, such as `is now required`; untrusted text.
        operations: the affected operations, such as `GET /pets`, in the order of the description.
    """

    is_breaking: bool
    place: str
    text: str
    operations: tuple[str, ...]


class Comparison(NamedTuple):
    """The result of a comparison.

    Attributes:
        changes: the changes, breaking changes first.
        is_cut: whether there are more than `MOST_CHANGES` changes.
    """

    changes: tuple[Change, ...]
    is_cut: bool = False

    @property
    def breaking(self) -> int:
        """The number of breaking changes."""
        return sum(change.is_breaking for change in self.changes)

    @property
    def outcome(self) -> Literal["breaking", "compatible", "identical"]:
        """The outcome: `breaking` with a breaking change, `compatible` with other changes only, else `identical`."""
        return "breaking" if self.breaking else "compatible" if self.changes else "identical"

    @property
    def summary(self) -> str:
        """The outcome in words, such as `2 breaking changes, 5 compatible`."""
        breaking, others = self.breaking, len(self.changes) - self.breaking
        if not self.changes:
            return "no change in what clients send and receive"
        if not breaking:
            return f"{count(others, 'compatible change')}, none is breaking"
        more = f", {others:,} compatible" if others else ""
        return f"{count(breaking, 'breaking change')}{more}"


def compare(old: Object, new: Object) -> Comparison:
    """Compare two versions. Takes seconds for very large descriptions, so call it in a thread."""
    return _Comparing(old, new).result()


class _Operation(NamedTuple):
    """An operation or a webhook. The client of the API is the server of its webhooks."""

    name: str
    details: Object
    shared: Sequence[Any]
    is_webhook: bool


@dataclass
class _Note:
    is_breaking: bool
    operations: list[str] = field(default_factory=list[str])


class _Comparing:
    def __init__(self, old: Object, new: Object) -> None:
        self._old, self._new = old, new
        self._notes: dict[tuple[str, str], _Note] = {}
        self._operation = ""
        self._is_cut = False
        self._same_refs = _unchanged(old, new)
        self._compared: set[tuple[str | int, str | int, str]] = set()
        """The pairs of schemas that were compared for the current operation, with the direction."""

    def result(self) -> Comparison:
        before, after = _operations(self._old), _operations(self._new)
        for key, operation in before.items():
            self._operation = operation.name
            if key in after:
                self._compared = set()
                self._compare_operations(operation, after[key])
            else:
                self._note(operation.name, "removed", is_breaking=True)
        for key, operation in after.items():
            if key not in before:
                self._operation = operation.name
                self._note(operation.name, "added", is_breaking=False)
        changes = [
            Change(note.is_breaking, place, text, tuple(note.operations)) for (place, text), note in self._notes.items()
        ]
        return Comparison(tuple(sorted(changes, key=lambda change: not change.is_breaking)), self._is_cut)

    def _note(self, place: str, text: str, *, is_breaking: bool) -> None:
        note = self._notes.get((place, text))
        if note is None:
            if len(self._notes) >= MOST_CHANGES:
                self._is_cut = True
                return
            note = self._notes[place, text] = _Note(is_breaking)
        note.is_breaking = note.is_breaking or is_breaking
        if self._operation not in note.operations:
            note.operations.append(self._operation)

    def _compare_operations(self, old: _Operation, new: _Operation) -> None:
        place = old.name
        if new.details.get("deprecated") is True and old.details.get("deprecated") is not True:
            self._note(place, "is now deprecated", is_breaking=False)
        sent: Direction = "response" if old.is_webhook else "request"
        received: Direction = "request" if old.is_webhook else "response"
        before, after = self._parameters(self._old, old), self._parameters(self._new, new)
        self._compare_parameters(place, before, after, sent)
        self._compare_bodies(place, self._body(self._old, old), self._body(self._new, new), sent)
        self._compare_responses(place, old.details, new.details, received)
        if not old.is_webhook:
            self._compare_security(place, old.details, new.details)

    # parameters

    def _parameters(self, description: Object, operation: _Operation) -> dict[tuple[str, str], Object]:
        """Return the parameters by location and name, without a Swagger 2 body.

        Path parameters are identified by position, because clients do not send their names. Header names are in lower
        case.
        """
        given = [_resolved(description, each) for each in (*operation.shared, *_list(operation.details, "parameters"))]
        found: dict[tuple[str, str], Object] = {}
        for parameter in given:
            where, name = str(parameter.get("in")), str(parameter.get("name"))
            if where == "body":
                continue
            if where == "path":
                path = operation.name.partition(" ")[2]
                names = [part[1:-1] for part in path.split("/") if part.startswith("{") and part.endswith("}")]
                found[where, str(names.index(name)) if name in names else name] = parameter
            else:
                found[where, name.lower() if where == "header" else name] = parameter
        return found

    def _compare_parameters(
        self,
        place: str,
        before: Mapping[tuple[str, str], Object],
        after: Mapping[tuple[str, str], Object],
        direction: Direction,
    ) -> None:
        for key, parameter in before.items():
            inner = f"{place} › {key[0]} {parameter.get('name')}"
            other = after.get(key)
            if other is None:
                self._note(inner, "removed", is_breaking=True)
                continue
            self._compare_required(inner, parameter, other, direction)
            self._compare_schemas(inner, _schema_of(parameter), _schema_of(other), direction, 0)
        for key, parameter in after.items():
            if key not in before:
                is_required = parameter.get("required") is True
                text = "added, and is required" if is_required else "added"
                self._note(f"{place} › {key[0]} {parameter.get('name')}", text, is_breaking=is_required)

    def _compare_required(self, place: str, old: Object, new: Object, direction: Direction) -> None:
        was, is_now = old.get("required") is True, new.get("required") is True
        if was != is_now:
            self._note(
                place,
                "is now required" if is_now else "is now optional",
                is_breaking=is_now if direction == "request" else was,
            )

    # bodies and responses

    def _body(self, description: Object, operation: _Operation) -> Object:
        """Return the request body; a Swagger 2 body is converted to OpenAPI 3."""
        if "requestBody" in operation.details:
            return _resolved(description, operation.details["requestBody"])
        given = (_resolved(description, each) for each in (*operation.shared, *_list(operation.details, "parameters")))
        body = next((parameter for parameter in given if parameter.get("in") == "body"), None)
        if body is None:
            return EMPTY
        kinds = _list(operation.details, "consumes") or _list(description, "consumes") or ["application/json"]
        content = {str(kind): {"schema": body.get("schema")} for kind in kinds}
        return {"content": content, "required": body.get("required")}

    def _compare_bodies(self, place: str, old: Object, new: Object, direction: Direction) -> None:
        inner = f"{place} › body"
        if not old and not new:
            return
        if not old:
            is_required = new.get("required") is True
            self._note(inner, "added, and is required" if is_required else "added", is_breaking=is_required)
            return
        if not new:
            self._note(inner, "removed", is_breaking=True)
            return
        self._compare_required(inner, old, new, direction)
        self._compare_contents(inner, old, new, direction)

    def _compare_contents(self, place: str, old: Object, new: Object, direction: Direction) -> None:
        before, after = _object(old.get("content")), _object(new.get("content"))
        for kind, media in before.items():
            other = after.get(kind)
            if other is None:
                self._note(f"{place} {kind}", "removed", is_breaking=True)
            else:
                old_schema, new_schema = _object(_object(media).get("schema")), _object(_object(other).get("schema"))
                self._compare_schemas(place, old_schema, new_schema, direction, 0)
        for kind in after:
            if kind not in before:
                self._note(f"{place} {kind}", "added", is_breaking=False)

    def _responses(self, description: Object, details: Object) -> dict[str, Object]:
        """Return the responses by status; Swagger 2 responses are converted to OpenAPI 3."""
        found: dict[str, Object] = {}
        for status, value in _object(details.get("responses")).items():
            response = _resolved(description, value)
            if "schema" in response and "content" not in response:
                kinds = _list(details, "produces") or _list(description, "produces") or ["application/json"]
                content = {str(kind): {"schema": response["schema"]} for kind in kinds}
                response = {**response, "content": content}
            found[str(status)] = response
        return found

    def _compare_responses(self, place: str, old: Object, new: Object, direction: Direction) -> None:
        before, after = self._responses(self._old, old), self._responses(self._new, new)
        for status, response in before.items():
            inner = f"{place} › response {status}"
            other = after.get(status)
            if other is None:
                self._note(inner, "removed", is_breaking=status.startswith("2") or status == "default")
                continue
            self._compare_contents(inner, response, other, direction)
            headers, others = _object(response.get("headers")), _object(other.get("headers"))
            for name in headers:
                if name not in others:
                    self._note(f"{inner} › header {name}", "removed", is_breaking=True)
        for status in after:
            if status not in before:
                self._note(f"{place} › response {status}", "added", is_breaking=False)

    # security

    def _compare_security(self, place: str, old: Object, new: Object) -> None:
        before, after = _security(self._old, old), _security(self._new, new)
        if before == after:
            return
        inner = f"{place} › security"
        if frozenset[str]() in before and frozenset[str]() not in after:
            self._note(inner, "is now required", is_breaking=True)
            return
        for way in sorted(before - after, key=sorted):
            is_accepted = any(other <= way for other in after)
            self._note(inner, f"{_way(way)} is no longer accepted", is_breaking=not is_accepted)
        for way in sorted(after - before, key=sorted):
            self._note(inner, f"{_way(way)} is now accepted", is_breaking=False)

    # schemas

    def _compare_schemas(self, place: str, old: Object, new: Object, direction: Direction, depth: int) -> None:
        """Compare two schemas. If they have the same name, the name is the place of all changes inside.

        Each pair of schemas is compared once in each direction.
        """
        if depth > DEEPEST or self._is_same(old, new):
            return
        names = _name(old), _name(new)
        if depth or all(names):
            # schemas without names are identified by id(); at depth 0 they may be temporary objects whose id is reused
            pair = (names[0] or id(old), names[1] or id(new), direction)
            if pair in self._compared:
                return
            self._compared.add(pair)
        if names[0] and names[0] == names[1]:
            place = f"{names[0]} ({direction})"
        old, new = _whole(self._old, old), _whole(self._new, new)
        self._compare_types(place, old, new, direction)
        self._compare_enumerations(place, old, new, direction)
        if direction == "request":
            self._compare_limits(place, old, new)
        self._compare_properties(place, old, new, direction, depth)
        if isinstance(old.get("items"), dict) and isinstance(new.get("items"), dict):
            self._compare_schemas(f"{place} › items", old["items"], new["items"], direction, depth + 1)
        more = old.get("additionalProperties"), new.get("additionalProperties")
        if all(isinstance(each, dict) for each in more):
            self._compare_schemas(f"{place} › any field", _object(more[0]), _object(more[1]), direction, depth + 1)
        elif more[1] is False and more[0] is not False and direction == "request":
            self._note(place, "other fields are no longer accepted", is_breaking=True)
        for word in ("oneOf", "anyOf"):
            self._compare_alternatives(place, _list(old, word), _list(new, word), direction, depth)

    def _is_same(self, old: Object, new: Object) -> bool:
        return old == new and all(reference in self._same_refs for reference in _references(old))

    def _compare_types(self, place: str, old: Object, new: Object, direction: Direction) -> None:
        before, after = _types(old), _types(new)
        if before != after:
            wider, narrower = _accepts(after, before), _accepts(before, after)
            is_breaking = not (wider if direction == "request" else narrower)
            self._note(place, f"type {_words(before)} → {_words(after)}", is_breaking=is_breaking)
        formats = old.get("format"), new.get("format")
        if formats[0] != formats[1] and before == after:
            text = f"format {formats[0] or 'any'} → {formats[1] or 'any'}"
            self._note(place, text, is_breaking=bool(formats[0] and formats[1]))

    def _compare_enumerations(self, place: str, old: Object, new: Object, direction: Direction) -> None:
        before, after = _values(old), _values(new)
        if before is None and after is None:
            return
        if before is None:
            text = f"only {', '.join(sorted(after or ()))} from now on"
            self._note(place, text, is_breaking=direction == "request")
        elif after is None:
            self._note(place, "any value from now on", is_breaking=direction == "response")
        else:
            for value in sorted(before - after):
                self._note(place, f"value {value} removed", is_breaking=True)
            for value in sorted(after - before):
                self._note(place, f"value {value} added", is_breaking=False)

    def _compare_limits(self, place: str, old: Object, new: Object) -> None:
        for name, sign in LIMITS.items():
            before, after = old.get(name), new.get(name)
            if before == after or not all(each is None or _is_number(each) for each in (before, after)):
                continue
            is_tighter = after is not None and (before is None or (after - before) * sign > 0)
            text = f"{name} {'none' if before is None else before} → {'none' if after is None else after}"
            self._note(place, text, is_breaking=is_tighter)
        patterns = old.get("pattern"), new.get("pattern")
        if patterns[0] != patterns[1]:
            text = f"pattern {patterns[0] or 'none'} → {patterns[1] or 'none'}"
            self._note(place, text, is_breaking=patterns[1] is not None)

    def _compare_properties(self, place: str, old: Object, new: Object, direction: Direction, depth: int) -> None:
        before, after = _object(old.get("properties")), _object(new.get("properties"))
        needed = set(map(str, _list(old, "required"))), set(map(str, _list(new, "required")))
        for name, schema in before.items():
            inner = f"{place} › {name}"
            other = after.get(name)
            if other is None:
                self._note(inner, "removed", is_breaking=True)
                continue
            was, is_now = name in needed[0], name in needed[1]
            if was != is_now:
                is_breaking = is_now if direction == "request" else was
                self._note(inner, "is now required" if is_now else "is now optional", is_breaking=is_breaking)
            self._compare_schemas(inner, _object(schema), _object(other), direction, depth + 1)
        for name in after:
            if name not in before:
                is_required = name in needed[1] and direction == "request"
                text = "added, and is required" if is_required else "added"
                self._note(f"{place} › {name}", text, is_breaking=is_required)

    def _compare_alternatives(
        self, place: str, old: Sequence[Any], new: Sequence[Any], direction: Direction, depth: int
    ) -> None:
        """Compare alternatives: named schemas are matched by name, all others by title or type."""
        if not old and not new:
            return
        before, after = _by_label(self._old, old), _by_label(self._new, new)
        for label, schema in before.items():
            if label in after:
                self._compare_schemas(f"{place} › {label}", schema, after[label], direction, depth + 1)
            elif new:
                self._note(f"{place} › {label}", "is no longer possible", is_breaking=direction == "request")
        for label in after:
            if label not in before and old:
                self._note(f"{place} › {label}", "is now possible", is_breaking=direction == "response")


def _operations(description: Object) -> dict[tuple[str, str], _Operation]:
    """Return the operations by method and path, followed by the webhooks. Keys have no names of path parameters."""
    found: dict[tuple[str, str], _Operation] = {}
    for section in ("paths", "webhooks"):
        is_webhook = section == "webhooks"
        for name, value in _object(description.get(section)).items():
            item = _resolved(description, value)
            for method in METHODS:
                details = item.get(method)
                if isinstance(details, dict):
                    parts = ("{}" if part.startswith("{") and part.endswith("}") else part for part in name.split("/"))
                    key = ("webhook " if is_webhook else "") + "/".join(parts)
                    label = f"{'webhook ' if is_webhook else ''}{method.upper()} {name}"
                    given = cast("Object", details)
                    found[method, key] = _Operation(label, given, _list(item, "parameters"), is_webhook)
    return found


def _object(value: Any) -> Object:
    return cast("Object", value) if isinstance(value, dict) else EMPTY


def _list(value: Object, name: str) -> Sequence[Any]:
    found = value.get(name)
    return cast("Sequence[Any]", found) if isinstance(found, list) else ()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _resolved(description: Object, value: Any) -> Object:
    """Follow the `$ref` of an object within the description. Return an empty object if there is no target."""
    found = _object(value)
    for _ in range(DEEPEST):
        address = found.get("$ref")
        if not isinstance(address, str):
            return found
        target: Any = description if address.startswith("#/") else EMPTY
        for part in address[2:].split("/"):
            target = _object(target).get(part.replace("~1", "/").replace("~0", "~"))
        found = _object(target)
    return EMPTY


def _name(schema: Object) -> str:
    """Return the name of the schema that a `$ref` points to; empty for other schemas."""
    address = schema.get("$ref")
    return address.rpartition("/")[2] if isinstance(address, str) else ""


def _whole(description: Object, schema: Object, seen: set[str] | None = None, depth: int = 0) -> Object:
    """Merge the parts of a schema's `allOf` into one schema. A part that is referenced several times is used once."""
    seen = set() if seen is None else seen
    if name := _name(schema):
        if name in seen:
            return EMPTY
        seen.add(name)
    schema = _resolved(description, schema)
    parts = _list(schema, "allOf")
    if not parts or depth > DEEPEST:
        return schema
    whole: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    required: list[Any] = []
    for part in (*(_whole(description, _object(each), seen, depth + 1) for each in parts), schema):
        whole |= part
        properties |= _object(part.get("properties"))
        required += _list(part, "required")
    whole.pop("allOf", None)
    return {**whole, **({"properties": properties} if properties else {}), "required": required}


def _schema_of(parameter: Object) -> Object:
    """Return the schema of a parameter; in Swagger 2, the parameter itself contains the schema's keys."""
    if "schema" in parameter:
        return _object(parameter["schema"])
    for media in _object(parameter.get("content")).values():
        return _object(_object(media).get("schema"))
    return {name: value for name, value in parameter.items() if name not in ("required", "in", "name")}


def _types(schema: Object) -> frozenset[str]:
    """Return the types of a schema, including null; empty if any type is valid."""
    given = schema.get("type")
    names = [given] if isinstance(given, str) else cast("list[Any]", given) if isinstance(given, list) else []
    types = {str(name) for name in names}
    if not types and isinstance(schema.get("properties"), dict):
        types = {"object"}
    if types and schema.get("nullable") is True:
        types.add("null")
    return frozenset(types)


def _accepts(wide: frozenset[str], narrow: frozenset[str]) -> bool:
    """Return whether the wide types include all values of the narrow types. An empty set stands for all types."""
    if not wide:
        return True
    return bool(narrow) and all(name in wide or (name == "integer" and "number" in wide) for name in narrow)


def _words(types: Iterable[str]) -> str:
    return " or ".join(sorted(types)) or "any"


def _values(schema: Object) -> frozenset[str] | None:
    """Return the values of an enumeration as text, or None if there is no enumeration."""
    if "const" in schema:
        return frozenset((str(schema["const"]),))
    given = schema.get("enum")
    return frozenset(map(str, cast("list[Any]", given))) if isinstance(given, list) else None


def _by_label(description: Object, schemas: Sequence[Any]) -> dict[str, Object]:
    """Return alternatives by name, else by title or types; repeated labels are numbered."""
    found: dict[str, Object] = {}
    for each in schemas:
        schema = _object(each)
        label = _name(schema) or str(schema.get("title") or _words(_types(_resolved(description, schema))))
        number = 2
        name = label
        while name in found:
            name, number = f"{label} {number}", number + 1
        found[name] = schema
    return found


def _security(description: Object, details: Object) -> frozenset[frozenset[str]]:
    """Return the accepted ways to sign in, each a set of schemes and scopes. An empty set is a way without sign-in."""
    given = details if "security" in details else description
    ways = [_object(way) for way in _list(given, "security")]
    found = {
        frozenset(
            part for scheme in way for part in (str(scheme), *(f"{scheme} {scope}" for scope in _list(way, scheme)))
        )
        for way in ways
    }
    return frozenset(found or {frozenset[str]()})


def _way(way: frozenset[str]) -> str:
    return ", ".join(sorted(way)) or "no sign-in"


def _references(value: Any) -> Iterator[str]:
    """Yield all addresses of `$ref` in a value."""
    waiting: list[Any] = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            known = cast("dict[str, Any]", part)
            if isinstance(known.get("$ref"), str):
                yield known["$ref"]
            waiting += known.values()
        elif isinstance(part, list):
            waiting += cast("list[Any]", part)


def _unchanged(old: Object, new: Object) -> frozenset[str]:
    """Return the addresses of named schemas that are equal in both versions, including all schemas that they refer to.

    Start with all schemas that are equal themselves. Remove schemas that refer to a removed or changed schema until
    nothing changes any more.
    """
    same: dict[str, set[str]] = {}
    for path in (("components", "schemas"), ("definitions",)):
        before, after = old, new
        for part in path:
            before, after = _object(before.get(part)), _object(after.get(part))
        for name, schema in before.items():
            if name in after and after[name] == schema:
                address = "#/" + "/".join((*path, name.replace("~", "~0").replace("/", "~1")))
                same[address] = set(_references(schema))
    while changed := [address for address, references in same.items() if not references <= same.keys()]:
        for address in changed:
            del same[address]
    return frozenset(same)
