"""Worker threads of a service process, which take due jobs, hold them under a lease, and save the results.

A lease is renewed while its job runs. When a process dies, its leases expire and other processes take the jobs.

Each renewal increments a counter. A process regards a lease as expired if it has seen the same count for `LEASE`
seconds of its own monotonic clock, so clocks of different processes are never compared, and setting a clock has no
effect. While the database accepts no writes, leases cannot be renewed. A process notices this when it waits longer than
`POLL` for a lock; it then measures the time of all leases from the start.

A lease may expire although its job still runs, for example in a suspended process. `JobContext.write()` and the saving
of the result check the lease in their transactions, so such a job can write nothing; a warning is logged.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any

from sqlalchemy import Select, and_, bindparam, func, or_, select, tuple_, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session, aliased

from presscheck.service.blobs.store import BlobStore, FilesUnavailable
from presscheck.service.db.engine import Database, cause_of, unavailable
from presscheck.service.db.ids import Clock, moment_text
from presscheck.service.db.signing import make_key
from presscheck.service.integrations.in_process_api import InProcessApi
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
"""Time without renewal after which a lease expires, in seconds."""
RENEWAL = 15.0
"""Seconds between two renewals."""
POLL = 2.0
"""Seconds between checks for jobs of other processes, and between retries while the database is unavailable."""
MOST_AT_ONCE = 6
"""Maximum number of running jobs per process. Most jobs wait for other servers or for processes that they start."""
MOST_PER_ORGANIZATION = 2
"""Maximum number of running jobs per organization, of different kinds, so that others need not wait for them."""
MOST_ATTEMPTS = 3
PAUSE = timedelta(seconds=10)
"""Pause before the first retry of a failed job; the second pause is twice as long."""
WORKER_DIED = f"The service process ended during each of {MOST_ATTEMPTS} attempts."
"""Reason for the failure of a job whose process ended during every attempt, so that there is no result."""
HOUSEKEEPING = "sweep"
"""The id of the cleanup job, which always exists."""

_log = logging.getLogger("presscheck.service")


class Workers:
    """Threads that run jobs between `start()` and `stop()`.

    The next job comes from the organization with the fewest running jobs, so no organization waits for another's jobs.
    """

    def __init__(self, database: Database, files: BlobStore, clock: Clock, outside: OutboundConfig) -> None:
        self.outgoing = Outgoing(outside.allowed)
        self.service = InProcessApi()
        """The API of this process, for integration scripts."""
        self.outside = replace(outside, scripts=replace(outside.scripts, service=self.service))
        self._runners = all_runners()
        self._database, self._files, self._clock = database, files, clock
        self._ending = threading.Event()
        self._queued = threading.Semaphore(0)
        self._held: set[str] = set()
        """The leases that this process holds."""
        self._seen: dict[str, tuple[int, float]] = {}
        """For each lease, its number of renewals and when this process first saw this number.

        Threads race for this value without a lock; the race can only make the time later.
        """
        self._writable_since = time.monotonic()
        """The time at which this process last noticed that the database had accepted no writes."""
        self._taking: dict[int, float] = {}
        """The times at which threads started to take a job, by thread."""
        self._threads = [threading.Thread(target=self._work, daemon=True, name="jobs") for _ in range(MOST_AT_ONCE)]
        self._threads.append(threading.Thread(target=self._renew, daemon=True, name="leases"))

    def start(self) -> None:
        """Create the signing key and the cleanup job if they are missing, and start the threads."""
        self._database.write(self.enter_housekeeping)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop the threads. Running jobs stop at their next step, and another process continues them."""
        self._ending.set()
        self._queued.release(len(self._threads))
        for thread in self._threads:
            thread.join(10)
        self.outgoing.close()

    def wake(self) -> None:
        """Make a thread check for jobs immediately."""
        self._queued.release()

    def _work(self) -> None:
        while not self._ending.is_set():
            try:
                job = self._take_job()
            except Exception as error:
                _report("could not take a job", error)
                self._writable_since = time.monotonic()
                job = None
            if job is None:
                self._queued.acquire(timeout=POLL)
            else:
                self._run(job)

    def _take_job(self) -> JobRow | None:
        started = time.monotonic()
        with self._database.snapshot() as session:  # checking must not take the write lock
            expired = self._expired(session)
            if session.scalar(_due_job().with_only_columns(JobRow.id), self._due_at_present(expired)) is None:
                return None

        def take(session: Session) -> JobRow | None:
            session.connection()  # begins the transaction, which may wait for a lock
            now = time.monotonic()
            # a transaction waited for long: perhaps not this one, because writers do not take turns in order
            if now - min([*self._taking.values()]) > POLL:
                self._writable_since = now
            return self._start_next(session, expired if started > self._writable_since else [])

        self._taking[threading.get_ident()] = started
        try:
            return self._database.write(take)
        finally:
            del self._taking[threading.get_ident()]

    def _expired(self, session: Session) -> list[tuple[str, int]]:
        """Return the leases that have expired as seen by this process, with their numbers of renewals."""
        now = time.monotonic()
        running = session.execute(select(JobRow.lease, JobRow.renewals).where(JobRow.state == "running")).all()
        previous, seen = self._seen, dict[str, tuple[int, float]]()
        for lease, renewals in running:
            if lease is not None:
                last = previous.get(lease, (None, now))
                seen[lease] = (renewals, last[1] if last[0] == renewals else now)
        self._seen = seen
        return [
            (lease, renewals)
            for lease, (renewals, since) in seen.items()
            if now - max(since, self._writable_since) >= LEASE and lease not in self._held
        ]

    def _start_next(self, session: Session, expired: list[tuple[str, int]]) -> JobRow | None:
        """Take the next due job and count the attempt, or return None if no job is due.

        A job that has no attempts left is marked as failed.

        The attempt is counted before the job runs, because a job may end the whole process.
        """
        query = _due_job().with_for_update(skip_locked=True)
        while (job := session.scalars(query, self._due_at_present(expired)).first()) is not None:
            if job.state == "waiting" or job.attempts < MOST_ATTEMPTS:
                job.state, job.attempts, job.lease = "running", job.attempts + 1, secrets.token_hex(8)
                return job
            self._settle(session, job, "failed", WORKER_DIED)
            session.flush()
        return None

    def _due_at_present(self, expired: list[tuple[str, int]]) -> dict[str, Any]:
        """Return the parameters of `_due_job` for these expired leases."""
        now = self._clock()
        return {
            "now": moment_text(now),
            "far_ahead": moment_text(now + MOST_ATTEMPTS * PAUSE),
            "known": [*self._runners],
            "recurring": [kind for kind, runner in self._runners.items() if runner.again],
            "expired": expired,
            "expired_leases": [lease for lease, _ in expired],
        }

    def _run(self, job: JobRow) -> None:
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
        self._held.add(lease)
        try:
            runner.run(work)
        except JobCancelled:
            self._save_result(job, "waiting" if self._ending.is_set() else "cancelled", None)
        except PermanentFailure as reason:
            self._save_result(job, "failed", str(reason))
        except (RetryLater, FilesUnavailable) as reason:
            self._save_result(job, "waiting" if job.attempts < MOST_ATTEMPTS else "failed", str(reason))
        except Exception as error:
            _report(f"job {job.kind} ({job.id}) failed, attempt {job.attempts}", error)
            self._save_result(
                job, "waiting" if job.attempts < MOST_ATTEMPTS else "failed", f"{type(error).__name__}: {error}"
            )
        else:
            self._save_result(job, "waiting" if runner.again else "done", None)
        finally:
            self._held.discard(lease)

    def _save_result(self, job: JobRow, state: str, reason: str | None) -> None:
        """Save the result of a job unless another worker has taken it; wait while the database is unavailable."""

        def save(session: Session) -> bool:
            row = session.get(JobRow, job.id)
            if row is not None and row.lease == job.lease and row.state == "running":
                self._settle(session, row, state, reason)
                return True
            # deleted, cancelled, or saved by a commit whose response was lost
            return row is None or row.attempts == job.attempts

        is_mine = None
        while is_mine is None:
            try:
                is_mine = self._database.write(save)
            except Exception as error:
                _report(f"could not save the result of job {job.kind} ({job.id})", error)
                if not _is_temporary(error) or self._ending.wait(POLL):
                    return  # the lease will expire, and the job will run again
        if not is_mine:
            _log.warning(
                "job %s (%s) was taken by another worker; attempt %d ended here without a result",
                job.kind,
                job.id,
                job.attempts,
            )

    def _settle(self, session: Session, job: JobRow, state: str, reason: str | None) -> None:
        """End an attempt: schedule the next attempt or mark the job as finished in `state`."""
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
        job.state, job.reason, job.lease = state, reason, None

    def _renew(self) -> None:
        def count_up(session: Session) -> None:
            renewal = update(JobRow).where(JobRow.state == "running", JobRow.lease.in_(list(self._held)))
            session.execute(renewal.values(renewals=JobRow.renewals + 1))

        pause = RENEWAL
        while not self._ending.wait(pause):
            pause = RENEWAL
            try:
                if self._held:
                    self._database.write(count_up)
            except Exception as error:
                _report("could not renew the leases of jobs", error)
                pause = min(POLL, RENEWAL)

    def enter_housekeeping(self, session: Session) -> None:
        """Create the signing key and the cleanup job if they are missing."""
        now = moment_text(self._clock())
        make_key(session)
        if session.get(JobRow, HOUSEKEEPING) is None:
            session.add(
                JobRow(id=HOUSEKEEPING, kind=HOUSEKEEPING, about=HOUSEKEEPING, run_at=now, created_at=now, progress={})
            )


