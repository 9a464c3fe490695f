from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.engine.live_engine import running_engine
from tests.running_service import running_service

from presscheck.engine.engine import Engine


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine with empty files, on a service of its own."""
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service") as service:
        async with running_engine(service, tmp_path / "home") as opened:
            yield opened
