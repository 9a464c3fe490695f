"""Fixtures for the tests of agents."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.agents.agent_client import ShellBeside
from tests.cli.shell import signed_in
from tests.running_service import RunningService


@pytest.fixture
def service_defaults() -> Mapping[str, Any]:
    """A service with the sample workspace for each module."""
    return {"sample": True, "shared": True}


@pytest.fixture
def shell(tmp_path: Path, service: RunningService) -> ShellBeside:
    """A signed-in shell with its own home directory."""
    return ShellBeside(tmp_path / "home", signed_in(tmp_path, service).env)
