"""The saved views of the inbox in the settings file; an invalid view is left out as a whole.

An error names the field and its limit, never the value, as for every setting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from presscheck.config.settings_schema import MOST_VIEWS, VIEW_SETTINGS, Setting

Wrong = tuple[tuple[str, ...], str]
"""A key, and what is wrong there."""


@dataclass(frozen=True)
class SavedView:
    """A view as a person keeps it: a name, what it shows, in which order, below which headings."""

    name: str
    query: str = ""
    sort: str = ""
    group: str = ""


Judge = Callable[[SavedView], tuple[str, str] | None]
"""Says a field and what is wrong with it, where somebody else knows better what may stand there."""


def checked(entries: object, judge: Judge | None = None) -> tuple[list[SavedView], list[Wrong]]:
    """The views of a file that are right, and what is wrong with the others."""
    if not isinstance(entries, list):
        return [], [(("views",), "must be written as [[views]], once for each view")]
    views: list[SavedView] = []
    wrong: list[Wrong] = []
    for number, entry in enumerate(cast("list[Any]", entries), 1):
        place = ("views", str(number))
        if number > MOST_VIEWS:
            wrong.append((place, f"exceeds the limit of {MOST_VIEWS} views"))
            break
        if not isinstance(entry, dict):
            wrong.append((place, "must be a table, [[views]]"))
            continue
        found = [((*place, *key), says) for key, says in _wrong_in(cast("dict[str, Any]", entry), views, judge)]
        wrong += found
        if not found:
            views.append(_view(cast("dict[str, str]", entry)))
    return views, wrong


def wrong_with(view: SavedView, others: list[SavedView], judge: Judge | None = None) -> tuple[str, str] | None:
    """The first field of a view that will not do, and why; `others` are the views beside it."""
    entry = {key: value for key, value in vars(view).items() if value or key == "name"}
    for key, says in _wrong_in(entry, others, judge):
        return key[0], says
    return None


def same_name(one: str, other: str) -> bool:
    """Whether two views are called the same, as a person reads it."""
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _view(entry: dict[str, str]) -> SavedView:
    return SavedView(**{key: value.strip() for key, value in entry.items()})


def _wrong_in(entry: dict[str, Any], others: list[SavedView], judge: Judge | None) -> Iterator[Wrong]:
    if "name" not in entry:
        yield (), "has no name: add it, such as name = " + VIEW_SETTINGS["name"].example
    is_sound = "name" in entry
    for key, value in entry.items():
        setting = VIEW_SETTINGS.get(key)
        says = _wrong_value(setting, value) if setting else f"is not a known setting; known: {', '.join(VIEW_SETTINGS)}"
        if says:
            is_sound = False
            yield (key,), says
    if not is_sound:
        return
    view = _view(entry)
    if any(same_name(view.name, other.name) for other in others):
        yield ("name",), "is already used by another view: names must be unique"
    elif judge and (found := judge(view)):
        yield (found[0],), found[1]


def _wrong_value(setting: Setting, value: object) -> str | None:
    if not isinstance(value, str):
        return f"must be a quoted string, such as {setting.example}"
    if not value.strip() and setting.name != "query":
        return "is empty: enter a name" if setting.name == "name" else "is empty: leave it out"
    if setting.most and len(value.strip()) > setting.most:
        return f"is too long: at most {setting.most} characters"
    if not value.isprintable():
        return "must be one line, without control characters"
    if setting.one_of and value.strip() not in setting.one_of:
        return f"must be one of {setting.says.rstrip('.')}" if len(setting.one_of) > 1 else f"must be {setting.example}"
    return None
