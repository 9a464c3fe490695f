"""Every installed package is in the list of licences and has a licence compatible with the one of presscheck."""

from __future__ import annotations

from tests.licences import installed_licences, is_compatible, listed_licences
from tests.table import each_case


def test_each_package_is_listed_with_its_licence() -> None:
    listed, installed = listed_licences(), installed_licences()
    assert {"textual", "httpx", "sqlalchemy", "boto3", "mcp", "quickjs-ng"} <= set(installed)
    assert not set(installed) & {"pytest", "ruff", "moto"}
    assert installed == {name: listed.get(name) for name in installed}, "run `make reference`"


def test_each_listed_licence_is_compatible() -> None:
    assert [name for name, licence in listed_licences().items() if not is_compatible(licence)] == []


@each_case(
    ("licence", "fits"),
    [
        ("MIT", True),
        ("Apache-2.0 OR Proprietary", True),
        ("MIT AND Proprietary", False),
        ("GPL-2.0-only", False),
        ("", False),
    ],
)
def test_licence_expression_is_compatible_if_one_alternative_is(licence: str, fits: bool) -> None:
    assert is_compatible(licence) is fits
