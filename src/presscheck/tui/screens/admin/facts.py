"""Values of API models as text: table cells, and all facts of an item for its details."""

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
"""Technical fields that the details omit."""
MOST_BARS = 13
"""Maximum number of bars in a sparkline: three months of weeks."""
LONGEST = 400
"""Maximum number of characters of a value in the details."""
ROLES, NO_ROLE = ("role", "default_role"), "guest"
"""Fields that hold a role, and the text for a missing role."""
CERTIFICATES = "presscheck.engine.saml"
"""The module that reads certificates, which is imported lazily."""
BARS = "▁▂▃▄▅▆▇█"
"""Bars of a sparkline, lowest first."""
VALIDITY_STYLES = {"warning": "waiting", "expired": "error", "broken": "error"}
"""Styles of certificate states; valid certificates have no entry."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        title: the heading.
        value: the path of the value in an item, as dotted field names.
        columns: the width in cells; 0 for a share of the cells that fixed columns leave.
        kind: the format of the values. A `date` is shown as an age, a `number` is right-aligned, a `certificate` shows
            the days until it expires, and a `pulse` (a list of numbers) becomes a sparkline.
        is_long: whether the texts are long, such as descriptions. The column shrinks first in a narrow table, and gets
            the cells that the other columns leave in a wide table.
        keeps_end: whether long texts, such as e-mail addresses, are shortened in the middle.
    """

    title: str
    value: str
    columns: int = 0
    kind: Literal["text", "date", "number", "flag", "certificate", "pulse"] = "text"
    is_long: bool = False
    keeps_end: bool = False


class Fact(NamedTuple):
    """A fact about an item: a name, a value as display text, and the style of the value."""

    name: str
    value: str
    style: str = ""


def value_at(item: Any, path: str) -> Any:
    """Return the value at a path of dotted field names; None if a field is missing."""
    for name in path.split("."):
        item = cast("Mapping[str, Any]", item).get(name) if isinstance(item, Mapping) else getattr(item, name, None)
        if item is None:
            return None
    return item


def cell(item: Any, column: Column) -> str:
    """Return the content of a cell as display text."""
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
    """Draw the last `MOST_BARS` numbers as bars, one cell per number.

    The maximum has the highest bar. Zero, negative and non-finite numbers, and no others, have the lowest bar.
    """
    heights = [max(0.0, value) if isfinite(value) else 0.0 for value in values[-MOST_BARS:]]
    most = max(heights, default=0.0)
    return "".join(BARS[ceil(height / most * (len(BARS) - 1)) if most else 0] for height in heights)


def cell_style(item: Any, column: Column) -> str:
    """Return the style of a cell outside the first column: quiet, except for texts and certificate problems."""
    if column.kind == "certificate":
        state = _validity(value_at(item, column.value))
        return VALIDITY_STYLES.get(state.state, "quiet") if state else "quiet"
    return "" if column.kind == "text" else "quiet"


def plain_value(item: Any, column: Column) -> Any:
    """Return the value of a cell for an export: a certificate as its expiry date, a pulse as its numbers."""
    value = value_at(item, column.value)
    if column.kind == "pulse":
        return " ".join(f"{number:g}" for number in value or ())
    if column.kind == "certificate":
        state = _validity(value)
        return f"{state.certificate.expires_at:%Y-%m-%d}" if state and state.certificate else None
    return value


def _validity(text: Any) -> Validity | None:
    """Return the validity of a certificate.

    Returns None without a certificate, and until the module that reads certificates is imported.
    """
    if not isinstance(text, str) or not text.strip() or CERTIFICATES not in sys.modules:
        return None
    from presscheck.engine.saml import validity  # 40 ms; already imported in a thread

    return validity(text, now())


def _certificate_cell(value: Any) -> str:
    state = _validity(value)
    if state is None:
        return "…" if value else "–"
    return "invalid" if state.state == "broken" else state.text


def sort_key(item: Any, column: Column) -> tuple[int, Any]:
    """Return a sort key for a cell. Missing values sort last, text ignores case, and a pulse is sorted by its sum."""
    value = value_at(item, column.value) if column.kind == "pulse" else plain_value(item, column)
    if value is None:
        return (1, "")
    if column.kind == "pulse":
        return (0, sum(value))
    return (0, value.casefold() if isinstance(value, str) else value)


def facts(item: BaseModel, left_out: Collection[str] = ()) -> Iterator[Fact]:
    """Yield the names and values of all fields that are set, as display text. Secrets are hidden.

    Args:
        item: the item.
        left_out: fields to omit.
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
