"""Fixtures for the tests of the command line."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import Shell, signed_in
from tests.running_service import RunningService


@pytest.fixture
def service_defaults() -> Mapping[str, Any]:
    """A service with the sample workspace for each module; the tests of a module change different parts of it."""
    return {"sample": True, "shared": True}


@pytest.fixture
def shell(tmp_path: Path, service: RunningService) -> Shell:
    """A signed-in shell with its own home directory."""
    return signed_in(tmp_path / "home", service)
