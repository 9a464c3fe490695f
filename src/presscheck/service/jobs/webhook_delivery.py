"""The job that delivers an event to the development tunnel or the script of an integration, and records the result."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from presscheck.service.blobs.staged_files import StagedFiles
from presscheck.service.http.operations import Caller, Context
from presscheck.service.integrations.event_delivery import DeliveryLog, Receiver, deliver_event
from presscheck.service.integrations.integrations import receiver_of
from presscheck.service.jobs.queue import JobContext, RetryLater, runs
from presscheck.service.models.integrations import EventRow, InstallationRow, IntegrationRow
from presscheck.service.models.jobs import JobRow


class _Delivery(NamedTuple):
    receiver: Receiver
    event: dict[str, Any]


def _record_failure(session: Session, about: str, reason: str, now: str) -> None:
    _record(session, about, "failed", [{"message": reason, "timestamp": now, "level": "error"}])


@runs("delivery", failed=_record_failure)
def deliver(work: JobContext) -> None:
    """Deliver one event."""
    with work.database.snapshot() as session:
        delivery = _delivery(session, work)
    if delivery is None:
        return
    log = DeliveryLog(work.now)
    outcome = deliver_event(
        delivery.receiver,
        delivery.event,
        log,
        outgoing=work.outgoing,
        scripts=work.outside.scripts,
        read=work.files.read,
    )
    if outcome.error is not None and outcome.may_retry:
        raise RetryLater(outcome.error)
    status = "failed" if outcome.error is not None else "success"
    work.write(lambda session: _record(session, work.about, status, log.rows))


def _delivery(session: Session, work: JobContext) -> _Delivery | None:
    event = session.get(EventRow, work.about)
    row = session.get(IntegrationRow, event.integration) if event else None
    if event is None or row is None or event.status is not None:
        return None
    job = session.get_one(JobRow, work.job_id)
    installed = session.get(InstallationRow, event.installation_id or "")
    installer = installed.organization_id if installed else job.progress.get("installer")
    origin = job.progress.get("origin", "http://localhost")
    files = StagedFiles(work.files, may_wait=True)
    context = Context(session, Caller("", "", None, None), origin, work.clock, files)
    receiver = receiver_of(
        context,
        row,
        installed,
        is_own=installer == row.organization_id,
        space_id=event.payload.get("spaceId"),
        site_id=event.payload.get("siteId"),
    )
    return _Delivery(receiver, event.payload)


def _record(session: Session, event_id: str, status: str, logs: list[dict[str, str]]) -> None:
    event = session.get(EventRow, event_id)
    if event is not None:
        event.status = status
        event.logs = logs
