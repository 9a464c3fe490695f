"""What came back becomes an answer or a typed error, here and nowhere else.

A read that got no usable answer is a MalformedAnswer. A write that the service took (2xx) but whose answer cannot be
used is Ambiguous: it has probably happened.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import ValidationError

from presscheck.api.operation import Operation
from presscheck.client.rate_budget import asked_pause
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

if TYPE_CHECKING:  # httpx takes 80 ms to import, and whoever reads a stored answer does not need it
    from httpx import Headers

Answer = TypeVar("Answer")

EMPTY = (204, 205)
"""Statuses of success without a body; a body that comes with 205 all the same is not read."""
GOOD = (200, 201, 202, *EMPTY)
LONGEST_MESSAGE = 400

SENTENCES = {
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
    """What came back: the body is decompressed, and that of an error may be cut."""

    status: int
    headers: Headers
    body: bytes

    @property
    def request_id(self) -> str | None:
        """The service's own name for the exchange, where it gives one."""
        found = self.headers.get("x-request-id")
        return found[:200] if found else None


def checked(call: Operation[Any], reply: Reply) -> Reply:
    """A good answer: right status, JSON by its type, empty exactly where the call has no answer.

    Raises:
        ServiceError: the service said no.
        MalformedAnswer: what came back is not an answer.
        Ambiguous: the same, to a write.
    """
    if reply.status >= 400:
        raise _refusal(call, reply)
    if reply.status not in GOOD:
        raise MalformedAnswer(
            f"Unexpected response, not from the service ({reply.status})",
            request=str(call),
            request_id=reply.request_id,
        )
    if reply.status in EMPTY or not reply.body:
        if type(call).answer is not None:
            raise unusable(call, "it is empty", reply.request_id)
        return Reply(reply.status, reply.headers, b"")
    if not _is_json(reply.headers.get("content-type", "")):
        kind = _clean(reply.headers.get("content-type", "").partition(";")[0]) or "no type"
        raise unusable(call, f"it is not JSON but {kind}: {_beginning(reply.body)}", reply.request_id)
    return reply


def read_answer(call: Operation[Answer], body: bytes, request_id: str | None = None) -> Answer:
    """The answer that a checked body is.

    Raises:
        MalformedAnswer: it is not of the shape that the call declares.
        Ambiguous: the same, to a write.
    """
    try:
        return call.read_answer(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        reason = f"{where}: {first['msg']}" if where else first["msg"]
    raise unusable(call, f"{_clean(reason)}: {_beginning(body)}", request_id)


def unusable(call: Operation[Any], reason: str, request_id: str | None = None) -> RequestError:
    """The error of a good answer that cannot be used; `reason` ends the sentence."""
    if call.is_read():
        return MalformedAnswer(f"Invalid response from the service: {reason}", request=str(call), request_id=request_id)
    return Ambiguous(
        f"Accepted by the service, but its response is invalid: {reason}", request=str(call), request_id=request_id
    )


def spent(call: Operation[Any], seconds: float) -> TooManyRequests:
    """The error of a request that was not sent, because the service would refuse it."""
    return TooManyRequests(
        f"Rate limit of this token reached, try again {_in(seconds)}",
        request=str(call),
        status=429,
        retry_after=seconds,
    )


def not_supported(call: Operation[Any], error: ServiceError) -> NotSupported:
    """The error of a call that this service does not have."""
    return NotSupported(
        f"This service has no {call.feature}"
        if call.feature
        else f"This service does not support that: it requires release {call.release}",
        request=str(call),
        status=error.status,
        request_id=error.request_id,
    )


def _refusal(call: Operation[Any], reply: Reply) -> ServiceError:
    said = _said(reply.body)
    wait = asked_pause(reply.headers) if reply.status in (429, 503) else None
    sentence = SENTENCES.get(reply.status)
    if sentence is None:
        happened = "The service failed" if reply.status >= 500 else "The service rejected the request"
        sentence = f"{happened} ({reply.status})"
    if wait is not None:
        sentence += f", try again {_in(wait)}"
    if reply.status == 404 and call.release:
        sentence += f"; this operation requires release {call.release} of the service"
    kind = for_status(reply.status)
    return kind(
        f"{sentence}: {said}" if said and kind is not NotSignedIn else sentence,
        request=str(call),
        status=reply.status,
        request_id=reply.request_id,
        retry_after=wait,
    )


def _said(body: bytes) -> str:
    """The service's own words, from ``{"error": {"code", "message"}}``; nothing where it says nothing."""
    try:
        found: Any = json.loads(body)
        message = cast("dict[str, dict[str, Any]]", found)["error"]["message"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return _clean(message) if isinstance(message, str) else ""


def _in(seconds: float) -> str:
    return f"in {max(1, round(seconds))} s" if seconds < 100 else f"in {round(seconds / 60)} min"


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _beginning(body: bytes) -> str:
    return repr(_clean(body[:80].decode("utf-8", "replace")))


def _clean(text: str) -> str:
    shown = " ".join("".join(c if c.isprintable() else " " for c in text[: 2 * LONGEST_MESSAGE]).split())
    return shown if len(shown) <= LONGEST_MESSAGE else shown[: LONGEST_MESSAGE - 1] + "…"
