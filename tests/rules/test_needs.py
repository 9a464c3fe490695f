"""Every skipped test names a missing program of the list, and skips can be made failures."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.needs import PROGRAMS, REQUIRE_ALL, first_of
from tests.root import ROOT

TESTS = ROOT / "tests"
SKIPS = ("pytest.skip", "mark.skip", "importorskip", "mark.xfail", "pytest.xfail", "unittest.skip")
NEEDY = """
import pytest
from tests.needs import require


@pytest.mark.needs("chromium")
def test_marked():
    pass


@pytest.fixture
def postgresql():
    return require("postgresql")


def test_with_a_fixture(postgresql):
    pass
"""


def test_every_skip_goes_through_the_list() -> None:
    strays = [
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("*.py")
        if any(word in path.read_text("utf-8") for word in SKIPS) and path not in (TESTS / "needs.py", Path(__file__))
    ]
    assert not strays


def needy(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run tests with a need on a machine that has no programs."""
    tests = tmp_path / "tests"
    tests.mkdir()
    for name in ("suite_plugin.py", "clone_guard.py", "needs.py", "root.py"):
        (tests / name).write_text((TESTS / name).read_text("utf-8").replace('Path("/")', f"Path({str(tmp_path)!r})"))
    (tests / "conftest.py").write_text('pytest_plugins = ("tests.suite_plugin",)\n')
    (tests / "test_needy.py").write_text(NEEDY)
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    environment = {**os.environ, "PATH": "", REQUIRE_ALL: "", **environment}
    command = [sys.executable, "-m", "pytest", "-q", "-rsf", "-p", "no:cacheprovider", "--import-mode=importlib"]
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_a_test_is_skipped_where_its_program_is_missing(tmp_path: Path) -> None:
    ran = needy(tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert "2 skipped" in ran.stdout
    assert "Debian: chromium" in ran.stdout and "Debian: postgresql" in ran.stdout


@pytest.mark.slow
def test_it_fails_where_all_are_required(tmp_path: Path) -> None:
    ran = needy(tmp_path, **{REQUIRE_ALL: "1"})
    assert ran.returncode == 1
    assert "skipped" not in ran.stdout
    assert "chromium is not on this machine" in ran.stdout


def test_missing_programs_are_printed_without_an_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # -S and -I: no packages, as before the first `make env`
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.needs import main; main(sys.argv[1:])"
    monkeypatch.setenv("PATH", "")
    for option, expected in (("", "git is not on this machine"), ("--debian", "git")):
        ran = subprocess.run([sys.executable, "-I", "-S", "-c", code, option], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        assert expected in ran.stdout


def test_a_program_off_path_is_found_by_a_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    programs = [tmp_path / version / "bin" / "initdb" for version in ("15", "17")]
    for program in programs:
        program.parent.mkdir(parents=True)
        program.write_text("")
    pattern = str(tmp_path.relative_to("/") / "*" / "bin" / "initdb")
    assert first_of(["initdb"], pattern) is None
    for program in programs:
        program.chmod(0o755)
    assert first_of(["initdb"], pattern) == programs[-1]


def test_each_program_names_its_packages() -> None:
    for name, program in PROGRAMS.items():
        assert name == program.name
        assert program.debian and program.fedora and program.macos and program.needed_by
