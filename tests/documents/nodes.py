"""Walks node trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in items:
        yield value, name
        yield from places(child)
