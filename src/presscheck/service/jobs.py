"""Work in the background: entered in the transaction that wants it, done by whichever process takes it first.

A runner may be stopped at any step and begun again by another process, so it writes what it found in transactions of
its own and looks at what is there already. `work.demand_going()` between the steps is where it is stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import update
from sqlalchemy.orm import Session

from presscheck.service.database import Database
from presscheck.service.identity import Clock, moment_text, new_id
from presscheck.service.job_tables import JobRow

if TYPE_CHECKING:
    from presscheck.service.outgoing import Outgoing

UNDER_WAY = ("waiting", "running")
WANTED = "jobs"
"""What a session's notes say when work was entered."""


class Stopped(Exception):
    """The job was cancelled, taken by somebody else, or the service ends."""


class CannotBeDone(Exception):
    """Another try would end alike; says why."""


class TryAgain(Exception):
    """It did not go this time; says why."""


@dataclass(frozen=True)
class Outside:
    """What the operator configures of the world beyond the service.

    Args:
        allowed: networks of one's own that may be reached, such as 127.0.0.0/8.
        translator: a command that translates; the built-in one copies.
    """

    allowed: tuple[str, ...] = ()
    translator: tuple[str, ...] = ()


@dataclass(frozen=True)
class Work:
    """What a runner works with; `about` is the id of the thing that it works on."""

    job_id: str
    about: str
    lease: str
    database: Database
    data: Path
    clock: Clock
    outgoing: Outgoing
    outside: Outside
    is_ending: Callable[[], bool]

    def now(self) -> str:
        """The moment, as it is stored."""
        return moment_text(self.clock())

    def demand_going(self) -> None:
        """Go on only while this is still ours to do.

        Raises:
            Stopped: it is not.
        """
        if self.is_ending():
            raise Stopped("the service is shutting down")
        with self.database.reading.begin() as session:
            job = session.get(JobRow, self.job_id)
            if job is None or job.state != "running" or job.lease != self.lease:
                raise Stopped("cancelled")


@dataclass(frozen=True)
class Runner:
    """How a kind of job is done; `failed` notes on the thing itself that it was given up; `again` repeats it."""

    run: Callable[[Work], None]
    failed: Callable[[Session, str, str, str], None] | None = None
    again: timedelta | None = None


RUNNERS: dict[str, Runner] = {}
"""By kind."""


def runs(
    kind: str, *, failed: Callable[[Session, str, str, str], None] | None = None, again: timedelta | None = None
) -> Callable[[Callable[[Work], None]], Callable[[Work], None]]:
    """Enter a runner for a kind of job.

    Args:
        kind: its name.
        failed: gets the session, the id of the thing, the reason and the moment when the job is given up.
        again: how long after its end it is done again.
    """

    def enter(run: Callable[[Work], None]) -> Callable[[Work], None]:
        RUNNERS[kind] = Runner(run, failed, again)
        return run

    return enter


def enter_job(session: Session, kind: str, about: str, *, now: str, organization_id: str | None) -> None:
    """Want some work done once this transaction is through."""
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
            progress={},
            created_at=now,
        )
    )


def cancel_jobs(session: Session, about: str, now: str) -> None:
    """Want the work on a thing done no more; what runs stops at its next step."""
    wanted = update(JobRow).where(JobRow.about == about, JobRow.state.in_(UNDER_WAY))
    session.execute(wanted.values(state="cancelled", finished_at=now))
