"""What version 0.1.0 left on disk still works: settings, the outbox with drafts and marks, the cache, a service's data.

`version-0.1.0.tar.xz` was written by that version, driven by keys on the sample workspace: an inbox with a bookmark, a
row that is done and a filter; a review with a page marked as viewed, a pending comment, a comment that waited to be
sent, one that the service refused, and a draft in the composer.
"""

import asyncio
import json
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, shown, until
from textual.widgets import TextArea

from presscheck.api.change_requests import GetChangeRequest, ListOrganizationChangeRequests
from presscheck.api.comments import ListComments
from presscheck.api.operation import BY_STORED_NAME
from presscheck.client.client import Client
from presscheck.config.profile import Profile, load
from presscheck.config.validation import read_views
from presscheck.engine.engine import Engine
from presscheck.errors import StoreError
from presscheck.paths import Places
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import system_clock
from presscheck.service.server.api_tokens import create_token
from presscheck.store.outbox import Outbox
from presscheck.tui.places import Place
from presscheck.wiring import open_engine

STORED = Path(__file__).with_name("version-0.1.0.tar.xz")
DATA_ONLY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
"""The argument that makes an archive extract nothing but data; Python before 3.11.4 has none."""
SPACE, REQUEST, PAGE = "api", "000000000465d389f5e2", "000000000044b227777d"


@dataclass
class Machine:
    """A machine on which 0.1.0 was used until now: the service's data, and one person's files."""

    service: RunningService
    home: Path

    @property
    def places(self) -> Places:
        return Places(self.home / "config", self.home / "cache", self.home / "state", self.home / "data")

    def engine(self, **profile: Any) -> Engine:
        return open_engine(Profile(base_url=self.service.base_url, token=self.service.token, **profile), self.places)


def new_token(service: RunningService) -> str:
    """A token for the owner: the one that 0.1.0 gave out is not in the archive."""
    database = Database(service.database_url)
    with closing(database), database.writing.begin() as session:
        return create_token(session, system_clock, service.owner_id, None, None)


@pytest.fixture
async def machine(tmp_path: Path):
    with tarfile.open(STORED) as archive:
        archive.extractall(tmp_path, **DATA_ONLY)
    (tmp_path / "service").mkdir()
    (tmp_path / "service.sqlite").rename(tmp_path / "service" / "service.sqlite")
    service = RunningService(tmp_path / "service")
    service.token = new_token(service)
    found = Machine(service, tmp_path / "home")
    # the files are named after the service's address, which is new: see under which names they are looked for
    await found.engine().close()
    for kind in ("cache", "outbox"):
        folder = found.places.cache if kind == "cache" else found.places.state
        (file,) = folder.glob("*.sqlite")
        for old in folder.glob("*.sqlite*"):
            old.unlink()
        (tmp_path / f"{kind}.sqlite").rename(file)
    found.service.start()
    yield found
    found.service.stop()


def test_its_settings_and_views_are_read(tmp_path: Path) -> None:
    with tarfile.open(STORED) as archive:
        archive.extract("config.toml", tmp_path, **DATA_ONLY)
    profile = load(tmp_path / "config.toml", None)
    assert profile.theme == "paper"
    assert [(view.name, view.query, view.sort_by) for view in read_views(tmp_path / "config.toml")[0]] == [
        ("API by comments", "space:api", "comments")  # fewest first, which was written -comments
    ]
    assert load(tmp_path / "config.toml", "reader").read_only


async def test_its_outbox_is_sent_and_what_must_not_be_sent_is_kept(machine: Machine) -> None:
    engine = machine.engine()
    before = {row.given["body"]["markdown"]: row.state for row in engine.outbox.rows()}
    assert before == {
        "Collected by 0.1.0": "collected",
        "Waiting from 0.1.0": "waiting",
        "Refused in 0.1.0": "refused",
    }
    await engine.start()
    async with Client(machine.service.base_url, machine.service.token) as client:
        async with asyncio.timeout(20):
            while any(row.state not in ("collected", "refused") for row in engine.outbox.rows()):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        listing = ListComments(space_id=SPACE, change_request_id=REQUEST, format="markdown")
        texts = [(comment.body.markdown or "").strip() for comment in (await client.send(listing)).items]
    assert texts.count("Waiting from 0.1.0") == 1
    assert "Collected by 0.1.0" not in texts
    after = {row.given["body"]["markdown"]: row.state for row in engine.outbox.rows()}
    assert after == {"Collected by 0.1.0": "collected", "Refused in 0.1.0": "refused"}
    assert engine.viewed(REQUEST).keys() == {PAGE}
    await engine.close()


