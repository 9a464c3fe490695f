"""Background jobs: queued in the transaction that needs them, run by the first process that takes them.

A runner may be stopped at any step and restarted by another process, so it commits its progress in its own transactions
and checks what is already there. It stops at `work.demand_going()`, to be called between steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import update
from sqlalchemy.orm import Session

from presscheck.service.db.blob_store import BlobStore
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock, moment_text, new_id
from presscheck.service.integrations.script_runner import ScriptConfig
from presscheck.service.models.jobs import JobRow

if TYPE_CHECKING:
    from presscheck.service.integrations.outbound_http import Outgoing

UNDER_WAY = ("waiting", "running")
WANTED = "jobs"
"""Key in `session.info` that says that a job was queued."""


class JobCancelled(Exception):
    """The job was cancelled or taken by another worker, or the service is shutting down."""


class PermanentFailure(Exception):
    """The job failed and a retry would fail too; the message has the reason."""


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

    def now(self) -> str:
        """The current time in stored form."""
        return moment_text(self.clock())

    def require_running(self) -> None:
        """Checks that this worker still holds the job.

        Raises:
            JobCancelled: it does not.
        """
        if self.is_ending():
            raise JobCancelled("the service is shutting down")
        with self.database.reading.begin() as session:
            job = session.get(JobRow, self.job_id)
            if job is None or job.state != "running" or job.lease != self.lease:
                raise JobCancelled("cancelled")


@dataclass(frozen=True)
class Runner:
    """Runs one kind of job; `failed` records the final failure on the item, `again` repeats the job after a pause."""

    run: Callable[[JobContext], None]
    failed: Callable[[Session, str, str, str], None] | None = None
    again: timedelta | None = None


RUNNERS: dict[str, Runner] = {}
"""All runners by kind of job."""


def runs(
    kind: str,
    *,
    failed: Callable[[Session, str, str, str], None] | None = None,
    again: timedelta | None = None,
) -> Callable[[Callable[[JobContext], None]], Callable[[JobContext], None]]:
    """Registers a runner for a kind of job.

    Args:
        kind: the name of the kind.
        failed: called with the session, the id of the item, the reason and the time when the job finally fails.
        again: for a recurring job, the time from its end to the next run.
    """

    def enter(run: Callable[[JobContext], None]) -> Callable[[JobContext], None]:
        RUNNERS[kind] = Runner(run, failed, again)
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
