"""Saved views of the inbox and their validation; an invalid view is skipped as a whole.

An error names the field and the limit, never the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from presscheck.config.settings_schema import FORMER_SORT, FORMERLY_DESCENDING, MAX_VIEWS, SORTS, VIEW_SETTINGS, Setting

SettingError = tuple[tuple[str, ...], str]
"""The key path of an invalid setting, and the message."""
_SORT_WORD = re.compile(r"(?:^|(?<!\s)\s++)sort:(\S*)")


@dataclass(frozen=True)
class SavedView:
    """A saved view: its name, filter, sort order and grouping."""

    name: str
    query: str = ""
    sort_by: str = ""
    group: str = ""


Validator = Callable[[SavedView], tuple[str, str] | None]
"""An additional check of a view, which returns an invalid field and the message, or None."""


def check_views(entries: object, validator: Validator | None = None) -> tuple[list[SavedView], list[SettingError]]:
    """Return the valid views, and the errors of all other views. `entries` is the value of ``views`` in the file."""
    if not isinstance(entries, list):
        return [], [(("views",), "must be written as [[views]], once for each view")]
    views: list[SavedView] = []
    errors: list[SettingError] = []
    for number, entry in enumerate(cast("list[Any]", entries), 1):
        place = ("views", str(number))
        if number > MAX_VIEWS:
            errors.append((place, f"exceeds the limit of {MAX_VIEWS} views"))
            break
        if not isinstance(entry, dict):
            errors.append((place, "must be a table, [[views]]"))
            continue
        view_errors = _errors_in(cast("dict[str, Any]", entry), views, validator)
        entry_errors = [((*place, *key), message) for key, message in view_errors]
        errors += entry_errors
        if not entry_errors:
            views.append(_view(cast("dict[str, str]", entry)))
    return views, errors


def first_error(view: SavedView, others: list[SavedView], validator: Validator | None = None) -> tuple[str, str] | None:
    """Return the first invalid field of a view and the message, or None; `others` are the other saved views."""
    entry = {key: value for key, value in vars(view).items() if value or key == "name"}
    for key, message in _errors_in(entry, others, validator):
        return key[0], message
    return None


def same_name(name: str, other: str) -> bool:
    """Return whether two names are equal, ignoring case and repeated spaces."""
    return " ".join(name.split()).casefold() == " ".join(other.split()).casefold()


def without_sort(text: str) -> tuple[str, str]:
    """Return a filter without sort orders, and the value of its last ``sort:``, or an empty string."""
    orders = _SORT_WORD.findall(text)
    return _SORT_WORD.sub("", text).strip(), orders[-1] if orders else ""


def migrate_sort(text: str) -> str:
    """Convert the sort order of a filter of version 0.1.0, in which ``sort:comments`` was largest first."""
    return _SORT_WORD.sub(lambda word: word[0].removesuffix(word[1]) + _migrate_order(word[1]), text)


def _migrate_order(order: str) -> str:
    name = order.removeprefix("-")
    if name not in FORMERLY_DESCENDING:
        return order
    return name if order.startswith("-") else f"-{name}"


def _view(entry: dict[str, str]) -> SavedView:
    """Return the view of a valid entry. A sort order of version 0.1.0 is converted."""
    values = {key: value.strip() for key, value in entry.items()}
    query, order = without_sort(values.get("query", ""))
    former = values.pop("sort", "") or order
    if order.removeprefix("-") in SORTS:
        values["query"] = query
    if former.removeprefix("-") in SORTS:
        values.setdefault("sort_by", _migrate_order(former))
    return SavedView(**values)


def _errors_in(entry: dict[str, Any], others: list[SavedView], validator: Validator | None) -> Iterator[SettingError]:
    if "name" not in entry:
        yield (), "has no name: add it, such as name = " + VIEW_SETTINGS["name"].example
    is_valid = "name" in entry
    for key, value in entry.items():
        setting = FORMER_SORT if key == FORMER_SORT.name else VIEW_SETTINGS.get(key)
        known = ", ".join(VIEW_SETTINGS)
        message = _value_error(setting, value) if setting else f"is not a known setting; known: {known}"
        if message:
            is_valid = False
            yield (key,), message
    if not is_valid:
        return
    view = _view(entry)
    if any(same_name(view.name, other.name) for other in others):
        yield ("name",), "is already used by another view: names must be unique"
    elif validator and (error := validator(view)):
        yield (error[0],), error[1]


def _value_error(setting: Setting, value: object) -> str | None:
    if not isinstance(value, str):
        return f"must be a quoted string, such as {setting.example}"
    if not value.strip() and setting.name != "query":
        return "is empty: enter a name" if setting.name == "name" else "is empty: leave it out"
    if setting.max_length and len(value.strip()) > setting.max_length:
        return f"is too long: at most {setting.max_length} characters"
    if not value.isprintable():
        return "must be one line, without control characters"
    if setting.one_of and value.strip() not in setting.one_of:
        return (
            f"must be one of {setting.description.rstrip('.')}"
            if len(setting.one_of) > 1
            else f"must be {setting.example}"
        )
    return None
