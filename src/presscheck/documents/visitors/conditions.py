"""Evaluates visitor conditions, such as `visitor.claims.plan == "pro" && visitor.claims.beta`.

On a published site, an invalid condition is false for everyone (`holds`), so that a typo does not publish restricted
content. Previews report the reason instead (`judge`), because another service may support more syntax.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any, NamedTuple, cast

_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|(?P<number>-?\d+(?:\.\d+)?)"
    r"|(?P<sign>\|\||&&|[!=]==?|!|\?\.|[\[\](),.])|(?P<word>[A-Za-z_$][\w$-]*))"
)
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "undefined": None}
LONGEST = 1024
"""Maximum number of characters of a condition."""


Path = tuple[str, ...]
"""The names that lead to a claim, such as `("address", "country")`."""


class _Unreadable(Exception):
    """The condition cannot be evaluated; the message is the reason."""


class Verdict(NamedTuple):
    """Whether a visitor meets a condition, or None with a reason if that is unknown."""

    holds: bool | None
    reason: str = ""


def holds(condition: str | None, claims: dict[str, Any]) -> bool:
    """Return whether claims meet a condition. An empty condition is always met, an invalid one never."""
    try:
        return _evaluated(condition, claims)[0]
    except _Unreadable:
        return False


def judge(condition: str | None, claims: dict[str, Any], known: Collection[Path] | None = None) -> Verdict:
    """Return whether a visitor meets a condition, or the reason why that is unknown.

    Args:
        condition: the condition; an empty condition is met.
        claims: the claims of the visitor.
        known: the claims of the schema, or None if the schema is unknown.
    """
    try:
        is_met, paths, names = _evaluated(condition, claims)
    except _Unreadable as problem:
        return Verdict(None, str(problem))
    for name in names:
        return Verdict(None, f"“{name}” is not known: conditions are about visitor.claims")
    for path in paths:
        if known is not None and path not in known and not _is_given(path, claims):
            return Verdict(None, f"the schema has no claim “{'.'.join(path)}”")
    return Verdict(is_met)


def claim_paths(condition: str) -> tuple[Path, ...]:
    """Return the claims in a condition without duplicates; empty if the condition is invalid."""
    try:
        return _evaluated(condition, {})[1]
    except _Unreadable:
        return ()


def problem_of(condition: str) -> str:
    """Return why a condition is invalid, or an empty string."""
    return judge(condition, {}).reason


def _evaluated(condition: str | None, claims: dict[str, Any]) -> tuple[bool, tuple[Path, ...], tuple[str, ...]]:
    """Return whether a condition is met, the claims in the condition, and the unknown names in the condition.

    Raises:
        _Unreadable: the condition is malformed, too long or nested too deep.
    """
    if not condition or not condition.strip():
        return True, (), ()
    if len(condition) > LONGEST:
        raise _Unreadable(f"the condition is longer than {LONGEST:,} characters")
    try:
        parser = _Parser(condition, claims)
        is_met = _truth(parser.whole())
    except RecursionError:
        raise _Unreadable("the condition is nested too deep") from None
    return is_met, tuple(dict.fromkeys(parser.paths)), tuple(dict.fromkeys(parser.unknown))


def _is_given(path: Path, claims: dict[str, Any]) -> bool:
    value: Any = claims
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return False
        value = cast("dict[str, Any]", value)[name]
    return True


def _truth(value: Any) -> bool:
    return value is not None and value is not False and value != 0 and value != ""


class _Parser:
    """A recursive descent parser that evaluates a condition in one pass."""

    def __init__(self, text: str, claims: dict[str, Any]) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._names: dict[str, Any] = {"visitor": {"claims": claims}}
        self.paths: list[Path] = []
        """The claims in the condition."""
        self.unknown: list[str] = []
        """The unknown names in the condition."""

    def whole(self) -> Any:
        value = self._either()
        if self._at < len(self._tokens):
            raise self._unreadable()
        return value

    def _unreadable(self) -> _Unreadable:
        kind, text = self._next()
        return _Unreadable("the condition ends too early" if kind == "end" else f"“{text}” is not understood there")

    def _next(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def _take(self, *signs: str) -> str:
        """Consume the next token if it is one of these signs or words; otherwise return an empty string."""
        token = self._next()[1]
        if self._next()[0] in ("sign", "word") and token in signs:
            self._at += 1
            return token
        return ""

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise self._unreadable()

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
            return _contains(right, left)
        is_same = type(left) is type(right) and left == right
        return is_same is (sign[0] == "=")

    def _operand(self) -> Any:
        if self._take("!"):
            return not _truth(self._operand())
        if self._take("("):
            value = self._either()
            self._expect(")")
            return value
        if self._take("["):
            return self._items()
        kind, token = self._next()
        if kind not in ("text", "number", "word"):
            raise self._unreadable()
        self._at += 1
        if kind == "text":
            return _unquoted(token)
        if kind == "number":
            return float(token)
        if token in _WORDS:
            return _WORDS[token]
        if token not in self._names:
            self.unknown.append(token)
        return self._parts(token, self._names.get(token))

    def _items(self) -> list[Any]:
        items: list[Any] = []
        while not self._take("]"):
            items.append(self._operand())
            if not self._take(",") and self._next()[1] != "]":
                raise self._unreadable()
        return items

    def _parts(self, first: str, value: Any) -> Any:
        """Follow a path of attribute names from `value`, the value of the name `first`. Return the value at its end."""
        path: list[str] = [first]
        while sign := self._take(".", "?.", "["):
            kind, name = self._next()
            if kind not in ("word", "text"):
                raise self._unreadable()
            self._at += 1
            if sign == "[":
                self._expect("]")
            name = _unquoted(name) if kind == "text" else name
            if name == "includes" and self._take("("):
                value = _contains(value, self._operand())
                self._expect(")")
                self._note(path)
                path = []  # any further names belong to the result
            else:
                path.append(name)
                value = _number(cast("dict[str, Any]", value).get(name)) if isinstance(value, dict) else None
        self._note(path)
        return value

    def _note(self, path: list[str]) -> None:
        """Record the claim at a path. Other attributes of the visitor are recorded as unknown names."""
        if path[:2] == ["visitor", "claims"]:
            self.paths += [tuple(path[2:])] if path[2:] else []
        elif path[:1] == ["visitor"]:  # such as visitor.plan, or the visitor alone
            self.unknown.append(".".join(path[:2]))


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    at, text = 0, text.rstrip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or token.lastgroup is None:
            raise _Unreadable(f"“{text[at:].split()[0][:20]}” is not understood there")
        tokens.append((token.lastgroup, token[token.lastgroup]))
        at = token.end()
    return tokens


def _contains(whole: Any, part: Any) -> bool:
    if isinstance(whole, str):
        return isinstance(part, str) and part in whole
    return isinstance(whole, list) and part in [_number(item) for item in cast("list[Any]", whole)]


def _number(value: Any) -> Any:
    """Return integers as floats, the only numbers in conditions. Integers that are too large are unchanged."""
    try:
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
    except OverflowError:
        return value


def _unquoted(text: str) -> str:
    if text[0] == '"':
        try:
            return str(json.loads(text))
        except ValueError:
            raise _Unreadable(f"{text} is not a text") from None
    return re.sub(r"\\(.)", r"\1", text[1:-1])
