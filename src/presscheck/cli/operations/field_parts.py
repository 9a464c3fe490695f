"""Options for the parts of an object field, such as `--source-url`, instead of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from presscheck.api.operation import Argument, Operation
from presscheck.api.shell_command import members_of
from presscheck.cli.operations.field_options import by_name, flag, plain_option
from presscheck.engine.forms.field_help import FROM_FILES, PARTS
from presscheck.engine.forms.references import PART_REFERENCES
from presscheck.errors import InvalidArgument

SEPARATOR = "__"
"""Separates field and part in the names of parameters."""


def part_options(operation: type[Operation[Any]], name: str) -> list[click.Option]:
    """Return the options for the parts of a field; empty for most fields."""
    options: dict[str, click.Option] = {}
    for model in _models(operation, name):
        for part, text in PARTS.get(name, {}).items():
            info = model.model_fields.get(part)
            if info and part not in options:
                reference = PART_REFERENCES.get((name, part))
                note = by_name(reference.hint) if reference else ""
                parameter = f"{name}{SEPARATOR}{part}"
                options[part] = plain_option(flag(f"{name}_{part}"), parameter, info, text, [note], is_part=True)
    return list(options.values())


def parts_of(given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the values of the given part options, by field and part."""
    parts: dict[str, dict[str, Any]] = {}
    for parameter, value in given.items():
        name, mark, part = parameter.partition(SEPARATOR)
        if mark and value is not None and value != ():
            parts.setdefault(name, {})[part] = value
    return parts


def joined(operation: type[Operation[Any]], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values by field: parts are joined to objects, and `@FILE` values are read.

    Raises:
        InvalidArgument: parts cannot be combined, a required field is missing, or a file cannot be read.
    """
    fields = {name: value for name, value in given.items() if name in operation.model_fields and value is not None}
    for name, parts in parts_of(given).items():
        first = flag(f"{name}_{next(iter(parts))}")
        if name in fields:
            raise InvalidArgument(first, f"cannot be used together with {flag(name)}")
        model = next((model for model in _models(operation, name) if set(parts) <= set(model.model_fields)), None)
        if model is None:
            others = " and ".join(flag(f"{name}_{part}") for part in list(parts)[1:])
            raise InvalidArgument(first, f"cannot be used together with {others}. Choose one")
        always = {field: model.model_fields[field].default for field in model.always_sent}
        texts = {
            part: _from_file(f"{name}_{part}", value) if part == "text" else value for part, value in parts.items()
        }
        fields[name] = {**always, **texts}
    for name, info in operation.model_fields.items():
        options = [option.opts[0] for option in part_options(operation, name)]
        if options and info.is_required() and name not in fields:
            raise InvalidArgument(options[0], f"is required: give {', '.join(options[1:])} or {flag(name)} instead")
    for name in FROM_FILES & set(fields):
        fields[name] = _from_file(name, fields[name])
    if "certificate" in fields:
        fields["certificate"] = _certificate(fields["certificate"])
    return fields


def place_of(operation: type[Operation[Any]], model: str, part: str) -> tuple[str, str]:
    """Return the option that an error about a part of an object should name, and a prefix for its message.

    The prefix is the name of the part if only the whole object has an option, and otherwise empty. Both are empty if
    the object is nested deeper in the arguments.

    Args:
        operation: the operation.
        model: the name of the object's model.
        part: the name of the part.
    """
    for name in operation.model_fields:
        if model in [known.__name__ for known in _models(operation, name)]:
            return (flag(f"{name}_{part}"), "") if part in PARTS.get(name, {}) else (flag(name), f"{part}: ")
    return "", ""


def _models(operation: type[Operation[Any]], name: str) -> list[type[Argument]]:
    members = members_of(operation.model_fields[name].annotation)
    return [member for member in members if isinstance(member, type) and issubclass(member, Argument)]


def _certificate(text: str) -> str:
    """Return a certificate in the form that the service accepts.

    Raises:
        InvalidArgument: the text is not a certificate.
    """
    from presscheck.engine.saml import normalized  # 40 ms, only for a certificate

    try:
        return normalized(text)
    except InvalidArgument as error:
        raise InvalidArgument(flag("certificate"), error.reason) from None


def _from_file(name: str, value: str) -> str:
    if not value.startswith("@"):
        return value
    try:
        return Path(value[1:]).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument(flag(name), f"could not read {value[1:]} as UTF-8 text") from None
