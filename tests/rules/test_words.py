"""Rules for words: user-visible text, docstrings, comments and names of tests use plain English.

`banned_words.txt` lists what user-visible text must not contain, `banned_words_in_code.txt` what docstrings, comments
and names of tests must not contain. All strings that can be shown are checked. One-word strings are left out where they
are compared, looked up or listed as values of a type.
"""

import ast
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.root import ROOT
from tests.rules.sources import MODULES, SOURCE, nodes_of, tree_of
from tests.rules.words import IN_TEXT, Text, any_word, findings, read_words

TEMPLATES = sorted(SOURCE.rglob("*.html"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

NOT_SHOWN = {
    ("engine/drafts.py", "verdict"): "the key of stored drafts, which older versions wrote",
}
"""Strings that are never shown although they look like it: module and text, with the reason."""


IN_CODE = read_words("banned_words_in_code.txt")

_name_of_test = re.compile(r"\s*(?:async )?def (test_\w+)")


def docstrings(tree: ast.Module) -> Iterator[Text]:
    """Yield the docstrings of modules, classes, functions and attributes."""
    for node in nodes_of(tree, ast.Expr):
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield Text(node.lineno, node.value.value)


def comments(path: Path) -> Iterator[Text]:
    """Yield the comments of a module."""
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                yield Text(token.start[0], token.string)


def names_of_tests(source: str) -> Iterator[Text]:
    """Yield the names of test functions, with spaces instead of underscores."""
    for number, line in enumerate(source.splitlines(), 1):
        if match := _name_of_test.match(line):
            yield Text(number, match[1].replace("_", " "))


def values_of_code(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield expressions whose strings are values for code: operands of comparisons, indexes, dict keys and patterns."""
    for node in nodes_of(tree, ast.Subscript):
        yield node.slice
    for node in nodes_of(tree, ast.Compare):
        yield from (node.left, *node.comparators)
    for node in nodes_of(tree, ast.Dict):
        yield from (key for key in node.keys if key)
    for node in nodes_of(tree, ast.MatchValue):
        yield node.value


def shown_strings(tree: ast.Module) -> Iterator[Text]:
    """Yield the strings of a module that can be shown; strings of several words are always included."""
    statements = {id(node.value) for node in nodes_of(tree, ast.Expr)}
    values = {id(constant) for value in values_of_code(tree) for constant in _constants(value)}
    for node in nodes_of(tree, ast.Constant):
        is_string = isinstance(node.value, str) and id(node) not in statements
        if is_string and (" " in node.value or id(node) not in values):
            yield Text(node.lineno, node.value)


def _constants(value: ast.AST) -> Iterator[ast.AST]:
    if isinstance(value, ast.Constant | ast.Name):
        return iter([value])
    return ast.walk(value)


@cache
def strings_of(path: Path) -> tuple[Text, ...]:
    return tuple(shown_strings(tree_of(path)))


@cache
def shown_texts(path: Path) -> tuple[Text, ...]:
    """Return the user-visible texts of a module or a template."""
    if path.suffix == ".html":
        return tuple(Text(number, line) for number, line in enumerate(path.read_text("utf-8").splitlines(), 1))
    name = path.relative_to(SOURCE).as_posix()
    return tuple(text for text in strings_of(path) if (name, text.text) not in NOT_SHOWN)


def banned_in_code(path: Path) -> list[str]:
    """Return a line for each banned word in the docstrings and comments of a module."""
    texts = list(docstrings(tree_of(path)))
    # tokenizing all modules takes three seconds: do it only if a banned word follows a #
    behind = (line[line.index("#") :] for line in path.read_text("utf-8").splitlines() if "#" in line)
    if any(any_word(IN_CODE).search(text) for text in behind):
        texts += comments(path)
    return findings(path, tuple(texts), IN_CODE)


def test_user_visible_text_uses_plain_words() -> None:
    files = (*MODULES, *TEMPLATES)
    lines = [line for path in files for line in findings(path.relative_to(ROOT), shown_texts(path), IN_TEXT)]
    assert not lines, "\n".join(lines)


def test_docstrings_and_comments_use_plain_words() -> None:
    lines = [line for path in MODULES for line in banned_in_code(path)]
    assert not lines, "\n".join(lines)


def test_names_of_tests_use_plain_words() -> None:
    lines = [
        line
        for path in TESTS
        for line in findings(path.relative_to(ROOT), tuple(names_of_tests(path.read_text("utf-8"))), IN_CODE)
    ]
    assert not lines, "\n".join(lines)


def test_strings_that_are_not_shown_exist() -> None:
    strings = {(path.relative_to(SOURCE).as_posix(), text.text) for path in MODULES for text in strings_of(path)}
    assert set(NOT_SHOWN) <= strings


def test_texts_of_the_program_are_found() -> None:
    shown = [text.text for path in MODULES for text in shown_texts(path)]
    assert 10_000 < len(shown) < 50_000
    assert sum(" " in text for text in shown) > 3_000
    assert {
        "The outbox is empty.",
        "Retry a failed change; send one behind it or a draft first",
        "somebody",
        "Merge",
    } <= set(shown)
    assert any("Sign-in required" in text.text for path in TEMPLATES for text in shown_texts(path))
    assert sum(len(list(docstrings(tree_of(path)))) for path in MODULES) > 4_000
    assert sum(len(list(names_of_tests(path.read_text("utf-8")))) for path in TESTS) > 1_000


def test_banned_words_in_shown_strings_are_reported() -> None:
    tree = ast.parse(
        '"""It collides."""\n'
        'message = f"{1} collides with it"\n'
        'title = "collides"\n'
        'if title == "collides" or row["collides"] or title == "it collides":\n'
        '    state = {"collides": "collides"}\n'
    )
    lines = findings(Path("example.py"), tuple(shown_strings(tree)), IN_TEXT)
    assert sorted(lines) == [f"example.py:{line}: 'collides': write 'conflict'" for line in (2, 3, 4, 5)]


def test_banned_words_in_code_are_reported(tmp_path: Path) -> None:
    file = tmp_path / "example.py"
    file.write_text('"""Collides."""\nlimit = 1  # collides\n"""Collides."""\n\n\ndef test_it_collides():\n    ...\n')
    tree = ast.parse(file.read_text())
    texts = (*docstrings(tree), *comments(file), *names_of_tests(file.read_text()))
    assert sorted(text.line for text in texts) == [1, 2, 3, 6]
    assert len(findings(file, texts, IN_CODE)) == 4
    assert len(banned_in_code(file)) == 3
