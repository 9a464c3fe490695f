"""What went wrong on the way becomes a typed error: nothing came back, or nothing is known of what was sent."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from socket import gaierror
from typing import Any

import httpx

from presscheck.api.operation import Operation
from presscheck.client.body_reader import BodyError
from presscheck.client.rate_budget import BudgetExhausted
from presscheck.client.responses import spent, unusable
from presscheck.errors import Ambiguous, MalformedAnswer, NetworkError, RequestError


@dataclass
class Progress:
    """How far a request came, as the transport tells it."""

    connected: bool = False
    """A new connection was made for it."""
    sent: bool = False
    """Some of it left."""
    status: int | None = None

    async def __call__(self, event: str, info: dict[str, Any]) -> None:
        """Take note of an event of the transport."""
        if event.endswith("send_request_headers.started"):
            self.sent = True
        elif event.startswith("connection.connect"):
            self.connected = True

    @property
    def was_stale(self) -> bool:
        """It went over an old connection, and no answer began: the other side had probably closed it."""
        return self.sent and not self.connected and self.status is None


def to_typed_error(call: Operation[Any], failure: Exception, progress: Progress, host: str) -> RequestError:
    """The error that a failure of the transport is; it keeps nothing of the failure itself."""
    if isinstance(failure, BodyError):
        return unusable(call, str(failure))
    if isinstance(failure, BudgetExhausted):
        return spent(call, failure.seconds)
    happened = _happened(failure, host)
    if progress.sent and not call.is_read():
        return Ambiguous(
            f"{happened}. It is not known whether the change was saved: check before you send it again",
            request=str(call),
        )
    broke_off = is_reset(failure)
    if isinstance(failure, httpx.RemoteProtocolError) and not _came_to_nothing(failure):
        return MalformedAnswer(happened, request=str(call), broke_off=broke_off)
    return NetworkError(happened, request=str(call), broke_off=broke_off)


def is_reset(failure: Exception) -> bool:
    """The connection ended instead of answering."""
    return isinstance(failure, httpx.ReadError | httpx.WriteError | httpx.RemoteProtocolError)


def _came_to_nothing(failure: Exception) -> bool:
    """The other side closed before the first byte; only the words of the transport tell it from garbage."""
    return "without sending a response" in str(failure)


def _happened(failure: Exception, host: str) -> str:
    match failure:
        case httpx.ConnectTimeout():
            return f"Could not connect to {host}: timed out"
        case httpx.PoolTimeout():
            return f"{host} is slow: too many requests are waiting for it"
        case httpx.TimeoutException() | TimeoutError():
            return f"{host} took too long to respond"
        case httpx.ConnectError() | httpx.ProxyError():
            return f"Could not connect to {host}: {_reason(failure)}"
        case httpx.RemoteProtocolError() if not _came_to_nothing(failure):
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
            return _words(seen)
        seen = seen.__cause__ or seen.__context__
    return "no connection"


def _words(error: OSError) -> str:
    match error:
        case gaierror():
            return "unknown host name"
        case ConnectionRefusedError():
            return "connection refused"
        case FileNotFoundError():
            return "socket not found"
        case _:
            return (error.strerror or "no connection").lower()
