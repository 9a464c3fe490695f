"""The public endpoints of integrations: a request is sent to the script as an event, and the script responds.

Anyone can send requests to them, so only a few are handled at the same time. Responses are sandboxed: pages that a
script sends cannot act as pages of the service, and they neither receive nor set cookies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from presscheck.service.blobs.staged_files import StagedFiles
from presscheck.service.blobs.store import BlobStore
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock, moment_text, new_id
from presscheck.service.http.middleware import origin_of
from presscheck.service.http.operations import ApiError, Caller, Context, is_fit, not_found
from presscheck.service.http.request_body import read_body
from presscheck.service.http.turns import Threads, Turns
from presscheck.service.integrations.event_delivery import DeliveryLog, Outcome, Receiver, deliver_event
from presscheck.service.integrations.integrations import KINDS, is_installed, receiver_of, record_event
from presscheck.service.integrations.outbound_http import web_address
from presscheck.service.jobs.worker import Workers
from presscheck.service.models.integrations import InstallationRow, IntegrationRow

METHODS = ("GET", "POST", "PUT", "DELETE")
LARGEST_BODY = 1024 * 1024
"""Maximum size of a request, in bytes."""
MOST_AT_ONCE, MOST_WAITING, PATIENCE = 2, 20, 15.0
"""Maximum number of requests that are handled at the same time, maximum number of requests that wait for the
integrations of one organization, and their maximum wait in seconds. An organization occupies only one of the threads.
"""
MOST_READERS = 4
"""Maximum number of requests at the same time that look up their integration in the database."""
MOST_WAITING_FOR_ALL = 100
"""Maximum number of requests that wait for a thread, for all integrations together."""
HEADERS = {
    "content-security-policy": "sandbox allow-scripts allow-forms allow-popups",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
_SENT = ("content-type", "cache-control", "access-control-allow-origin", "access-control-allow-headers")
"""Headers that are copied from the response of a script."""
_WITHOUT_BODY = (204, 205, 304)
"""Statuses of responses without a body."""
_NOT_RECEIVED = ("cookie", "proxy-authorization")
"""Headers that a script does not receive, because they may belong to other pages of the service."""


@dataclass(frozen=True)
class _Call:
    receiver: Receiver
    event: dict[str, Any]
    organization_id: str
    installation_id: str | None


class Endpoint:
    """The handler for the public endpoints of all integrations.

    Args:
        database: the database of the service.
        files: the stored files.
        clock: returns the current time.
        workers: the client for outgoing requests and the settings of scripts.
    """

    def __init__(self, database: Database, files: BlobStore, clock: Clock, workers: Workers) -> None:
        self._database, self._files, self._clock, self._workers = database, files, clock, workers
        self._turns = Turns(1, waiting=MOST_WAITING, patience=PATIENCE, what="Requests to these integrations")
        self._readers = Threads(MOST_READERS, waiting=MOST_WAITING_FOR_ALL, what="Requests to integrations")
        self._threads = Threads(MOST_AT_ONCE, waiting=MOST_WAITING_FOR_ALL, what="Requests to integrations")

    async def answer(self, request: Request) -> Response:
        """Handle a request."""
        body = await read_body(request, LARGEST_BODY)
        call = await self._readers.run(self._read, request, body)
        async with self._turns.turn(call.organization_id):
            return await self._threads.run(self._respond, request, call)

    def _read(self, request: Request, body: bytes) -> _Call:
        with self._database.snapshot() as session:
            files = StagedFiles(self._files, may_wait=True)
            context = Context(session, Caller("", "", None, None), origin_of(request), self._clock, files)
            return _call(context, request, body)

    def _respond(self, request: Request, call: _Call) -> Response:
        log, now = DeliveryLog(lambda: moment_text(self._clock())), moment_text(self._clock())
        outcome = deliver_event(
            call.receiver,
            call.event,
            log,
            outgoing=self._workers.outgoing,
            scripts=replace(self._workers.outside.scripts, is_for_visitors=True),
            read=self._files.read,
        )
        if not outcome.is_success:  # recording successes would let everybody fill the list of events
            recorded = {**call.event, "request": {**call.event["request"], "headers": {}, "body": ""}}
            name = request.path_params["path"].partition("/")[0]
            self._database.write(
                lambda session: record_event(session, name, call.installation_id, recorded, outcome, log, now)
            )
        return _response(outcome)


def _call(context: Context, request: Request, body: bytes) -> _Call:
    """Return the event for a request, and its receiver.

    Raises:
        ApiError: 404, the integration, installation, space or site does not exist.
    """
    name, _, rest = request.path_params["path"].partition("/")
    row = context.session.get(IntegrationRow, name) if is_fit(request.path_params["path"]) else None
    if row is None:
        raise not_found("integration")
    parts, place = rest.split("/"), dict[str, str]()
    if parts[0] == "assets":
        raise not_found("file")
    installation: InstallationRow | None = None
    if parts[0] == "installations" and len(parts) > 1:
        installation = context.session.get(InstallationRow, parts[1])
        if installation is None or installation.integration != row.name:
            raise not_found("installation")
        kind = next((kind for kind in KINDS if parts[2] == f"{kind}s"), None) if len(parts) > 3 else None
        if kind is not None:
            if not is_installed(context, installation, kind, parts[3]):
                raise not_found(kind)
            place = {f"{kind}_id": parts[3]}
    headers = {name: value for name, value in request.headers.items() if name not in _NOT_RECEIVED}
    event = {
        "eventId": new_id(),
        "type": "fetch",
        **({"installationId": installation.id} if installation is not None else {}),
        **{f"{key.removesuffix('_id')}Id": identity for key, identity in place.items()},
        "request": {
            "method": request.method.lower(),
            "url": _url(context, request),
            "headers": headers,
            **({"body": body.decode("utf-8", "replace")} if body else {}),
        },
    }
    is_own = installation is None or installation.organization_id == row.organization_id
    receiver = receiver_of(context, row, installation, is_own=is_own, **place)
    return _Call(receiver, event, row.organization_id, installation.id if installation is not None else None)


def _url(context: Context, request: Request) -> str:
    query = f"?{request.url.query}" if request.url.query else ""
    return f"{context.origin}{request.url.path}{query}"


def _response(outcome: Outcome) -> Response:
    if outcome.status is None:
        raise ApiError(outcome.problem, outcome.error or "no response")
    sent = {name: value for name, value in outcome.headers.items() if name in _SENT and _is_plain(value)}
    target = outcome.headers.get("location", "")
    if web_address(target) is not None and _is_plain(target):
        sent["location"] = target
    return Response("" if outcome.status in _WITHOUT_BODY else outcome.text, outcome.status, HEADERS | sent)


def _is_plain(value: str) -> bool:
    return value.isprintable() and value.isascii()
