"""Worker threads of one service process: take due jobs, hold them under a lease, and save the results.

A lease is renewed while its job runs; when a process dies, the lease expires and another process takes the job.
"""

from __future__ import annotations

import logging
import secrets
import threading
from datetime import timedelta

from sqlalchemy import Select, and_, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from presscheck.service.db.blob_store import BlobStore, FilesUnavailable
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock, moment_text
from presscheck.service.db.signing import make_key
from presscheck.service.integrations.outbound_http import Outgoing
from presscheck.service.jobs import all_runners
from presscheck.service.jobs.queue import (
    JobBudget,
    JobCancelled,
    JobContext,
    OutboundConfig,
    PermanentFailure,
    RetryLater,
)
from presscheck.service.models.jobs import JobRow

LEASE = 60.0
"""Seconds until a lease expires if it is not renewed."""
RENEWAL = 15.0
"""Seconds between two renewals."""
POLL = 2.0
"""Seconds between two checks for jobs queued by other processes."""
MOST_AT_ONCE = 6
"""Jobs that one process of the service runs at once; most of them wait for other servers or for processes of theirs."""
MOST_PER_ORGANIZATION = 2
"""Jobs of one organization that run at once, each of another kind: slow ones hold up only its own work."""
MOST_ATTEMPTS = 3
PAUSE = timedelta(seconds=10)
"""Pause before a failed job is retried; after the second failure, twice as long."""
WORKER_DIED = f"The service process ended during each of {MOST_ATTEMPTS} attempts."
"""Reason of a job that failed because nothing was left to report its result."""
HOUSEKEEPING = "sweep"
"""The id of the cleanup job, which always exists."""

_log = logging.getLogger("presscheck.service")


