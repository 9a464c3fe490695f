from collections.abc import AsyncIterator, Iterator

import pytest
from tests.running_service import RunningService, running_service
from tests.service.world import World, plant_world

from presscheck.service.database import Database
from presscheck.service.identity import new_id
from presscheck.service.tables import MemberRow, OrganizationRow


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


@pytest.fixture
def service_owner(service: RunningService) -> str:
    """Somebody who shares no organization with anybody in the world."""
    return service.owner_id


@pytest.fixture
def other_organization(world: World) -> str:
    """A second organization, with the admin of the world in it alone."""
    now = "2026-05-20T09:30:00.000Z"
    row = OrganizationRow(id=new_id(), title="Other", created_at=now)
    database = Database(world.database_url)
    with database.writing.begin() as session:
        session.add(row)
        session.add(MemberRow(organization_id=row.id, user_id=world.users["admin"], role="admin", joined_at=now))
    database.close()
    return row.id
