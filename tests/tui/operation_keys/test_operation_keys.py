"""Each operation of the service's document is sent by keys, or is listed with the reason why not."""

import pkgutil
from importlib import import_module
from pathlib import Path

import pytest
import tests.tui.operation_keys as package
from tests.contract import conftest  # noqa: F401  imports the families of the API, so that every operation is known
from tests.tui.operation_keys.driver import AnyOperation, Family, walk

from presscheck.api.operation import every_operation

NO_FAMILIES = ("driver", "places", "test_operation_keys")
MODULES = [found.name for found in pkgutil.iter_modules(package.__path__) if found.name not in NO_FAMILIES]
FAMILIES: dict[str, Family] = {name: import_module(f"{package.__name__}.{name}").FAMILY for name in MODULES}
MOST_STARTS = 13
"""Maximum number of starts of the app for the whole table: each takes seconds."""


@pytest.fixture(autouse=True)
def _without_waiting(at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Send comments at once, and copy addresses instead of starting a browser, as over SSH."""
    monkeypatch.setenv("SSH_CONNECTION", "elsewhere")


@pytest.mark.slow
@pytest.mark.timeout(600)  # a run has many rows, and the machine may be busy
@pytest.mark.parametrize("name", [name for name in MODULES if FAMILIES[name].rows])
async def test_the_service_receives_each_operation_by_its_keys(name: str, tmp_path: Path) -> None:
    await walk(FAMILIES[name], tmp_path)


def test_every_operation_of_the_document_has_one_row_or_a_reason() -> None:
    in_rows = [operation for family in FAMILIES.values() for row in family.rows for operation in row.operations]
    without = [operation for family in FAMILIES.values() for operation in family.without_keys]
    assert _names(in_rows, times=2) == [], "in several rows"
    assert _names(without, times=2) == [], "named several times as without keys"
    assert [operation.__name__ for operation in without if operation in in_rows] == [], "it has keys"
    document = {operation for operation in every_operation() if operation.in_document()}
    missing = document - {*in_rows, *without}
    assert sorted(operation.__name__ for operation in missing) == [], "neither a row nor a reason"
    assert all(len(reason) > 20 for family in FAMILIES.values() for reason in family.without_keys.values())


def test_the_app_is_started_only_a_few_times() -> None:
    assert sum(bool(family.rows) for family in FAMILIES.values()) <= MOST_STARTS


def _names(operations: list[AnyOperation], *, times: int) -> list[str]:
    return sorted({operation.__name__ for operation in operations if operations.count(operation) >= times})
