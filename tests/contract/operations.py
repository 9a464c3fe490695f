"""Routes and types of operations in the notation of the published descriptions."""

import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from tests.contract import conftest  # noqa: F401  registers all operations
from tests.contract.description import Schema, operations

from presscheck.api.operation import Operation


def wire_name(field: str, info: FieldInfo) -> str:
    return info.alias or field


def wire_route(cls: type[Operation[Any]]) -> tuple[str, str]:
    method, _, path = cls.route.partition(" ")
    for field in cls.path_fields():
        path = path.replace(f"{{{field}}}", f"{{{wire_name(field, cls.model_fields[field])}}}")
    return method, path


def walk(annotation: Any) -> Iterator[Any]:
    yield annotation
    if get_origin(annotation) in (Union, types.UnionType, tuple, dict, Annotated):
        for inner in get_args(annotation):
            yield from walk(inner)


def literals(annotation: Any) -> Iterator[str]:
    for part in walk(annotation):
        if get_origin(part) is Literal:
            yield from (word for word in get_args(part) if isinstance(word, str))


def releases(cls: type[Operation[Any]]) -> dict[str, Schema]:
    return operations()[wire_route(cls)]
