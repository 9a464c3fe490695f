"""Values of any thing of the API as text: the cells of a table, and all facts of one for its details."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from pydantic import BaseModel

from presscheck.api.operation import NOT_CACHED
from presscheck.api.shell_command import HIDDEN, hidden
from presscheck.text.phrases import ago, exact, now, parse_time, since
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.engine.saml import Validity

SKIPPED = frozenset(("location", "object", "permissions"))
"""Fields that say nothing to a person."""
MOST_BARS = 13
"""Bars of a sparkline: the weeks of three months."""
LONGEST = 400
"""Characters of a value in the details; the rest is cut."""
ROLES, NO_ROLE = ("role", "default_role"), "guest"
"""The fields with a role, and the role of somebody without one."""
CERTIFICATES = "presscheck.engine.saml"
"""The module that reads certificates."""
BARS = "▁▂▃▄▅▆▇█"
"""The heights of a sparkline."""
VALIDITY_STYLES = {"warning": "waiting", "expired": "error", "broken": "error"}
"""The styles of certificates that are not simply valid."""


@dataclass(frozen=True)
class Column:
    """A column: its heading, where its values are, as field names with dots, and its width.

    `columns` is in cells; 0 shares what the others leave, of which a column that `is_long` gets the most. A `date` is
    shown by its age, a `number` on the right, a `certificate` by the days until it expires, a `pulse` of numbers as a
    sparkline. A text that `keeps_end`,
    such as an e-mail address, is shortened in the middle.
    """

    title: str
    value: str
    columns: int = 0
    kind: Literal["text", "date", "number", "flag", "certificate", "pulse"] = "text"
    is_long: bool = False
    keeps_end: bool = False


class Fact(NamedTuple):
    """Something about a thing: its name, its value as display text, and the style of that."""

    name: str
    value: str
    style: str = ""


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
    if column.kind == "certificate":
        return _certificate_cell(value)
    if column.kind == "pulse":
        return sparkline(value or ()) or "–"
    if value is None:
        return NO_ROLE if column.value.rpartition(".")[2] in ROLES else "–"
    return sanitize(str(value)) or "–"


def sparkline(values: Sequence[float]) -> str:
    """Numbers as bars, a cell each; the highest one is a whole cell, and only zero has the lowest bar."""
    known = [max(0.0, value) if isfinite(value) else 0.0 for value in values[-MOST_BARS:]]
    most = max(known, default=0.0)
    return "".join(BARS[ceil(value / most * (len(BARS) - 1)) if most else 0] for value in known)


def cell_style(item: Any, column: Column) -> str:
    """The style of a cell that is no name: quiet, except for text, and for a certificate that expires."""
    if column.kind == "certificate":
        told = _validity(value_at(item, column.value))
        return VALIDITY_STYLES.get(told.state, "quiet") if told else "quiet"
    return "" if column.kind == "text" else "quiet"


def plain_value(item: Any, column: Column) -> Any:
    """The value that is exported: of a certificate the day it expires; None if there is none."""
    value = value_at(item, column.value)
    if column.kind == "pulse":
        return " ".join(f"{number:g}" for number in value or ())
    if column.kind == "certificate":
        told = _validity(value)
        return f"{told.certificate.expires_at:%Y-%m-%d}" if told and told.certificate else None
    return value


def _validity(text: Any) -> Validity | None:
    """How long a certificate is valid; None without one, and until the module that reads certificates is there."""
    if not isinstance(text, str) or not text.strip() or CERTIFICATES not in sys.modules:
        return None
    from presscheck.engine.saml import validity  # 36 ms, imported in a thread before

    return validity(text, now())


def _certificate_cell(value: Any) -> str:
    told = _validity(value)
    if told is None:
        return "…" if value else "–"
    return "invalid" if told.state == "broken" else told.text


def sort_key(item: Any, column: Column) -> tuple[int, Any]:
    """What rows are sorted by: missing values last, text without regard to case."""
    value = value_at(item, column.value) if column.kind == "pulse" else plain_value(item, column)
    if value is None:
        return (1, "")
    if column.kind == "pulse":
        return (0, sum(value))
    return (0, value.casefold() if isinstance(value, str) else value)


def facts(item: BaseModel, left_out: Collection[str] = ()) -> Iterator[Fact]:
    """The names and values of all fields that are set, as display text; secrets are hidden.

    Args:
        item: the thing.
        left_out: its fields that are shown in another way.
    """
    given = cast("dict[str, Any]", hidden("", item.model_dump(mode="json", by_alias=False, exclude={*left_out})))
    yield from _facts(given, ())


def _facts(given: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[Fact]:
    for name, value in given.items():
        if name in SKIPPED or value is None or value in ("", [], {}):
            continue
        path = (*names, name.replace("_", " "))
        if isinstance(value, Mapping) and len(path) < 3:
            yield from _facts(cast("Mapping[str, Any]", value), path)
        else:
            yield Fact(sanitize(" › ".join(path)), _text(value))


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
