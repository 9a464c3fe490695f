"""Every limit of every argument: accepted at its edge, rejected beyond it with the name of the field."""

import types
from collections.abc import Iterator
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic.fields import FieldInfo
from tests.api.families import example, filled
from tests.table import each_row

from presscheck.api.operation import Argument, Operation, every_operation
from presscheck.errors import InvalidArgument

Case = tuple[str, Any, bool]
"""What is tried, the value, and whether it is taken."""


def parts(annotation: Any) -> Iterator[Any]:
    """What a union is made of."""
    if get_origin(annotation) in (Union, types.UnionType):
        for one in get_args(annotation):
            yield from parts(one)
    else:
        yield annotation


def of_length(info: FieldInfo, count: int) -> Any:
    """A text or a list of so many."""
    is_address = any("/" in (getattr(rule, "pattern", None) or "") for rule in info.metadata)
    for one in parts(info.annotation):
        if one is str:
            return ("docs.example.org/" if is_address else "").ljust(count, "x")
        if get_origin(one) is tuple:
            return (example(get_args(one)[0]),) * count
    return None


def cases(info: FieldInfo) -> Iterator[Case]:
    """Values at and past the edges of a field, and of kinds that it has not."""
    for rule in info.metadata:
        if isinstance(rule, MinLen):
            yield "shortest", of_length(info, rule.min_length), True
            if rule.min_length:
                yield "too short", of_length(info, rule.min_length - 1), False
        if isinstance(rule, MaxLen):
            yield "longest", of_length(info, rule.max_length), True
            yield "too long", of_length(info, rule.max_length + 1), False
        if isinstance(rule, Ge):
            yield "least", rule.ge, True
            yield "too little", rule.ge - 1, False  # type: ignore[operator]
        if isinstance(rule, Le):
            yield "most", rule.le, True
            yield "too much", rule.le + 1, False  # type: ignore[operator]
        assert not isinstance(rule, Gt | Lt), "the service has no such limit"
    kinds = list(parts(info.annotation))
    if all(get_origin(one) is Literal or one is type(None) for one in kinds):
        yield from (("a word of it", word, True) for one in kinds for word in get_args(one))
        yield "another word", "unheard-of", False
    if type(None) not in kinds and Any not in kinds:
        yield "null", None, False
    if kinds == [bool]:
        yield "no truth", "perhaps", False


def everything() -> Iterator[tuple[type[Any], str, str, Any, bool]]:
    found: list[type[Any]] = [*every_operation(), *arguments(Argument)]
    for cls in found:
        for name, info in cls.model_fields.items():
            for what, value, is_taken in cases(info):
                yield cls, name, what, value, is_taken


def arguments(cls: type[Any]) -> Iterator[type[Any]]:
    """Every part of a call that is written strictly."""
    for one in cls.__subclasses__():
        if one is not Operation:
            yield one
            yield from arguments(one)


EDGES = list(everything())


def label(cls: type[Any], name: str, what: str, value: Any, _is_taken: bool) -> str:
    return f"{cls.__name__}.{name}: {what}{f' {value}' if what == 'a word of it' else ''}"


@each_row((label(*edge), *edge) for edge in EDGES)
def test_a_limit_is_checked_at_its_edge(cls: type[Any], name: str, what: str, value: Any, is_taken: bool) -> None:
    given = {**{field: getattr(filled(cls), field) for field in filled(cls).model_fields_set}, name: value}
    if is_taken:
        assert name in cls(**given).model_fields_set
        return
    with pytest.raises(InvalidArgument) as caught:
        cls(**given)
    assert caught.value.field.split(".")[0] == name
    limits = {"too short": "at least", "too long": "at most", "too little": "at least", "too much": "at most"}
    is_empty = what == "too short" and caught.value.reason == "must not be empty"
    assert is_empty or limits.get(what, "") in caught.value.reason


def test_all_kinds_of_limits_are_tested() -> None:
    assert {what for _, _, what, _, _ in EDGES} == {
        "shortest", "too short", "longest", "too long", "least", "too little", "most", "too much", "a word of it",
        "another word", "null", "no truth",
    }  # fmt: skip
    assert len(EDGES) > 1000
