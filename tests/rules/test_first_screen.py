"""Imports at start-up: `--version`, the start-up picture and the first screen import only what they need."""

import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.counts import compare
from tests.table import each_case

LATE = {"httpx", "starlette", "uvicorn", "sqlalchemy", "markdown_it", "merge3", "yaml", "click", "pygments", "asyncio"}
LATE |= {"jinja2", "nh3", "latex2mathml", "jwt", "tomlkit", "typst", "boto3", "PIL", "textual_image"}

PICTURE = {"platformdirs", "presscheck", "rich", "textual", "typing_extensions"}
"""Packages that the start-up picture may import besides the standard library."""
SCREEN = PICTURE | {"annotated_types", "filelock", "pydantic", "pydantic_core", "typing_inspection"}
"""Packages that the first screen may import."""


SCREEN_CODE = (
    "import presscheck.tui.app, presscheck.tui.screens.inbox.screen, presscheck.engine.engine, presscheck.wiring"
)
VERSION_CODE = "sys.argv = ['presscheck', '--version']\nfrom presscheck.__main__ import main\nmain()"
PICTURE_CODE = "import presscheck.tui.app, presscheck.wiring, presscheck.store.cache"
SPACES_CODE = "import presscheck.cli.main, presscheck.cli.space.commands"
SERVE_CODE = "import presscheck.cli.serve, presscheck.service.server.server, presscheck.service.app"


@cache
def modules(code: str, *arguments: str) -> frozenset[str]:
    """Run a program and return the names of the modules that it imported."""
    result = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint('\\n'.join(sys.modules))", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return frozenset(result.stdout.split())


def loaded(code: str) -> set[str]:
    return {name.partition(".")[0] for name in modules(code)}


def others(names: set[str]) -> set[str]:
    """Return the names that are not part of the standard library."""
    standard = {*sys.stdlib_module_names, "sitecustomize"}  # sitecustomize is part of Debian's Python
    return {name for name in names if name.isidentifier() and name not in standard and name[0] != "_"}


def test_version_imports_almost_nothing() -> None:
    names = loaded(VERSION_CODE)
    assert not names & LATE
    assert others(names) == {"presscheck"}


@each_case("name", sorted(LATE - {"asyncio", "click", "pygments"}))
def test_first_screen_does_not_import(name: str) -> None:
    assert name not in loaded(SCREEN_CODE)


def test_start_up_picture_imports_no_api() -> None:
    names = loaded(PICTURE_CODE)
    assert not names & (LATE - {"asyncio", "click", "pygments"} | {"pydantic"})
    assert others(names) <= PICTURE


def test_first_screen_imports_only_its_libraries() -> None:
    assert others(loaded(SCREEN_CODE)) <= SCREEN


def test_first_screen_with_a_profile_imports_no_first_run_dialogs() -> None:
    late = ("tui.tour", "tui.screens.welcome", "tui.widgets.entry_dialog", "tui.widgets.tour_bar")
    late += ("first_run", "sign_in", "demo")
    names = {f"presscheck.{name}" for name in late}
    assert not [name for name in modules(SCREEN_CODE) if name.startswith(tuple(names))]
    assert "presscheck.tui.navigation" in modules(SCREEN_CODE)


def test_first_screen_imports_no_project_settings() -> None:
    late = {"presscheck.config.project", "presscheck.config.trust", "presscheck.documents.merge.conflict_blocks"}
    assert not late & modules(SCREEN_CODE)


def test_space_commands_import_no_other_models_and_no_screens() -> None:
    names = {name.removeprefix("presscheck.") for name in modules(SPACES_CODE)}
    families = {name.removeprefix("api.") for name in names if name.startswith("api.")}
    shared = {"former_operation_names", "languages", "operation", "roles", "search_results", "shell_command"}
    assert families == shared | {"organizations", "spaces", "users"}
    late = ("documents.", "tui.", "engine.review.", "engine.inbox.views", "engine.inbox.activity_poller")
    assert not [name for name in names if name.startswith(late)]


def test_number_of_imported_modules_does_not_grow() -> None:
    """Modules of the standard library are not counted: they differ between versions of Python."""
    programs = {"--version": VERSION_CODE, "first picture": PICTURE_CODE, "first screen": SCREEN_CODE}
    programs |= {"serve": SERVE_CODE, "space list": SPACES_CODE}
    counts = dict[str, int]()
    for name, code in programs.items():
        packages = others(loaded(code))
        counts[name] = sum(module.partition(".")[0] in packages for module in modules(code))
    compare("modules imported", counts, tolerance=0.02)


def test_modules_for_writes_are_imported_in_advance(tmp_path: Path) -> None:
    """They are imported after the first screen and in a thread, so that no key waits for them."""
    late = {f"presscheck.engine.writes.{name}" for name in ("effects", "inverses", "overlays")}
    assert not late & modules(SCREEN_CODE)
    prepared = (
        "import asyncio, threading\nfrom pathlib import Path\n"
        "from presscheck.config.profile import Profile\nfrom presscheck.paths import Places\n"
        "from presscheck.wiring import open_engine\n"
        "class Watched:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        is_main = threading.current_thread() is threading.main_thread()\n"
        "        assert not is_main or 'engine.writes' not in name, name\n"
        "async def main():\n"
        "    places = Places(*(Path(sys.argv[1]) / name for name in ('config', 'cache', 'state', 'data')))\n"
        "    engine = open_engine(Profile(base_url='http://127.0.0.1:9', token='t'), places)\n"
        "    sys.meta_path.insert(0, Watched())\n"
        "    engine.prepare_writes()\n"
        "    await asyncio.get_running_loop().shutdown_default_executor()\n    await engine.close()\n"
        "asyncio.run(main())\n"
    )
    assert late <= modules(prepared, str(tmp_path))
