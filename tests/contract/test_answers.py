"""Answers of both releases are read: whole, bare, with fields and words that nobody knows, with nulls."""

import re
import types
from collections.abc import Iterator
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel
from tests.api.families import OPERATIONS
from tests.contract.answers import told
from tests.contract.description import DOCUMENTED, NEWEST, Described, example
from tests.table import each_row

from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.api.operation import Model, Operation, answer_reader

ANSWERED = sorted((name, cls) for name, cls in OPERATIONS.items() if cls.answer is not None)
TURNS = 7


def strange(value: Any) -> Any:
    """The same with a field more in every object, and no word that was known before."""
    if isinstance(value, dict):
        return {**{key: strange(inner) for key, inner in value.items()}, "somethingNew": {"a": [1, None]}}
    if isinstance(value, list):
        return [strange(inner) for inner in value]
    return f"{value}-of-tomorrow" if isinstance(value, str) else value


def nulled(told: Described, value: Any, turn: int) -> Any:
    """The same with null for all that is optional."""
    if isinstance(value, list):
        items = told.items()
        return [nulled(items, inner, turn) for inner in value] if items else value
    if not isinstance(value, dict):
        return value
    properties, required = told.properties(), told.required()
    needed = {key for part in told.parts() for key in part.schema.get("required", ())}
    return {
        key: nulled(properties[key][turn % len(properties[key])], inner, turn)
        if key in required and key in properties
        else (inner if key in needed or key not in properties else None)
        for key, inner in value.items()
    }


@each_row(ANSWERED)
def test_a_whole_answer_is_read_and_nothing_of_it_is_lost(cls: type[Operation[Any]]) -> None:
    reader = answer_reader(cls)
    for schema in told(cls):
        for turn in range(TURNS):
            value = example(schema, turn)
            read = reader.validate_python(value)
            again = reader.dump_python(read, mode="json", by_alias=True, exclude_unset=True)
            if cls is not EditChangeRequestContent:
                assert again == value


@each_row(ANSWERED)
def test_a_bare_answer_is_read(cls: type[Operation[Any]]) -> None:
    for schema in told(cls):
        for turn in range(TURNS):
            answer_reader(cls).validate_python(example(schema, turn, whole=False))


@each_row(ANSWERED)
def test_an_answer_of_tomorrow_is_read(cls: type[Operation[Any]]) -> None:
    for schema in told(cls):
        for turn in range(TURNS):
            answer_reader(cls).validate_python(strange(example(schema, turn)))


@each_row(ANSWERED)
def test_nulls_are_read(cls: type[Operation[Any]]) -> None:
    for schema in told(cls):
        for turn in range(TURNS):
            answer_reader(cls).validate_python(nulled(schema, example(schema, turn), turn))


@pytest.mark.slow
def test_no_field_is_misspelt() -> None:
    known: dict[type[Model], set[str]] = {}
    for _, cls in ANSWERED:
        for schema in told(cls):
            collect(cls.answer, schema, known, 0)
    misspelt = {
        f"{model.__name__}.{alias}"
        for model, names in known.items()
        for alias in {info.alias or field for field, info in model.model_fields.items()} - names
    }
    ours = {name for name in misspelt if re.fullmatch(r"(Page\[.*\]|Links)\.total", name)}  # of the local service
    assert ours
    assert misspelt == ours


def collect(annotation: Any, schema: Described, known: dict[type[Model], set[str]], depth: int) -> None:
    """The names that the descriptions have for the fields of each model."""
    if depth > 9:
        return
    models = list(models_in(annotation))
    inner = schema.items() or schema
    for model in models:
        properties = inner.properties()
        known.setdefault(model, set()).update(properties)
        for field, info in model.model_fields.items():
            for variant in properties.get(info.alias or field, ()):
                collect(info.annotation, variant, known, depth + 1)


def models_in(annotation: Any) -> Iterator[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation  # type: ignore[misc]
    elif get_origin(annotation) in (Union, types.UnionType, tuple, Annotated):
        for inner in get_args(annotation):
            yield from models_in(inner)


def test_both_releases_are_looked_at() -> None:
    assert {schema.release for _, cls in ANSWERED for schema in told(cls)} == {DOCUMENTED, NEWEST}
