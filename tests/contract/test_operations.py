"""Compares all operations with the published descriptions: route, parameters, body, limits, words and status."""

from collections.abc import Iterator
from typing import Any

from pydantic.fields import FieldInfo
from tests.api.families import OPERATIONS
from tests.contract.description import DOCUMENTED, NEWEST, Described, documented, operations
from tests.contract.operations import literals, releases, walk, wire_name, wire_route
from tests.table import each_row

from presscheck.api.operation import Argument, Operation

ROWS = sorted(OPERATIONS.items())


@each_row(ROWS)
def test_route_exists_in_the_declared_releases(cls: type[Operation[Any]]) -> None:
    assert wire_route(cls) in operations(), f"{cls.route} is not in the description"
    assert set(releases(cls)) == ({cls.release} if cls.release else {DOCUMENTED, NEWEST})


@each_row(ROWS)
def test_in_document_matches_the_published_document(cls: type[Operation[Any]]) -> None:
    assert cls.in_document() == (wire_route(cls) in documented())


def test_document_has_118_operations() -> None:
    assert sum(cls.in_document() for cls in OPERATIONS.values()) == len(documented()) == 118


@each_row(ROWS)
def test_stored_name_is_the_published_operation_id(cls: type[Operation[Any]]) -> None:
    assert {facts["operationId"] for facts in releases(cls).values()} == {cls.operation_id} == {cls.stored_name()}


@each_row(ROWS)
def test_success_status_is_declared(cls: type[Operation[Any]]) -> None:
    by_release = releases(cls)
    codes = {int(code) for code in next(iter(by_release.values()))["responses"] if code.isdigit()}
    if cls.method() == "DELETE":
        assert cls.success == 204
        assert codes & {204, 205}
    else:
        assert cls.success in codes
        assert cls.success == min(code for code in codes if code < 300)


@each_row(ROWS)
def test_query_parameters_match(cls: type[Operation[Any]]) -> None:
    queries = {release: Described(facts["query"], release) for release, facts in releases(cls).items()}
    compare_fields({field: cls.model_fields[field] for field in cls.query_fields()}, queries)


@each_row(ROWS)
def test_body_matches(cls: type[Operation[Any]]) -> None:
    bodies = {release: Described(facts["body"], release) for release, facts in releases(cls).items() if facts["body"]}
    in_body = {
        field: info
        for field, info in cls.model_fields.items()
        if field not in cls.path_fields() and field not in cls.query_fields()
    }
    if not bodies:
        assert in_body == {}
    elif cls.body_field:
        assert set(in_body) == {cls.body_field}
        compare(in_body[cls.body_field], {release: [body] for release, body in bodies.items()}, "body")
    else:
        compare_fields(in_body, bodies)


def compare_fields(
    fields: dict[str, FieldInfo], schemas: dict[str, Described], always_sent: frozenset[str] = frozenset()
) -> None:
    """Compare the fields of an operation or of an argument model with the schemas of the releases.

    The fields must include all properties of the older release, and only properties of some release.
    """
    named = {wire_name(field, info): info for field, info in fields.items()}
    first = schemas.get(DOCUMENTED) or schemas[NEWEST]
    properties = {release: schema.properties() for release, schema in schemas.items()}
    assert set(first.properties()) - set(named) == set(), "missing"
    assert set(named) - {name for release_properties in properties.values() for name in release_properties} == set(), (
        "not in any release"
    )
    required = {name for name, info in named.items() if info.is_required()} | always_sent
    assert required == first.required()
    for name, info in named.items():
        compare(
            info,
            {
                release: release_properties[name]
                for release, release_properties in properties.items()
                if name in release_properties
            },
            name,
        )


def compare(info: FieldInfo, schemas: dict[str, list[Described]], name: str) -> None:
    """Compare a field with its schemas: enumeration, limits, and the fields of argument models in it."""
    inner = {
        release: [variant.items() or variant.values() or variant for variant in variants]
        for release, variants in schemas.items()
    }
    words_by_release = {
        release: {word for variant in variants for word in variant.words()} for release, variants in inner.items()
    }
    first = next(iter(inner))
    words_of_field = set(literals(info.annotation))
    if words_of_field:
        assert words_by_release[first] <= words_of_field, f"{name}: missing"
        assert words_of_field <= set().union(*words_by_release.values()), f"{name}: not in any release"
    is_list = schemas[first][0].items() is not None
    limits = {type(limit).__name__: limit for limit in info.metadata}
    for constraint, attribute, word in (
        ("MaxLen", "max_length", "maxItems" if is_list else "maxLength"),
        ("MinLen", "min_length", "minItems" if is_list else "minLength"),
        ("Ge", "ge", "minimum"),
        ("Le", "le", "maximum"),
    ):
        declared = schemas[first][0].limit(word) or None
        mine = getattr(limits[constraint], attribute) or None if constraint in limits else None
        if not words_of_field:
            assert mine == declared, f"{name}: {word}"
    inside = list(arguments(info.annotation))
    if len(inside) == 1:
        parts = {release: variants[0] for release, variants in inner.items()}
        compare_fields(dict(inside[0].model_fields), parts, inside[0].always_sent)


def arguments(annotation: Any) -> Iterator[type[Argument]]:
    for part in walk(annotation):
        if isinstance(part, type) and issubclass(part, Argument):
            yield part


def test_all_operations_of_the_descriptions_are_declared() -> None:
    declared = {wire_route(cls) for cls in OPERATIONS.values()}
    missing = sorted(f"{method} {path}" for method, path in set(operations()) - declared)
    assert missing == []
    assert len(declared) == len(OPERATIONS), "two operations have the same route"
