"""Every operation against the published descriptions: route, parameters, bodies, limits, words, status."""

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
def test_the_route_exists_in_the_releases_that_are_named(cls: type[Operation[Any]]) -> None:
    assert wire_route(cls) in operations(), f"{cls.route} is not in the description"
    assert set(releases(cls)) == ({cls.release} if cls.release else {DOCUMENTED, NEWEST})


@each_row(ROWS)
def test_an_operation_outside_the_document_names_its_feature(cls: type[Operation[Any]]) -> None:
    assert cls.in_document() == (wire_route(cls) in documented())


def test_the_document_has_118_operations() -> None:
    assert sum(cls.in_document() for cls in OPERATIONS.values()) == len(documented()) == 118


@each_row(ROWS)
def test_it_is_stored_by_its_published_name(cls: type[Operation[Any]]) -> None:
    assert {told["operationId"] for told in releases(cls).values()} == {cls.operation_id} == {cls.stored_name()}


@each_row(ROWS)
def test_the_status_of_success_is_declared(cls: type[Operation[Any]]) -> None:
    told = releases(cls)
    codes = {int(code) for code in next(iter(told.values()))["responses"] if code.isdigit()}
    if cls.method() == "DELETE":
        assert cls.success == 204
        assert codes & {204, 205}
    else:
        assert cls.success in codes
        assert cls.success == min(code for code in codes if code < 300)


@each_row(ROWS)
def test_the_parameters_are_those_of_the_query(cls: type[Operation[Any]]) -> None:
    queries = {release: Described(told["query"], release) for release, told in releases(cls).items()}
    compare_fields({field: cls.model_fields[field] for field in cls.query_fields()}, queries)


@each_row(ROWS)
def test_the_body_is_the_declared_one(cls: type[Operation[Any]]) -> None:
    bodies = {release: Described(told["body"], release) for release, told in releases(cls).items() if told["body"]}
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
    fields: dict[str, FieldInfo], told: dict[str, Described], always_sent: frozenset[str] = frozenset()
) -> None:
    """The fields of a call, or of a part of one: all that the first release has, and none that no release has."""
    named = {wire_name(field, info): info for field, info in fields.items()}
    first = told.get(DOCUMENTED) or told[NEWEST]
    properties = {release: one.properties() for release, one in told.items()}
    assert set(first.properties()) - set(named) == set(), "left out"
    assert set(named) - {name for known in properties.values() for name in known} == set(), "invented"
    required = {name for name, info in named.items() if info.is_required()} | always_sent
    assert required == first.required()
    for name, info in named.items():
        compare(info, {release: known[name] for release, known in properties.items() if name in known}, name)


def compare(info: FieldInfo, told: dict[str, list[Described]], name: str) -> None:
    """A field against its schema: enumeration, limits, and the same within."""
    inner = {release: [one.items() or one.values() or one for one in variants] for release, variants in told.items()}
    words = {release: {word for one in variants for word in one.words()} for release, variants in inner.items()}
    first = next(iter(inner))
    known = set(literals(info.annotation))
    if known:
        assert words[first] <= known, f"{name}: left out"
        assert known <= set().union(*words.values()), f"{name}: invented"
    is_list = told[first][0].items() is not None
    limits = {type(limit).__name__: limit for limit in info.metadata}
    for constraint, attribute, word in (
        ("MaxLen", "max_length", "maxItems" if is_list else "maxLength"),
        ("MinLen", "min_length", "minItems" if is_list else "minLength"),
        ("Ge", "ge", "minimum"),
        ("Le", "le", "maximum"),
    ):
        declared = told[first][0].limit(word) or None
        mine = getattr(limits[constraint], attribute) or None if constraint in limits else None
        if not known:
            assert mine == declared, f"{name}: {word}"
    inside = list(arguments(info.annotation))
    if len(inside) == 1:
        parts = {release: variants[0] for release, variants in inner.items()}
        compare_fields(dict(inside[0].model_fields), parts, inside[0].always_sent)


def arguments(annotation: Any) -> Iterator[type[Argument]]:
    for one in walk(annotation):
        if isinstance(one, type) and issubclass(one, Argument):
            yield one


def test_every_operation_of_the_description_is_declared() -> None:
    declared = {wire_route(cls) for cls in OPERATIONS.values()}
    missing = sorted(f"{method} {path}" for method, path in set(operations()) - declared)
    assert missing == []
    assert len(declared) == len(OPERATIONS), "two operations have the same route"
