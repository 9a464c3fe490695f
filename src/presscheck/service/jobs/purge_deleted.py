"""Cleanup job: deletes expired data permanently."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from presscheck.service.db.ids import moment_text
from presscheck.service.jobs.queue import JobContext, runs
from presscheck.service.models.jobs import JobRow
from presscheck.service.models.organizations import TokenRow
from presscheck.service.models.spaces import SpaceRow

RESTORABLE = timedelta(days=7)
"""How long a deleted space can be restored."""
REMEMBERED = timedelta(days=30)
"""How long a finished job is kept for status requests."""


@runs("sweep", again=timedelta(hours=1))
def sweep(work: JobContext) -> None:
    """Removes what has expired."""
    moment = work.clock()

    def remove(session: Session) -> None:
        gone = SpaceRow.deleted_at < moment_text(moment - RESTORABLE)
        for space in session.scalars(select(SpaceRow).where(gone)):
            session.delete(space)
        session.execute(delete(JobRow).where(JobRow.finished_at < moment_text(moment - REMEMBERED)))
        session.execute(delete(TokenRow).where(TokenRow.expires_at < moment_text(moment)))

    work.write(remove)
