"""Fixtures for the tests of the command line."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.shell import Shell, signed_in
from tests.running_service import RunningService, running_service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service with the sample workspace; the tests of a module change different things."""
    with running_service(tmp_path_factory.mktemp("service"), sample=True) as one:
        yield one


@pytest.fixture
def shell(tmp_path: Path, service: RunningService) -> Shell:
    """A shell that is signed in, with a home of its own."""
    return signed_in(tmp_path / "home", service)
