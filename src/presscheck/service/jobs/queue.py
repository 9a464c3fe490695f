"""Background jobs: queued in the transaction that needs them, run by the first process that takes them.

A runner may be stopped at any step and restarted by another process, so it commits its progress in its own transactions
and checks what is already there. It writes with `work.write()` alone, which a worker that lost the job to another one
cannot, and stops there, at `work.require_running()` and at `work.fetch()`, to be called between steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sqlalchemy import update
from sqlalchemy.orm import Session

from presscheck.service.db.blob_store import BlobStore
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock, moment_text, new_id
from presscheck.service.integrations.script_runner import ScriptConfig
from presscheck.service.models.jobs import JobRow

if TYPE_CHECKING:
    from presscheck.service.integrations.outbound_http import Fetched, Outgoing

Result = TypeVar("Result")

UNDER_WAY = ("waiting", "running")
WANTED = "jobs"
"""Key in `session.info` that says that a job was queued."""


class JobCancelled(Exception):
    """The job was cancelled or taken by another worker, or the service is shutting down."""


class PermanentFailure(Exception):
    """The job failed and a retry would fail too; the message has the reason."""


class LimitReached(PermanentFailure):
    """The job has used up its time or its bytes."""


class RetryLater(Exception):
    """The job failed and may be retried; the message has the reason."""


@dataclass(frozen=True)
class OutboundConfig:
    """The operator's settings for outgoing requests and external programs.

    Args:
        allowed: private networks that may be reached, such as 127.0.0.0/8.
        translator: the command that translates; by default pages are copied.
        scripts: the limits of the scripts of integrations, and whether they may send requests.
    """

    allowed: tuple[str, ...] = ()
    translator: tuple[str, ...] = ()
    scripts: ScriptConfig = field(default_factory=ScriptConfig)


class JobLimits(NamedTuple):
    """Limits of one attempt of a job, so that a slow website or a large space does not hold a worker for hours."""

    seconds: int = 10 * 60
    most_bytes: int = 64 * 1024 * 1024
    """Bytes of all files and responses that it reads."""


DEFAULT_LIMITS = JobLimits()


class JobBudget:
    """The time and the bytes that an attempt of a job has left."""

    def __init__(self, limits: JobLimits) -> None:
        self._limits = limits
        self._deadline = time.monotonic() + limits.seconds
        self._bytes = 0

    def seconds_left(self) -> float:
        """Returns the seconds that are left.

        Raises:
            LimitReached: none are left.
        """
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise LimitReached(f"stopped after {_duration(self._limits.seconds)}, the limit of this kind of job")
        return left

    def add_bytes(self, count: int) -> None:
        """Counts bytes that were read.

        Raises:
            LimitReached: these are too many.
        """
        self._bytes += count
        if self._bytes > self._limits.most_bytes:
            most = self._limits.most_bytes // 1024 // 1024
            raise LimitReached(f"stopped after {most} MB were read, the limit of this kind of job")


def _duration(seconds: int) -> str:
    return f"{seconds // 60} minutes" if seconds >= 120 else f"{seconds} seconds"


@dataclass(frozen=True)
class JobContext:
    """What a runner works with; `about` is the id of the item that it works on."""

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
        """The current time in stored form."""
        return moment_text(self.clock())

    def fetch(self, url: str, *, accept: str = "*/*") -> Fetched:
        """Fetches a URL within the budget of the job, and follows redirects.

        Raises:
            OutgoingError: the URL is unreachable or not allowed, or the response too large.
            LimitReached: the job has no time left, or has read too many bytes.
        """
        seconds = self.budget.seconds_left()
        response = self.outgoing.request("GET", url, headers={"accept": accept}, seconds=seconds)
        self.budget.add_bytes(len(response.body))
        return response

    def require_running(self) -> None:
        """Checks that this worker still holds the job, and that the job has time left.

        Raises:
            JobCancelled: it does not.
            LimitReached: no time is left.
        """
        self.budget.seconds_left()
        if self.is_ending():
            raise JobCancelled("the service is shutting down")
        with self.database.reading.begin() as session:
            self._require_held(session)

    def write(self, change: Callable[[Session], Result]) -> Result:
        """Runs a function in a transaction, as `Database.write` does, if this worker still holds the job.

        Raises:
            JobCancelled: it does not; nothing is written.
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
    """Runs one kind of job; `failed` records the final failure on the item, `again` repeats the job after a pause."""

    run: Callable[[JobContext], None]
    limits: JobLimits
    failed: Callable[[Session, str, str, str], None] | None = None
    again: timedelta | None = None


RUNNERS: dict[str, Runner] = {}
"""All runners by kind of job."""


def runs(
    kind: str,
    *,
    limits: JobLimits = DEFAULT_LIMITS,
    failed: Callable[[Session, str, str, str], None] | None = None,
    again: timedelta | None = None,
) -> Callable[[Callable[[JobContext], None]], Callable[[JobContext], None]]:
    """Registers a runner for a kind of job.

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
    """Queues a job; it starts after this transaction commits."""
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
    """Cancels the jobs of an item; a running one stops at its next step."""
    jobs = update(JobRow).where(JobRow.about == about, JobRow.state.in_(UNDER_WAY))
    session.execute(jobs.values(state="cancelled", finished_at=now))
