"""Jobs, their leases and cached responses survive faults of the database and the clock, and no job counts twice.

The faults are a lock of another connection, a stopped PostgreSQL, a full disk, a changed clock, a suspended process.
"""

from __future__ import annotations

import logging
import os
import shlex
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import func, insert, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from tests.needs import require
from tests.postgresql import cluster
from tests.running_service import running_service
from tests.service.engines import locked
from tests.service.factories import World, plant_world
from tests.service.server import impatient, line, serving

from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.db import engine
from presscheck.service.db.engine import Database, unavailable
from presscheck.service.db.ids import Clock, moment_text, system_clock
from presscheck.service.jobs import worker
from presscheck.service.jobs.queue import RUNNERS, JobCancelled, JobContext, JobLimits, OutboundConfig, Runner
from presscheck.service.jobs.worker import Workers
from presscheck.service.models.content import CommentRow
from presscheck.service.models.imports import TranslationRow
from presscheck.service.models.jobs import JobRow, SettingRow

LEASE = 2.0
"""Duration of a lease in seconds, long enough for a busy machine; it is renewed every tenth of it."""
OUTAGES = (("immediate", 0.3), ("fast", LEASE + 0.5))
"""Shutdown modes of PostgreSQL, each with the seconds until its restart; the second outage is longer than a lease."""
ROUNDS = int(os.environ.get("PRESSCHECK_CASES", "1"))


@pytest.fixture(autouse=True)
def short_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "LEASE", LEASE)
    monkeypatch.setattr(worker, "RENEWAL", LEASE / 10)
    monkeypatch.setattr(worker, "POLL", LEASE / 10)


class Moment:
    """A manual clock."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 20, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


class HeldJob:
    """A kind of job that counts its runs and ends after `may_end` is set."""

    def __init__(self) -> None:
        self.runs = 0
        self.may_end = threading.Event()

    def __call__(self, work: JobContext) -> None:
        self.runs += 1
        assert self.may_end.wait(60)
        work.write(lambda session: session.add(SettingRow(name="result", value=work.lease)))


@pytest.fixture
def held_job(monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldJob]:
    job = HeldJob()
    monkeypatch.setitem(RUNNERS, "held", Runner(job, JobLimits()))
    yield job
    job.may_end.set()


@contextmanager
def working(
    database_url: str, data: Path, clock: Clock | None = None, outside: OutboundConfig | None = None
) -> Iterator[Workers]:
    """Run workers with their own connections, like the workers of another process."""
    with closing(Database(database_url)) as database:
        workers = Workers(database, DiskBlobStore(data), clock or Moment(), outside or OutboundConfig())
        workers.start()
        try:
            yield workers
        finally:
            workers.stop()


def plant_job(database: Database, job_id: str = "j", **values: Any) -> None:
    moment = moment_text(Moment()())
    row = {"id": job_id, "kind": "held", "about": job_id, "run_at": moment, "created_at": moment} | values
    database.write(lambda session: session.add(JobRow(**row)))


def job_row(database: Database, job_id: str = "j") -> JobRow:
    with database.snapshot() as session:
        return session.get_one(JobRow, job_id)


def wait_until(condition: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.slow
def test_job_runs_once_if_its_database_is_locked_for_longer_than_a_lease(
    tmp_path: Path, held_job: HeldJob, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Another job ends during the lock; its result is saved afterwards."""
    ended = list[str]()

    def end_when_locked(work: JobContext) -> None:
        assert is_locked.wait(60)
        ended.append(work.lease)

    monkeypatch.setattr(engine, "WAIT_FOR_LOCK", 300)
    monkeypatch.setitem(RUNNERS, "ending", Runner(end_when_locked, JobLimits()))
    is_locked, url = threading.Event(), f"sqlite:///{tmp_path / 'a.sqlite'}"
    with closing(Database(url)) as database, working(url, tmp_path):
        plant_job(database)
        plant_job(database, "k", kind="ending")
        wait_until(lambda: job_row(database).renewals and job_row(database, "k").renewals)
        with working(url, tmp_path):
            with closing(sqlite3.connect(tmp_path / "a.sqlite", isolation_level=None)) as other:
                other.execute("BEGIN EXCLUSIVE")
                is_locked.set()
                locked_at = job_row(database).renewals
                wait_until(lambda: "could not take a job: The database is locked" in caplog.text)
                assert job_row(database).renewals == locked_at
                other.execute("ROLLBACK")
            wait_until(lambda: job_row(database).renewals > locked_at + 2)
            held_job.may_end.set()
            wait_until(lambda: job_row(database).state == job_row(database, "k").state == "done")
        assert (held_job.runs, job_row(database).attempts) == (len(ended), job_row(database, "k").attempts) == (1, 1)
    failures = [record for record in caplog.records if "renew" in record.message]
    assert failures and not any(record.exc_info for record in failures), "a lock is no bug to trace"


