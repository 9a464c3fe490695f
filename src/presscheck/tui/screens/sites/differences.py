"""Differences between two configurations of a site as lines: each field with its values before and after."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span

if TYPE_CHECKING:
    from presscheck.engine.site_config.comparison import Difference

STYLES = {"added": "added", "removed": "removed", "changed": ""}
MARKS = {"added": "+ ", "removed": "− ", "changed": "~ "}
"""Styles and marks of changes."""


def plain_value(value: Any) -> str:
    """Format a value as a line of display text: lists as their items, objects as their fields."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(plain_value, cast("Sequence[Any]", value))) or "none"
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        return ", ".join(f"{sanitize(name)}: {plain_value(inner)}" for name, inner in fields.items()) or "none"
    text = value if isinstance(value, str) else "–" if value is None else json.dumps(value, ensure_ascii=False)
    return sanitize(text)


def change_line(name: str, difference: Difference) -> Line:
    """Format a changed field: name, value before, and value after."""
    values = f"{plain_value(difference.site)} → {plain_value(difference.file)}"
    return (Span(f"{sanitize(name)}: ", "quiet"), Span(values, STYLES[difference.change]))


def difference_lines(differences: Iterable[Difference]) -> Iterator[Line]:
    """Yield the changed fields, grouped by part. Added and removed items take a line each."""
    part = ""
    for difference in differences:
        field = difference.field
        if field.part != part:
            yield from [()] if part else []
            part = field.part
            yield (Span(f" {part.replace('_', ' ')}", "title"),)
        name = ": ".join(word for word in (field.item, field.name) if word) or field.part
        mark = Span(f" {MARKS[difference.change]}", STYLES[difference.change])
        if field.name and any(isinstance(one, (list, tuple)) for one in (difference.site, difference.file)):
            yield (mark, Span(f"{sanitize(name)}:", "quiet"))
            for word, style, value in (("before", "removed", difference.site), ("after", "added", difference.file)):
                yield (Span(f"     {word}: ", "quiet"), Span(plain_value(value), style))
        elif field.name:
            yield (mark, *change_line(name, difference))
        else:
            values = [plain_value(one) for one in (difference.site, difference.file) if one is not None]
            yield (mark, Span(sanitize(name), STYLES[difference.change]), Span(f"  {' '.join(values)}", "quiet"))
