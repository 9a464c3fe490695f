from collections.abc import AsyncIterator, Iterator

import pytest
from tests.running_service import RunningService, running_service
from tests.service.world import World, plant_world


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """One real service for all tests of this room; each plants an organization of its own."""
    with running_service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture
async def world(service: RunningService) -> AsyncIterator[World]:
    planted = plant_world(service.database_url, service.base_url)
    yield planted
    for client in planted.clients.values():
        await client.aclose()
