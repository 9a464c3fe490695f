"""Regular expressions take linear time on hostile text: catastrophic backtracking would block all other requests."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from itertools import islice, product
from typing import Any

import pytest
from tests.rules.patterns import Expression, expressions
from tests.table import each_case

LENGTH = 20_000
"""Number of characters of each text."""
LIMIT = 0.05
"""Maximum processor time for a text, in seconds."""
REPEATED = (
    *" \t\n#[]<>*_`\"'()1aé。-|=:.{}%\\/$~!", "a ", "a\n", " \n", "{%", "{% a ", "<a ", "<a", "<!--", "a=", 'a="', "> ",
    "- ", "](", "[a]:", "<summary>", "<figure>", "<table>", "http://", "a.", "a-", "a:", "*a", "`a", "{}",
)  # fmt: skip
OPENINGS = (
    "", "# a", "[", "](", "(", "<", "<a ", "<summary>", "<pre><code>", "{%", "{% a ", "{% if ", "$$", '"', "`",
    "mailto:",     "a", "1",
)  # fmt: skip
ENDS = ("", "b")
SOME = int(os.environ.get("PRESSCHECK_KINDS", "53"))
"""Each expression is tried with every n-th text: the 53rd by default, all of them (1) in `make attack`."""
STEPS = ((20, LIMIT / 10), (200, LIMIT / 10), (2000, LIMIT / 100))
"""Lengths of shorter texts, and the time above which longer ones are tried: exponential expressions would not end."""


def seconds(call: Callable[[str], Any], text: str, enough: float) -> float:
    """Return the processor time of a call: the lower of two, unless the first is clearly below or above the limit."""
    best = float("inf")
    for _ in range(2):
        start = time.thread_time()
        call(text)
        best = min(best, time.thread_time() - start)
        if best < enough or best > 20 * enough:
            break
    return best


def slow_text(call: Callable[[str], Any], first: int = 0, step: int = 1) -> str | None:
    """Return a hostile text for which the call takes too long, or None. Tries every `step`-th text from `first` on."""
    for opening, repeated, end in islice(product(OPENINGS, REPEATED, ENDS), first % step, None, step):
        if is_slow(call, lambda length: opening + repeated * (length // len(repeated)) + end):  # noqa: B023
            return f"{opening}{repeated}{repeated}…{end}"
    return None


def is_slow(call: Callable[[str], Any], text: Callable[[int], str]) -> bool:
    """Return True if the call takes too long for a text of `LENGTH` characters."""
    for length, suspicious in STEPS:
        if seconds(call, text(length), suspicious) > suspicious:
            return length < STEPS[-1][0] or seconds(call, text(LENGTH), LIMIT) > LIMIT
    return False


def calls(expression: Expression) -> list[Callable[[str], Any]]:
    pattern = expression.pattern
    functions: list[Callable[[str], Any]] = []
    for method in expression.methods:
        if method in ("sub", "subn"):
            functions.append(lambda text, pattern=pattern: pattern.sub("", text))
        elif method == "finditer":
            functions.append(lambda text, pattern=pattern: list(pattern.finditer(text)))
        else:
            functions.append(getattr(pattern, method))
    return functions


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_expression_takes_linear_time() -> None:
    slow: list[str] = []
    checked: set[tuple[Any, ...]] = set()
    for expression in expressions():
        if isinstance(expression.pattern.pattern, bytes) or (expression.pattern, expression.methods) in checked:
            continue
        checked.add((expression.pattern, expression.methods))
        for call in calls(expression):
            text = slow_text(call, len(checked), SOME)
            if text is not None:
                slow.append(
                    f"{expression.place} {expression.pattern.pattern!r}: {text[:12]!r}… of {len(text)} characters"
                )
                break
    assert not slow, "\n".join(slow)
    assert len(checked) > 150, "all expressions must be found"


@pytest.mark.slow
@each_case("pattern", [r"\s*\n\s*", r"(a+)+$"])
def test_slow_expressions_are_reported(pattern: str) -> None:
    assert slow_text(re.compile(pattern).search) is not None


def test_only_single_characters_are_repeated_possessively() -> None:
    # Python before 3.11.5 matches possessive groups that can backtrack wrongly, and skips text
    places = [
        f"{expression.place} {expression.pattern.pattern!r}"
        for expression in expressions()
        if isinstance(expression.pattern.pattern, str) and _has_possessive_group(expression.pattern.pattern)
    ]
    assert not places, "\n".join(places)
    assert _has_possessive_group(r"a(?:b|c)*+d")
    assert _has_possessive_group(r"(?>ab|a)c")
    assert not _has_possessive_group(r"[)+]*+\)++(?:b|c)*d")


def _has_possessive_group(pattern: str) -> bool:
    outside = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", pattern, flags=re.DOTALL)  # not in a class, not escaped
    return re.search(r"\)(?:[*+?]|\{\d*,?\d*\})\+|\(\?>", outside) is not None
