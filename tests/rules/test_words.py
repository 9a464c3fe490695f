"""Rules for user-visible text: string constants use plain words; `banned_words.txt` lists the odd ones."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.root import ROOT
from tests.rules.test_house import MODULES, room, tree_of

NOT_CLEAN = {"documents", "service"}
"""Packages that still contain odd words. Only take names out of it."""


def banned_words() -> list[tuple[re.Pattern[str], str]]:
    """The pattern of each banned word with the plain word to use instead."""
    lines = (ROOT / "tests" / "rules" / "banned_words.txt").read_text("utf-8").splitlines()
    rows = [line.rsplit("  # ", 1) for line in lines if line and not line.startswith("#")]
    return [(re.compile(pattern, re.IGNORECASE), plain) for pattern, plain in rows]


BANNED = banned_words()


def strings(tree: ast.Module) -> Iterator[ast.Constant]:
    """The string constants of a module, without docstrings and names (no blank in them)."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and " " in node.value
            and id(node) not in docstrings
        ):
            yield node


def odd_words(path: Path, tree: ast.Module) -> list[str]:
    """One line for each banned word in a module, with the plain word to use instead."""
    return [
        f"{path}:{node.lineno}: {match[0]!r}: write {plain!r}"
        for node in strings(tree)
        for pattern, plain in BANNED
        if (match := pattern.search(str(node.value)))
    ]


@pytest.mark.parametrize("package", sorted({room(path) for path in MODULES}))
def test_strings_use_plain_words(package: str) -> None:
    lines = [
        line for path in MODULES if room(path) == package for line in odd_words(path.relative_to(ROOT), tree_of(path))
    ]
    if package in NOT_CLEAN:
        assert lines, f"{package} is clean: take it out of NOT_CLEAN"
    else:
        assert not lines, "\n".join(lines)


def test_packages_that_are_not_clean_exist() -> None:
    assert {room(path) for path in MODULES} >= NOT_CLEAN


def test_an_odd_word_is_found_in_a_string_but_not_in_a_docstring() -> None:
    tree = ast.parse('"""It collides."""\nmessage = f"{1} collides with it"\n')
    assert odd_words(Path("example.py"), tree) == ["example.py:2: 'collides': write 'conflict'"]
