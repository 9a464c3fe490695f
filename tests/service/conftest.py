"""Fixtures of the service tests."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.needs import require
from tests.postgresql import Cluster, cluster
from tests.running_service import RunningService, running_service
from tests.service.browser import Browser
from tests.service.engines import BOTH, NAMES, new_database, on_second_engine
from tests.service.factories import World, plant_world

from presscheck.service.db.engine import Database
from presscheck.service.db.ids import new_id
from presscheck.service.models.organizations import MemberRow, OrganizationRow


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the PostgreSQL variants of tests as slow; deselect those without the marker `engines` unless BOTH is set."""
    second = on_second_engine([item.nodeid for item in items])
    chosen, left = list[pytest.Item](), list[pytest.Item]()
    for item in items:
        if item.nodeid in second:
            item.add_marker("slow")
            is_left = not os.environ.get(BOTH) and not item.get_closest_marker("engines")
            (left if is_left else chosen).append(item)
        else:
            chosen.append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = chosen


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Cluster]:
    """A PostgreSQL cluster, if PostgreSQL is installed."""
    require("postgresql")
    with cluster() as running:
        yield running


@pytest.fixture(scope="session")
def running_chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser for all tests of this package; `chromium` opens an empty tab for each test."""
    browser = Browser(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


@pytest.fixture
def chromium(running_chromium: Browser) -> Browser:
    """A browser with an empty tab that runs scripts."""
    running_chromium.renew()
    return running_chromium


@pytest.fixture
def chromium_without_scripts(running_chromium: Browser) -> Browser:
    """A browser with an empty tab and scripts disabled."""
    running_chromium.renew(runs_scripts=False)
    return running_chromium


@pytest.fixture(scope="session", params=NAMES)
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """One real service per engine for all tests of this package; each test creates its own organization."""
    with running_service(tmp_path_factory.mktemp("service"), database_url=new_database(request)) as running:
        yield running


@pytest.fixture(params=NAMES)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, for each engine."""
    return new_database(request) or f"sqlite:///{tmp_path / 'empty.sqlite'}"


@pytest.fixture(params=NAMES)
def own_database(request: pytest.FixtureRequest) -> str | None:
    """The URL of an empty PostgreSQL database, or None for SQLite in the data directory."""
    return new_database(request)


@pytest.fixture
async def world(service: RunningService) -> AsyncIterator[World]:
    planted = plant_world(service.database_url, service.base_url)
    yield planted
    for client in planted.clients.values():
        await client.aclose()


@pytest.fixture
def other_organization(world: World) -> str:
    """The id of a second organization, whose only member is the admin of the world."""
    now = "2026-05-20T09:30:00.000Z"
    row = OrganizationRow(id=new_id(), title="Other", created_at=now)
    database = Database(world.database_url)
    with database.writing.begin() as session:
        session.add(row)
        session.add(MemberRow(organization_id=row.id, user_id=world.users["admin"], role="admin", joined_at=now))
    database.close()
    return row.id
