"""Responses in the cache equal those of a new read: after any commit, of any process, at any time.

Readers make 400 reads times `PRESSCHECK_CASES` while others write; `make stale` makes 100,000.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
import mmap
import os
import re
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from sqlalchemy import Connection, Engine, event, select, text
from sqlalchemy.exc import DBAPIError
from starlette.types import Receive, Scope, Send
from tests.postgresql import Cluster
from tests.root import ROOT
from tests.running_service import RunningService, running_service
from tests.service.engines import NAMES, new_database
from tests.service.factories import World, plant_world
from tests.service.populated_service import furnish
from tests.service.read_paths import read_paths, timed

from presscheck.service.db.bounded_cache import CacheSizes
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import hash_token, moment_text, system_clock
from presscheck.service.db.version import Version, current_version
from presscheck.service.http.middleware import ORIGIN, AnswerCache, slot_of
from presscheck.service.jobs.worker import HOUSEKEEPING
from presscheck.service.models.jobs import JobRow
from presscheck.service.models.organizations import TokenRow
from presscheck.service.models.spaces import SpaceRow

READS = 400 * int(os.environ.get("PRESSCHECK_CASES", "1"))
EVERY = 1 if "PRESSCHECK_CASES" in os.environ else 3
"""One of this many reads of the API is repeated."""
PAUSE = 0.04
"""Seconds between two writes of one writer."""
OTHER_SOURCES = re.compile(
    r"datetime\.now|\btime\.(?!monotonic)\w+\(|system_clock|os\.\w+|\brandom\.|\bopen\("
    r"|read_text|read_bytes|subprocess|global "
)
"""Code whose results change while the database does not."""
ANOTHER_PROCESS = """
import mmap, struct, sys, time
database, board, space, pause = sys.argv[1:]
change = "UPDATE spaces SET title = ? WHERE id = ?"
if database.startswith("sqlite"):
    import sqlite3
    connection = sqlite3.connect(database.removeprefix("sqlite:///"), isolation_level=None, timeout=60)
    connection.execute("PRAGMA synchronous=OFF")
else:
    import psycopg
    connection, change = psycopg.connect(database, autocommit=True), change.replace("?", "%s")
with open(board, "r+b") as file, mmap.mmap(file.fileno(), 24) as shared:
    number = 0
    while not struct.unpack_from("q", shared, 16)[0]:
        number += 1
        struct.pack_into("q", shared, 0, number)
        connection.execute(change, (str(number), space))
        struct.pack_into("q", shared, 8, number)
        time.sleep(0.05)
"""


@pytest.fixture(scope="module", params=NAMES)
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that has finished its first housekeeping job, which writes to the database."""
    directory, url = tmp_path_factory.mktemp("service"), new_database(request)
    with running_service(directory, database_url=url) as running, closing(Database(running.database_url)) as own:
        for _ in range(1000):
            with own.snapshot() as session:
                job = session.get(JobRow, HOUSEKEEPING)
                if job and job.state == "waiting" and job.run_at > moment_text(system_clock()):
                    break
            time.sleep(0.02)
        yield running


@pytest.fixture
def world(service: RunningService) -> World:
    return plant_world(service.database_url, service.base_url)


@contextmanager
def counted_callers() -> Generator[list[str]]:
    """Record the statements that look up the caller of a request; cached responses do not need them."""
    statements: list[str] = []

    def note(*details: Any) -> None:
        if re.search(r"\bFROM users(?:, | JOIN )tokens\b", details[2]):
            statements.append(details[2])

    event.listen(Engine, "before_cursor_execute", note)
    yield statements
    event.remove(Engine, "before_cursor_execute", note)


class Counter:
    """A number that a writer increments: `begun` before a write is sent, `done` when it is acknowledged."""

    def __init__(self) -> None:
        self.begun = self.done = 0


class CountOfAnotherProcess:
    """A counter in memory shared with another process."""

    def __init__(self, shared: mmap.mmap) -> None:
        self._shared = shared

    @property
    def begun(self) -> int:
        return struct.unpack_from("q", self._shared, 0)[0]

    @property
    def done(self) -> int:
        return struct.unpack_from("q", self._shared, 8)[0]


class Talk:
    """A connection to the service."""

    def __init__(self, world: World, role: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(world.base_url).netloc, timeout=60)
        self._headers = {"authorization": f"Bearer {world.tokens[role]}"}
        self._known: dict[str, tuple[str, Any]] = {}

    def get(self, path: str, *, conditional: bool = False) -> Any:
        """Return the JSON of a read; `conditional` sends `If-None-Match`, and 304 returns the previous JSON."""
        tag, before = self._known.get(path, ("", None))
        headers = self._headers | ({"if-none-match": tag} if conditional and tag else {})
        self._connection.request("GET", path, headers=headers)
        response = self._connection.getresponse()
        body = response.read()
        if response.status == 304:
            assert response.headers["etag"] == tag and not body
            return before
        assert response.status == 200, body
        self._known[path] = (response.headers["etag"] or "", json.loads(body))
        return self._known[path][1]

    def send(self, method: str, path: str, body: Any) -> Any:
        self._connection.request(method, path, json.dumps(body), {**self._headers, "content-type": "application/json"})
        response = self._connection.getresponse()
        found = response.read()
        assert response.status in (200, 201), found
        return json.loads(found)

    def close(self) -> None:
        self._connection.close()


