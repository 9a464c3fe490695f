"""The pinned versions support every Python version of the classifiers, including its first release."""

import tomllib
from importlib.metadata import distributions

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from tests.root import ROOT


def test_pins_support_the_first_release_of_every_python() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    versions = [line.split(" :: ")[-1] for line in project["classifiers"] if "Python :: 3." in line]
    assert versions, "the classifiers name no version"
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    requirements = [Requirement(line) for line in lines if line and not line.startswith("#")]
    pins = {canonicalize_name(pin.name): pin for pin in requirements}
    checked = 0
    for installed in distributions():
        pin = pins.get(canonicalize_name(installed.metadata["Name"]))
        if pin is None or not pin.specifier.contains(installed.version):
            continue
        supported = SpecifierSet(installed.metadata.get("Requires-Python") or "")
        missing = [version for version in versions if not supported.contains(f"{version}.0")]
        assert not missing, f"{pin} supports Python {supported}, not {', '.join(missing)}.0"
        checked += 1
    assert checked > len(pins) / 2, "most pins must be installed here"
