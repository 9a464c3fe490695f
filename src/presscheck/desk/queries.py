"""What a person wants to see of a view, as they type it: ``space:api outdated:yes updated:<2w limits sort:-comments``.

Words stand for themselves, in the subject; a word before a colon says what is asked of. All of it must hold.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from presscheck.errors import InvalidArgument
from presscheck.store.cache import Condition

ORDERS = {
    "updated": ("$.updatedAt", True),
    "created": ("$.createdAt", True),
    "comments": ("$.comments", True),
    "number": ("$.number", False),
    "author": ("$.createdBy.displayName", False),
    "subject": ("$.subject", False),
    "space": ("$.space", False),
}
"""What may be sorted by: where it stands on the wire, and whether the most comes first."""
UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1), "m": timedelta(days=30)}
STATUSES = ("draft", "open", "archived", "merged")
_COUNT = re.compile(r"([<>]?)(\d{1,6})")
_AGE = re.compile(r"([<>]?)(\d{1,4})([hdwm])")


@dataclass(frozen=True)
class Query:
    """What must hold, and the order: a place on the wire, and whether it descends."""

    text: str = ""
    conditions: tuple[Condition, ...] = ()
    order: tuple[str, bool] | None = None


def parse(text: str, spaces: Mapping[str, str], moment: datetime) -> Query:
    """Read what was typed.

    Args:
        text: as it was typed.
        spaces: titles of spaces by id.
        moment: now, which ages are counted from.

    Raises:
        InvalidArgument: a word that nothing is known of; says what may stand there.
    """
    try:
        words = shlex.split(text)
    except ValueError:
        raise InvalidArgument("view", "a quotation is not closed") from None
    found: list[Condition] = []
    order: tuple[str, bool] | None = None
    for word in words:
        name, colon, value = word.partition(":")
        if not colon:
            found.append(Condition("$.subject", "contains", word.lower()))
        elif name == "sort":
            order = _order(value)
        elif name in FIELDS:
            found.append(FIELDS[name](value, spaces, moment))
        else:
            raise InvalidArgument(name, f"is nothing to look for; known: {', '.join([*FIELDS, 'sort'])}")
    return Query(text.strip(), tuple(found), order)


def _order(value: str) -> tuple[str, bool]:
    name = value.removeprefix("-")
    if name not in ORDERS:
        raise InvalidArgument("sort", f"one of {', '.join(ORDERS)}; with - before it, the other way round")
    path, descends = ORDERS[name]
    return path, descends != value.startswith("-")


def _space(value: str, spaces: Mapping[str, str], _: datetime) -> Condition:
    wanted = value.casefold()
    fits = tuple(key for key, title in spaces.items() if wanted in (key.casefold(), "") or wanted in title.casefold())
    return Condition("$.space", "in", fits)


def _author(value: str, _: Mapping[str, str], __: datetime) -> Condition:
    return Condition("$.createdBy.displayName", "contains", value.lower())


def _status(value: str, _: Mapping[str, str], __: datetime) -> Condition:
    if value not in STATUSES:
        raise InvalidArgument("status", f"one of {', '.join(STATUSES)}")
    return Condition("$.status", "is", value)


def _outdated(value: str, _: Mapping[str, str], __: datetime) -> Condition:
    if value not in ("yes", "no"):
        raise InvalidArgument("outdated", "yes or no")
    return Condition("$.outdated", "is", int(value == "yes"))


def _comments(value: str, _: Mapping[str, str], __: datetime) -> Condition:
    found = _COUNT.fullmatch(value)
    if found is None:
        raise InvalidArgument("comments", "a number, such as 0 or >2")
    return Condition("$.comments", {"": "is", "<": "less", ">": "more"}[found[1]], int(found[2]))


def _updated(value: str, _: Mapping[str, str], moment: datetime) -> Condition:
    found = _AGE.fullmatch(value)
    if found is None:
        raise InvalidArgument("updated", "an age, such as <2w for what is younger, >3d for what is older")
    then = (moment - int(found[2]) * UNITS[found[3]]).strftime("%Y-%m-%dT%H:%M:%S")
    return Condition("$.updatedAt", "less" if found[1] == ">" else "more", then)


FIELDS: dict[str, Callable[[str, Mapping[str, str], datetime], Condition]] = {
    "space": _space,
    "author": _author,
    "status": _status,
    "outdated": _outdated,
    "comments": _comments,
    "updated": _updated,
}
"""What may be asked of."""