@pytest.mark.parametrize(
    "milliseconds",
    [
        pytest.param(100, id="longer_than_anybody_waits"),
        pytest.param(30_000, id="as_long_as_somebody_waits", marks=pytest.mark.slow),
    ],
)
def test_a_lease_does_not_expire_while_its_owner_cannot_renew_it(
    tmp_path: Path,
    held_job: HeldJob,
    milliseconds: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A worker that gets the lock before the owner watches for another whole lease before it takes the job."""
    monkeypatch.setattr(engine, "WAIT_FOR_LOCK", milliseconds)
    monkeypatch.setattr(worker, "LEASE", 1.0)
    held_job.may_end.set()
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    with closing(Database(url)) as database:
        plant_job(database, state="running", lease="of an owner", attempts=1)
        with (
            closing(sqlite3.connect(tmp_path / "a.sqlite", isolation_level=None)) as other,
            working(url, tmp_path),
        ):
            other.execute("BEGIN EXCLUSIVE")
            if milliseconds < 1000:
                wait_until(lambda: "could not take a job: The database is locked" in caplog.text)
            else:
                time.sleep(2)
            other.execute("ROLLBACK")
            released = time.monotonic()
            wait_until(lambda: job_row(database).lease != "of an owner")
            assert time.monotonic() - released > 0.9
            wait_until(lambda: job_row(database).state == "done")
            assert held_job.runs == 1


@pytest.mark.slow
def test_changed_clock_neither_ends_nor_prolongs_leases(
    database_url: str, tmp_path: Path, held_job: HeldJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, other_clock = Moment(), Moment()
    with closing(Database(database_url)) as database, working(database_url, tmp_path, clock):
        plant_job(database)
        wait_until(lambda: held_job.runs)
        monkeypatch.setitem(RUNNERS, "quick", Runner(lambda _work: None, JobLimits()))
        ahead = moment_text(clock() + timedelta(minutes=59))
        plant_job(database, "left", kind="quick", state="running", lease="of a dead worker", attempts=1)
        with working(database_url, tmp_path, other_clock):
            clock.now -= timedelta(hours=1)
            other_clock.now += timedelta(hours=1)
            began = time.monotonic()
            wait_until(lambda: job_row(database, "left").state == "done")
            assert time.monotonic() - began < 10 * LEASE
            other_clock.now -= timedelta(hours=2)
            plant_job(database, "ahead", kind="quick", run_at=ahead)  # queued before the clock was set back
            wait_until(lambda: job_row(database, "ahead").state == "done")
            held_job.may_end.set()
            wait_until(lambda: job_row(database).state == "done")
        assert (held_job.runs, job_row(database).attempts) == (1, 1)


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param("write", marks=pytest.mark.engines),
        *(pytest.param(way, marks=pytest.mark.slow) for way in ("return", "fail")),
    ],
)
def test_second_run_of_a_job_discards_the_first_one(
    database_url: str, tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The first worker does not renew its lease, as if its process had been stopped for a while."""
    may_end, leases, refused = [threading.Event() for _ in range(2)], list[str](), list[JobCancelled]()

    def run(work: JobContext) -> None:
        leases.append(work.lease)
        is_first = len(leases) == 1
        if not is_first:
            monkeypatch.setattr(worker, "LEASE", 60)  # the second worker keeps its lease
        assert may_end[len(leases) - 1].wait(60)
        if is_first and ending == "fail":
            raise RuntimeError("failed")
        if is_first and ending == "return":
            return
        try:
            work.write(lambda session: session.add(SettingRow(name="result", value=work.lease)))
        except JobCancelled as error:
            refused.append(error)
            raise

    monkeypatch.setattr(worker, "RENEWAL", 60)
    monkeypatch.setattr(worker, "LEASE", 0.5)
    monkeypatch.setitem(RUNNERS, "held", Runner(run, JobLimits()))
    with closing(Database(database_url)) as database, working(database_url, tmp_path):
        plant_job(database)
        wait_until(lambda: leases)
        time.sleep(0.8)
        assert len(leases) == 1, "no process takes a job that it runs itself"
        with working(database_url, tmp_path):
            wait_until(lambda: len(leases) == 2)
            with caplog.at_level(logging.WARNING):
                may_end[0].set()
                wait_until(lambda: "taken by another worker" in caplog.text)
            assert job_row(database).state == "running"
            may_end[1].set()
            wait_until(lambda: job_row(database).state == "done")
        row = job_row(database)
        assert (row.attempts, row.reason, len(leases), len(refused)) == (2, None, 2, ending == "write")
        with database.snapshot() as session:
            assert session.get_one(SettingRow, "result").value == leases[1]
    assert caplog.text.count("job held (j) was taken by another worker; attempt 1 ended here without a result") == 1


@pytest.mark.engines
def test_full_locked_or_lost_database_is_reported_with_its_reason(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(work: Callable[[Session], Any]) -> str | None:
        with pytest.raises(DBAPIError) as caught:
            database.write(work)
        return unavailable(caught.value)

    monkeypatch.setattr(engine, "WAIT_FOR_LOCK", 50)
    with closing(Database(database_url)) as database:
        assert failing(lambda session: session.execute(text("SELECT nothing"))) is None
        if database.is_postgresql:
            full = text("DO $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = 'disk_full'; END $$")
            assert failing(lambda session: session.execute(full)) == "The database has no room to write"
            end = text("SELECT pg_terminate_backend(pg_backend_pid())")
            assert failing(lambda session: session.execute(end)) == "The database does not respond"
            read_only = text("SET TRANSACTION READ ONLY; DELETE FROM settings")
            assert failing(lambda session: session.execute(read_only)) == "The database is read-only"
            return

        def fill(session: Session) -> None:
            session.execute(text("PRAGMA max_page_count = 1"))  # SQLite uses the current number of pages instead
            session.add(SettingRow(name="large", value="x" * 1_000_000))
            session.flush()

        assert failing(fill) == "The database has no room to write"
        database.write(lambda session: session.execute(text("PRAGMA query_only = ON")))
        assert failing(lambda session: session.execute(text("DELETE FROM settings"))) == "The database is read-only"
        database.engine.dispose()
        with closing(sqlite3.connect(database.engine.url.database or "", isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            assert failing(lambda session: session.execute(text("SELECT 1"))) == "The database is locked"


@pytest.mark.engines
def test_logged_database_error_has_its_cause_but_no_values(database_url: str, caplog: pytest.LogCaptureFixture) -> None:
    row, end = {"name": "twice", "value": "a secret"}, text("SELECT pg_terminate_backend(pg_backend_pid())")
    with closing(Database(database_url)) as database:
        with pytest.raises(DBAPIError) as caught:
            database.write(lambda session: [session.execute(insert(SettingRow).values(row)) for _ in range(2)])
        assert "hidden" in str(caught.value) and "a secret" not in str(caught.value)
        if database.is_postgresql:
            with pytest.raises(DBAPIError) as caught:
                database.write(lambda session: session.execute(end))
            worker._report("could not take a job", caught.value)
            assert "a job: The database does not respond: terminating connection due to admin" in caplog.text


def test_cached_responses_are_current_after_clock_changes(database_url: str, tmp_path: Path) -> None:
    clock = Moment()
    with running_service(tmp_path, clock=clock, database_url=database_url) as service:
        world = plant_world(service.database_url, service.base_url)
        with client_of(world, world.base_url) as client:
            path = f"/v1/spaces/{world.space}"
            for number, jump in enumerate((0, 1, -2, 1)):
                clock.now += timedelta(hours=jump)
                assert client.get(path).json()["title"] == client.get(path).json()["title"]
                changed = client.patch(path, json={"title": f"Title {number}"})
                assert changed.status_code == 200, changed.text
                assert client.get(path).json()["title"] == f"Title {number}"


def client_of(world: World, base_url: str) -> httpx.Client:
    headers = {"authorization": f"Bearer {world.tokens['admin']}"}
    return httpx.Client(base_url=base_url, headers=headers, timeout=60)


class Translator:
    """A translator command that logs each page and waits for `go_on`."""

    def __init__(self, directory: Path) -> None:
        self._log, self._go = directory / "translated", directory / "go"
        note, go = shlex.quote(str(self._log)), shlex.quote(str(self._go))
        self.command = f"sh -c {shlex.quote(f'echo page >> {note}; while [ ! -e {go} ]; do sleep 0.05; done; cat')}"

    @property
    def pages(self) -> int:
        return len(self._log.read_text().splitlines()) if self._log.exists() else 0

    def go_on(self) -> None:
        self._go.touch()


def start_translation(client: httpx.Client, world: World) -> None:
    body = {"source": {"space": world.space, "language": "en"}, "language": "de"}
    response = client.post(f"/v1/orgs/{world.organization}/translations", json=body)
    assert response.status_code == 201, response.text


def translations(database: Database) -> list[tuple[str, int]]:
    """Return the state and the attempts of the job of each translation."""
    with database.snapshot() as session:
        rows = select(JobRow.state, JobRow.attempts).where(JobRow.kind == "translation")
        return [(state, attempts) for state, attempts in session.execute(rows)]


@pytest.mark.slow
def test_reads_and_jobs_continue_while_the_disk_is_full(tmp_path: Path) -> None:
    translator, url = Translator(tmp_path), f"sqlite:///{tmp_path / 'service.sqlite'}"
    with serving(tmp_path, "--port", "0", "--translator", translator.command, run=impatient(renewal=0.2)) as process:
        address = line(process)
        world = plant_world(url, address)
        with closing(Database(url)) as database, client_of(world, address) as client:
            start_translation(client, world)
            wait_until(lambda: translator.pages)
            comments = f"/v1/spaces/{world.space}/comments"
            assert client.post(comments, json={"body": {"markdown": "before"}}).status_code == 200
            upload = file_change(client, world)
            process.send_signal(signal.SIGUSR1)
            time.sleep(0.2)
            for _ in range(3):
                refused = client.post(comments, json={"body": {"markdown": "meanwhile"}})
                assert refused.status_code == 503 and refused.headers["retry-after"]
                assert refused.json()["error"]["message"] == "The database has no room to write; try again later."
                assert [comment["body"]["markdown"] for comment in client.get(comments).json()["items"]] == ["before"]
            refused = upload()
            assert refused.status_code == 503 and "Nothing was saved" in refused.text
            assert not [*(tmp_path / "files").glob(".*")], "what was written of a file is removed"
            pdf = client.get(client.get(f"/v1/spaces/{world.space}/pdf").json()["url"], timeout=60)
            assert pdf.status_code == 503 and "Try again later" in pdf.text
            assert not [*(tmp_path / "exports").glob(".*[!k]")], "what was written of a PDF is removed"
            assert client.get("/readyz").status_code == 200
            assert translations(database) == [("running", 1)]
            process.send_signal(signal.SIGUSR2)
            time.sleep(0.2)
            assert client.post(comments, json={"body": {"markdown": "after"}}).status_code == 200
            assert upload().status_code == 200
            translator.go_on()
            wait_until(lambda: translations(database) == [("done", 1)])
            assert translator.pages == 3
            with database.snapshot() as session:
                assert [body["markdown"] for body in session.scalars(select(CommentRow.body))] == ["before", "after"]
                assert session.scalar(text("PRAGMA integrity_check")) == "ok"


def file_change(client: httpx.Client, world: World) -> Callable[[], httpx.Response]:
    """Create a change request. Returns a function that uploads a file to it."""
    path = f"/v1/spaces/{world.space}/change-requests"
    made = client.post(path, json={"subject": "File"}).json()["id"]
    file = {"name": "a.bin", "base64": "QUJD", "contentType": "application/octet-stream"}
    change = {"operation": "insert_files", "files": [file]}
    return lambda: client.post(f"{path}/{made}/content?compat=false", json={"changes": [change]})


@pytest.mark.slow
def test_suspended_process_cannot_save_the_result_of_its_job(database_url: str, tmp_path: Path) -> None:
    translator = Translator(tmp_path)
    options = ("--port", "0", "--database", database_url, "--translator", translator.command)
    with ExitStack() as several:
        # stopped amid a renewal, it would keep the database locked
        first = several.enter_context(serving(tmp_path, *options, run=impatient(renewal=60)))
        address = line(first)
        world = plant_world(database_url, address)
        database = several.enter_context(closing(Database(database_url)))
        with client_of(world, address) as client:
            start_translation(client, world)
            wait_until(lambda: translator.pages)
        with locked(database_url):  # stopped amid a write, it would keep the database locked
            first.send_signal(signal.SIGSTOP)
            os.waitpid(first.pid, os.WUNTRACED)
        outside = OutboundConfig(translator=tuple(shlex.split(translator.command)))
        several.enter_context(working(database_url, tmp_path, system_clock, outside))
        wait_until(lambda: translations(database) == [("running", 2)])
        translator.go_on()
        wait_until(lambda: translations(database) == [("done", 2)])
        first.send_signal(signal.SIGCONT)
        assert first.stderr
        said = next(said for said in first.stderr if "taken by another worker" in said)
        assert "attempt 1 ended here without a result" in said
        assert 4 <= translator.pages <= 5, "the first stops after the page that it was at"
        with database.snapshot() as session:
            assert [row.stats["runs"] for row in session.scalars(select(TranslationRow))] == [1]


class Talk(threading.Thread):
    """A thread that sends requests until `ended` is set; every response must be 200 or 503."""

    def __init__(self, client: httpx.Client, turn: Callable[[httpx.Client, int], httpx.Response]) -> None:
        super().__init__()
        self._client, self._turn = client, turn
        self.statuses = Counter[int]()
        self.ended = threading.Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        number = 0
        try:
            while not self.ended.is_set():
                number += 1
                response = self._turn(self._client, number)
                self.statuses[response.status_code] += 1
                assert response.status_code in (200, 503), response.text
                time.sleep(0.01)
        except BaseException as error:
            self.failure = error
        finally:
            self._client.close()


class Titles:
    """A title that writes increment; reads must return a number from `acknowledged` to `begun`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.acknowledged = self.begun = 0

    def write(self, client: httpx.Client, number: int) -> httpx.Response:
        self.begun = number
        response = client.patch(self._path, json={"title": str(number)})
        if response.status_code == 200:
            self.acknowledged = number
        return response

    def read(self, client: httpx.Client, _number: int) -> httpx.Response:
        least = self.acknowledged
        response = client.get(self._path)
        if response.status_code == 200 and self.begun:
            title = response.json()["title"]
            assert least <= int(title if title.isdecimal() else 0) <= self.begun, "stale"
        return response


@pytest.mark.slow
@pytest.mark.timeout(120 * ROUNDS)
def test_restart_of_postgresql_loses_no_writes_and_no_jobs(tmp_path: Path, held_job: HeldJob) -> None:
    require("postgresql")
    comments = list[str]()

    def comment(client: httpx.Client, number: int) -> httpx.Response:
        response = client.post(f"/v1/spaces/{world.space}/comments", json={"body": {"markdown": str(number)}})
        if response.status_code == 200:
            comments.append(response.json()["id"])
        return response

    with cluster(durable=True) as postgresql, ExitStack() as stack:
        service = stack.enter_context(running_service(tmp_path, database_url=postgresql.new_database()))
        database = stack.enter_context(closing(Database(service.database_url)))
        world = plant_world(service.database_url, service.base_url)
        titles = Titles(f"/v1/spaces/{world.space}")
        turns = (titles.write, comment, titles.read, titles.read, titles.read)
        talks = [Talk(client_of(world, world.base_url), turn) for turn in turns]
        plant_job(database)
        wait_until(lambda: held_job.runs)
        for talk in talks:
            talk.start()
        for number, (mode, seconds) in enumerate(OUTAGES * ROUNDS):
            wait_until(lambda number=number: len(comments) >= 5 * (number + 1))
            renewals = job_row(database).renewals
            postgresql.restart(mode, seconds=seconds)
            before = [talk.statuses[200] for talk in talks]
            wait_until(
                lambda before=before: all(
                    talk.failure or talk.statuses[200] > count + 3 for talk, count in zip(talks, before, strict=True)
                )
            )
            wait_until(lambda renewals=renewals: job_row(database).renewals > renewals)
        for talk in talks:
            talk.ended.set()
        for talk in talks:
            talk.join()
        assert [talk.failure for talk in talks if talk.failure] == []
        assert sum(talk.statuses[503] for talk in talks), "nobody noticed the restart, so nothing was tested"
        with database.snapshot() as session:
            kept = set(session.scalars(select(CommentRow.id)))
            assert set(comments) <= kept
            assert session.scalar(select(func.count()).select_from(CommentRow)) == len(kept)
        held_job.may_end.set()
        wait_until(lambda: job_row(database).state == "done")
        assert (held_job.runs, job_row(database).attempts) == (1, 1)
