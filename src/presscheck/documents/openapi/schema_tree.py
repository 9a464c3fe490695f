"""A schema as readers see it: a tree of fields with their types, limits and choices, without references.

Schemas may refer to themselves, and `allOf` may double with each level. Therefore a tree has a maximum depth, a maximum
number of nodes, and ends where a schema contains itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from presscheck.documents.openapi.specification import (
    Object,
    SpecificationReader,
    mapping,
    referenced_name,
    sequence,
    text,
)

DEEPEST = 7
"""Maximum nesting depth of fields."""
_DEPTHS = (DEEPEST, 5, 4, 3, 2, 1)
"""Maximum depths to try until a tree is small enough; otherwise its first fields would use up the limit."""
USUAL_NODES = 300
"""Maximum number of nodes of a tree with more than one level of fields."""
MOST_NODES = 1_500
"""Maximum number of nodes of all trees of an operation."""
MOST_CHOICES = 100
"""Maximum number of values of a choice that are shown."""
LONGEST_VALUE = 200
"""Maximum number of characters of a default or an example."""
Direction = Literal["request", "response", "both"]
_HIDDEN = {"request": "readOnly", "response": "writeOnly"}
"""The flag of fields that a request or a response does not have."""
_GROUPS = {"oneOf": "One of", "anyOf": "Any of"}
_MERGED = ("properties", "required", "discriminator", *_GROUPS)
"""Keywords that need special treatment when `allOf` is merged; for other keywords, the first value counts."""
MOST_NAMES = 4
"""Maximum number of alternatives that a type names."""
_FACTS = (
    ("default", "Default"),
    ("minimum", "Minimum"),
    ("exclusiveMinimum", "Greater than"),
    ("maximum", "Maximum"),
    ("exclusiveMaximum", "Less than"),
    ("multipleOf", "Multiple of"),
    ("minLength", "Minimum length"),
    ("maxLength", "Maximum length"),
    ("pattern", "Pattern"),
    ("minItems", "Minimum items"),
    ("maxItems", "Maximum items"),
    ("minProperties", "Minimum properties"),
    ("maxProperties", "Maximum properties"),
)


class Choice(NamedTuple):
    """A possible value, with its description if there is one."""

    value: str
    description: str = ""


class Fact(NamedTuple):
    """A limit or another value of a schema, such as its default."""

    label: str
    value: str


@dataclass
class SchemaNode:
    """A schema in the tree.

    Attributes:
        name: the name of the component, or the title of the schema; empty if it has neither.
        shape: the name of the component that has the fields; for an array, the component of its items.
        type: a short form of its type, such as `array of string (date)`.
        description: Markdown.
        flags: `required`, `deprecated`, `read-only` and `write-only`, where they apply.
        facts: limits, default and example.
        choices: the possible values.
        more_choices: the number of possible values that are not in `choices`.
        fields: the fields of the object, or of the items of the array.
        groups: alternatives, each with a label such as `One of`.
        circular: the name of the enclosing schema that is repeated here, so that the tree ends; empty otherwise.
        is_cut: whether the tree ends here because of its limits.
    """

    name: str = ""
    shape: str = ""
    type: str = "any"
    description: str = ""
    flags: list[str] = field(default_factory=list[str])
    facts: list[Fact] = field(default_factory=list[Fact])
    choices: list[Choice] = field(default_factory=list[Choice])
    more_choices: int = 0
    fields: list[tuple[str, SchemaNode]] = field(default_factory=list["tuple[str, SchemaNode]"])
    groups: list[tuple[str, list[SchemaNode]]] = field(default_factory=list["tuple[str, list[SchemaNode]]"])
    circular: str = ""
    is_cut: bool = False

    @property
    def has_parts(self) -> bool:
        """Whether the schema has fields or alternatives."""
        return bool(self.fields or self.groups)


class Merged(NamedTuple):
    """A schema after its own reference and `allOf` are resolved; the schemas within it are unchanged.

    Attributes:
        values: its keywords.
        groups: its alternatives, each with a label such as `One of`, without `null`, which is part of the type.
    """

    values: Object
    groups: list[tuple[str, list[Any]]]


class SchemaTrees:
    """Builds the trees of one operation, which share a maximum number of nodes.

    Args:
        reader: the specification.
        most: the maximum number of nodes.
    """

    def __init__(self, reader: SpecificationReader, most: int = MOST_NODES) -> None:
        self._reader, self._room = reader, most
        self._left, self._deepest = most, DEEPEST

    def tree(self, schema: Any, direction: Direction = "both") -> SchemaNode:
        """Return the tree of a schema. A large schema gets a tree of less depth.

        Args:
            schema: the schema, or a reference to it.
            direction: `request` leaves out read-only fields, `response` leaves out write-only fields.
        """
        node, room = SchemaNode(), 0
        for deepest in _DEPTHS:
            room = self._room if deepest == 1 else min(self._room, USUAL_NODES)
            self._left, self._deepest = room, deepest
            node = self._tree(schema, direction, 0, ())
            if self._left >= 0:
                break
        self._room -= room - self._left
        return node

    def _tree(self, schema: Any, direction: Direction, depth: int, parents: tuple[str, ...]) -> SchemaNode:
        name = referenced_name(schema)
        if schema is True or schema is None:
            return SchemaNode()
        whole = self.merged(schema, parents)
        merged = whole.values
        node = SchemaNode(name or text(merged.get("title")), name, self.type(whole), text(merged.get("description")))
        node.flags = [
            word
            for key, word in (("deprecated", "deprecated"), ("readOnly", "read-only"), ("writeOnly", "write-only"))
            if merged.get(key) is True
        ]
        if name and name in parents:
            node.circular = name
            return node
        self._left -= 1
        self._values(node, merged)
        parents = (*parents, name) if name else parents
        if self._left < 0 or depth >= self._deepest:
            node.is_cut = bool(
                mapping(merged.get("properties")) or whole.groups or isinstance(merged.get("items"), dict)
            )
            return node
        items = merged.get("items")
        if isinstance(items, dict):
            self._items(node, self._tree(items, direction, depth, parents))
        self._fields(node, merged, direction, depth, parents)
        for label, alternatives in whole.groups:
            nodes = [self._tree(part, direction, depth + 1, parents) for part in alternatives]
            node.groups.append((label, nodes))
        return node

    def _items(self, node: SchemaNode, item: SchemaNode) -> None:
        node.fields, node.groups, node.shape = item.fields, item.groups, item.shape or node.shape
        node.circular, node.is_cut = item.circular, item.is_cut
        node.choices, node.more_choices = node.choices or item.choices, node.more_choices or item.more_choices
        node.description = node.description or item.description
        node.facts += [fact for fact in item.facts if fact.label not in ("Example", "Default")]

    def _fields(
        self, node: SchemaNode, merged: Object, direction: Direction, depth: int, parents: tuple[str, ...]
    ) -> None:
        required = set(map(str, sequence(merged.get("required"))))
        for name, value in mapping(merged.get("properties")).items():
            if self._left < 0:
                node.is_cut = True
                return
            field_node = self._tree(value, direction, depth + 1, parents)
            if _HIDDEN.get(direction) in (
                {"read-only": "readOnly", "write-only": "writeOnly"}.get(flag) for flag in field_node.flags
            ):
                continue
            if name in required:
                field_node.flags.insert(0, "required")
            node.fields.append((name, field_node))
        for key, label in (("patternProperties", ""), ("additionalProperties", "any other name")):
            value = merged.get(key)
            named = mapping(value).items() if not label else [(label, value)] if isinstance(value, dict) else ()
            for name, inner in named:
                node.fields.append((name, self._tree(inner, direction, depth + 1, parents)))

    def _values(self, node: SchemaNode, merged: Object) -> None:
        for key, label in _FACTS:
            value = merged.get(key)
            if value is not None and (key == "default" or not isinstance(value, (bool, dict))):
                node.facts.append(Fact(label, shown_value(value)))
        for bound, word in (("exclusiveMinimum", "Minimum"), ("exclusiveMaximum", "Maximum")):
            if merged.get(bound) is True:  # the form of OpenAPI 3.0
                label = "Greater than" if word == "Minimum" else "Less than"
                node.facts = [Fact(label, fact.value) if fact.label == word else fact for fact in node.facts]
        if merged.get("uniqueItems") is True:
            node.facts.append(Fact("Unique items", "yes"))
        example = merged.get("example")
        examples = sequence(merged.get("examples"))
        if example is None and examples:
            example = examples[0]
        if example is not None and not isinstance(example, (dict, list)):
            node.facts.append(Fact("Example", shown_value(example)))
        values = [merged["const"]] if "const" in merged else sequence(merged.get("enum"))
        about = mapping(merged.get("x-enumDescriptions"))
        node.choices = [Choice(shown_value(value), text(about.get(str(value)))) for value in values[:MOST_CHOICES]]
        node.more_choices = max(0, len(values) - MOST_CHOICES)

    def merged(self, schema: Any, parents: tuple[str, ...] = ()) -> Merged:
        """Return a schema with its own reference and `allOf` resolved.

        `parents` are the names of the enclosing schemas, which are not merged again.
        """
        return self._merged(schema, frozenset(parents), 0)

    def _merged(self, schema: Any, within: frozenset[str], depth: int) -> Merged:
        resolved = self._reader.resolved(schema)
        groups = [*_groups(resolved)]
        parts = sequence(resolved.get("allOf"))
        if not parts or depth > DEEPEST:
            return Merged(resolved, groups)
        result: dict[str, Any] = {key: value for key, value in resolved.items() if key != "allOf"}
        properties: dict[str, Any] = {}
        required = [*sequence(result.get("required"))]
        name = referenced_name(schema)
        within = within | {name} if name else within
        for part in parts:
            self._left -= 1
            if self._left < 0 or referenced_name(part) in within:
                continue
            inner = self._merged(part, within, depth + 1)
            properties |= mapping(inner.values.get("properties"))
            required += sequence(inner.values.get("required"))
            groups += inner.groups
            for key, value in inner.values.items():
                if key not in _MERGED:
                    result.setdefault(key, value)
        result["properties"] = {**properties, **mapping(result.get("properties"))}
        result["required"] = required
        return Merged(result, groups)

    def type(self, whole: Merged, depth: int = 0) -> str:
        """Return a short form of the type of a schema."""
        merged = whole.values
        kind = merged.get("type")
        kinds = [str(item) for item in sequence(kind)] if isinstance(kind, list) else [str(kind)] if kind else []
        if not kinds:
            kinds = _guessed(whole)
        is_nullable = merged.get("nullable") is True or any(
            mapping(part).get("type") == "null" for word in _GROUPS for part in sequence(merged.get(word))
        )
        if is_nullable and "null" not in kinds:
            kinds.append("null")
        items = merged.get("items")
        if "array" in kinds and isinstance(items, dict) and depth < 3:
            inner = referenced_name(items) or self.type(self._merged(items, frozenset(), depth), depth + 1)
            kinds[kinds.index("array")] = f"array of {inner}"
        kind_text = " or ".join(kinds)
        shape = merged.get("format") or merged.get("contentMediaType")
        return f"{kind_text} ({shape})" if isinstance(shape, str) and shape else kind_text


def _guessed(whole: Merged) -> list[str]:
    """Guess the types of a schema that does not state its type, from its other keywords."""
    merged = whole.values
    if mapping(merged.get("properties")) or "additionalProperties" in merged:
        return ["object"]
    if "items" in merged:
        return ["array"]
    values = [merged["const"]] if "const" in merged else sequence(merged.get("enum"))
    if values and all(isinstance(value, str) for value in values):
        return ["string"]
    names = [referenced_name(part) or text(mapping(part).get("type")) for _, parts in whole.groups for part in parts]
    names = [name for name in dict.fromkeys(names) if name]
    return names if 0 < len(names) <= MOST_NAMES else ["any"]


def _groups(schema: Object) -> Iterator[tuple[str, list[Any]]]:
    chosen_by = text(mapping(schema.get("discriminator")).get("propertyName"))
    for word, label in _GROUPS.items():
        parts = [part for part in sequence(schema.get(word)) if mapping(part).get("type") != "null"]
        if parts:
            yield f"{label} (see {chosen_by})" if chosen_by else label, parts[:MOST_CHOICES]


def shown_value(value: Any) -> str:
    """Return a value as text, at most `LONGEST_VALUE` characters: a string unchanged, other values as JSON."""
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return written if len(written) <= LONGEST_VALUE else written[: LONGEST_VALUE - 1] + "…"
