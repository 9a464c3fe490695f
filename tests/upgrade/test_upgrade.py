"""Files of version 0.1.0 still work: settings, the outbox with drafts and marks, the cache, and a service's data.

`version-0.1.0.tar.xz` was written by that version, driven by keys on the sample workspace. It holds an inbox with a
bookmark, a row marked as done and a filter; and a review with a page marked as viewed, a collected comment, an unsent
comment, a failed comment, and a draft in the composer.
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
"""Arguments that limit extraction to plain files; Python before 3.11.4 has no such filter."""
SPACE, REQUEST, PAGE = "api", "000000000465d389f5e2", "000000000044b227777d"


@dataclass
class Machine:
    """A machine with the files of 0.1.0: a service's data, and a user's home directory."""

    service: RunningService
    home: Path

    @property
    def places(self) -> Places:
        return Places(self.home / "config", self.home / "cache", self.home / "state", self.home / "data")

    def engine(self, **profile: Any) -> Engine:
        return open_engine(Profile(base_url=self.service.base_url, token=self.service.token, **profile), self.places)


def new_token(service: RunningService) -> str:
    """Create a token for the service's owner: the archive does not hold the token of 0.1.0."""
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
    used_machine = Machine(service, tmp_path / "home")
    # file names depend on the service's address, which is new: open the engine once to create them, then replace them
    await used_machine.engine().close()
    for kind in ("cache", "outbox"):
        folder = used_machine.places.cache if kind == "cache" else used_machine.places.state
        (file,) = folder.glob("*.sqlite")
        for old in folder.glob("*.sqlite*"):
            old.unlink()
        (tmp_path / f"{kind}.sqlite").rename(file)
    used_machine.service.start()
    yield used_machine
    used_machine.service.stop()


def test_settings_and_views_are_read(tmp_path: Path) -> None:
    with tarfile.open(STORED) as archive:
        archive.extract("config.toml", tmp_path, **DATA_ONLY)
    profile = load(tmp_path / "config.toml", None)
    assert profile.theme == "paper"
    assert [(view.name, view.query, view.sort_by) for view in read_views(tmp_path / "config.toml")[0]] == [
        ("API by comments", "space:api", "comments")  # fewest first, which was written -comments
    ]
    assert load(tmp_path / "config.toml", "reader").read_only


async def test_waiting_writes_are_sent_and_others_are_kept(machine: Machine) -> None:
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


async def test_drafts_marks_and_filters_are_restored(machine: Machine) -> None:
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


async def test_cache_is_read_offline(machine: Machine) -> None:
    machine.service.stop()
    engine = machine.engine(offline=True)
    answer = engine.known(GetChangeRequest(space_id=SPACE, change_request_id=REQUEST))
    assert answer
    assert answer.value.subject == "Rewrite the auth guide"
    await engine.close()


async def test_service_serves_its_data(machine: Machine) -> None:
    async with Client(machine.service.base_url, machine.service.token) as client:
        page = await client.send(ListOrganizationChangeRequests(organization_id="tallowick", status="open"))
        assert {request.subject for request in page.items} >= {"Rewrite the auth guide", "Limits per workspace"}


async def test_newer_outbox_is_refused_and_unchanged(machine: Machine) -> None:
    """The error has one line."""
    (file,) = machine.places.state.glob("*.sqlite")
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    before = file.read_bytes()
    with pytest.raises(StoreError, match="newer version") as error:
        machine.engine()
    assert "\n" not in str(error.value)
    assert file.read_bytes() == before


def downgrade_to_first_schema(database: sqlite3.Connection) -> None:
    """Convert an outbox back to its first schema, so that opening it migrates it."""
    database.execute("ALTER TABLE writes DROP COLUMN author")
    database.execute("ALTER TABLE writes DROP COLUMN sent_at")
    database.execute("PRAGMA user_version = 1")


async def test_write_of_an_older_version_during_migration_is_sent(machine: Machine) -> None:
    """The older version has the outbox open while the newer one migrates it."""
    (file,) = machine.places.state.glob("*.sqlite")
    with closing(sqlite3.connect(file, isolation_level=None)) as older:
        downgrade_to_first_schema(older)
        name, scope, arguments = older.execute(
            "SELECT name, scope, given FROM writes WHERE state = 'waiting'"
        ).fetchone()
        assert name not in BY_STORED_NAME  # a name that only 0.1.0 used
        engine = machine.engine()
        new_arguments = {**json.loads(arguments), "body": {"markdown": "Written in the older window"}}
        older.execute(
            "INSERT INTO writes (name, version, given, scope, state, created_at) VALUES (?, 1, ?, ?, 'waiting', 0)",
            (name, json.dumps(new_arguments), scope),
        )
        await engine.start()
        async with asyncio.timeout(20):
            while any(row.state not in ("collected", "refused") for row in engine.outbox.rows()):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert older.execute("SELECT count(*) FROM writes").fetchone() == (2,)  # the collected and the refused one
        await engine.close()
    async with Client(machine.service.base_url, machine.service.token) as client:
        listing = ListComments(space_id=SPACE, change_request_id=REQUEST, format="markdown")
        texts = [(comment.body.markdown or "").strip() for comment in (await client.send(listing)).items]
    assert texts.count("Written in the older window") == 1


def open_and_die(file: Path) -> int:
    """Open an outbox in a process that is killed before it commits the migration. Returns the exit code."""
    code = (
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
    return subprocess.run([sys.executable, "-c", code, str(file)], check=False).returncode


@pytest.mark.slow
def test_kill_during_outbox_migration_loses_nothing(tmp_path: Path) -> None:
    with tarfile.open(STORED) as archive:
        archive.extract("outbox.sqlite", tmp_path, **DATA_ONLY)
    file = tmp_path / "outbox.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        written = database.execute("SELECT given FROM writes ORDER BY id").fetchall()
        downgrade_to_first_schema(database)
    assert open_and_die(file) == -9
    outbox = Outbox(file)
    assert len(outbox.rows()) == len(written) == 3
    outbox.close()
