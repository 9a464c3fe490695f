"""The options `--json`, `--jq` and `--template`. The last two filter a command's JSON and print lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, TypeVar, cast

import click

from presscheck.cli.exit_codes import is_text
from presscheck.errors import InvalidArgument, MissingExtra
from presscheck.extras import require_extra

Command = TypeVar("Command", bound=Callable[..., Any])
_META = "presscheck.json filter"
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\"}
_ESCAPE = re.compile(r"\\[nt\\]")


def json_option(function: Command) -> Command:
    """Add the options `--json`, `--jq` and `--template`; the last two imply the first."""
    return _json(_jq(_template(function)))


def unique_options(parameters: Sequence[click.Parameter]) -> list[click.Parameter]:
    """Return the parameters without those that repeat an option of an earlier parameter.

    An example is the field `template` of a space, because `--template` is an option of all commands.
    """
    names: set[str] = set()
    unique: list[click.Parameter] = []
    for parameter in parameters:
        if names.isdisjoint(parameter.opts):
            unique.append(parameter)
            names.update(parameter.opts)
    return unique


def filtered_lines(value: Any) -> list[str] | None:
    """Apply the filter of the running command to a JSON value. Return the lines, or None without a filter.

    Raises:
        InvalidArgument: the filter cannot be applied to the value.
    """
    context = click.get_current_context(silent=True)
    select = context.meta.get(_META) if context else None
    return select(value) if select else None


def _use_jq(context: click.Context, parameter: click.Parameter, expression: str | None) -> None:
    if expression is None:
        return
    _require_text(context, parameter, expression)
    try:
        require_extra("jq")
        jq: Any = import_module("jq")
        program = jq.compile(expression)
    except MissingExtra as error:
        raise click.BadParameter(error.message) from None
    except ValueError as error:
        raise click.BadParameter(_first_line(error)) from None

    def select(value: Any) -> list[str]:
        try:
            results: list[Any] = program.input_value(value).all()
        except ValueError as error:
            raise InvalidArgument("--jq", _first_line(error)) from None
        return [result if isinstance(result, str) else json.dumps(result) for result in results]

    context.meta[_META] = select


def _use_template(context: click.Context, parameter: click.Parameter, template: str | None) -> None:
    if template is None:
        return
    _require_text(context, parameter, template)
    if _META in context.meta:
        raise click.BadParameter("cannot be used together with --jq")
    text = _ESCAPE.sub(lambda match: _ESCAPES[match[0]], template)

    def select(value: Any) -> list[str]:
        return [_filled(text, item) for item in (value if isinstance(value, list) else [value])]

    context.meta[_META] = select


def _require_text(context: click.Context, parameter: click.Parameter, text: str) -> None:
    """End the command if a filter is not UTF-8. `report_errors` does not see it, because commands do not receive it."""
    if not is_text(text):
        click.echo(f"presscheck: {parameter.opts[0]}: is not UTF-8 text", err=True)
        context.exit(2)


def _filled(template: str, item: Any) -> str:
    def replaced(match: re.Match[str]) -> str:
        return match[0][0] if match[1] is None else _text(_field(item, match[1]))

    return _PLACEHOLDER.sub(replaced, template)


def _field(item: Any, path: str) -> Any:
    """Return a nested field, given its path with dots; None if an object on the path is null.

    Raises:
        InvalidArgument: a field on the path does not exist.
    """
    value = item
    for name in path.split("."):
        if value is None:
            return None
        fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise InvalidArgument("--template", f"{{{path}}}: no field {name}. Available: {known}")
        value = fields[name]
    return value


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _first_line(error: ValueError) -> str:
    return str(error).partition("\n")[0].removeprefix("jq: error: ")


def _is_json(context: click.Context, _parameter: click.Parameter, value: bool) -> bool:
    return value or _META in context.meta


_json = click.option("--json", "as_json", is_flag=True, callback=_is_json, help="Print JSON.")
_jq = click.option(
    "--jq", metavar="EXPRESSION", callback=_use_jq, expose_value=False, is_eager=True, help="Filter the JSON with jq."
)
_template = click.option(
    "--template",
    metavar="TEXT",
    callback=_use_template,
    expose_value=False,
    is_eager=True,
    help="Print a line for each item, with its fields in braces: '{number} {subject}'.",
)
