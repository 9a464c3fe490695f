"""Comparison of JSON values with the schemas of the API description."""

from collections.abc import Iterator
from typing import Any

from tests.contract.description import Described


def faults(schema: Described, value: Any, path: str) -> Iterator[str]:
    """Yield the paths where a required field is missing, or where null is not allowed."""
    if isinstance(value, list):
        items = schema.items()
        for one in value if items else ():
            yield from faults(items, one, path + "[]")
    if not isinstance(value, dict):
        return
    for name in schema.required() - set(value):
        yield f"{path}.{name} is missing"
    properties = schema.properties()
    for name, inner in value.items():
        variants = properties.get(name, [])
        if inner is None and not any(map(may_be_null, variants)):
            yield f"{path}.{name} is null"
        yield from _fewest(variants, inner, f"{path}.{name}")


def _fewest(variants: list[Described], value: Any, path: str) -> list[str]:
    """Return the faults of the variant that the value fits best."""
    fewest: list[str] | None = None
    for variant in variants:
        found = list(faults(variant, value, path))
        if fewest is None or len(found) < len(fewest):
            fewest = found
        if not fewest:
            break
    return fewest or []


def may_be_null(schema: Described) -> bool:
    return any(
        "null" in (part.schema.get("type") or ()) or None in part.schema.get("enum", ()) for part in schema.parts()
    )
