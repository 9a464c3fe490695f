"""Tests are skipped only for missing programs of the list in `needs.py`, and skips can be turned into failures."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.needs import PROGRAMS, REQUIRE_ALL, first_of, require
from tests.root import ROOT

TESTS = ROOT / "tests"
SKIPS = ("pytest.skip", "mark.skip", "importorskip", "mark.xfail", "pytest.xfail", "unittest.skip")


def test_tests_are_skipped_only_by_needs() -> None:
    modules = [
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("*.py")
        if any(word in path.read_text("utf-8") for word in SKIPS) and path not in (TESTS / "needs.py", Path(__file__))
    ]
    assert not modules


def test_missing_program_skips_or_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv(REQUIRE_ALL, raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"tmux is not on this machine: .*Debian: tmux"):
        require("tmux")
    monkeypatch.setenv(REQUIRE_ALL, "1")
    with pytest.raises(pytest.fail.Exception, match=rf"tmux is not on this machine.*{REQUIRE_ALL} is set"):
        require("tmux")


def test_missing_programs_are_printed_without_an_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # -S and -I: no packages, as before the first `make env`
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.needs import main; main(sys.argv[1:])"
    monkeypatch.setenv("PATH", "")
    for option, expected in (("", "git is not on this machine"), ("--debian", "git")):
        result = subprocess.run([sys.executable, "-I", "-S", "-c", code, option], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        assert expected in result.stdout


def test_program_outside_path_is_found_by_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
