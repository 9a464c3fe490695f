"""The files, functions, tests and known survivors of the settings of `make mutants` exist."""

import tomllib

from tests import mutants
from tests.root import ROOT
from tests.table import each_case


@each_case("group", mutants.GROUPS.values())
def test_files_and_functions_exist(group: mutants.Group) -> None:
    files = mutants.files_of(group)
    assert len(files) >= len(group.sources)
    assert [test for test in group.tests if not (ROOT / "tests" / test).exists()] == []
    assert all((ROOT / file).is_file() for file in files)
    functions = [mutants.functions(file, frozenset((name,))) for file in files for name in group.only]
    assert all(functions)


def test_lines_of_known_survivors_are_in_the_source() -> None:
    survivors = tomllib.loads(mutants.REASONS.read_text("utf-8")).get("survivor", [])
    for entry in survivors:
        lines = (ROOT / mutants.SOURCE / entry["file"]).read_text("utf-8").splitlines()
        assert entry["line"] in [line.strip() for line in lines], f"no longer in {entry['file']}: {entry['line']}"
        assert len(entry["reason"]) > 20
        assert entry["line"] not in entry.get("becomes", [])


def test_statements_contain_their_nested_statements_in_order() -> None:
    file = f"{mutants.SOURCE}/service/permissions.py"
    lines = (ROOT / file).read_text("utf-8").splitlines()
    start = next(number for number, line in enumerate(lines, 1) if line.startswith("def require_unlocked"))
    assert range(start, start + 1) in mutants.statements(file)
    inside = [statement for statement in mutants.statements(file) if statement.start > start][:3]
    assert all(len(statement) >= 1 for statement in inside)
    assert mutants.changed_lines("a\nb\n", "a\nc\n") == ("-b", "+c")
