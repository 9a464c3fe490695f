"""Evaluates visitor conditions, such as `visitor.claims.plan == "pro" && visitor.claims.beta`.

An invalid condition is false for everyone, so that a typo does not publish restricted content.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|(?P<number>-?\d+(?:\.\d+)?)"
    r"|(?P<sign>\|\||&&|[!=]==?|!|\?\.|[\[\](),.])|(?P<word>[A-Za-z_$][\w$-]*))"
)
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "undefined": None}
LONGEST = 1024
"""Most characters of a condition."""


class _Unreadable(Exception):
    pass


def holds(condition: str | None, claims: dict[str, Any]) -> bool:
    """Whether a condition is true for these claims; an empty one is."""
    if not condition or not condition.strip():
        return True
    try:
        return len(condition) <= LONGEST and _truth(_Reading(condition, claims).whole())
    except (_Unreadable, RecursionError):
        return False


def _truth(value: Any) -> bool:
    return value is not None and value is not False and value != 0 and value != ""


class _Reading:
    """Recursive descent parser that evaluates a condition in one pass."""

    def __init__(self, text: str, claims: dict[str, Any]) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._names: dict[str, Any] = {"visitor": {"claims": claims}}

    def whole(self) -> Any:
        value = self._either()
        if self._at < len(self._tokens):
            raise _Unreadable
        return value

    def _next(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def _take(self, *signs: str) -> str:
        """Consumes the next token if it is one of these; else returns nothing."""
        token = self._next()[1]
        if self._next()[0] in ("sign", "word") and token in signs:
            self._at += 1
            return token
        return ""

    def _demand(self, sign: str) -> None:
        if not self._take(sign):
            raise _Unreadable

    def _either(self) -> Any:
        value = self._both()
        while self._take("||"):
            other = self._both()
            value = value if _truth(value) else other
        return value

    def _both(self) -> Any:
        value = self._comparison()
        while self._take("&&"):
            other = self._comparison()
            value = other if _truth(value) else value
        return value

    def _comparison(self) -> Any:
        left = self._operand()
        sign = self._take("==", "===", "!=", "!==", "in")
        if not sign:
            return left
        right = self._operand()
        if sign == "in":
            return _has(right, left)
        is_same = type(left) is type(right) and left == right
        return is_same is (sign[0] == "=")

    def _operand(self) -> Any:
        if self._take("!"):
            return not _truth(self._operand())
        if self._take("("):
            value = self._either()
            self._demand(")")
            return value
        if self._take("["):
            return self._items()
        kind, found = self._next()
        self._at += 1
        if kind == "text":
            return _unquoted(found)
        if kind == "number":
            return float(found)
        if kind == "word":
            return _WORDS[found] if found in _WORDS else self._parts(self._names.get(found))
        raise _Unreadable

    def _items(self) -> list[Any]:
        items: list[Any] = []
        while not self._take("]"):
            items.append(self._operand())
            if not self._take(",") and self._next()[1] != "]":
                raise _Unreadable
        return items

    def _parts(self, value: Any) -> Any:
        """Resolves a path of attribute names."""
        while sign := self._take(".", "?.", "["):
            kind, name = self._next()
            self._at += 1
            if sign == "[":
                self._demand("]")
            if kind not in ("word", "text"):
                raise _Unreadable
            name = _unquoted(name) if kind == "text" else name
            if name == "includes" and self._take("("):
                value = _has(value, self._operand())
                self._demand(")")
            else:
                value = _number(cast("dict[str, Any]", value).get(name)) if isinstance(value, dict) else None
        return value


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    at, text = 0, text.rstrip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or token.lastgroup is None:
            raise _Unreadable
        tokens.append((token.lastgroup, token[token.lastgroup]))
        at = token.end()
    return tokens


def _has(whole: Any, part: Any) -> bool:
    if isinstance(whole, str):
        return isinstance(part, str) and part in whole
    return isinstance(whole, list) and part in [_number(item) for item in cast("list[Any]", whole)]


def _number(value: Any) -> Any:
    """A whole number as a float, because a condition has only those; one that is too large stays, equal to none."""
    try:
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
    except OverflowError:
        return value


def _unquoted(text: str) -> str:
    if text[0] == '"':
        try:
            return str(json.loads(text))
        except ValueError:
            raise _Unreadable from None
    return re.sub(r"\\(.)", r"\1", text[1:-1])
