"""Output: data on stdout, messages on stderr; columns and colors on a terminal, tabs otherwise.

JSON has the field names of the API and only ASCII characters, so it cannot contain terminal control characters. All
other text passes `sanitize`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, cast

import click
from pydantic import BaseModel

from presscheck.cli.json_filter import filtered_lines
from presscheck.text.phrases import now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, plain, width

STYLES: dict[str, dict[str, Any]] = {
    "added": {"fg": "green"},
    "removed": {"fg": "red"},
    "quiet": {"dim": True},
    "strong": {"bold": True},
    "heading": {"bold": True},
    "title": {"bold": True},
    "strike": {"strikethrough": True},
    "underline": {"underline": True},
}
"""The arguments of `click.style` by style name."""
HEADINGS = {
    "changeRequestsOpen": "open change requests",
    "createdBy.displayName": "by",
    "displayName": "name",
    "email": "e-mail",
    "markdown": "text",
    "permission": "role",
    "postedBy.displayName": "by",
    "published": "live",
    "reviewer.displayName": "reviewer",
    "urls.published": "URL",
}
"""Headings of columns that have another name on the screens than in the API."""
GAP = 2
"""Cells between two columns."""
NARROWEST = 6
"""Minimum width in cells of a column that shrinks to fit the terminal."""
PARTS_AT_ONCE = 4096
"""Number of JSON parts per write: writing each part alone is five times slower, joining all takes memory."""


def has_color() -> bool:
    """Return whether to print colors: stdout is a terminal, NO_COLOR is not set, and TERM is not dumb."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_message(text: str) -> None:
    """Print a message on stderr."""
    click.echo(sanitize(text), err=True)


def as_json(value: Any) -> Any:
    """Return a value of the API as plain JSON, with the field names of the API."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in cast("Sequence[Any]", value)]
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in cast("dict[str, Any]", value).items()}
    return value


def print_json(value: Any) -> None:
    """Print a value as JSON, or its lines after the filter of the command."""
    if (lines := filtered_lines(as_json(value))) is not None:
        _print_filtered(lines)
        return
    parts = json.JSONEncoder(indent=2).iterencode(as_json(value))
    while some := "".join(islice(parts, PARTS_AT_ONCE)):
        sys.stdout.write(some)
    sys.stdout.write("\n")


def print_json_line(value: Any) -> None:
    """Print a value as JSON on one line, or its lines after the filter of the command."""
    lines = filtered_lines(value)
    _print_filtered([json.dumps(value)] if lines is None else lines)


def _print_filtered(lines: Iterable[str]) -> None:
    for line in "\n".join(lines).splitlines():
        click.echo("\t".join(map(sanitize, line.split("\t"))))


def json_item(value: Any) -> str:
    """Return a value as JSON, indented as an item for `print_json_items`."""
    return "  " + json.dumps(as_json(value), indent=2).replace("\n", "\n  ")


def print_json_items(items: Sequence[str]) -> None:
    """Print a list of items from `json_item`, as `print_json` does."""
    if (lines := filtered_lines([json.loads(item) for item in items])) is not None:
        _print_filtered(lines)
        return
    sys.stdout.write("[\n" if items else "[")
    for number, item in enumerate(items, 1):
        sys.stdout.write(item + (",\n" if number < len(items) else "\n"))
    sys.stdout.write("]\n")


def print_text(text: str) -> None:
    """Print a text with several lines, such as a page."""
    click.echo(sanitize(text, lines=True))


def row_of(value: Any, columns: Sequence[str]) -> list[str]:
    """Return the cells of a value; columns are field names of the API, with dots for nested fields."""
    value = as_json(value)
    return [_cell(_nested(value, name.split("."))) for name in columns]


def print_rows(values: Iterable[Any], columns: Sequence[str]) -> None:
    """Print a row for each value; see `row_of` for the columns."""
    print_cells([row_of(value, columns) for value in values], columns)


def print_cells(rows: Sequence[Sequence[str]], columns: Sequence[str]) -> None:
    """Print rows from `row_of`. A terminal gets headings, ages instead of times, and columns that fit its width."""
    if not sys.stdout.isatty():
        for row in rows:
            sys.stdout.write("\t".join(row) + "\n")
        return
    if not rows:
        return
    cells = [[_age(cell) if is_time(name) else cell for cell, name in zip(row, columns, strict=True)] for row in rows]
    lines = [[(Span(heading(name), "strong"),) for name in columns]]
    lines += [[(Span(cell),) for cell in row] for row in cells]
    available = shutil.get_terminal_size().columns
    sizes = _fitting([max(width(line[at]) for line in lines) for at in range(len(columns))], columns, available)
    for line in lines:
        spans = (span for cell, size in zip(line, sizes, strict=True) for span in (*pad(cell, size), Span(" " * GAP)))
        print_line(cut((*spans,)[:-1], available))


def heading(column: str) -> str:
    """Return the heading of a column: the word that the app uses, or else the name of the field as words."""
    name = column.rpartition(".")[2]
    words = re.sub(r"([A-Z])", r" \1", name.removesuffix("At") if is_time(name) else name).lower()
    return HEADINGS.get(column) or HEADINGS.get(name) or words


def is_time(column: str) -> bool:
    """Return whether a column contains times, judging by its name."""
    return column in ("at", "time") or column.endswith("At")


def _age(cell: str) -> str:
    return since(cell, now()) if cell else ""


def _fitting(sizes: list[int], columns: Sequence[str], available: int) -> list[int]:
    """Return the widths of columns that fit the terminal. The widest columns shrink; ids only if nothing else can."""
    excess = sum(sizes) + GAP * (len(sizes) - 1) - available
    texts = [at for at, name in enumerate(columns) if name.rpartition(".")[2] != "id"]
    for candidates in (texts, range(len(sizes))):
        while excess > 0 and (widest := max(candidates, key=lambda at: sizes[at], default=None)) is not None:
            if sizes[widest] <= NARROWEST:
                break
            sizes[widest] -= 1
            excess -= 1
    return sizes


def print_details(value: Any, hidden: Sequence[str] = ()) -> None:
    """Print the fields of a value, one `name: value` per line.

    Empty fields and the fields in `hidden` are left out. Keys of share links in addresses are replaced by a mark.
    """
    from presscheck.engine.publish.shown_addresses import hide_keys  # 2 ms, only for details

    for name, text in _flatten(hide_keys(as_json(value)), ""):
        if name not in hidden:
            sys.stdout.write(f"{name}: {text}\n")


def print_line(line: Line) -> None:
    """Print a styled line, without styles if colors are off."""
    if has_color():
        click.echo("".join(click.style(span.text, **_style(span.style)) for span in line).rstrip(), color=True)
    else:
        sys.stdout.write(plain(line).rstrip() + "\n")


def _style(style: str) -> dict[str, Any]:
    return {key: value for word in style.split() for key, value in STYLES.get(word, {}).items()}


def _nested(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, dict)):
        value = json.dumps(value)
    return "" if value is None else sanitize(str(value))


def _flatten(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield from _flatten(item, f"{name}.{key}" if name else key)
    elif value not in (None, "", []):
        yield sanitize(name) or "value", _cell(value)
