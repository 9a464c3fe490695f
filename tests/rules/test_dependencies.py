"""Rules for dependencies: pyproject.toml declares all imported libraries, and a light install stays small."""

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
"""Modules that are loaded without an import statement, and the reason."""
IMPORTERS = {"wiring", "cli.serve"}
"""Modules outside the service that import it, all inside functions."""
LARGEST = 80 << 20
"""Maximum size in bytes of a light install on disk, without pip and setuptools; `make release` has its own limit."""
BYTECODE = 1.25
"""Size of a module's bytecode relative to its source: 29 MB of modules were compiled to 36 MB of bytecode."""
BLOCK = 4096
"""File system block size in bytes: `du` rounds the sizes of files up to it."""


def allowed(extra: str | None) -> set[str]:
    """Return the packages that the modules of an extra may import."""
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
def test_every_import_is_declared_in_its_extra(extra: str | None) -> None:
    modules = imported(extra) - of_other_systems()
    assert len(modules) > 1
    assert {module for module in modules if not packages_by_module()[module] & allowed(extra)} == set()


def test_light_install_has_no_unused_package() -> None:
    assert names(declared()) - packages_of(imported(None) - of_other_systems() | {*LOADED_BY_NAME}) == set()


@each_case("extra", sorted(EXTRAS))
def test_availability_check_of_an_extra_covers_its_packages(extra: str) -> None:
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
def test_extras_include_the_extras_that_they_need(extra: str, others: set[str]) -> None:
    lines = map(Requirement, project()["optional-dependencies"][extra])
    assert {name for line in lines if line.name == project()["name"] for name in line.extras} == others


def test_only_service_commands_import_the_service() -> None:
    outside = {
        module
        for module, targets in imports().items()
        if module.partition(".")[0] != "service" and any(target.partition(".")[0] == "service" for target in targets)
    }
    assert outside == IMPORTERS


def test_light_install_stays_within_its_size_limit() -> None:
    packages = with_their_own(declared()).values()
    files = [Path(str(file.locate())) for package in packages for file in package.files or () if file.parts[0] != ".."]
    paths = [path for path in [*files, *SOURCE.rglob("*")] if path.is_file() and path.suffix != ".pyc"]
    sizes = {path: -(-path.stat().st_size // BLOCK) * BLOCK for path in paths}
    size = sum(size * (1 + BYTECODE if path.suffix == ".py" else 1) for path, size in sizes.items())
    assert size < LARGEST, f"{size / (1 << 20):.1f} MB: see which package grew"
