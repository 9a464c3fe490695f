"""What the service says of itself while it runs: a line of JSON for each thing, with the number of its request.

Of a request its method, its path in the API and what became of it are told, never a query, a body, a header or the
address of a site: those may hold secrets.
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

from presscheck.service.identity import moment_text, system_clock

_number: ContextVar[str] = ContextVar("_number", default="")
_log = logging.getLogger("presscheck.requests")


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        said = {"time": moment_text(system_clock()), "level": record.levelname.lower(), "message": record.getMessage()}
        if _number.get():
            said["request"] = _number.get()
        said |= getattr(record, "details", {})
        if record.exc_info:
            said["traceback"] = self.formatException(record.exc_info)
        return json.dumps(said, ensure_ascii=False)


def write_log(*, requests: bool) -> None:
    """Write the log to standard error; `requests` has a line for each request in it."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in ("uvicorn", "alembic", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
    _log.setLevel(logging.INFO if requests else logging.WARNING)


class NumberedRequests:
    """Gives every answer an ``x-request-id``, and notes what was asked and what became of it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
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


def _note(scope: Scope, said: dict[str, int], milliseconds: float) -> None:
    details = {"method": scope["method"], "path": _harmless(scope["path"]), "ms": milliseconds, **said}
    _log.log(logging.WARNING if said["status"] >= 500 else logging.INFO, "request", extra={"details": details})


def _harmless(path: str) -> str:
    """A path of the API whole; of other paths the first part, for the rest may be a key."""
    return path if path.startswith("/v1/") else f"/{path.lstrip('/').partition('/')[0]}"
