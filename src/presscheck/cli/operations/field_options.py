"""Converts fields of an operation to options, and option values to a call.

Text is used as it is. Objects are JSON, or `@FILE` for a file with JSON; documents can also be plain Markdown.
"""

from __future__ import annotations

import json
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
from pydantic.fields import FieldInfo

from presscheck.api.operation import Operation
from presscheck.api.roles import Document
from presscheck.api.shell_command import flag, is_text, members_of
from presscheck.engine.forms.field_help import description, limits, named_description
from presscheck.errors import InvalidArgument


def option_for(operation: type[Operation[Any]], name: str, note: str = "", names: str = "") -> click.Option:
    """Create the option for a field, with the type and the limits of the field.

    Args:
        operation: the operation.
        name: the field.
        note: a sentence of the help, before the limits; not used with `names`.
        names: the kinds of names that are accepted instead of an id, such as `title`.
    """
    info, text = operation.model_fields[name], description(operation, name)
    if names:
        text, note = named_description(operation, name), by_name(names)
    return plain_option(flag(name), name, info, text, [note])


def by_name(names: str) -> str:
    """Return a help remark about accepted names: `id or title`, `id, name or email`."""
    return f"id{',' if ' or ' in names else ' or'} {names}"


def plain_option(
    option: str, parameter: str, info: FieldInfo, text: str, notes: Sequence[str], *, is_part: bool = False
) -> click.Option:
    """Create an option with the type and the limits of a field.

    Args:
        option: the name of the option.
        parameter: the name of its value.
        info: the field.
        text: the help, without limits and period.
        notes: remarks before the limits; empty ones are left out.
        is_part: whether the field is a part of an object that can also be given as a whole.
    """
    kind, is_repeatable = _kind(info.annotation)
    remarks = [*filter(None, notes), *limits(info, is_repeatable=is_repeatable)]
    remarks += [
        *(["repeatable"] if is_repeatable else []),
        *(["required"] if info.is_required() and not is_part else []),
    ]
    text += f" ({'; '.join(remarks)})." if remarks else "."
    metavar = _metavar(info.annotation, kind)
    return click.Option([option, parameter], type=kind, multiple=is_repeatable, help=text, metavar=metavar)


def limits_of(operation: type[Operation[Any]], name: str) -> str:
    """Return the limits of a field as text, or an empty text if it has none."""
    info = operation.model_fields[name]
    return "; ".join(limits(info, is_repeatable=_kind(info.annotation)[1]))


def call_of(operation: type[Operation[Any]], given: dict[str, Any], null: tuple[str, ...] = ()) -> Operation[Any]:
    """Create a call of an operation from option values.

    Options that were not given are not sent. The fields in `null` are sent as null.

    Raises:
        InvalidArgument: a value exceeds a limit, or a required option is missing.
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
    """Return the fields that can be sent as null."""
    return [
        name
        for name, info in operation.model_fields.items()
        if types.NoneType in get_args(info.annotation) and name not in operation.query_fields()
    ]


def _kind(annotation: Any) -> tuple[click.ParamType[Any], bool]:
    members = members_of(annotation)
    first = members[0]
    if len(members) > 1:
        if all(get_origin(member) is Literal for member in members):
            return click.Choice([str(word) for member in members for word in get_args(member)]), False
        return click.STRING, False
    if get_origin(first) is tuple:
        inner, _ = _kind(get_args(first)[0])
        is_plain = get_args(first)[0] is str or isinstance(inner, click.Choice)
        return (inner, True) if is_plain else (click.STRING, False)
    if get_origin(first) is Literal:
        words = get_args(first)
        return (click.BOOL if words == (True,) else click.Choice([str(word) for word in words])), False
    simple: dict[Any, click.ParamType[Any]] = {bool: click.BOOL, int: click.INT}
    return simple.get(first, click.STRING), False


def _read(name: str, value: Any, annotation: Any) -> Any:
    members = members_of(annotation)
    if not isinstance(value, str) or any(get_origin(member) is Literal for member in members):
        return {"true": True, "false": False}.get(value, value) if bool in members and isinstance(value, str) else value
    if members == [str] or (is_text(annotation) and not value.startswith("{")):
        return value
    if value.startswith("@"):
        try:
            value = Path(value[1:]).read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            raise InvalidArgument(flag(name), f"could not read {value[1:]} as UTF-8 text") from None
    if Document in members and not value.lstrip().startswith("{"):
        return {"markdown": value}
    try:
        return json.loads(value)
    except ValueError:
        raise InvalidArgument(
            flag(name), "is not valid JSON. Give JSON, or @FILE for a file that contains JSON"
        ) from None


def _metavar(annotation: Any, kind: click.ParamType[Any]) -> str | None:
    if isinstance(kind, click.Choice):
        return None
    members = members_of(annotation)
    if kind is click.BOOL:
        return "[true|false]"
    if kind is click.INT:
        return "NUMBER"
    if Document in members:
        return "MARKDOWN"
    items = [get_args(member)[0] for member in members if get_origin(member) is tuple]
    is_plain = is_text(annotation) or items[:1] == [str]
    return "TEXT" if is_plain else "JSON"
