"""Delivers integration events to the development tunnel and records the result."""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy.orm import Session

from presscheck.service.integrations.integrations import NOT_RUN
from presscheck.service.integrations.outbound_http import OutgoingError
from presscheck.service.jobs.queue import JobContext, RetryLater, runs
from presscheck.service.models.integrations import EventRow, InstallationRow, IntegrationRow


class _Letter(NamedTuple):
    tunnel: str | None
    body: bytes


def _given_up(session: Session, about: str, reason: str, now: str) -> None:
    _record(session, about, "failed", "error", reason, now)


@runs("delivery", failed=_given_up)
def deliver(work: JobContext) -> None:
    """Delivers one event."""
    with work.database.reading.begin() as session:
        letter = _letter(session, work.about)
    if letter is None:
        return
    status, level, message = "failed", "error", NOT_RUN
    if letter.tunnel is not None:
        try:
            answer = work.outgoing.post_json(letter.tunnel, letter.body)
        except OutgoingError as error:
            raise RetryLater(str(error)) from None
        if answer.status >= 500:
            raise RetryLater(f"the tunnel responded with {answer.status}")
        is_taken = answer.status < 300
        status, level = ("success", "info") if is_taken else ("failed", "error")
        message = f"the tunnel responded with {answer.status}"
    work.database.write(lambda session: _record(session, work.about, status, level, message, work.now()))


def _letter(session: Session, event_id: str) -> _Letter | None:
    event = session.get(EventRow, event_id)
    row = session.get(IntegrationRow, event.integration) if event else None
    if event is None or row is None or event.status is not None:
        return None
    installed = session.get(InstallationRow, event.installation_id or "")
    is_own = installed is None or installed.organization_id == row.organization_id
    tunnel = row.tunnel_url if row.tunnel_for_all or is_own else None
    return _Letter(tunnel, json.dumps(event.payload).encode())


def _record(session: Session, event_id: str, status: str, level: str, message: str, now: str) -> None:
    event = session.get(EventRow, event_id)
    if event is not None:
        event.status = status
        event.logs = [{"message": message, "timestamp": now, "level": level}]
