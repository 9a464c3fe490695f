"""Checking and parsing of responses, and conversion of error responses to typed errors.

An invalid response to a read raises MalformedAnswer. An invalid success response (2xx) to a write raises Ambiguous,
because the write was probably done. A 404 may mean that the service does not have the operation.

Recent responses to reads with an `ETag` are cached: the service answers a repeated read with 304 if nothing changed.
"""

from __future__ import annotations

import json
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar, cast

from pydantic import ValidationError

from presscheck.api.operation import Operation
from presscheck.client.request_priority import retry_after
from presscheck.errors import (
    Ambiguous,
    MalformedAnswer,
    NotSignedIn,
    NotSupported,
    RequestError,
    ServiceError,
    TooManyRequests,
    for_status,
)

Answer = TypeVar("Answer")
EMPTY = (204, 205)
"""Success statuses without a body; a body of a 205 response is ignored."""
GOOD = (200, 201, 202, *EMPTY)
MAX_MESSAGE = 400
MAX_KNOWN_SIZE = 2 << 20
"""The maximum size of all cached responses, in bytes after compression."""
KNOWN_OVERHEAD = 800
"""The size of a cached response without its body, in bytes."""
KNOWN_HEADERS = ("content-type", "x-request-id")
"""The headers that are cached with a response; all headers would take 3 kB."""
MAX_KNOWN_BODY = 1 << 20
"""The maximum size of a cached body, in bytes."""
COMPRESSED_FROM = 16 << 10
"""Bodies of at least this size, in bytes, are compressed: a page of a listing shrinks to a twentieth in 3 ms."""
MAX_ETAG = 200
"""The maximum length of an `ETag`."""
NOT_MODIFIED = 304
MESSAGES = {
    400: "Invalid request",
    401: "Not signed in, or the token is invalid or expired",
    403: "You do not have permission to do this",
    404: "Not found, or you have no access",
    405: "This service does not support that",
    409: "Conflict with the current state",
    412: "Not possible in the current state",
    413: "Too large for the service",
    422: "Invalid request",
    429: "Too many requests",
    501: "This service does not support that",
}


@dataclass(frozen=True, repr=False)
class Reply:
    """A response with its decompressed body; the body of an error response may be missing."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def request_id(self) -> str | None:
        """The id that the service assigned to the request, or None."""
        request_id = self.headers.get("x-request-id")
        return request_id[:200] if request_id else None


def check_response(call: Operation[Any], reply: Reply) -> Reply:
    """Check that a response has a success status, and JSON as content type unless the call expects no body.

    Raises:
        ServiceError: the response is an error response.
        MalformedAnswer: the response is invalid.
        Ambiguous: the response to a write is invalid.
    """
    if reply.status >= 400:
        raise _error_response(call, reply)
    if reply.status not in GOOD:
        raise MalformedAnswer(
            f"Unexpected response, not from the service ({reply.status})",
            request=str(call),
            request_id=reply.request_id,
        )
    operation = type(call)
    if reply.status in EMPTY or not reply.body:
        if operation.answer is not None and operation.success not in EMPTY:
            raise unusable(call, "it is empty", reply.request_id)
        return Reply(reply.status, reply.headers, reply.body if operation.answer is not None else b"")
    if not _is_json(reply.headers.get("content-type", "")):
        kind = _clean(reply.headers.get("content-type", "").partition(";")[0]) or "no type"
        raise unusable(call, f"it is not JSON but {kind}: {_excerpt(reply.body)}", reply.request_id)
    return reply


def read_answer(call: Operation[Answer], body: bytes, request_id: str | None = None) -> Answer:
    """Parse the body of a checked response.

    Raises:
        MalformedAnswer: the body does not have the type that the call declares.
        Ambiguous: the same, for a write.
    """
    try:
        return call.read_answer(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        reason = f"{where}: {first['msg']}" if where else first["msg"]
    raise unusable(call, f"{_clean(reason)}: {_excerpt(body)}", request_id)


def read_json(call: Operation[Any], body: bytes) -> Any:
    """Parse the body of a checked response without its type.

    Raises:
        MalformedAnswer: the body is not JSON, is nested too deeply, or has a number with too many digits.
        Ambiguous: the same, for a write.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    raise unusable(call, f"{_clean(reason)}: {_excerpt(body)}")


def unusable(call: Operation[Any], reason: str, request_id: str | None = None) -> RequestError:
    """Return the error for an invalid success response; `reason` completes the message."""
    if call.is_read():
        return MalformedAnswer(f"Invalid response from the service: {reason}", request=str(call), request_id=request_id)
    return Ambiguous(
        f"Accepted by the service, but its response is invalid: {reason}", request=str(call), request_id=request_id
    )


