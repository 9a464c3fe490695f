"""The packages that pyproject.toml declares, their dependencies, and environments with some of them."""

from __future__ import annotations

import tomllib
import venv
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.root import ROOT


@cache
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def declared(extra: str | None = None) -> list[Requirement]:
    """Return the packages of an extra for this system, without the extras that it includes.

    Without an extra, return the packages of a light install.
    """
    return [requirement for requirement in _declared(extra) if not requirement.marker or requirement.marker.evaluate()]


def of_other_systems() -> set[str]:
    """Return the names of packages that a light install needs only on other systems."""
    return names(_declared(None)) - names(declared())


def _declared(extra: str | None) -> list[Requirement]:
    lines = project()["optional-dependencies"][extra] if extra else project()["dependencies"]
    requirements = [Requirement(line) for line in lines]
    return [requirement for requirement in requirements if requirement.name != project()["name"]]


def names(requirements: Sequence[Requirement]) -> set[str]:
    """Return the normalized names of packages."""
    return {canonicalize_name(requirement.name) for requirement in requirements}


@cache
def installed() -> dict[str, Distribution]:
    """Return the installed packages by normalized name."""
    return {canonicalize_name(package.metadata["Name"]): package for package in distributions()}


def entries(package: Distribution) -> set[str]:
    """Return the top-level files and folders of a package in site-packages."""
    tops = {file.parts[0] for file in package.files or ()}
    return tops - {"..", "__pycache__"}


@cache
def packages_by_module() -> dict[str, set[str]]:
    """Return the packages that contain each top-level module.

    `importlib.metadata.packages_distributions` does not see an extension module beside the packages on Python 3.11.
    """
    packages: dict[str, set[str]] = {}
    for name, package in installed().items():
        for entry in entries(package):
            packages.setdefault(entry.partition(".")[0], set()).add(name)
    return packages


def with_their_own(requirements: Sequence[Requirement]) -> dict[str, Distribution]:
    """Return packages and all their dependencies on this system, by normalized name."""
    packages: dict[str, Distribution] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    queue = [*requirements]
    while queue:
        requirement = queue.pop()
        name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        packages[name] = installed()[name]
        queue += _needed_by(packages[name], extras)
    return packages


def _needed_by(package: Distribution, extras: frozenset[str]) -> Iterator[Requirement]:
    for line in package.requires or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def make_environment(folder: Path, packages: dict[str, Distribution]) -> Path:
    """Create an environment with this checkout and links to the packages. Returns its interpreter."""
    venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
    (site,) = folder.glob("lib/python3.*/site-packages")
    for package in packages.values():
        for entry in entries(package):
            link = site / entry
            if not link.is_symlink():  # several packages may share a folder, for example jaraco
                link.symlink_to(Path(str(package.locate_file(entry))))
    (site / "presscheck.pth").write_text(f"{ROOT / 'src'}\n", "utf-8")
    return folder / "bin" / "python"