Shown = tuple[Counter | CountOfAnotherProcess, str, Callable[[Any], str]]
"""A counter, the path of a read that contains its number, and a function that gets the number from the JSON."""


class Race:
    """Concurrent writers and readers; the first failure ends all of them."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.failures: list[BaseException] = []
        self.threads: list[threading.Thread] = []

    def start(self, work: Callable[[], None]) -> threading.Thread:
        def run() -> None:
            try:
                work()
            except BaseException as error:
                self.failures.append(error)
                self.ended.set()

        thread = threading.Thread(target=run)
        self.threads.append(thread)
        thread.start()
        return thread

    def write(self, counter: Counter, write: Callable[[int], object]) -> None:
        """Increment a counter in a new thread until the end."""

        def count() -> None:
            while not self.ended.is_set():
                counter.begun += 1
                write(counter.begun)
                counter.done = counter.begun
                time.sleep(PAUSE)

        self.start(count)

    def read(self, talk: Talk, shown: list[Shown]) -> None:
        """Read all numbers in turn; each is at least the acknowledged number and at most the last one that was sent."""
        for turn in range(READS // 4 // len(shown)):
            for counter, path, number_in in shown:
                done = counter.done
                found = int(number_in(talk.get(path, conditional=turn % 2 == 1)))
                assert done <= found <= counter.begun, "stale" if found < done else "of nobody"
                if self.ended.is_set():
                    return


@pytest.mark.engines
@pytest.mark.slow
def test_no_read_is_older_than_an_acknowledged_write(world: World, tmp_path: Path) -> None:
    """The writers are two clients of the service, a connection of this process, and another process."""
    space = f"/v1/spaces/{world.space}"
    board = tmp_path / "board"
    board.write_bytes(bytes(24))
    world.change(title="0", language="0")
    race, talks = Race(), [Talk(world, "admin") for _ in range(6)]
    first, second = talks[:2]
    made = first.send("POST", f"{space}/change-requests", {"subject": "0"})["id"]
    request = f"{space}/change-requests/{made}"
    comment = first.send("POST", f"{request}/comments", {"body": {"markdown": "0"}})["id"]
    with ExitStack() as stack:
        own = stack.enter_context(closing(Database(world.database_url)))
        shared = stack.enter_context(mmap.mmap(stack.enter_context(board.open("r+b")).fileno(), 24))
        asked = stack.enter_context(counted_callers())
        command = [sys.executable, "-c", ANOTHER_PROCESS, world.database_url, str(board), world.space, str(PAUSE)]
        other = stack.enter_context(subprocess.Popen(command))
        stack.callback(struct.pack_into, "q", shared, 16, 1)  # ends the other process
        counters = subject, text, language = Counter(), Counter(), Counter()
        title = CountOfAnotherProcess(shared)

        def set_language(number: int) -> None:
            own.write(lambda session: setattr(session.get_one(SpaceRow, world.space), "language", str(number)))

        def set_text(number: int) -> None:
            second.send("PUT", f"{request}/comments/{comment}", {"body": {"markdown": str(number)}})

        race.write(subject, lambda number: first.send("PATCH", request, {"subject": str(number)}))
        race.write(text, set_text)
        race.write(language, set_language)
        shown: list[Shown] = [
            (subject, request, lambda found: found["subject"]),
            (text, f"{request}/comments", lambda found: found["items"][0]["body"]["markdown"]),
            (language, space, lambda found: found["language"]),
            (title, space, lambda found: found["title"]),
        ]
        readers = [race.start(partial(race.read, talk, shown)) for talk in talks[2:]]
        for thread in readers:
            thread.join()
        race.ended.set()
        for thread in race.threads:
            thread.join()
        for talk in talks:
            talk.close()
        computed = len(asked) - 2 * (subject.done + text.done)  # a write with a body looks up its caller twice
        struct.pack_into("q", shared, 16, 1)
        assert other.wait() == 0
    assert race.failures == []
    writes = [counter.done for counter in counters]
    logging.getLogger(__name__).warning("%d reads, %s writes, %d read from the database", READS, writes, computed)
    assert min(writes) > 1
    assert computed < READS, "nothing was kept, so nothing was tested"


@pytest.mark.engines
def test_repeated_read_is_cached_until_the_next_write(world: World) -> None:
    space = f"/v1/spaces/{world.space}"
    with closing(Talk(world, "read")) as reader, closing(Talk(world, "admin")) as admin, counted_callers() as asked:
        first = reader.get(space)
        for conditional in (False, True, False, True):
            assert reader.get(space, conditional=conditional) == first
        assert len(asked) == 1
        assert admin.get(space)["permissions"] != first["permissions"], "another caller has another answer"
        assert len(asked) == 2
        reader.get(f"{space}?shareKey=none")
        assert len(asked) == 3, "another query is another read"
        admin.send("POST", f"{space}/comments", {"body": {"markdown": "Hm"}})
        assert reader.get(space, conditional=True)["comments"] == first["comments"] + 1
        assert len(asked) == 5, "a write asks once"


def test_read_with_failed_commit_is_not_cached(world: World) -> None:
    def fail(_connection: Connection) -> None:
        raise DBAPIError("COMMIT", {}, Exception("lost"), connection_invalidated=True)

    with httpx.Client(base_url=world.base_url, headers={"authorization": f"Bearer {world.tokens['read']}"}) as client:
        path = f"/v1/spaces/{world.space}?shareKey=failing"
        event.listen(Engine, "commit", fail)
        try:
            assert client.get(path).status_code == 503
        finally:
            event.remove(Engine, "commit", fail)
        for _ in range(2):
            response = client.get(path)
            assert response.status_code == 200
            assert response.json()["id"] == world.space
            assert response.headers["etag"]


@pytest.mark.slow
def test_responses_that_depend_on_more_than_the_database_are_not_cached(tmp_path: Path) -> None:
    """Two days later and with another host, reads return the same as after a restart of the service."""
    times = [datetime.now(UTC)]
    service = RunningService(tmp_path, clock=lambda: times[0])
    world = plant_world(service.database_url, service.base_url)
    later = datetime.now(UTC) + timedelta(days=1)
    with closing(Database(service.database_url)) as database, database.writing.begin() as session:
        expires = moment_text(later)
        owner = world.users["admin"]
        session.add(TokenRow(sha256=hash_token("passing"), user_id=owner, created_at=expires, expires_at=expires))
    service.start()
    known = furnish(world)
    with closing(Database(service.database_url)) as database:
        until = time.monotonic() + 60
        while time.monotonic() < until:  # jobs that write during the reads would change responses
            with database.snapshot() as session:
                is_due = (JobRow.state == "waiting") & (JobRow.run_at <= moment_text(times[0]))
                if not session.scalar(select(JobRow.id).where((JobRow.state == "running") | is_due).limit(1)):
                    break
            time.sleep(0.1)
    files = f"/v1/spaces/{known['spaceId']}/change-requests/{known['changeRequestId']}/content"
    every = list(read_paths(known))
    assert len(every) > 90 and files in every
    paths = [path for number, path in enumerate(every) if number % EVERY == 0 or path == files]
    answers: dict[str, tuple[int, bytes]] = {}
    headers = {"authorization": f"Bearer {world.tokens['admin']}", "host": "service.localhost"}
    with httpx.Client(base_url=world.base_url, headers=headers, timeout=60) as client:
        with counted_callers() as asked:
            for path in paths:
                answers[path] = said(client, path)
                said(client, path)
            kept = 2 * len(paths) - len(asked)
        assert len(paths) // 2 < kept < len(paths)  # some reads fail, or their responses are not cached
        assert client.get("/v1/user", headers={"authorization": "Bearer passing"}).status_code == 200
        times[0] += timedelta(days=2)
        assert client.get("/v1/user", headers={"authorization": "Bearer passing"}).status_code == 401
        afterwards = {path: said(client, path) for path in paths}
        there = {"host": "there.localhost"}
        elsewhere = {path: said(client, path, there) for path in paths}
    service.stop()
    service.start()  # with an empty cache
    with httpx.Client(base_url=world.base_url, headers=headers, timeout=60) as client:
        assert {path for path in paths if said(client, path) != afterwards[path]} <= timed(paths)
        assert {path for path in paths if said(client, path, there) != elsewhere[path]} <= timed(paths)
    service.stop()
    assert b"expires=" in answers[files][1]


def said(client: httpx.Client, path: str, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    response = client.get(path, headers=headers)
    return response.status_code, response.content


def test_handlers_use_only_the_database_and_their_context() -> None:
    """The cache does not notice changes of other sources and would keep the response."""
    service = ROOT / "src" / "presscheck" / "service"
    files = [service / "permissions.py"]
    for package in ("handlers", "content", "review", "spaces", "sites"):
        files += (service / package).glob("*.py")
    assert len(files) > 40
    found = {file.name: OTHER_SOURCES.findall(file.read_text("utf-8")) for file in files}
    assert {name: words for name, words in found.items() if words} == {}


async def test_version_changes_with_every_commit_and_with_another_file(tmp_path: Path) -> None:
    url, file = f"sqlite:///{tmp_path / 'a.sqlite'}", tmp_path / "a.sqlite"
    world = plant_world(url, "http://127.0.0.1:1")
    database, other = Database(url), Database(url)
    reader = current_version(database)
    seen = [await reader.current()]

    async def moves() -> bool:
        seen.append(await reader.current())
        return seen[-1] not in seen[:-1]

    assert seen[0] is not None and not await moves()
    for title, writer in (("One", database), ("Two", other)):
        writer.write(lambda session, title=title: setattr(session.get_one(SpaceRow, world.space), "title", title))
        assert await moves()
        with writer.snapshot() as session:
            assert session.get_one(SpaceRow, world.space).title == title
        assert not await moves()
    with pytest.raises(ZeroDivisionError):
        other.write(lambda session: setattr(session.get_one(SpaceRow, world.space), "title", "No" * (1 // 0)))
    assert not await moves()
    other.close()
    restored = tmp_path / "b.sqlite"
    with closing(Database(f"sqlite:///{restored}")):
        pass
    restored.replace(file)
    assert await moves(), "another file has another version"
    file.unlink()
    assert await reader.current() is None
    reader.close()
    database.close()


@pytest.mark.slow
async def test_version_of_postgresql_changes_with_every_commit(postgresql: Cluster) -> None:
    url = postgresql.new_database()
    world = plant_world(url, "http://127.0.0.1:1")
    database, other = Database(url), Database(url)
    reader = current_version(database)
    seen = [await reader.current()]
    assert seen[0] is not None
    assert {*(await asyncio.gather(*(reader.current() for _ in range(50))))} == {*seen}
    for number, writer in enumerate((database, other)):
        with writer.writing() as session:  # the version before the commit differs from the one after it
            session.get_one(SpaceRow, world.space).title = str(number)
            session.flush()
            under_way = await reader.current()
            session.commit()
        now = await reader.current()
        assert now not in (*seen, under_way) and now == await reader.current()
        seen += [under_way, now]
        with database.snapshot() as session:
            assert session.get_one(SpaceRow, world.space).title == str(number)
    with other.writing.begin() as session:
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        session.execute(text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"))
    again: Version | None = None
    while again is None or again.connection == seen[0].connection:
        again = await reader.current()  # None until the lost connection is replaced
        await asyncio.sleep(0.02)
    assert again and again not in seen, "another connection has another version"
    with other.snapshot() as session:
        others = f"{others} AND query LIKE 'SELECT pg_current_snapshot%'"
        process = session.scalar(text(f"SELECT pid FROM pg_stat_activity WHERE {others}"))
    os.kill(process, signal.SIGSTOP)
    try:
        assert await reader.current() is None, "a server that does not respond"
    finally:
        os.kill(process, signal.SIGCONT)
    while again is None or again.connection < seen[0].connection + 2:
        again = await reader.current()
        await asyncio.sleep(0.02)
    reader.close()
    assert await reader.current() not in (None, again)
    database.close()
    other.close()


async def test_cache_limits_its_size_in_bytes(tmp_path: Path) -> None:
    computed: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        computed.append(scope["path"])
        slot = slot_of(scope)
        assert slot
        slot.body = b"x" * (2000 if scope["path"].endswith("large") else 10)

    async def get(path: str) -> None:
        headers = [(b"authorization", b"Bearer x")]
        scope = {"type": "http", "method": "GET", "path": f"/v1/{path}", "query_string": b"", "headers": headers}
        await cache(scope | {ORIGIN: ""}, receive, send)

    async def receive() -> Any:
        raise AssertionError

    async def send(_message: Any) -> None:
        pass

    # the limit has room for four small responses with their keys and headers
    database = Database(f"sqlite:///{tmp_path / 'a.sqlite'}")
    cache = AnswerCache(app, current_version(database), 2500)
    for path in ("1", "2", "3", "4", "1", "5", "1", "2"):
        await get(path)
    assert computed == ["/v1/1", "/v1/2", "/v1/3", "/v1/4", "/v1/5", "/v1/2"], (
        "the one that was not read for longest is dropped"
    )
    await get("large")
    await get("large")
    assert computed[6:] == ["/v1/large"] * 2, "a large one is not kept"
    await get("5")
    assert len(computed) == 8, "and drops nothing"
    database.close()
    small, all_of_it = CacheSizes().within(16), CacheSizes()
    assert sum(all_of_it) == 200 * 1024 * 1024 and 15 * 1024 * 1024 < sum(small) <= 16 * 1024 * 1024
    assert small.answers == all_of_it.answers * 16 // 200