def rate_limited(call: Operation[Any], seconds: float) -> TooManyRequests:
    """Return the error for a request that was not sent due to the rate limit, which is reset in `seconds`."""
    return TooManyRequests(
        f"Rate limit of this token reached, try again {_in(seconds)}",
        request=str(call),
        status=429,
        retry_after=seconds,
    )


def not_supported(call: Operation[Any], error: ServiceError) -> NotSupported:
    """Return the error for an operation that the service lacks, from its 404, 405 or 501."""
    return NotSupported(
        f"This service has no {call.feature}"
        if call.feature
        else f"This service does not support that: it requires release {call.release}",
        request=str(call),
        status=error.status,
        request_id=error.request_id,
    )


def _error_response(call: Operation[Any], reply: Reply) -> ServiceError:
    detail = service_message(reply.body)
    wait = retry_after(reply.headers) if reply.status in (429, 503) else None
    message = MESSAGES.get(reply.status)
    if message is None:
        failure = "The service failed" if reply.status >= 500 else "The service rejected the request"
        message = f"{failure} ({reply.status})"
    if wait is not None:
        message += f", try again {_in(wait)}"
    if reply.status == 404 and call.release:
        message += f"; this operation requires release {call.release} of the service"
    kind = for_status(reply.status)
    return kind(
        f"{message}: {detail}" if detail and kind is not NotSignedIn else message,
        request=str(call),
        status=reply.status,
        request_id=reply.request_id,
        retry_after=wait,
        detail=detail,
    )


def service_message(body: bytes) -> str:
    """Return the message of an error response, from ``{"error": {"code", "message"}}``; empty without a message."""
    try:
        parsed: Any = json.loads(body)
        message = cast("dict[str, dict[str, Any]]", parsed)["error"]["message"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return _clean(message) if isinstance(message, str) else ""


def _in(seconds: float) -> str:
    return f"in {max(1, round(seconds))} s" if seconds < 100 else f"in {round(seconds / 60)} min"


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _excerpt(body: bytes) -> str:
    return repr(_clean(body[:80].decode("utf-8", "replace")))


def _clean(text: str) -> str:
    shown = " ".join("".join(c if c.isprintable() else " " for c in text[: 2 * MAX_MESSAGE]).split())
    return shown if len(shown) <= MAX_MESSAGE else shown[: MAX_MESSAGE - 1] + "…"


class Known(NamedTuple):
    """A cached response with its `ETag`; the body may be compressed."""

    etag: str
    reply: Reply
    is_compressed: bool


class KnownResponses:
    """The cached responses of a client by URL; the least recently used responses are dropped first.

    Args:
        max_size: the maximum size of all responses, in bytes.
    """

    def __init__(self, max_size: int = MAX_KNOWN_SIZE) -> None:
        self._max_size, self._size = max_size, 0
        self._replies: OrderedDict[str, Known] = OrderedDict()

    def get(self, url: str) -> Known | None:
        """Return the cached response to a GET request of a URL, or None if there is none."""
        return self._replies.get(url)

    def resolve(self, url: str, reply: Reply, known: Known | None = None) -> Reply:
        """Return the response, and cache it if it has an `ETag`. After a 304, return the cached response instead.

        `known` is the response whose `ETag` was sent. The cache may no longer contain it, because of another request.
        """
        if reply.status == NOT_MODIFIED and known is not None:
            if self._replies.get(url) is known:
                self._replies.move_to_end(url)
            return replace(known.reply, body=zlib.decompress(known.reply.body)) if known.is_compressed else known.reply
        if reply.status < NOT_MODIFIED:
            self._keep(url, reply)
        return reply

    def _keep(self, url: str, reply: Reply) -> None:
        before = self._replies.pop(url, None)
        self._size -= _kept_size(before) if before else 0
        etag = reply.headers.get("etag", "")
        if reply.status != 200 or not etag or len(etag) > MAX_ETAG or len(reply.body) > MAX_KNOWN_BODY:
            return
        is_compressed = len(reply.body) >= COMPRESSED_FROM
        headers = {name: reply.headers[name] for name in KNOWN_HEADERS if name in reply.headers}
        body = zlib.compress(reply.body, 1) if is_compressed else reply.body
        cached = self._replies[url] = Known(etag, Reply(reply.status, headers, body), is_compressed)
        self._size += _kept_size(cached)
        while self._size > self._max_size:
            _, oldest = self._replies.popitem(last=False)
            self._size -= _kept_size(oldest)


def _kept_size(known: Known) -> int:
    return KNOWN_OVERHEAD + len(known.reply.body)
