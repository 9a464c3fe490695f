"""Validates nodes against the published description. Variants are selected by a node's type instead of trying all.

A block that the description knows may stand wherever it allows paragraphs: the platform's own repositories have images
in list items, code in hints and tabs in steps, which the description does not allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend
from tests.contract.description import DOCUMENTED, NEWEST, schema_called

__all__ = ["DOCUMENTED", "NEWEST", "faults_of"]


def faults_of(document: Any, release: str = DOCUMENTED) -> list[str]:
    """Return the places where a tree differs from the description."""
    root = _validator(release)
    return [f"{fault.json_path}: {fault.message[:200]}" for fault in root.iter_errors(document)]


@cache
def _validator(release: str) -> Draft202012Validator:
    def referred(validator: Any, name: str, node: Any, schema: Any) -> Iterator[ValidationError]:
        yield from validator.descend(node, schema_called(name, release))

    chosen: dict[tuple[int, str], list[Any]] = {}

    def one_of(validator: Any, variants: list[Any], node: Any, schema: Any) -> Iterator[ValidationError]:
        kinds = _names(node)
        key = id(variants), str(kinds)
        if key not in chosen:
            chosen[key] = [one for one in variants if _may_be(one, kinds, release)]
        fitting = chosen[key]
        if not fitting and _may_be(_ANY_BLOCK, kinds, release) and any(_holds(one, release) for one in variants):
            fitting = [_ANY_BLOCK]
        faults = [list(validator.descend(node, one)) for one in fitting]
        if not faults:
            yield ValidationError(f"{kinds} is not allowed here")
        elif all(faults):
            yield from min(faults, key=len)

    # in the newest release, the two parts of a button's data contradict each other
    words = {"$ref": referred, "oneOf": one_of} | ({"additionalProperties": _anything} if release == NEWEST else {})
    return extend(Draft202012Validator, words)({"$ref": "JSONDocument"})


def _anything(validator: Any, allowed: Any, node: Any, schema: Any) -> Iterator[ValidationError]:
    yield from ()


_ANY_BLOCK = {"$ref": "DocumentBlocksTopLevels"}
_TOLD = ("object", "type", "kind")


def _names(node: Any) -> dict[str, Any]:
    return {name: node[name] for name in _TOLD if isinstance(node, dict) and name in node}


def _may_be(variant: Any, kinds: dict[str, Any], release: str) -> bool:
    """Return True if a variant, or one of its variants, describes nodes of these kinds."""
    schema = schema_called(variant["$ref"], release) if "$ref" in variant else variant
    allowed = {name: schema.get("properties", {}).get(name, {}).get("enum") for name in kinds}
    if any(enum is not None and kinds[name] not in enum for name, enum in allowed.items()):
        return False
    if "oneOf" in schema:
        return any(_may_be(part, kinds, release) for part in schema["oneOf"])
    return all(_may_be(part, kinds, release) for part in schema.get("allOf", ()))


def _holds(variant: Any, release: str) -> bool:
    """Return True if a variant describes paragraphs."""
    return _may_be(variant, {"object": "block", "type": "paragraph"}, release)
