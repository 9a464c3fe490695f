"""Rules for dependencies: pyproject.toml declares what the modules import, and a light install stays light."""

from pathlib import Path

from packaging.requirements import Requirement
from tests.installation import declared, names, of_other_systems, packages_by_module, project, with_their_own
from tests.rules.dependencies import imported
from tests.rules.sources import SOURCE
from tests.rules.structure import imports
from tests.table import each_case

from presscheck.extras import EXTRAS

LOADED_BY_NAME = {
    "psycopg": "SQLAlchemy loads it for the URL of a PostgreSQL database",
    "sniffio": "httpcore asks it for the event loop, and without it searches the import path for it in each request",
    "socksio": "httpcore loads it for a SOCKS proxy",
    "jq": "the option --jq loads it",
    "_quickjs": "the process of a script loads it before it gives up its rights",
}
"""Modules that no import statement names, with the reason."""
IMPORTERS = {"wiring", "cli.serve"}
"""The modules outside of the service that import it, all inside functions."""
LARGEST = 80 << 20
"""Bytes of a light install on disk, without pip and setuptools; `make release` measures one, and has its own limit."""
BYTECODE = 1.25
"""Bytes that pip compiles a byte of a module to: 36 MB of bytecode and 29 MB of modules were installed."""
BLOCK = 4096
"""Bytes that a file takes at least, as `du` counts."""


def allowed(extra: str | None) -> set[str]:
    """The packages that modules of an extra can import."""
    own = {
        None: (),
        "images": ("images",),
        "mcp": ("mcp",),
        "serve": ("serve",),
        "s3": ("serve", "s3"),
        "web": ("web",),
    }[extra]
    return names(declared()).union(*(names(declared(name)) for name in own))


def packages_of(modules: set[str]) -> set[str]:
    return set[str]().union(*(packages_by_module()[module] for module in modules))


@each_case("extra", [None, "images", "mcp", "serve", "s3", "web"])
def test_each_import_is_declared_where_it_belongs(extra: str | None) -> None:
    modules = imported(extra) - of_other_systems()
    assert len(modules) > 1
    assert {module for module in modules if not packages_by_module()[module] & allowed(extra)} == set()


def test_a_light_install_brings_no_package_that_nothing_imports() -> None:
    assert names(declared()) - packages_of(imported(None) - of_other_systems() | {*LOADED_BY_NAME}) == set()


@each_case("extra", sorted(EXTRAS))
def test_an_extra_is_checked_by_the_modules_of_its_packages(extra: str) -> None:
    packages = names(declared(extra))
    used = set[str]().union(*map(imported, ("serve", "s3", "images", "mcp", "web")), LOADED_BY_NAME)
    assert {module for module in used if packages_by_module()[module] & packages} == set(EXTRAS[extra].modules)
    assert packages - packages_of(set(EXTRAS[extra].modules)) == set(), "packages that nothing imports"
    assert list(EXTRAS[extra].modules) == sorted(EXTRAS[extra].modules)


@each_case(
    ("extra", "others"),
    [
        ("serve", set[str]()),
        ("integrations", {"serve"}),
        ("s3", {"serve"}),
        ("images", set[str]()),
        ("socks", set[str]()),
        ("jq", set[str]()),
        ("mcp", set[str]()),
        ("web", set[str]()),
        ("dev", {"serve", "integrations", "s3", "images", "socks", "jq", "mcp", "web", "docs"}),
    ],
)
def test_an_extra_includes_those_that_it_needs(extra: str, others: set[str]) -> None:
    lines = map(Requirement, project()["optional-dependencies"][extra])
    assert {name for line in lines if line.name == project()["name"] for name in line.extras} == others


def test_only_the_commands_of_the_service_import_it() -> None:
    outside = {
        module
        for module, targets in imports().items()
        if module.partition(".")[0] != "service" and any(target.partition(".")[0] == "service" for target in targets)
    }
    assert outside == IMPORTERS


def test_a_light_install_is_small() -> None:
    packages = with_their_own(declared()).values()
    files = [Path(str(file.locate())) for package in packages for file in package.files or () if file.parts[0] != ".."]
    paths = [path for path in [*files, *SOURCE.rglob("*")] if path.is_file() and path.suffix != ".pyc"]
    sizes = {path: -(-path.stat().st_size // BLOCK) * BLOCK for path in paths}
    size = sum(size * (1 + BYTECODE if path.suffix == ".py" else 1) for path, size in sizes.items())
    assert size < LARGEST, f"{size / (1 << 20):.1f} MB: see which package grew"
