"""The licences of presscheck's dependencies: `python -m tests.licences` writes docs/licences.md.

Packages that only development needs are left out: users do not get them.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.root import ROOT

PAGE = ROOT / "docs" / "licences.md"
EXTRAS = ("serve", "integrations", "s3", "socks", "mcp", "jq", "images", "web")
UNDECLARED = {"quickjs-ng": "MIT"}
"""Licences of packages that have a licence file but no metadata about it."""
SHORT = {
    "BSD License": "BSD",
    "MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "GNU General Public License v2 or later (GPLv2+)": "GPL-2.0-or-later",
    "GNU Lesser General Public License v3 or later (LGPLv3+)": "LGPL-3.0-or-later",
}
"""Short names of licences, by their names in classifiers."""
COMPATIBLE = frozenset(
    ("MIT", "MIT-0", "MIT-CMU", "BSD", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Apache-2.0", "PSF-2.0", "MPL-2.0")
) | {"GPL-2.0-or-later", "LGPL-3.0-only", "LGPL-3.0-or-later"}
"""Licences of packages that may be installed with a program under the GPL, version 3 or later."""


def installed_licences() -> dict[str, str]:
    """Return the licences of all packages that presscheck and its extras need on this system, by package."""
    licences: dict[str, str] = {}
    _visit("presscheck", EXTRAS, licences, set())
    del licences["presscheck"]
    return licences


def _visit(name: str, extras: tuple[str, ...], found: dict[str, str], visited: set[tuple[str, str]]) -> None:
    try:
        package = distribution(name)
    except PackageNotFoundError:  # only needed on other systems
        return
    found[canonicalize_name(name)] = _licence_of(name)
    for text in package.requires or ():
        needed = Requirement(text)
        for extra in ("", *extras):
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                key = canonicalize_name(needed.name), ",".join(sorted(needed.extras))
                if key not in visited:
                    visited.add(key)
                    _visit(needed.name, tuple(needed.extras), found, visited)


def _licence_of(name: str) -> str:
    metadata = distribution(name).metadata
    expression = metadata.get("License-Expression")
    classifiers = [line.split(" :: ")[-1] for line in metadata.get_all("Classifier", []) if line.startswith("License")]
    short = [SHORT[line] for line in classifiers if line in SHORT]
    return expression or " OR ".join(short) or metadata.get("License") or UNDECLARED[canonicalize_name(name)]


def is_compatible(licence: str) -> bool:
    """Whether one of the licences between which a user may choose is compatible."""
    return any(all(part in COMPATIBLE for part in choice.split(" AND ")) for choice in licence.split(" OR "))


def listed_licences() -> dict[str, str]:
    """The licences in the page of the manual, by name of the package."""
    rows = [line.split(" | ") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    return {row[0].strip("| `"): row[1].strip("| ") for row in rows}


def main() -> None:
    """Write the rows of the page; packages that only other systems need stay."""
    text = PAGE.read_text("utf-8")
    before, _, _ = text.partition("| package |")
    licences = listed_licences() | installed_licences()
    rows = [f"| `{name}` | {licence} |" for name, licence in sorted(licences.items())]
    PAGE.write_text("\n".join([f"{before}| package | licence |", "|---|---|", *rows]) + "\n", "utf-8")


if __name__ == "__main__":
    main()
