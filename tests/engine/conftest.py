"""Fixtures for the tests of the engine."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.engine.live_engine import running_engine
from tests.running_service import RunningService

from presscheck.engine.engine import Engine


@pytest.fixture
def service_defaults() -> Mapping[str, Any]:
    """An empty service of its own for each test."""
    return {}


@pytest.fixture
async def engine(service: RunningService, tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine with empty files, on the service of the test."""
    async with running_engine(service, tmp_path / "home") as opened:
        yield opened
