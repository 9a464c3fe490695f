"""The clone guard: tests that read files beside the clone fail; system files may be read."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.clone_guard import CloneGuard, OutsideClone
from tests.root import ROOT
from tests.table import each_case

PLANTED = """
import os, tempfile
from pathlib import Path

import pytest

CLONE = Path(__file__).resolve().parent.parent
BESIDE = CLONE.parent / "beside" / "facts.json"


def test_opens():
    BESIDE.read_text()


def test_opens_by_a_relative_path(monkeypatch):
    monkeypatch.chdir(CLONE)
    os.close(os.open("../beside/facts.json", os.O_RDONLY))


def test_lists():
    list(BESIDE.parent.iterdir())


def test_ignores_the_error():
    try:
        BESIDE.read_text()
    except Exception:
        pass


@pytest.fixture
def fixture():
    yield
    BESIDE.read_bytes()


def test_its_fixture_opens(fixture):
    pass


def test_reads_what_it_may(tmp_path):
    (tmp_path / "file").write_text("x")
    (CLONE / "file").write_text("x")
    os.listdir(CLONE)
    Path(os.__file__).read_bytes()
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).read_bytes()
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Create a small repository with this repository's clone guard, and a file beside it."""
    tests = tmp_path / "a clone" / "presscheck" / "tests"
    tests.mkdir(parents=True)
    for name in ("suite_plugin.py", "clone_guard.py", "needs.py", "root.py"):
        shutil.copy(ROOT / "tests" / name, tests)
    (tests / "conftest.py").write_text('pytest_plugins = ("tests.suite_plugin",)\n')
    (tests / "test_planted.py").write_text(PLANTED)
    (tests.parent / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    beside = tmp_path / "a clone" / "beside"
    beside.mkdir()
    (beside / "facts.json").write_text("{}")
    return tests.parent


def run_pytest(clone: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a clone without installed plugins, whose imports take a second."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=clone, env=env, capture_output=True, text=True)


def test_a_test_that_reads_outside_the_clone_fails(clone: Path, tmp_path: Path) -> None:
    result = run_pytest(clone, "--import-mode=importlib", f"--basetemp={tmp_path / 'temporary'}", "-rA")
    summary = result.stdout[result.stdout.index("short test summary") :]
    outcomes = {line.split("::")[1].split(" ")[0]: line.split(" ")[0] for line in summary.splitlines() if "::" in line}
    assert result.returncode == 1, result.stdout + result.stderr
    assert outcomes == {
        "test_opens": "FAILED",
        "test_opens_by_a_relative_path": "FAILED",
        "test_lists": "FAILED",
        "test_ignores_the_error": "FAILED",
        "test_its_fixture_opens": "ERROR",
        "test_reads_what_it_may": "PASSED",
    }
    assert f"open {clone.parent / 'beside' / 'facts.json'}" in result.stdout


def test_a_module_that_reads_outside_the_clone_is_not_collected(clone: Path) -> None:
    module = clone / "tests" / "test_planted.py"
    module.write_text(
        "from pathlib import Path\nDATA = (Path(__file__).parents[2] / 'beside/facts.json').read_text()\n"
    )
    result = run_pytest(clone)
    assert result.returncode == 2, result.stdout + result.stderr
    assert "OutsideClone: beside the clone" in result.stdout


def test_a_module_that_ignores_the_error_fails_the_first_test(clone: Path) -> None:
    module = clone / "tests" / "test_planted.py"
    module.write_text(
        "import os\nfrom contextlib import suppress\nfrom pathlib import Path\nwith suppress(Exception):\n"
        "    os.listdir(Path(__file__).parents[2] / 'beside')\n"
        "def test_nothing(): pass\n"
    )
    result = run_pytest(clone)
    assert result.returncode == 1, result.stdout + result.stderr
    assert f"os.listdir {clone.parent / 'beside'}" in result.stdout


def test_this_session_is_guarded(pytestconfig: pytest.Config) -> None:
    plugin: Any = pytestconfig.pluginmanager.get_plugin("tests.suite_plugin")
    beside = ROOT.parent / "beside"
    # a clone directly below / or in the temporary folder may read the files beside it
    expected = pytest.raises(OutsideClone) if plugin.GUARD.is_outside(beside) else pytest.raises(FileNotFoundError)
    with expected:
        (beside / "facts.json").read_text()
    plugin.GUARD.violations.clear()


def guard(clone: str, *allowed: str, home: str = "/home/ada") -> CloneGuard:
    return CloneGuard(Path(clone), allowed, Path(home), Path("/nowhere"))


@each_case(
    ("path", "is_outside"),
    [
        ("/home/ada/presscheck", False),
        ("/home/ada/presscheck/README.md", False),
        ("/home/ada/presscheck-other/README.md", True),
        ("/home/ada/neighbour", True),
        (b"/home/ada/neighbour/a", True),
        (Path("/home/ada/neighbour/a"), True),
        ("/home/ada/presscheck/../neighbour/a", True),
        ("/home/ada/presscheck/a..b", False),
        ("/home/ada/.cache/pip/a", False),
        ("/home/ada/venvs/presscheck/pyvenv.cfg", False),
        ("/home/ada/venvs/other/pyvenv.cfg", True),
        ("/home/eve/neighbour", False),
        ("/usr/lib/python3/os.py", False),
        (3, False),
        (None, False),
    ],
)
def test_paths_outside_a_clone_in_the_home_folder(path: Any, is_outside: bool) -> None:
    assert guard("/home/ada/presscheck", "/home/ada/venvs/presscheck", "/usr", "").is_outside(path) is is_outside


def test_allowed_parent_does_not_allow_other_folders_in_it() -> None:
    assert guard("/usr/src/presscheck", "/usr").is_outside("/usr/src/neighbour/a")


def test_clone_at_the_root_may_read_system_files() -> None:
    assert not guard("/presscheck").is_outside("/usr/lib/python3/os.py")


def test_older_temporary_files_are_outside(tmp_path: Path) -> None:
    for name in ("presscheck", "neighbour", "pytest-of-ada"):
        (tmp_path / name).mkdir()
    clone_guard = CloneGuard(tmp_path / "presscheck", [str(tmp_path)], tmp_path / "home", tmp_path)
    assert clone_guard.is_outside(str(tmp_path / "neighbour" / "a"))
    assert not clone_guard.is_outside(str(tmp_path / "pytest-of-ada" / "a"))
    assert not clone_guard.is_outside(str(tmp_path / "made-by-a-test"))
    assert not clone_guard.is_outside(str(tmp_path / "presscheck" / "a"))


def test_links_are_followed_to_the_clone_and_its_parent(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    clone_guard = guard(str(tmp_path / "link" / "presscheck"))
    for parent in ("there", "link"):
        assert clone_guard.is_outside(str(tmp_path / parent / "neighbour"))
        assert not clone_guard.is_outside(str(tmp_path / parent / "presscheck" / "a"))


def test_only_reads_are_guarded() -> None:
    clone_guard = guard("/home/ada/presscheck")
    clone_guard.hook("os.remove", ("/home/ada/neighbour",))
    with pytest.raises(OutsideClone, match="/home/ada/neighbour"):
        clone_guard.hook("open", ("/home/ada/neighbour", "r", 0))
