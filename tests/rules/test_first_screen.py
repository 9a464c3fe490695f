"""Imports at start-up: modules that the first screen or `--version` do not need are not imported."""

import subprocess
import sys

import pytest

LATE = {"httpx", "starlette", "uvicorn", "sqlalchemy", "markdown_it", "merge3", "yaml", "click", "pygments", "asyncio"}
LATE |= {"jinja2", "nh3", "jwt", "tomlkit", "typst", "boto3", "PIL", "textual_image"}

PICTURE = {"platformdirs", "presscheck", "rich", "textual", "typing_extensions"}
"""Packages that the start-up picture can import besides the standard library."""
SCREEN = PICTURE | {"annotated_types", "filelock", "pydantic", "pydantic_core", "typing_inspection"}
"""Packages that the first screen can import."""


def loaded(code: str) -> set[str]:
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint('\\n'.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.partition(".")[0] for name in ran.stdout.split()}


def others(names: set[str]) -> set[str]:
    """The names of modules that are not part of the standard library."""
    known = {*sys.stdlib_module_names, "sitecustomize"}  # Debian's Python brings that one
    return {name for name in names if name.isidentifier() and name not in known and name[0] != "_"}


def test_version_imports_almost_nothing() -> None:
    names = loaded("sys.argv = ['presscheck', '--version']\nfrom presscheck.__main__ import main\nmain()")
    assert not names & LATE
    assert others(names) == {"presscheck"}


@pytest.mark.parametrize("name", sorted(LATE - {"asyncio", "click", "pygments"}))
def test_a_first_screen_does_not_load(name: str) -> None:
    assert name not in loaded(
        "import presscheck.tui.app, presscheck.tui.screens.inbox.screen, presscheck.engine.engine, presscheck.wiring"
    )


def test_a_first_picture_loads_no_api() -> None:
    names = loaded("import presscheck.tui.app, presscheck.wiring, presscheck.store.cache")
    assert not names & (LATE - {"asyncio", "click", "pygments"} | {"pydantic"})
    assert others(names) <= PICTURE


def test_a_first_screen_loads_these_libraries_and_no_other() -> None:
    code = "import presscheck.tui.app, presscheck.tui.screens.inbox.screen, presscheck.engine.engine, presscheck.wiring"
    assert others(loaded(code)) <= SCREEN


def test_a_first_screen_with_a_profile_loads_neither_the_tour_nor_what_is_asked_without_one() -> None:
    code = "import presscheck.tui.app, presscheck.tui.screens.inbox.screen, presscheck.engine.engine, presscheck.wiring"
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint('\\n'.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    late = ("tui.tour", "tui.screens.welcome", "tui.widgets.entry_dialog", "tui.widgets.tour_bar")
    late += ("first_run", "sign_in", "demo")
    names = {f"presscheck.{name}" for name in late}
    assert not [name for name in ran.stdout.split() if name.startswith(tuple(names))]
    assert "presscheck.tui.navigation" in ran.stdout.split()
