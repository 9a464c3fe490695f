"""`make quick` runs the tests of changed packages, including uncommitted changes."""

import subprocess
from pathlib import Path

import pytest
from tests import quick
from tests.root import ROOT
from tests.table import each_case


@each_case(
    ("path", "tests"),
    [
        ("src/presscheck/store/cache.py", ["tests/store"]),
        ("src/presscheck/tui/screens/inbox.tcss", ["tests/tui"]),
        ("src/presscheck/demo.py", ["tests/test_demo.py"]),
        ("tests/store/test_cache.py", ["tests/store"]),
        ("tests/test_demo.py", ["tests/test_demo.py"]),
        ("tests/root.py", []),
        ("themes/ink.toml", ["tests/tui/test_themes.py"]),
        ("LICENSE", []),
    ],
)
def test_tests_of_a_changed_file(path: str, tests: list[str]) -> None:
    assert quick.tests_of(path) == tests


def test_tests_of_other_files_exist() -> None:
    assert [test for tests in quick.READERS.values() for test in tests if not (ROOT / test).exists()] == []


def test_existing_tests_are_run_once_with_the_rules() -> None:
    paths = ["src/presscheck/store/cache.py", "tests/store/test_x.py", "src/presscheck/nothing_like_it/a.py"]
    assert quick.tests_to_run(paths) == ["tests/rules", "tests/store"]


def test_changed_files_are_compared_with_the_merge_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "ROOT", tmp_path)

    def git(*arguments: str) -> None:
        user = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *user, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def commit(name: str) -> None:
        (tmp_path / name).write_text(name)
        git("add", "--all")
        git("commit", "-m", name)

    git("init", "--initial-branch=main")
    commit("first")
    git("switch", "--create", "work")
    commit("committed – here")
    git("switch", "main")
    commit("on main later")
    git("switch", "work")
    (tmp_path / "first").write_text("edited")
    (tmp_path / "new").write_text("new")
    assert sorted(quick.changed_files("main")) == ["committed – here", "first", "new"]
    with pytest.raises(SystemExit, match="no branch nowhere"):
        quick.changed_files("nowhere")