async def test_its_drafts_marks_and_filters_are_in_their_places(machine: Machine) -> None:
    app = app_on(machine.service, machine.home)
    async with running(app) as pilot:
        await until(pilot, shows="★")
        assert "What to write afterwards" not in shown(app)  # done
        assert cast("Any", app.engine).outbox.recall("filter all-open") == "sort:comments"  # fewest first
        await app.go(Place.review(SPACE, REQUEST))
        await until(pilot, shows="1 in your review")
        await until(pilot, shows="☑ Scopes")
        await pilot.press("C")
        await until(pilot, holds=lambda: isinstance(app.focused, TextArea))
        assert cast("TextArea", app.focused).text == "A draft of 0.1.0 that"


async def test_its_cache_is_read_without_a_connection(machine: Machine) -> None:
    machine.service.stop()
    engine = machine.engine(offline=True)
    found = engine.known(GetChangeRequest(space_id=SPACE, change_request_id=REQUEST))
    assert found
    assert found.value.subject == "Rewrite the auth guide"
    await engine.close()


async def test_its_service_goes_on_with_its_data(machine: Machine) -> None:
    async with Client(machine.service.base_url, machine.service.token) as client:
        page = await client.send(ListOrganizationChangeRequests(organization_id="tallowick", status="open"))
        assert {request.subject for request in page.items} >= {"Rewrite the auth guide", "Limits per workspace"}


async def test_an_outbox_of_a_newer_version_is_refused_in_one_line_and_kept(machine: Machine) -> None:
    """An older program on a newer store changes nothing, and says what to do."""
    (file,) = machine.places.state.glob("*.sqlite")
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    before = file.read_bytes()
    with pytest.raises(StoreError, match="newer version") as refused:
        machine.engine()
    assert "\n" not in str(refused.value)
    assert file.read_bytes() == before


def as_in_the_first_schema(database: sqlite3.Connection) -> None:
    """Give an outbox its first schema again, so that there is something to migrate."""
    database.execute("ALTER TABLE writes DROP COLUMN author")
    database.execute("ALTER TABLE writes DROP COLUMN sent_at")
    database.execute("PRAGMA user_version = 1")


async def test_what_an_older_window_writes_meanwhile_is_sent(machine: Machine) -> None:
    """Two versions on one store: the older one has the outbox open while the newer one migrates it."""
    (file,) = machine.places.state.glob("*.sqlite")
    with closing(sqlite3.connect(file, isolation_level=None)) as older:
        as_in_the_first_schema(older)
        name, scope, given = older.execute("SELECT name, scope, given FROM writes WHERE state = 'waiting'").fetchone()
        assert name not in BY_STORED_NAME  # it is named as 0.1.0 named it
        engine = machine.engine()
        written = {**json.loads(given), "body": {"markdown": "Written in the older window"}}
        older.execute(
            "INSERT INTO writes (name, version, given, scope, state, created_at) VALUES (?, 1, ?, ?, 'waiting', 0)",
            (name, json.dumps(written), scope),
        )
        await engine.start()
        async with asyncio.timeout(20):
            while any(row.state not in ("collected", "refused") for row in engine.outbox.rows()):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert older.execute("SELECT count(*) FROM writes").fetchone() == (2,)  # collected, and refused
        await engine.close()
    async with Client(machine.service.base_url, machine.service.token) as client:
        listing = ListComments(space_id=SPACE, change_request_id=REQUEST, format="markdown")
        texts = [(comment.body.markdown or "").strip() for comment in (await client.send(listing)).items]
    assert texts.count("Written in the older window") == 1


def open_and_die(file: Path) -> int:
    """Open an outbox in a process that is killed before the migration is committed; its exit code."""
    killed = (
        "import os, signal, sqlite3, sys\n"
        "from pathlib import Path\n"
        "from presscheck.store.outbox import Outbox\n"
        "class Killed(sqlite3.Connection):\n"
        "    def execute(self, statement, *more):\n"
        "        if statement == 'COMMIT': os.kill(os.getpid(), signal.SIGKILL)\n"
        "        return super().execute(statement, *more)\n"
        "connect = sqlite3.connect\n"
        "sqlite3.connect = lambda *a, **k: connect(*a, factory=Killed, **k)\n"
        "Outbox(Path(sys.argv[1]))\n"
    )
    return subprocess.run([sys.executable, "-c", killed, str(file)], check=False).returncode


@pytest.mark.slow
def test_a_kill_while_the_outbox_is_migrated_loses_nothing(tmp_path: Path) -> None:
    with tarfile.open(STORED) as archive:
        archive.extract("outbox.sqlite", tmp_path, **DATA_ONLY)
    file = tmp_path / "outbox.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        written = database.execute("SELECT given FROM writes ORDER BY id").fetchall()
        as_in_the_first_schema(database)
    assert open_and_die(file) == -9
    outbox = Outbox(file)
    assert len(outbox.rows()) == len(written) == 3
    outbox.close()