@cache
def _due_job() -> Select[JobRow]:
    """Build the query of the next due job. An idle process runs it three times a second, so it is built once."""
    # no retry waits that long, so the clock was set back
    is_far_ahead = and_(
        JobRow.run_at > bindparam("far_ahead"), JobRow.kind.not_in(bindparam("recurring", expanding=True))
    )
    is_waiting = and_(JobRow.state == "waiting", or_(JobRow.run_at <= bindparam("now"), is_far_ahead))
    is_expired = tuple_(JobRow.lease, JobRow.renewals).in_(bindparam("expired", expanding=True))
    is_abandoned = and_(JobRow.state == "running", is_expired)
    running = aliased(JobRow)
    running_jobs = (
        select(func.count())
        .select_from(running)
        .where(
            running.organization_id == JobRow.organization_id,
            running.state == "running",
            running.lease.not_in(bindparam("expired_leases", expanding=True)),
        )
    )
    count = running_jobs.scalar_subquery()
    same_kind = running_jobs.where(running.kind == JobRow.kind).scalar_subquery()
    return (
        select(JobRow)
        .where(
            JobRow.kind.in_(bindparam("known", expanding=True)),  # others are of a newer version
            or_(is_waiting, is_abandoned),
            count < MOST_PER_ORGANIZATION,
            same_kind == 0,
        )
        .order_by(count, JobRow.run_at, JobRow.id)
        .limit(1)
    )


def _is_temporary(error: Exception) -> bool:
    return isinstance(error, DBAPIError) and unavailable(error) is not None


def _report(failure: str, error: Exception) -> None:
    """Log an error: one line if the database is temporarily unavailable, or else the traceback."""
    reason = unavailable(error) if isinstance(error, DBAPIError) else None
    if reason:
        _log.warning("%s: %s: %s", failure, reason, cause_of(error))
    else:
        _log.error("%s", failure, exc_info=error)
