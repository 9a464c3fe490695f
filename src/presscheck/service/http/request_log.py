"""The log of the service: one JSON object per line, with the id of the request.

For a request, it has the method, the API path and the result, but never a query, body, header or site URL, because
those may contain secrets.
"""

from __future__ import annotations

import json
import logging
import secrets
import sys
import time
from contextvars import ContextVar

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from presscheck.service.db.ids import moment_text, system_clock

_number: ContextVar[str] = ContextVar("_number", default="")
_log = logging.getLogger("presscheck.requests")


class JsonLines(logging.Formatter):
    """Formats a log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Returns the line."""
        record_fields = {
            "time": moment_text(system_clock()),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        if _number.get():
            record_fields["request"] = _number.get()
        record_fields |= getattr(record, "details", {})
        if record.exc_info:
            record_fields["traceback"] = self.formatException(record.exc_info)
        return json.dumps(record_fields, ensure_ascii=False)


def write_log(*, requests: bool) -> None:
    """Writes the log to standard error; `requests` adds a line for each request."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in ("uvicorn", "alembic", "httpcore", "boto3", "botocore", "urllib3"):
        logging.getLogger(name).setLevel(logging.WARNING)
    _log.setLevel(logging.INFO if requests else logging.WARNING)


class RequestIdMiddleware:
    """Adds an ``x-request-id`` header to each response and logs the request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        number, begun, said = secrets.token_hex(8), time.monotonic(), {"status": 0, "bytes": 0}
        _number.set(number)

        async def numbered(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["x-request-id"] = number
                said["status"] = message["status"]
            else:
                said["bytes"] += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, numbered)
        finally:
            _note(scope, said, round((time.monotonic() - begun) * 1000, 1))


def _note(scope: Scope, result: dict[str, int], milliseconds: float) -> None:
    details = {"method": scope["method"], "path": _harmless(scope["path"]), "ms": milliseconds, **result}
    _log.log(logging.WARNING if result["status"] >= 500 else logging.INFO, "request", extra={"details": details})


def _harmless(path: str) -> str:
    """An API path in full; of other paths only the first part, as the rest may be a secret key."""
    return path if path.startswith("/v1/") else f"/{path.lstrip('/').partition('/')[0]}"
