"""Turns failures of the transport into typed errors: no response, or unknown delivery of a write."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from socket import gaierror
from typing import Any

import httpx

from presscheck.api.operation import Operation
from presscheck.client.body_reader import BodyError
from presscheck.client.rate_budget import BudgetExhausted
from presscheck.client.responses import rate_limited, unusable
from presscheck.errors import Ambiguous, MalformedAnswer, NetworkError, RequestError


@dataclass
class Progress:
    """The progress of a request, from the trace events of the transport."""

    connected: bool = False
    """Whether a new connection was opened for it."""
    sent: bool = False
    """Whether a part of it was sent."""
    status: int | None = None

    async def __call__(self, event: str, info: dict[str, Any]) -> None:
        """Handle a trace event of the transport."""
        if event.endswith("send_request_headers.started"):
            self.sent = True
        elif event.startswith("connection.connect"):
            self.connected = True

    @property
    def was_stale(self) -> bool:
        """Whether it used an idle connection and got no response: the server had probably closed the connection."""
        return self.sent and not self.connected and self.status is None


def to_typed_error(call: Operation[Any], failure: Exception, progress: Progress, host: str) -> RequestError:
    """The typed error for a failure of the transport; it has no reference to the failure, which may have the token."""
    if isinstance(failure, BodyError):
        return unusable(call, str(failure))
    if isinstance(failure, BudgetExhausted):
        return rate_limited(call, failure.seconds)
    message = _message(failure, host)
    if progress.sent and not call.is_read():
        return Ambiguous(
            f"{message}. It is not known whether the change was saved: check before you send it again",
            request=str(call),
        )
    broke_off = is_reset(failure)
    if isinstance(failure, httpx.RemoteProtocolError) and not _has_no_response(failure):
        return MalformedAnswer(message, request=str(call), broke_off=broke_off)
    return NetworkError(message, request=str(call), broke_off=broke_off)


def is_reset(failure: Exception) -> bool:
    """Whether the connection was closed before the response was complete."""
    return isinstance(failure, httpx.ReadError | httpx.WriteError | httpx.RemoteProtocolError)


def _has_no_response(failure: Exception) -> bool:
    """Whether the server closed the connection before the first byte; only the message differs from invalid data."""
    return "without sending a response" in str(failure)


def _message(failure: Exception, host: str) -> str:
    match failure:
        case httpx.ConnectTimeout():
            return f"Could not connect to {host}: timed out"
        case httpx.PoolTimeout():
            return f"{host} is slow: too many requests are waiting for it"
        case httpx.TimeoutException() | TimeoutError():
            return f"{host} took too long to respond"
        case httpx.ConnectError() | httpx.ProxyError():
            return f"Could not connect to {host}: {_reason(failure)}"
        case httpx.RemoteProtocolError() if not _has_no_response(failure):
            return f"{host} closed the connection or does not speak HTTP"
        case _:
            return f"The connection to {host} was lost"


def _reason(failure: BaseException) -> str:
    seen: BaseException | None = failure
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({seen.verify_message})"
        if isinstance(seen, ssl.SSLError):
            return "the secure connection failed"
        if isinstance(seen, OSError) and seen.strerror and seen.errno:
            return _os_error_text(seen)
        seen = seen.__cause__ or seen.__context__
    return "no connection"


def _os_error_text(error: OSError) -> str:
    match error:
        case gaierror():
            return "unknown host name"
        case ConnectionRefusedError():
            return "connection refused"
        case FileNotFoundError():
            return "socket not found"
        case _:
            return (error.strerror or "no connection").lower()
