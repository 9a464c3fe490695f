"""Values of any thing of the API as text: the cells of a table, and all facts of one for its details."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from presscheck.api.operation import NOT_CACHED
from presscheck.api.shell_command import HIDDEN, hidden
from presscheck.text.phrases import ago, exact, now, parse_time, since
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.tui.screens.admin.families import Column

SKIPPED = frozenset(("location", "object", "permissions"))
"""Fields that say nothing to a person."""
LONGEST = 400
"""Characters of a value in the details; the rest is cut."""
NO_ROLE = "guest"
"""The role of somebody without one."""


def value_at(item: Any, path: str) -> Any:
    """The value at some field names joined by dots; None where one of them is missing."""
    for name in path.split("."):
        item = cast("Mapping[str, Any]", item).get(name) if isinstance(item, Mapping) else getattr(item, name, None)
        if item is None:
            return None
    return item


def cell(item: Any, column: Column) -> str:
    """The text of a cell, as display text."""
    value = value_at(item, column.value)
    if column.kind == "date":
        return ago(value, now()) if isinstance(value, str) else "–"
    if column.kind == "flag":
        return "yes" if value else "no"
    if column.kind == "number":
        return f"{value:,}" if isinstance(value, int) else "–"
    if value is None:
        return NO_ROLE if column.value.rpartition(".")[2] == "role" else "–"
    return sanitize(str(value)) or "–"


def sort_key(item: Any, column: Column) -> tuple[int, Any]:
    """What rows are sorted by: missing values last, text without regard to case."""
    value = value_at(item, column.value)
    if value is None:
        return (1, "")
    return (0, value.casefold() if isinstance(value, str) else value)


def facts(item: BaseModel) -> Iterator[tuple[str, str]]:
    """The names and values of all fields that are set, as display text; secrets are hidden."""
    given = cast("dict[str, Any]", hidden("", item.model_dump(mode="json", by_alias=False)))
    yield from _facts(given, ())


def _facts(given: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name, value in given.items():
        if name in SKIPPED or value is None or value in ("", [], {}):
            continue
        path = (*names, name.replace("_", " "))
        if isinstance(value, Mapping) and len(path) < 3:
            yield from _facts(cast("Mapping[str, Any]", value), path)
        else:
            yield sanitize(" › ".join(path)), _text(value)


def _text(value: Any) -> str:
    if value in (HIDDEN, NOT_CACHED):
        return "secret"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        if len(value) > 9 and value[4:5] == "-" and parse_time(value):
            return f"{since(value, now())}  ({exact(value)})"
        return _cut(sanitize(value.replace("\n", " ")))
    if isinstance(value, int | float):
        return f"{value:,}"
    if isinstance(value, list) and all(isinstance(one, str) for one in cast("list[Any]", value)):
        return _cut(sanitize(", ".join(cast("list[str]", value))))
    return _cut(sanitize(json.dumps(value, ensure_ascii=False)))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
