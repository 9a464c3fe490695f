"""Fixtures for the tests of the engine."""

import time
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.engine.live_engine import running_engine
from tests.running_service import RunningService

from presscheck.engine.engine import Engine


@pytest.fixture
def service_defaults() -> Mapping[str, Any]:
    """Start each test with its own service, without sample content."""
    return {}


@pytest.fixture
async def engine(service: RunningService, tmp_path: Path) -> AsyncIterator[Engine]:
    """Start an engine with empty stores on the service of the test."""
    async with running_engine(service, tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def berlin() -> Iterator[None]:
    """Set the time zone to that of Berlin, where the clocks change on the last Sundays of March and October."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        yield
    time.tzset()
