from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.running_service import running_service

from presscheck.config.profile import Profile
from presscheck.engine.engine import Engine
from presscheck.paths import Places
from presscheck.wiring import open_engine


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine on a service of its own, which knows nothing yet."""
    (tmp_path / "service").mkdir()
    home = tmp_path / "home"
    with running_service(tmp_path / "service") as service:
        places = Places(home / "config", home / "cache", home / "state", home / "data")
        opened = open_engine(Profile(base_url=service.base_url, token=service.token), places)
        await opened.start()
        yield opened
        await opened.close()
