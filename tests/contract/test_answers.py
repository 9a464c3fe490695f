"""Responses of both releases are read: complete, minimal, with unknown fields and words, and with nulls."""

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
    """Add an unknown field to every object of a value and change every string to an unknown one."""
    if isinstance(value, dict):
        return {**{key: strange(inner) for key, inner in value.items()}, "somethingNew": {"a": [1, None]}}
    if isinstance(value, list):
        return [strange(inner) for inner in value]
    return f"{value}-of-tomorrow" if isinstance(value, str) else value


def nulled(schema: Described, value: Any, turn: int) -> Any:
    """Replace all optional values by null."""
    if isinstance(value, list):
        item_schema = schema.items()
        return [nulled(item_schema, inner, turn) for inner in value] if item_schema else value
    if not isinstance(value, dict):
        return value
    properties, required = schema.properties(), schema.required()
    needed = {key for part in schema.parts() for key in part.schema.get("required", ())}
    return {
        key: nulled(properties[key][turn % len(properties[key])], inner, turn)
        if key in required and key in properties
        else (inner if key in needed or key not in properties else None)
        for key, inner in value.items()
    }


@each_row(ANSWERED)
def test_complete_response_is_read_without_loss(cls: type[Operation[Any]]) -> None:
    reader = answer_reader(cls)
    for schema in told(cls):
        for turn in range(TURNS):
            value = example(schema, turn)
            response = reader.validate_python(value)
            dumped = reader.dump_python(response, mode="json", by_alias=True, exclude_unset=True)
            if cls is not EditChangeRequestContent:
                assert dumped == value


@each_row(ANSWERED)
def test_minimal_response_is_read(cls: type[Operation[Any]]) -> None:
    for schema in told(cls):
        for turn in range(TURNS):
            answer_reader(cls).validate_python(example(schema, turn, whole=False))


@each_row(ANSWERED)
def test_response_with_unknown_fields_and_words_is_read(cls: type[Operation[Any]]) -> None:
    for schema in told(cls):
        for turn in range(TURNS):
            answer_reader(cls).validate_python(strange(example(schema, turn)))


@each_row(ANSWERED)
def test_nulls_are_read(cls: type[Operation[Any]]) -> None:
    for schema in told(cls):
        for turn in range(TURNS):
            answer_reader(cls).validate_python(nulled(schema, example(schema, turn), turn))


@pytest.mark.slow
def test_field_names_are_in_the_descriptions() -> None:
    names_by_model: dict[type[Model], set[str]] = {}
    for _, cls in ANSWERED:
        for schema in told(cls):
            collect(cls.answer, schema, names_by_model, 0)
    unknown = {
        f"{model.__name__}.{alias}"
        for model, names in names_by_model.items()
        for alias in {info.alias or field for field, info in model.model_fields.items()} - names
    }
    local_fields = {
        name for name in unknown if re.fullmatch(r"(Page\[.*\]|Links)\.total", name)
    }  # only the local service sends totals
    assert local_fields
    assert unknown == local_fields


def collect(annotation: Any, schema: Described, names: dict[type[Model], set[str]], depth: int) -> None:
    """Collect the property names of the descriptions for each model in `annotation`, into `names`."""
    if depth > 9:
        return
    models = list(models_in(annotation))
    inner = schema.items() or schema
    for model in models:
        properties = inner.properties()
        names.setdefault(model, set()).update(properties)
        for field, info in model.model_fields.items():
            for variant in properties.get(info.alias or field, ()):
                collect(info.annotation, variant, names, depth + 1)


def models_in(annotation: Any) -> Iterator[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation  # type: ignore[misc]
    elif get_origin(annotation) in (Union, types.UnionType, tuple, Annotated):
        for inner in get_args(annotation):
            yield from models_in(inner)


def test_responses_of_both_releases_are_tested() -> None:
    assert {schema.release for _, cls in ANSWERED for schema in told(cls)} == {DOCUMENTED, NEWEST}
