"""From the declaration of a call to options, and from options to the call: names, types and limits stand in the api.

Text stands for itself; what is an object is JSON, or `@FILE` with JSON in it; a text on the wire may be plain Markdown.
"""

from __future__ import annotations

import json
import types
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
from pydantic.fields import FieldInfo

from presscheck.api.comments import Document
from presscheck.api.operation import Operation
from presscheck.api.shell_command import flag, is_text, members_of
from presscheck.errors import InvalidArgument

_LIMITS = {
    "ge": "at least {}",
    "gt": "more than {}",
    "le": "at most {}",
    "lt": "less than {}",
    "min_length": "at least {} long",
    "max_length": "at most {} long",
    "pattern": "like {}",
}


def option_for(name: str, info: FieldInfo) -> click.Option:
    """The option of a field, with its type and limits in its help."""
    kind, is_many = _kind(info.annotation)
    help_text = "; ".join([_word(info.annotation), *_limits(info), *(["required"] if info.is_required() else [])])
    return click.Option([flag(name), name], type=kind, multiple=is_many, help=help_text, metavar=_metavar(kind))


def call_of(operation: type[Operation[Any]], given: dict[str, Any], null: tuple[str, ...] = ()) -> Operation[Any]:
    """The call, of what was given; what was not given is not sent.

    Raises:
        InvalidArgument: a value breaks a limit; names the option.
    """
    values: dict[str, Any] = dict.fromkeys(null)
    for name, value in given.items():
        if value is None or value == ():
            continue
        values[name] = _read(name, value, operation.model_fields[name].annotation)
    for name, info in operation.model_fields.items():
        if info.is_required() and name not in values:
            raise InvalidArgument(flag(name), "is required")
    return operation(**values)


def nullable(operation: type[Operation[Any]]) -> list[str]:
    """The fields that may be sent as null."""
    return [
        name
        for name, info in operation.model_fields.items()
        if types.NoneType in get_args(info.annotation) and name not in operation.query_fields()
    ]


def _kind(annotation: Any) -> tuple[click.ParamType[Any], bool]:
    members = members_of(annotation)
    one = members[0]
    if len(members) > 1:
        if all(get_origin(member) is Literal for member in members):
            return click.Choice([str(word) for member in members for word in get_args(member)]), False
        return click.STRING, False
    if get_origin(one) is tuple:
        inner, _ = _kind(get_args(one)[0])
        is_plain = get_args(one)[0] is str or isinstance(inner, click.Choice)
        return (inner, True) if is_plain else (click.STRING, False)
    if get_origin(one) is Literal:
        words = get_args(one)
        return (click.BOOL if words == (True,) else click.Choice([str(word) for word in words])), False
    simple: dict[Any, click.ParamType[Any]] = {bool: click.BOOL, int: click.INT}
    return simple.get(one, click.STRING), False


def _read(name: str, value: Any, annotation: Any) -> Any:
    members = members_of(annotation)
    if not isinstance(value, str) or any(get_origin(one) is Literal for one in members):
        return {"true": True, "false": False}.get(value, value) if bool in members and isinstance(value, str) else value
    if members == [str] or (is_text(annotation) and not value.startswith("{")):
        return value
    if value.startswith("@"):
        try:
            value = Path(value[1:]).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            raise InvalidArgument(flag(name), f"{value[1:]} cannot be read as text") from None
    if Document in members and not value.lstrip().startswith("{"):
        return {"markdown": value}
    try:
        return json.loads(value)
    except ValueError:
        raise InvalidArgument(flag(name), "must be JSON, or @FILE with JSON in it") from None


def _word(annotation: Any) -> str:
    members = members_of(annotation)
    words: list[str] = []
    for one in members:
        if get_origin(one) is Literal:
            words.append("one of the listed values")
        elif get_origin(one) is tuple:
            words.append("repeatable" if _kind(one)[1] else "JSON array")
        elif one is Document:
            words.append("Markdown, or JSON")
        else:
            words.append({str: "text", int: "number", bool: "true or false"}.get(one, _other(one)))
    return " or ".join(dict.fromkeys(words))


def _other(one: Any) -> str:
    return "text" if get_origin(one) is None and hasattr(one, "__metadata__") else "JSON"


def _limits(info: FieldInfo) -> list[str]:
    found: list[str] = []
    for rule in info.metadata:
        for name, words in _LIMITS.items():
            limit = getattr(rule, name, None)
            if limit is not None:
                found.append(words.format(limit))
    return found


def _metavar(kind: click.ParamType[Any]) -> str | None:
    return None if isinstance(kind, click.Choice) else kind.name.upper()
