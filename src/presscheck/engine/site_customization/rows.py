"""The rows of the customization form: settings, and the items of each list as a tree below it."""

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
    """A row of the form: a setting, or an item of a list.

    Attributes:
        setting: the setting; for an item, the setting of its list.
        path: the path in the document.
        depth: 0 for a setting, 1 for an item, 2 for a link in an item.
    """

    setting: Setting
    path: Place
    depth: int = 0

    @property
    def name(self) -> str:
        """The path as text."""
        return path_name(self.path)

    @property
    def is_item(self) -> bool:
        """Whether the row is an item of a list."""
        return self.depth > 0

    @property
    def at(self) -> int:
        """The index of an item in its list."""
        return cast("int", self.path[-1])


def rows_of(document: Document, group: Group) -> tuple[Row, ...]:
    """Return the rows of a group: single settings first, then lists with their items."""
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
    """Return the items of a list; empty if the list is missing."""
    value = value_at(document, path)
    return cast("list[Any]", value) if isinstance(value, list) else []


def new_item(setting: Setting, depth: int) -> dict[str, Any]:
    """Return a new item of a list, without the values that the user has to enter."""
    return {children_name(setting): []} if depth == 1 and children_name(setting) else {}


def moved(document: Document, row: Row, by: int) -> tuple[dict[str, Any], Place] | None:
    """Move an item by a number of positions among its siblings.

    Returns:
        A copy of the document and the new path of the item, or None if the item would leave the list.
    """
    items, path = list(items_at(document, row.path[:-1])), row.path[:-1]
    to = row.at + by
    if not 0 <= to < len(items):
        return None
    items.insert(to, items.pop(row.at))
    return with_value(document, path, items), (*path, to)
