"""The cleanup job, which permanently deletes expired data."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from presscheck.service.db.ids import moment_text
from presscheck.service.jobs.queue import JobContext, runs
from presscheck.service.models.jobs import JobRow
from presscheck.service.models.oauth import BrowserSignInRow, RefreshTokenRow
from presscheck.service.models.organizations import AuditEventRow, OrganizationRow, TokenRow
from presscheck.service.models.spaces import SpaceRow

RESTORABLE = timedelta(days=7)
"""Time during which a deleted space can be restored."""
REMEMBERED = timedelta(days=30)
"""Time for which finished jobs are stored."""
AUDITED = timedelta(days=90)
"""Time for which audit events are stored."""


@runs("sweep", again=timedelta(hours=1))
def sweep(work: JobContext) -> None:
    """Permanently delete spaces that can no longer be restored, and expired jobs, tokens and audit events."""
    moment = work.clock()

    def remove(session: Session) -> None:
        is_expired = SpaceRow.deleted_at < moment_text(moment - RESTORABLE)
        for space in session.scalars(select(SpaceRow).where(is_expired)):
            session.delete(space)
        session.execute(delete(JobRow).where(JobRow.finished_at < moment_text(moment - REMEMBERED)))
        for table in (TokenRow, RefreshTokenRow, BrowserSignInRow):
            session.execute(delete(table).where(table.expires_at < moment_text(moment)))
        session.execute(
            delete(AuditEventRow).where(
                AuditEventRow.organization_id.in_(select(OrganizationRow.id)),  # the first column of the index
                AuditEventRow.occurred_at < moment_text(moment - AUDITED),
            )
        )

    work.write(remove)