class Workers:
    """Threads that run jobs from `start()` to `stop()`; `wake()` tells them that a job was queued.

    The organization with the fewest running jobs comes next: no organization waits for the jobs of another.
    """

    def __init__(self, database: Database, files: BlobStore, clock: Clock, outside: OutboundConfig) -> None:
        self.outgoing = Outgoing(outside.allowed)
        self.outside = outside
        self._runners = all_runners()
        self._database, self._files, self._clock = database, files, clock
        self._ending = threading.Event()
        self._queued = threading.Semaphore(0)
        self._held: dict[str, str] = {}
        self._threads = [threading.Thread(target=self._work, daemon=True, name="jobs") for _ in range(MOST_AT_ONCE)]
        self._threads.append(threading.Thread(target=self._renew, daemon=True, name="leases"))

    def start(self) -> None:
        """Starts the threads and schedules the cleanup job."""
        self._database.write(self.enter_housekeeping)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stops the threads; running jobs stop at their next step and another process continues them."""
        self._ending.set()
        self._queued.release(len(self._threads))
        for thread in self._threads:
            thread.join(10)
        self.outgoing.close()

    def wake(self) -> None:
        """Wakes a thread to check for jobs."""
        self._queued.release()

    def _work(self) -> None:
        while not self._ending.is_set():
            try:
                job = self._take()
            except Exception:
                _log.exception("could not take a job")
                job = None
            if job is None:
                self._queued.acquire(timeout=POLL)
            else:
                self._do(job)

    def _take(self) -> JobRow | None:
        with self._database.reading.begin() as session:  # checking takes no write lock
            if session.scalar(self._due().with_only_columns(JobRow.id)) is None:
                return None
        return self._database.write(self._take_one)

    def _take_one(self, session: Session) -> JobRow | None:
        """Takes the next due job and counts the attempt; a job whose attempts are used up fails instead.

        The attempt is counted before it runs, because a job that ends the whole process cannot be counted after.
        """
        while (job := session.scalars(self._due().with_for_update(skip_locked=True)).first()) is not None:
            if job.state == "waiting" or job.attempts < MOST_ATTEMPTS:
                job.state, job.attempts, job.lease = "running", job.attempts + 1, secrets.token_hex(8)
                job.leased_until = self._later(LEASE)
                return job
            self._settle(session, job, "failed", WORKER_DIED)
            session.flush()
        return None

    def _due(self) -> Select[JobRow]:
        now = moment_text(self._clock())
        waits = and_(JobRow.state == "waiting", JobRow.run_at <= now)
        was_left = and_(JobRow.state == "running", JobRow.leased_until < now)
        running = aliased(JobRow)
        beside = (
            select(func.count())
            .select_from(running)
            .where(
                running.organization_id == JobRow.organization_id,
                running.state == "running",
                running.leased_until >= now,
            )
        )
        count = beside.scalar_subquery()
        same_kind = beside.where(running.kind == JobRow.kind).scalar_subquery()
        return (
            select(JobRow)
            .where(or_(waits, was_left), count < MOST_PER_ORGANIZATION, same_kind == 0)
            .order_by(count, JobRow.run_at, JobRow.id)
            .limit(1)
        )

    def _do(self, job: JobRow) -> None:
        lease = job.lease or ""
        runner = self._runners[job.kind]
        work = JobContext(
            job.id,
            job.about,
            lease,
            self._database,
            self._files,
            self._clock,
            self.outgoing,
            self.outside,
            self._ending.is_set,
            JobBudget(runner.limits),
        )
        self._held[job.id] = lease
        try:
            runner.run(work)
        except JobCancelled:
            self._end(job, "waiting" if self._ending.is_set() else "cancelled", None)
        except PermanentFailure as reason:
            self._end(job, "failed", str(reason))
        except (RetryLater, FilesUnavailable) as reason:
            self._end(job, "waiting" if job.attempts < MOST_ATTEMPTS else "failed", str(reason))
        except Exception as error:
            _log.exception("job %s (%s) failed, attempt %d", job.kind, job.id, job.attempts)
            self._end(job, "waiting" if job.attempts < MOST_ATTEMPTS else "failed", f"{type(error).__name__}: {error}")
        else:
            self._end(job, "waiting" if runner.again else "done", None)
        finally:
            self._held.pop(job.id, None)

    def _end(self, job: JobRow, state: str, reason: str | None) -> None:
        """Saves the result of a job, unless another worker has taken it."""

        def note(session: Session) -> None:
            row = session.get(JobRow, job.id)
            if row is not None and row.lease == job.lease and row.state == "running":
                self._settle(session, row, state, reason)

        try:
            self._database.write(note)
        except Exception:
            _log.exception("could not save the result of job %s (%s); it will run again", job.kind, job.id)

    def _settle(self, session: Session, job: JobRow, state: str, reason: str | None) -> None:
        """Ends an attempt: the job waits for the next one, or has finished in this state."""
        runner = self._runners[job.kind]
        if state == "failed" and runner.again:  # a recurring job never ends
            state, job.attempts = "waiting", 0
            job.run_at = moment_text(self._clock() + runner.again)
        elif state == "waiting":
            pause = PAUSE * job.attempts if reason else runner.again or timedelta(0)
            job.run_at = moment_text(self._clock() + pause)
            job.attempts = job.attempts if reason else 0
        else:
            job.finished_at = moment_text(self._clock())
            if state == "failed" and runner.failed:
                runner.failed(session, job.about, reason or "", job.finished_at)  # pyrefly: ignore[bad-argument-type]
        job.state, job.reason, job.lease, job.leased_until = state, reason, None, None

    def _renew(self) -> None:
        while not self._ending.wait(RENEWAL):
            for job_id, lease in list(self._held.items()):
                held = update(JobRow).where(JobRow.id == job_id, JobRow.lease == lease)
                try:
                    self._database.write(
                        lambda session, held=held: session.execute(held.values(leased_until=self._later(LEASE)))
                    )
                except Exception:  # a locked database, PostgreSQL restarting: the next renewal may still be in time
                    _log.exception("could not renew the lease of job %s", job_id)

    def _later(self, seconds: float) -> str:
        return moment_text(self._clock() + timedelta(seconds=seconds))

    def enter_housekeeping(self, session: Session) -> None:
        """Creates the key for signatures and the cleanup job, unless they are there."""
        now = moment_text(self._clock())
        make_key(session)
        if session.get(JobRow, HOUSEKEEPING) is None:
            session.add(
                JobRow(id=HOUSEKEEPING, kind=HOUSEKEEPING, about=HOUSEKEEPING, run_at=now, created_at=now, progress={})
            )
