"""What a start loads: the modules that a first picture and a version do not need stay out."""

import subprocess
import sys

import pytest

LATE = {"httpx", "starlette", "uvicorn", "sqlalchemy", "markdown_it", "merge3", "yaml", "click", "pygments", "asyncio"}


def loaded(code: str) -> set[str]:
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint('\\n'.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.partition(".")[0] for name in ran.stdout.split()}


def test_the_version_loads_next_to_nothing() -> None:
    names = loaded("sys.argv = ['presscheck', '--version']\nfrom presscheck.__main__ import main\nmain()")
    assert not names & (LATE | {"pydantic", "textual", "rich"})


@pytest.mark.parametrize("name", sorted(LATE - {"asyncio", "click", "pygments"}))
def test_a_first_screen_does_not_load(name: str) -> None:
    assert name not in loaded(
        "import presscheck.tui.app, presscheck.tui.screens.inbox, presscheck.desk.desk, presscheck.wiring"
    )


def test_a_first_picture_loads_no_api() -> None:
    names = loaded("import presscheck.tui.app, presscheck.wiring, presscheck.store.cache")
    assert not names & (LATE - {"asyncio", "click", "pygments"} | {"pydantic"})
