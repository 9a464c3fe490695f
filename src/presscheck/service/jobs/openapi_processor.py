"""Processes OpenAPI specifications: fetch or read, parse, validate, and store each valid version."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy.orm import Session

from presscheck.documents.yaml_mapping import InvalidYaml, load_yaml_value
from presscheck.service.db.file_location import require_location
from presscheck.service.db.ids import new_id
from presscheck.service.integrations.outbound_http import OutgoingError, OutgoingTimeout
from presscheck.service.jobs.queue import JobContext, runs
from presscheck.service.models.imports import SpecRow, SpecVersionRow

MOST_ERRORS = 20
"""The most errors that are reported."""
LONGEST_MESSAGE = 500


class Faulty(Exception):
    """An invalid specification: the error code of the API and the error messages."""

    def __init__(self, code: str, *messages: str) -> None:
        super().__init__(*messages)
        self.code = code
        self.errors = [{"message": message[:LONGEST_MESSAGE], "code": code} for message in messages]


def _given_up(session: Session, about: str, reason: str, now: str) -> None:
    row = session.get(SpecRow, about)
    if row is not None:
        _note(row, now, "PARSE_ERROR", [{"message": reason[:LONGEST_MESSAGE], "code": "PARSE_ERROR"}])


@runs("openapi", failed=_given_up)
def process(work: JobContext) -> None:
    """Processes one specification."""

    def begin(session: Session) -> tuple[str | None, str | None] | None:
        row = session.get(SpecRow, work.about)
        if row is None:
            return None
        row.processing_state = "progress"
        return row.source_url, row.source_text

    source = work.database.write(begin)
    if source is None:
        return
    try:
        content = work.files.put(json.dumps(_valid(_text(work, *source)), separators=(",", ":")).encode())
    except Faulty as fault:
        code, errors, content = fault.code, fault.errors, None
    else:
        code, errors = None, []
    work.require_running()
    work.database.write(lambda session: _end(session, work, code, errors, content))


def parsed(text: bytes) -> dict[str, Any]:
    """Parses a specification in JSON or YAML to plain JSON values.

    Raises:
        Faulty: it is neither, is too large, or is not an object.
    """
    try:
        value = load_yaml_value(text)
    except InvalidYaml as error:
        raise Faulty("PARSE_ERROR", f"invalid JSON or YAML in line {error.line}: {error}") from None
    if not isinstance(value, dict):
        raise Faulty("PARSE_ERROR", "must be an object")
    try:
        return json.loads(json.dumps(value, default=str, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise Faulty("PARSE_ERROR", f"has a value that JSON does not support: {error}") from None


def _text(work: JobContext, url: str | None, blob: str | None) -> bytes:
    if blob:
        text = work.files.read(blob)
        if text is None:
            raise Faulty("PARSE_ERROR", "the text of the specification is missing in the files of the service")
        return text
    try:
        response = work.outgoing.get(url or "", accept="application/json, application/yaml, */*")
    except OutgoingTimeout as error:
        raise Faulty("FETCH_TIMEOUT", str(error)) from error
    except OutgoingError as error:
        raise Faulty("FETCH_ERROR", str(error)) from error
    if response.status != 200:
        raise Faulty("FETCH_ERROR", f"{response.url} responded with {response.status}")
    return response.body


def _valid(text: bytes) -> dict[str, Any]:
    specification = parsed(text)
    version = str(specification.get("openapi") or specification.get("swagger") or "")
    validator = _validator_of(version)
    if validator is None:
        raise Faulty("PARSE_ERROR", f"openapi: unsupported version ({version or 'missing'}); must be 2.0, 3.0 or 3.1")
    from jsonschema_path import SchemaPath  # 260 ms, only to process a specification

    # references may only point into the document itself: nothing is read from disk or network
    closed = SchemaPath.from_dict(specification, handlers={"<all_urls>": _refuse, "": _refuse})
    try:
        errors = [_said(error) for error, _ in zip(validator(closed).iter_errors(), range(MOST_ERRORS), strict=False)]
    except Faulty:
        raise
    except Exception as error:  # the validator may fail on unexpected input
        errors = [f"{type(error).__name__}: {error}"]
    if errors:
        raise Faulty("PARSE_ERROR", *errors)
    return specification


def _validator_of(version: str) -> Any:
    """The validator for a version of OpenAPI; None if it is not supported."""
    # 370 ms, only to process a specification
    from openapi_spec_validator import OpenAPIV2SpecValidator, OpenAPIV30SpecValidator, OpenAPIV31SpecValidator

    validators = {"2.": OpenAPIV2SpecValidator, "3.0": OpenAPIV30SpecValidator, "3.1": OpenAPIV31SpecValidator}
    return next((validator for begins, validator in validators.items() if version.startswith(begins)), None)


def _refuse(url: str) -> Any:
    raise Faulty("PARSE_ERROR", f"$ref: {url} points outside this document")


def _said(error: Any) -> str:
    where = ".".join(str(part) for part in error.absolute_path)
    message = str(error.message).partition("\n")[0]
    return f"{where}: {message}" if where else message


def _end(
    session: Session, work: JobContext, code: str | None, errors: list[dict[str, Any]], content: str | None
) -> None:
    row = session.get(SpecRow, work.about)
    if row is None:
        return
    now = work.now()
    _note(row, now, code, errors)
    newest = session.get(SpecVersionRow, row.last_version) if row.last_version else None
    if content is None or (newest is not None and newest.content == content):
        return
    require_location(session, work.files.location)
    version = SpecVersionRow(id=new_id(), spec_id=row.id, content=content, created_at=now)
    session.add(version)
    row.last_version = version.id


def _note(row: SpecRow, now: str, code: str | None, errors: list[dict[str, Any]]) -> None:
    row.processing_state, row.last_processed_at, row.updated_at = "complete", now, now
    row.error_code, row.errors = code, errors
