"""What is printed: data on stdout, talk on stderr; in columns and colours for a terminal, with tabs for a program.

JSON has the names of the service, every field that a noun declares, and no character beyond ASCII, so that nothing in
it can steer a terminal. All other text passes `sanitize`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import click
from pydantic import BaseModel

from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, pad, plain, width

LOOKS: dict[str, dict[str, Any]] = {
    "added": {"fg": "green"},
    "removed": {"fg": "red"},
    "quiet": {"dim": True},
    "strong": {"bold": True},
    "heading": {"bold": True},
    "title": {"bold": True},
    "strike": {"strikethrough": True},
    "underline": {"underline": True},
}
"""The words of a style that have a look here."""


def has_colour() -> bool:
    """Whether stdout is a terminal that wants colours: not with NO_COLOR set to anything, nor a dumb one."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def talk(text: str) -> None:
    """Say something to the person, on stderr."""
    click.echo(sanitize(text), err=True)


def as_json(value: Any) -> Any:
    """A value of the api as plain JSON, by its names on the wire."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, list | tuple):
        return [as_json(one) for one in cast("Sequence[Any]", value)]
    if isinstance(value, dict):
        return {key: as_json(one) for key, one in cast("dict[str, Any]", value).items()}
    return value


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    sys.stdout.write(json.dumps(as_json(value), indent=2) + "\n")


def print_text(text: str) -> None:
    """Print a text of many lines, such as a page."""
    click.echo(sanitize(text, lines=True))


def print_rows(values: Iterable[Any], columns: Sequence[str]) -> None:
    """Print one row for each value; columns are names on the wire, with dots into what is within."""
    rows = [[_cell(_within(found, name.split("."))) for name in columns] for found in map(as_json, values)]
    if not sys.stdout.isatty():
        for row in rows:
            sys.stdout.write("\t".join(row) + "\n")
        return
    heads = [name.split(".")[0] if name.split(".")[-1] == "displayName" else name.split(".")[-1] for name in columns]
    lines: list[list[Line]] = [[(Span(head, "strong"),) for head in heads]]
    lines += [[(Span(cell),) for cell in row] for row in rows]
    sizes = [min(60, max(width(line[at]) for line in lines)) for at in range(len(columns))]
    for line in lines if rows else ():
        print_line(
            tuple(span for cell, size in zip(line, sizes, strict=True) for span in (*pad(cell, size), Span("  ")))
        )


def print_details(value: Any) -> None:
    """Print what a thing says of itself, one `name: value` in each line; what is empty is left out."""
    for name, found in _flat(as_json(value), ""):
        sys.stdout.write(f"{name}: {found}\n")


def print_line(line: Line) -> None:
    """Print a styled line; without colours its marks alone say what it is."""
    if has_colour():
        click.echo("".join(click.style(span.text, **_look(span.style)) for span in line).rstrip(), color=True)
    else:
        sys.stdout.write(plain(line).rstrip() + "\n")


def _look(style: str) -> dict[str, Any]:
    return {key: value for word in style.split() for key, value in LOOKS.get(word, {}).items()}


def _within(found: Any, names: Sequence[str]) -> Any:
    for name in names:
        found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
    return found


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | dict):
        value = json.dumps(value)
    return "" if value is None else sanitize(str(value))


def _flat(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, one in cast("dict[str, Any]", value).items():
            yield from _flat(one, f"{name}.{key}" if name else key)
    elif value not in (None, "", []):
        yield sanitize(name) or "value", _cell(value)
