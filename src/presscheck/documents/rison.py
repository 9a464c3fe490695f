"""Reads Rison, JSON for URLs: `(key:value)` for objects, `!(a,b)` for lists, and `!t`, `!f`, `!n`.

URLs of previews contain the visitor's claims in this form.
"""

from __future__ import annotations

import json
import re
from typing import Any

DEEPEST = 100
"""Maximum nesting depth of objects and lists."""
CONSTANTS = {"t": True, "f": False, "n": None}

_number = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e-?\d+)?(?=[,:)]|$)", re.ASCII).match
_name = re.compile(r"[^\s'!:(),*@$\d-][^\s'!:(),*@$]*").match
_string = re.compile(r"[^'!]*+(?:!['!][^'!]*+)*'").match


class InvalidRison(ValueError):
    """The text is not Rison."""


def load_rison(text: str) -> Any:
    """Return the value of a Rison text.

    Raises:
        InvalidRison: the text is not Rison, or is nested too deep.
    """
    value, end = _value(text, 0, 0)
    if end != len(text):
        raise InvalidRison(f"unexpected {text[end]!r} at {end}")
    return value


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    """Read the value at a position. Return the value and the position after it.

    Raises:
        InvalidRison: there is no value at the position, or it is nested too deep.
    """
    if depth > DEEPEST:
        raise InvalidRison("nested too deep")
    opening = text[at : at + 1]
    if opening == "(":
        return _object(text, at + 1, depth + 1)
    if opening == "!":
        kind = text[at + 1 : at + 2]
        if kind == "(":
            return _list(text, at + 2, depth + 1)
        if kind in CONSTANTS:
            return CONSTANTS[kind], at + 2
    elif opening == "'" and (string := _string(text, at + 1)):
        return re.sub("!(.)", r"\1", string[0][:-1], flags=re.DOTALL), string.end()
    elif number := _number(text, at):
        return json.loads(number[0]), number.end()
    elif name := _name(text, at):
        return name[0], name.end()
    raise InvalidRison(f"no value at {at}")


def _list(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    values: list[Any] = []
    while text[at : at + 1] != ")":
        value, at = _value(text, _separated(text, at, is_first=not values), depth)
        values.append(value)
    return values, at + 1


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    values: dict[str, Any] = {}
    while text[at : at + 1] != ")":
        at = _separated(text, at, is_first=not values)
        if text[at : at + 1] in ("(", "!"):
            raise InvalidRison(f"not a key at {at}")
        key, at = _value(text, at, depth)
        if text[at : at + 1] != ":":
            raise InvalidRison(f"expected a colon at {at}")
        value, at = _value(text, at + 1, depth)
        values[str(key)] = value
    return values, at + 1


def _separated(text: str, at: int, *, is_first: bool) -> int:
    """Return the position of the next member, after the comma that separates it from the previous member.

    Raises:
        InvalidRison: the comma is missing.
    """
    if is_first:
        return at
    if text[at : at + 1] != ",":
        raise InvalidRison(f"expected a comma at {at}")
    return at + 1
