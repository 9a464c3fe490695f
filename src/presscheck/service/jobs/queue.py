"""The queue of background jobs: added in the transaction that needs them, and run by the first worker that takes them.

A runner may be stopped at any step and started again in another process, so it commits its progress in several
transactions and skips completed steps. It writes only with `work.write()`, which fails if another worker has taken the
job, calls `work.require_running()` between its steps, and makes requests with `work.fetch()`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sqlalchemy import update
from sqlalchemy.orm import Session

from presscheck.service.blobs.store import BlobStore
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock, moment_text, new_id
from presscheck.service.integrations.script_runner import ScriptConfig
from presscheck.service.models.jobs import JobRow

if TYPE_CHECKING:
    from presscheck.service.integrations.outbound_http import Fetched, Outgoing

Result = TypeVar("Result")

UNDER_WAY = ("waiting", "running")
WANTED = "jobs"
"""Key in `session.info`, set if the transaction has queued a job."""


class JobCancelled(Exception):
    """The job was cancelled or taken by another worker, or the service is shutting down."""


class PermanentFailure(Exception):
    """The job failed and a retry would fail too; the message is the reason."""


class LimitReached(PermanentFailure):
    """The job has exceeded its limit of time or of bytes."""


class RetryLater(Exception):
    """The job failed and may be retried; the message is the reason."""


@dataclass(frozen=True)
class OutboundConfig:
    """Settings of the operator for outgoing requests and external programs.

    Args:
        allowed: private networks that may be reached, such as 127.0.0.0/8.
        translator: the command that translates; by default pages are copied.
        scripts: limits for scripts of integrations, and whether they may send requests.
        git_root: the folder with Git repositories for imports and exports.
    """

    allowed: tuple[str, ...] = ()
    translator: tuple[str, ...] = ()
    scripts: ScriptConfig = field(default_factory=ScriptConfig)
    git_root: Path | None = None


class JobLimits(NamedTuple):
    """Limits of one attempt of a job, so that a slow website or a large space does not occupy a worker for hours."""

    seconds: int = 10 * 60
    most_bytes: int = 64 * 1024 * 1024
    """Maximum size of all files and responses that the job reads."""


DEFAULT_LIMITS = JobLimits()


class JobBudget:
    """The remaining time and bytes of one attempt of a job."""

    def __init__(self, limits: JobLimits) -> None:
        self._limits = limits
        self._deadline = time.monotonic() + limits.seconds
        self._bytes = 0

    def seconds_left(self) -> float:
        """Return the number of seconds that remain.

        Raises:
            LimitReached: the time is over.
        """
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise LimitReached(f"stopped after {_duration(self._limits.seconds)}, the limit of this kind of job")
        return remaining

    def add_bytes(self, count: int) -> None:
        """Count bytes that were read.

        Raises:
            LimitReached: the total exceeds the limit.
        """
        self._bytes += count
        if self._bytes > self._limits.most_bytes:
            most = self._limits.most_bytes // 1024 // 1024
            raise LimitReached(f"stopped after {most} MB were read, the limit of this kind of job")


def _duration(seconds: int) -> str:
    return f"{seconds // 60} minutes" if seconds >= 120 else f"{seconds} seconds"


@dataclass(frozen=True)
class JobContext:
    """The environment of a runner; `about` is the id of the item that the job processes."""

    job_id: str
    about: str
    lease: str
    database: Database
    files: BlobStore
    clock: Clock
    outgoing: Outgoing
    outside: OutboundConfig
    is_ending: Callable[[], bool]
    budget: JobBudget

    def now(self) -> str:
        """Return the current time in stored form."""
        return moment_text(self.clock())

    def fetch(self, url: str, *, accept: str = "*/*") -> Fetched:
        """Fetch a URL within the budget of the job, following redirects.

        Raises:
            OutgoingError: the URL is unreachable or not allowed, or the response is too large.
            LimitReached: the job has exceeded its budget.
        """
        seconds = self.budget.seconds_left()
        response = self.outgoing.request("GET", url, headers={"accept": accept}, seconds=seconds)
        self.budget.add_bytes(len(response.body))
        return response

    def require_running(self) -> None:
        """Check that this worker still holds the job, and that the job has time left.

        Raises:
            JobCancelled: the job was cancelled or taken, or the service is shutting down.
            LimitReached: the time is over.
        """
        self.budget.seconds_left()
        if self.is_ending():
            raise JobCancelled("the service is shutting down")
        with self.database.snapshot() as session:
            self._require_held(session)

    def write(self, change: Callable[[Session], Result]) -> Result:
        """Run a function in a transaction, like `Database.write`, if this worker still holds the job.

        Raises:
            JobCancelled: the job was cancelled or taken by another worker; nothing is written.
        """

        def write(session: Session) -> Result:
            self._require_held(session)
            return change(session)

        return self.database.write(write)

    def _require_held(self, session: Session) -> None:
        job = session.get(JobRow, self.job_id)
        if job is None or job.state != "running" or job.lease != self.lease:
            raise JobCancelled("cancelled")


@dataclass(frozen=True)
class Runner:
    """The implementation of one kind of job.

    Attributes:
        run: does the work.
        limits: limits of one attempt.
        failed: records the final failure on the item; see `runs`.
        again: for a recurring job, the pause before the next run.
    """

    run: Callable[[JobContext], None]
    limits: JobLimits
    failed: Callable[[Session, str, str, str], None] | None = None
    again: timedelta | None = None


RUNNERS: dict[str, Runner] = {}
"""Runners by kind of job."""


def runs(
    kind: str,
    *,
    limits: JobLimits = DEFAULT_LIMITS,
    failed: Callable[[Session, str, str, str], None] | None = None,
    again: timedelta | None = None,
) -> Callable[[Callable[[JobContext], None]], Callable[[JobContext], None]]:
    """Register a runner for a kind of job.

    Args:
        kind: the name of the kind.
        limits: the limits of an attempt, which the runner checks between its steps.
        failed: called with the session, the id of the item, the reason and the time when the job finally fails.
        again: for a recurring job, the time from its end to the next run.
    """

    def enter(run: Callable[[JobContext], None]) -> Callable[[JobContext], None]:
        RUNNERS[kind] = Runner(run, limits, failed, again)
        return run

    return enter


def enter_job(
    session: Session,
    kind: str,
    about: str,
    *,
    now: str,
    organization_id: str | None,
    progress: dict[str, Any] | None = None,
) -> None:
    """Queue a job for the item `about`. It starts after this transaction commits, but not before the time `now`."""
    session.info[WANTED] = True
    session.add(
        JobRow(
            id=new_id(),
            kind=kind,
            about=about,
            organization_id=organization_id,
            state="waiting",
            attempts=0,
            run_at=now,
            progress=progress or {},
            created_at=now,
        )
    )


def cancel_jobs(session: Session, about: str, now: str) -> None:
    """Cancel the jobs of an item; a running job stops at its next step."""
    jobs = update(JobRow).where(JobRow.about == about, JobRow.state.in_(UNDER_WAY))
    session.execute(jobs.values(state="cancelled", finished_at=now))
