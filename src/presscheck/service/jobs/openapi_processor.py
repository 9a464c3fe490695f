"""The job that processes an OpenAPI specification: it fetches or reads it, validates it in a separate process, and
stores a valid version.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy.orm import Session

from presscheck.service import openapi_validation
from presscheck.service.blobs.location import require_location
from presscheck.service.bounded_process import ProcessFailed, run_bounded
from presscheck.service.db.ids import new_id
from presscheck.service.integrations.outbound_http import OutgoingError, OutgoingTimeout
from presscheck.service.jobs.queue import JobContext, RetryLater, runs
from presscheck.service.models.imports import SpecRow, SpecVersionRow
from presscheck.service.openapi_validation import LONGEST_MESSAGE, MOST_SECONDS, Faulty


def _record_failure(session: Session, about: str, reason: str, now: str) -> None:
    row = session.get(SpecRow, about)
    if row is not None:
        _record(row, now, "PARSE_ERROR", [{"message": reason[:LONGEST_MESSAGE], "code": "PARSE_ERROR"}])


@runs("openapi", failed=_record_failure)
def process(work: JobContext) -> None:
    """Process one specification."""

    def begin(session: Session) -> tuple[str | None, str | None] | None:
        row = session.get(SpecRow, work.about)
        if row is None:
            return None
        row.processing_state = "progress"
        return row.source_url, row.source_text

    source = work.write(begin)
    if source is None:
        return
    try:
        content = work.files.put(validated(_text(work, *source)))
    except Faulty as fault:
        code, errors, content = fault.code, fault.errors, None
    else:
        code, errors = None, []
    work.require_running()
    work.write(lambda session: _save_result(session, work, code, errors, content))


def _text(work: JobContext, url: str | None, blob: str | None) -> bytes:
    if blob:
        text = work.files.read(blob)
        if text is None:
            raise Faulty("PARSE_ERROR", "the text of the specification is missing in the files of the service")
        return text
    try:
        response = work.fetch(url or "", accept="application/json, application/yaml, */*")
    except OutgoingTimeout as error:
        raise Faulty("FETCH_TIMEOUT", str(error)) from error
    except OutgoingError as error:
        raise Faulty("FETCH_ERROR", str(error)) from error
    if response.status != 200:
        raise Faulty("FETCH_ERROR", f"{response.url} responded with {response.status}")
    return response.body


def validated(text: bytes) -> bytes:
    """Validate a specification and return it as compact JSON.

    Raises:
        Faulty: the specification is invalid.
        RetryLater: the validation exceeded a limit or failed; the third failure is final.
    """
    try:
        answer = json.loads(run_bounded(openapi_validation.__name__, stdin=text, seconds=2 * MOST_SECONDS))
    except ProcessFailed as error:
        raise RetryLater(f"could not validate the specification: {error}") from None
    if "code" in answer:
        raise Faulty(answer["code"], *answer["messages"])
    return answer["content"].encode()


def _save_result(
    session: Session, work: JobContext, code: str | None, errors: list[dict[str, Any]], content: str | None
) -> None:
    row = session.get(SpecRow, work.about)
    if row is None:
        return
    now = work.now()
    _record(row, now, code, errors)
    newest = session.get(SpecVersionRow, row.last_version) if row.last_version else None
    if content is None or (newest is not None and newest.content == content):
        return
    require_location(session, work.files.location)
    version = SpecVersionRow(id=new_id(), spec_id=row.id, content=content, created_at=now)
    session.add(version)
    row.last_version = version.id


def _record(row: SpecRow, now: str, code: str | None, errors: list[dict[str, Any]]) -> None:
    row.processing_state, row.last_processed_at, row.updated_at = "complete", now, now
    row.error_code, row.errors = code, errors
