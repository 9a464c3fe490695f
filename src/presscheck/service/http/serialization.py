"""Parses requests strictly into operations; serializes responses without absent fields, and errors.

Models of responses are made without validation where the service checked their values when it stored them: validation
takes more than half of the time in which a model is made, which is felt in a page of fifty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, ParamSpec, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import Response

from presscheck.api.collections import Collection
from presscheck.api.operation import Operation, Page
from presscheck.api.organizations import Organization, OrganizationMember
from presscheck.api.spaces import Space
from presscheck.errors import InvalidArgument
from presscheck.service.http.operation_registry import ApiError, Serialized

NULLABLE: dict[type[BaseModel], frozenset[str]] = {
    Collection: frozenset({"default_level"}),
    Organization: frozenset({"default_role"}),
    OrganizationMember: frozenset({"role"}),
    Space: frozenset({"default_level"}),
}
"""Fields whose null has a meaning and is sent; null is omitted everywhere else."""
DEEPEST = 100
"""Largest nesting depth of objects and arrays in a request."""
# what `object.__setattr__` finds by its name each time
_put_values, _put_names, _put_extra, _put_private = (
    BaseModel.__dict__[name].__set__
    for name in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)
_UNFIT = re.compile("[\0\ud800-\udfff]")
"""Characters that a database cannot store."""
Fields = ParamSpec("Fields")
Instance = TypeVar("Instance", bound=BaseModel)


def read_call(
    operation: type[Operation[Any]], path: Mapping[str, str], query: Iterable[tuple[str, str]], body: bytes
) -> Operation[Any]:
    """Parses a request into an operation.

    Raises:
        ApiError: 400, naming the invalid field.
    """
    given: dict[str, Any] = dict(path)
    given.update(_from_query(operation, query))
    if operation.method() not in ("GET", "DELETE"):
        given.update(_from_body(operation, body))
    for name, value in given.items():
        require_fit(name, value)
    try:
        return operation(**given)
    except InvalidArgument as error:
        raise invalid(error) from None
    except ValidationError as error:
        first = error.errors()[0]
        raise ApiError(400, f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}") from None


def invalid(error: InvalidArgument) -> ApiError:
    """A 400 for an argument outside its limits, with the field named as in the request."""
    return ApiError(400, f"{error.wire}: {error.reason} (in {error.call})")


def is_fit(text: str) -> bool:
    """Whether a database can store the text."""
    return _UNFIT.search(text) is None


def require_fit(name: str, value: Any, depth: int = DEEPEST) -> None:
    """Requires that a JSON value is not nested too deep, and has only text that a database can store.

    Raises:
        ApiError: 400, it is not.
    """
    if depth == 0:
        raise ApiError(400, f"{name}: nested too deep")
    if isinstance(value, str) and not is_fit(value):
        raise ApiError(400, f"{name}: must not contain NUL or unpaired surrogates")
    if isinstance(value, dict | list):
        for item in cast("dict[str, Any] | list[Any]", value):
            require_fit(name, item, depth - 1)
    if isinstance(value, dict):
        for item in cast("dict[str, Any]", value).values():
            require_fit(name, item, depth - 1)


def write_answer(answer: Any) -> bytes:
    """Serializes a response to JSON, with fields named as in the API and without those that are absent."""
    if isinstance(answer, Serialized):
        return answer.body
    if not _has_null(cast("Page[object]", answer).items if isinstance(answer, Page) else answer):
        with suppress(PydanticSerializationError):  # text that is not Unicode, which is replaced below
            return to_json(answer, by_alias=True, exclude_none=True, inf_nan_mode="constants")
    return json.dumps(to_wire(answer), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def to_wire(value: Any) -> Any:
    """Converts models to plain values, with fields named as in the API."""
    if isinstance(value, BaseModel):
        fields = value.__dict__
        fields_by_alias = {
            alias: to_wire(fields[name])
            for name, alias, kept in _fields(type(value))
            if kept or fields[name] is not None
        }
        return fields_by_alias | (value.model_extra or {})
    if isinstance(value, tuple | list):
        return [to_wire(item) for item in cast("Iterable[Any]", value)]
    if isinstance(value, dict):
        return {key: to_wire(item) for key, item in cast("dict[str, Any]", value).items()}
    return value


def _from_query(operation: type[Operation[Any]], query: Iterable[tuple[str, str]]) -> dict[str, Any]:
    names = _query_names(operation)
    given: dict[str, Any] = {}
    for alias, text in query:
        if alias not in names:
            raise ApiError(400, f"{alias}: unknown parameter")
        field = operation.model_fields[names[alias]]
        if _is_array(field):
            given.setdefault(names[alias], []).append(text)
        elif text != "null" or str in get_args(field.annotation):
            given[names[alias]] = text
    return given


def _from_body(operation: type[Operation[Any]], body: bytes) -> dict[str, Any]:
    try:
        found: Any = json.loads(body, parse_constant=_no_number) if body else {}
    except (ValueError, RecursionError):
        raise ApiError(400, "The body is not valid JSON.") from None
    if operation.body_field is not None:
        return {operation.body_field: found}
    if not isinstance(found, dict):
        raise ApiError(400, "The body must be a JSON object.")
    names = _body_names(operation)
    given = cast("dict[str, Any]", found)
    for alias in given:
        if alias not in names:
            raise ApiError(400, f"{alias}: unknown field")
    return {names[alias]: value for alias, value in given.items()}


def _no_number(text: str) -> float:
    raise ValueError(text)


@cache
def _fields(model: type[BaseModel]) -> tuple[tuple[str, str, bool], ...]:
    nullable = NULLABLE.get(model, frozenset())
    return tuple(
        (name, field.serialization_alias or field.alias or name, name in nullable)
        for name, field in model.model_fields.items()
    )


def _has_null(value: object) -> bool:
    """Whether a value is or contains a model with a null that is sent."""
    if isinstance(value, tuple | list):
        several = cast("Sequence[object]", value)
        return any(map(_may_have_null, {type(item) for item in several})) and any(map(_has_null, several))
    if isinstance(value, dict):
        return any(map(_has_null, cast("dict[str, object]", value).values()))
    if not isinstance(value, BaseModel):
        return False
    fields = value.__dict__
    if any(fields[name] is None for name in NULLABLE.get(type(value), ())):
        return True
    return any(_has_null(fields[name]) for name in _leading(type(value)))


def _may_have_null(kind: type[Any]) -> bool:
    return issubclass(kind, BaseModel) and (kind in NULLABLE or bool(_leading(kind)))


@cache
def _leading(model: type[BaseModel]) -> tuple[str, ...]:
    """The fields in which a model has another one that can have a null that is sent, however deep."""
    model.model_rebuild()
    return tuple(
        name
        for name, field in model.model_fields.items()
        if any(one in NULLABLE for inner in _models(field.annotation) for one in _within(inner))
    )


@cache
def _within(model: type[BaseModel]) -> frozenset[type[BaseModel]]:
    """A model and those that can be in it."""
    waiting, found = [model], set[type[BaseModel]]()
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            one.model_rebuild()
            waiting += [inner for field in one.model_fields.values() for inner in _models(field.annotation)]
    return frozenset(found)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in the type of a field."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


@cache
def _query_names(operation: type[Operation[Any]]) -> dict[str, str]:
    fields = operation.model_fields
    return {fields[name].alias or name: name for name in operation.query_fields()}


@cache
def _body_names(operation: type[Operation[Any]]) -> dict[str, str]:
    elsewhere = set(operation.path_fields()) | operation.query_fields()
    return {field.alias or name: name for name, field in operation.model_fields.items() if name not in elsewhere}


def _is_array(field: FieldInfo) -> bool:
    return any(get_origin(part) in (tuple, list) for part in (field.annotation, *get_args(field.annotation)))


def read_response(sent: bytes, status: int, tag: str, known: str) -> Response:
    """The response to a read, with its `ETag`; 304 without a body if the caller already has it.

    Args:
        sent: the serialized answer.
        status: the status of a response with a body.
        tag: its `ETag`.
        known: the header `If-None-Match` of the request; empty if it has none.
    """
    if is_known(tag, known):
        return Response(status_code=304, headers={"etag": tag})
    return Response(sent, status, {"etag": tag}, "application/json")


def is_known(tag: str, known: str) -> bool:
    """Whether the header `If-None-Match` has this tag."""
    return tag in (part.strip().removeprefix("W/") for part in known.split(","))


def problem_response(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """An error response in the format of the API."""
    if status == 401:
        headers = {"www-authenticate": "Bearer"}
    return Response(write_answer({"error": {"code": status, "message": message}}), status, headers, "application/json")


def unchecked(model: Callable[Fields, Instance]) -> Callable[Fields, Instance]:
    """A constructor of a model that takes the same fields, and does not look at their values.

    The values must be what validation would make of them: tuples for tuples, models for models. The model has to be
    frozen, because the instances share their defaults.

    Args:
        model: the class of the model.
    """
    return cast("Callable[Fields, Instance]", _constructor(cast("type[BaseModel]", model)))


@cache
def _constructor(model: type[BaseModel]) -> Callable[..., BaseModel]:
    if not model.model_config.get("frozen"):
        raise TypeError(f"{model.__name__} is not frozen: its defaults cannot be shared")
    model.model_rebuild()
    fields = model.model_fields
    aliases = {
        field.alias: name
        for name, field in fields.items()
        if field.alias and field.alias_priority == 2  # given by the field, which a caller names it by
    }
    # in the order of the fields; a type checker requires those without a default
    defaults = {
        name: None if field.is_required() else field.get_default(call_default_factory=True)
        for name, field in fields.items()
    }
    names, extra, create = set(fields), dict[str, Any](), object.__new__

    def make(**values: Any) -> BaseModel:
        instance = create(model)
        _put_values(instance, {**defaults, **values})
        _put_names(instance, names)
        _put_extra(instance, extra)
        _put_private(instance, None)
        return instance

    def make_renamed(**values: Any) -> BaseModel:
        return make(**{aliases.get(name, name): value for name, value in values.items()})

    return make_renamed if aliases else make
