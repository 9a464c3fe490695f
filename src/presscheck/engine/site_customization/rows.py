"""The rows of a form of a customization: settings, and below a list of links its items as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from presscheck.engine.site_config.document import Place
from presscheck.engine.site_customization.settings import (
    Document,
    Group,
    Setting,
    children_name,
    path_name,
    settings_of,
    value_at,
    with_value,
)


class Row(NamedTuple):
    """A setting, or an item of a list.

    Attributes:
        setting: the setting; for an item its list.
        path: where it is in the document.
        depth: 0 for a setting, 1 for an item, 2 for a link in it.
    """

    setting: Setting
    path: Place
    depth: int = 0

    @property
    def name(self) -> str:
        """Its path as text."""
        return path_name(self.path)

    @property
    def is_item(self) -> bool:
        """Whether it is an item of a list."""
        return self.depth > 0

    @property
    def at(self) -> int:
        """The position of an item in its list, from 0."""
        return cast("int", self.path[-1])


def rows_of(document: Document, group: Group) -> tuple[Row, ...]:
    """The rows of a group."""
    settings = [setting for setting in settings_of(document) if setting.group == group]
    ordered = [*(one for one in settings if not one.is_list), *(one for one in settings if one.is_list)]
    return tuple(row for setting in ordered for row in _rows(document, setting))


def _rows(document: Document, setting: Setting) -> Iterator[Row]:
    yield Row(setting, setting.path)
    if setting.is_list:
        yield from _items(document, setting, setting.path, 1)


def _items(document: Document, setting: Setting, path: Place, depth: int) -> Iterator[Row]:
    name = children_name(setting)
    for number in range(len(items_at(document, path))):
        yield Row(setting, (*path, number), depth)
        if name and depth == 1:
            yield from _items(document, setting, (*path, number, name), depth + 1)


def items_at(document: Document, path: Place) -> list[Any]:
    """The items of a list; none if it is missing."""
    value = value_at(document, path)
    return cast("list[Any]", value) if isinstance(value, list) else []


def new_item(setting: Setting, depth: int) -> dict[str, Any]:
    """What every new item of a list has; what it must have besides is asked for."""
    return {children_name(setting): []} if depth == 1 and children_name(setting) else {}


def moved(document: Document, row: Row, by: int) -> tuple[dict[str, Any], Place] | None:
    """A copy of a document with an item moved among its siblings, and its new place; None at the end of the list."""
    items, path = list(items_at(document, row.path[:-1])), row.path[:-1]
    to = row.at + by
    if not 0 <= to < len(items):
        return None
    items.insert(to, items.pop(row.at))
    return with_value(document, path, items), (*path, to)
