"""All operations, sent by the real client: each returns its declared type, or is not supported."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.api.families import filled
from tests.postgresql import Cluster
from tests.running_service import LOOPBACK, RunningService
from tests.service.call_scripts.change_requests import change_request, talk
from tests.service.call_scripts.content import collections, content, spaces
from tests.service.call_scripts.imports import outside
from tests.service.call_scripts.organizations import people, teams, ways_in
from tests.service.call_scripts.sites import sites
from tests.service.call_scripts.talk import Talk
from tests.web_server import web_server

from presscheck.api.operation import every_operation
from presscheck.api.spaces import GetSpaceGitInfo
from presscheck.client.client import Client
from presscheck.errors import NotFound, NotSupported
from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import new_id, system_clock
from presscheck.service.handlers import all_handlers
from presscheck.service.models.organizations import MemberRow, OrganizationRow, UserRow
from presscheck.service.server.bootstrap import import_docs

NOW = "2026-05-20T09:30:00.000Z"
BOOK = {
    "SUMMARY.md": "# The Lamp Book\n\n* [Home](README.md)\n* [Start](start.md)\n",
    "README.md": "# Home\n\nSee [Start](start.md).\n",
    "start.md": '# Start\n\n![Sky](.gitbook/assets/sky.svg)\n\n{% include ".gitbook/includes/note.md" %}\n',
    ".gitbook/assets/sky.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
    ".gitbook/includes/note.md": "---\ntitle: A note\n---\nMind the step.\n",
}


@pytest.fixture
async def say(tmp_path: Path, postgresql: Cluster) -> AsyncIterator[Talk]:
    """A client of a service on PostgreSQL, the stricter engine; the authorization tests also use SQLite."""
    for name, text in BOOK.items():
        (tmp_path / "book" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "book" / name).write_text(text)
    pages = {"/": "<main><h1>Lamps</h1><a href='/oil/'>Oil</a></main>", "/oil/": "<h1>Oil</h1><p>Burns.</p>"}
    with web_server(pages) as website:
        async for talk in _talk(tmp_path, postgresql.new_database(), website.url):
            yield talk


def _repositories(folder: Path) -> Path:
    subprocess.run(["git", "init", "-q", "--bare", folder / "lamps.git"], check=True)
    return folder


async def _talk(tmp_path: Path, database_url: str, website: str) -> AsyncIterator[Talk]:
    allowed = replace(LOOPBACK, git_root=_repositories(tmp_path / "git"))
    service = RunningService(tmp_path, database_url=database_url, outside=allowed)
    database = Database(service.database_url)
    with database.writing.begin() as session:
        owner = session.get_one(UserRow, service.owner_id)
        assert import_docs(session, system_clock, owner, DiskBlobStore(tmp_path), (tmp_path / "book",)) == []
        home = session.query(OrganizationRow).one()
        elsewhere = OrganizationRow(id=new_id(), title="Other", created_at=NOW)
        member = UserRow(id=new_id(), display_name="Member", email="member@example.org", created_at=NOW)
        session.add_all((elsewhere, member))
        for organization, user, role in ((elsewhere, owner, "admin"), (home, member, "edit")):
            session.add(MemberRow(organization_id=organization.id, user_id=user.id, role=role, joined_at=NOW))
        ids = member.id, elsewhere.id
    database.close()
    service.start()
    async with Client(service.base_url, service.token) as client:
        yield Talk(client, service.owner_id, *ids, website)
    service.stop()


@pytest.mark.slow
async def test_every_operation_returns_its_type_or_is_not_supported(say: Talk) -> None:
    org = await people(say)
    found = await spaces(say, org)
    titles = {(await say("spaces.GetSpace", space_id=one)).title: one for one in found}
    book = titles["The Lamp Book"]
    await content(say, book)
    await change_request(say, org, book)
    await talk(say, {"space_id": book}, "Space")
    await teams(say, org, await collections(say, org), book)
    await ways_in(say, org)
    await sites(say, org, found)
    await outside(say, org, book)
    await say("organizations.RemoveMember", organization_id=org, user_id=say.member)

    with pytest.raises(NotFound, match="has no Git sync"):
        await say("spaces.GetSpaceGitInfo", space_id=book)
    say.answered.add(GetSpaceGitInfo)
    assert say.faults == set(), "deviates from the description"
    assert set(all_handlers()) - say.answered == set(), "has a handler, but no test calls it"
    for operation in set(every_operation()) - say.answered:
        with pytest.raises(NotSupported, match="does not support that"):
            await say.client.send(filled(operation))
    assert len(every_operation()) == 294
