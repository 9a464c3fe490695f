"""A setting as a row: name, value, color swatch with contrast, and problem."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from presscheck.api.site_customization import Announcement, ContentLink, ThemedAddress, ThemedCodeTheme
from presscheck.engine.site_customization.contrast import MODES, contrast_of, normalized
from presscheck.engine.site_customization.rows import items_at
from presscheck.engine.site_customization.setting_forms import font_name
from presscheck.engine.site_customization.settings import (
    CHOICE_WORDS,
    NOT_DRAWN,
    children_name,
    item_model,
    reference_text,
    texts_shown,
    value_at,
)
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.commands import key_for

if TYPE_CHECKING:
    from presscheck.engine.site_customization.contrast import Mode
    from presscheck.engine.site_customization.rows import Row
    from presscheck.engine.site_customization.settings import Document, Setting

NAME_COLUMNS, COLOR_COLUMNS = 26, 24
NOUNS = {"header.links": "link", "footer.groups": "group", "socialAccounts": "account"}
"""Nouns for the items of lists."""
LEVELS = {"AAA": "added", "AA": "added", "fails": "removed"}
SWATCH = 4


def heading_of(*, has_colors: bool, columns: int) -> Line:
    """Return the headings of the columns."""
    names = ("light", "dark") if has_colors else ("value",)
    cells = [*pad((Span("  setting"),), NAME_COLUMNS)]
    for name in names:
        cells += pad((Span(name),), COLOR_COLUMNS)
    return cut(tuple(span._replace(style="quiet") for span in cells), columns)


def row_line(row: Row, document: Document, columns: int, *, is_changed: bool, error: str) -> Line:
    """Draw a row.

    Args:
        row: the setting or item.
        document: the document that contains the setting.
        columns: the width in cells.
        is_changed: whether the user changed the setting or item.
        error: the problem of the setting; empty for none.
    """
    mark = Span("± " if is_changed else "  ", "waiting")
    if row.is_item:
        return cut((mark, *_item(row, document), *_problem(error)), columns)
    name = pad(cut((mark, Span(row.setting.label, "strong")), NAME_COLUMNS - 1), NAME_COLUMNS)
    note = (Span("  not available on the local service", "quiet"),) if row.setting.name in NOT_DRAWN else ()
    return cut((*name, *_problem(error), *setting_value(row.setting, document), *note), columns)


def setting_value(setting: Setting, document: Document) -> Line:
    """Format the value of a setting."""
    value = value_at(document, setting.path)
    if setting.is_list:
        items = items_at(document, setting.path)
        noun = NOUNS.get(setting.name, "item")
        return (Span(f"{count(len(items), noun)}" if items else f"none: {key_for('add')} adds a {noun}", "quiet"),)
    if value is None:
        return (Span("not set", "quiet"),)
    if setting.is_color:
        return tuple(span for mode in MODES for span in pad(_color(setting, document, mode), COLOR_COLUMNS))
    if setting.model in (ThemedAddress, ThemedCodeTheme):
        both = " · ".join(f"{mode} {value_at(value, (mode,))}" for mode in MODES)
        return (Span(sanitize(both)),)
    if setting.model is Announcement:
        shown = "" if value_at(value, ("enabled",)) is True else "not shown: "
        return (Span(sanitize(f"{shown}{value_at(value, ('style',))}: {value_at(value, ('message',))}")),)
    if setting.model is not None:
        return (Span(_object_words(value) or "not set", "" if value else "quiet"),)
    return (Span(sanitize(value_words(value, setting.leaves[0].kind == "reference"))),)


def value_words(value: Any, is_reference: bool = False) -> str:
    """Describe a value, or the target of a link if `is_reference`. The result is untrusted text."""
    if is_reference:
        return reference_text(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return texts_shown(cast("list[Any]", value))
    if isinstance(value, dict):
        plain = cast("dict[str, Any]", value)
        return f"{font_name(plain)} (your own)" if "fontFamily" in plain else json.dumps(plain, ensure_ascii=False)
    return CHOICE_WORDS.get(str(value), str(value))


def _object_words(value: Any) -> str:
    """Join all texts in an object, such as an icon, on a line."""
    if isinstance(value, dict):
        return sanitize(
            " · ".join(filter(None, (_object_words(one) for one in cast("dict[str, Any]", value).values())))
        )
    return "" if value is None else sanitize(value_words(value))


def _color(setting: Setting, document: Document, mode: Mode) -> Line:
    path = (*setting.path, "color", mode) if setting.name == "styling.tint" else (*setting.path, mode)
    text = str(value_at(document, path) or "")
    color, contrast = normalized(text), contrast_of(document, setting, mode)
    if color is None or contrast is None:
        return (Span(sanitize(text) or "not set", "error" if text else "quiet"),)
    level = Span(contrast.level, LEVELS[contrast.level])
    return (Span(" " * SWATCH, f"on{color}"), Span(f" {text} "), Span(f"{contrast.text:>4} ", "quiet"), level)


def _item(row: Row, document: Document) -> Line:
    value: Any = value_at(document, row.path)
    indent = "  " * row.depth
    if "platform" in (value or {}):
        where = [name for name in ("header", "footer") if value_at(value, ("display", name)) is True]
        title, note = value_at(value, ("platform",)), f"{value_at(value, ('handle',))}  {', '.join(where)}"
        return (Span(indent), *pad((Span(sanitize(str(title)), "strong"),), NAME_COLUMNS - 4), Span(sanitize(note)))
    title = sanitize(str(value_at(value, ("title",)) or "")) or "(no title)"
    style = value_at(value, ("style",))
    inside = items_at(document, (*row.path, children_name(row.setting)))
    is_link = item_model(row.setting, row.path) is ContentLink
    notes = [f"→ {reference_text(value_at(value, ('to',)))}"] if value_at(value, ("to",)) else []
    notes += [str(style)] if style and style != "link" else []
    notes += [count(len(inside), "link")] if inside or (not notes and not is_link) else []
    name = pad(cut((Span(indent), Span(title, "" if row.depth > 1 else "strong")), NAME_COLUMNS - 3), NAME_COLUMNS - 2)
    return (*name, Span(sanitize("  ".join(notes)), "quiet"))


def _problem(error: str) -> Line:
    return (Span(f"✗ {sanitize(error)}  ", "error"),) if error else ()
