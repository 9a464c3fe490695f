"""The kinds of hostile requests: each marked test has a kind of the list, and each kind has tests."""

import ast
from pathlib import Path

from tests.attack import KINDS, PLACES, Results, column
from tests.root import ROOT


def marked_kinds() -> set[str]:
    files: list[Path] = []
    for place in PLACES:
        files += [ROOT / place] if place.endswith(".py") else (ROOT / place).rglob("*.py")
    texts = [text for file in files if "attack(" in (text := file.read_text("utf-8"))]
    calls = [node for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return {
        node.args[0].value
        for node in calls
        if isinstance(node.func, ast.Attribute)
        and node.func.attr == "attack"
        and isinstance(node.args[0], ast.Constant)
    }


def test_marked_tests_have_all_kinds_of_the_list() -> None:
    assert marked_kinds() == set(KINDS)


def test_database_is_read_from_the_test_id() -> None:
    assert column("a.py::test_b[sqlite-x]") == "SQLite"
    assert column("a.py::test_b[x-postgresql]") == "PostgreSQL"
    assert column("a.py::test_b[postgresql-/service.sqlite]") == "PostgreSQL"
    assert column("a.py::test_sqlite") == column("a.py::test_b[x]") == "without a database"


def test_table_counts_rejected_attacks() -> None:
    results = Results()
    results.ran["bad hosts", "SQLite"], results.held["bad hosts", "SQLite"] = 3, 2
    [line] = [line for line in results.table().splitlines() if line.startswith("bad hosts")]
    assert line.split() == ["bad", "hosts", "2", "of", "3", "held", "-", "-"]
