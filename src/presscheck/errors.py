"""The exception classes of presscheck; any other exception is a bug.

::

    PresscheckError                     base class; its message is for the user
    ├── InvalidArgument                 an argument exceeds a limit; names field and limit; nothing was sent
    ├── ConfigurationError              a setting is wrong; names file, key and a remedy
    │   ├── NoToken                     no token is set; names where to set it
    │   └── MissingExtra                a library of an extra is not installed; names the extra
    ├── StoreError                      the cache or the outbox cannot be used
    ├── NotNow                          an action that cannot be queued was tried offline
    │   └── ReadOnly                    a write with a read-only profile
    ├── ChecksFailed                    a check found problems
    ├── ChangedSince                    a write is not sent or undone, because of newer changes
    └── RequestError                    a request failed; has its method and path
        ├── NetworkError                no response (host name, connection, time-out)
        │   └── Ambiguous               the request was sent; whether it was processed is unknown
        ├── MalformedAnswer             the response is invalid
        │   └── IncompleteList          a listing does not end; has its first items
        └── ServiceError                an error response; has its status and message
            ├── NotSignedIn             401
            ├── Forbidden               403
            ├── NotFound                404
            ├── Conflict                409
            ├── PreconditionFailed      412
            ├── NotSupported            405, 501, or 404 from a release without the call
            ├── TooManyRequests         429; has the time to wait
            ├── Refused                 any other 4xx
            └── ServiceFailed           5xx

Each message names the failed action, the reason, and a remedy. Screens do not catch these errors; the app shows them in
a single place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class PresscheckError(Exception):
    """An error with a message for the user."""

    @property
    def message(self) -> str:
        """The message: the failed action, the reason, and a remedy."""
        return str(self)


class InvalidArgument(PresscheckError):
    """An argument is invalid; nothing was sent.

    Attributes:
        field: the name of the field in Python.
        wire: the name of the field in the API.
        reason: why the value is invalid.
        call: the name of the operation; empty for other arguments.
        others: the errors of other fields, in the order of the fields.
    """

    def __init__(
        self,
        field: str,
        reason: str,
        *,
        call: str = "",
        wire: str = "",
        others: Sequence[InvalidArgument] = (),
    ) -> None:
        self.field, self.reason, self.call, self.wire = field, reason, call, wire or field
        self.others = tuple(others)
        super().__init__(f"{field}: {reason}" + (f" (in {call})" if call else ""))


class ConfigurationError(PresscheckError):
    """A setting is missing or invalid."""


class NoToken(ConfigurationError):
    """No token is set for the service."""


class MissingExtra(ConfigurationError):
    """A library of an extra is not installed."""


class StoreError(PresscheckError):
    """The cache or the outbox cannot be used."""


class NotNow(PresscheckError):
    """An action that cannot be queued was attempted while offline."""


class ReadOnly(NotNow):
    """A write was attempted with a read-only profile."""

    def __init__(self) -> None:
        super().__init__("This profile is read-only; use another profile to make changes")


class ChecksFailed(PresscheckError):
    """A check found problems."""


class ChangedSince(PresscheckError):
    """A write is not sent or not undone, because its target has changed since.

    Attributes:
        written: the state after the write to undo, as text.
        present: the current state, as text.
    """

    def __init__(self, message: str, *, written: str = "", present: str = "") -> None:
        self.written, self.present = written, present
        super().__init__(message)


class RequestError(PresscheckError):
    """A request failed.

    Attributes:
        request: the method and path, such as ``GET /spaces/s1``; never contains the token.
        request_id: the id that the service assigned to the request, if any.
        broke_off: whether the connection was closed before the response was complete.
    """

    def __init__(self, message: str, *, request: str, request_id: str | None = None, broke_off: bool = False) -> None:
        self.request, self.request_id, self.broke_off = request, request_id, broke_off
        super().__init__(message)


class NetworkError(RequestError):
    """There was no response."""


class Ambiguous(NetworkError):
    """A write was sent, and it is unknown whether the service processed it."""


class MalformedAnswer(RequestError):
    """The response is invalid: wrong content type, invalid JSON, incomplete, too large."""


class IncompleteList(MalformedAnswer):
    """A listing does not end, for example because pages repeat; the received items are used."""


class ServiceError(RequestError):
    """The service returned an error response.

    Attributes:
        status: the HTTP status.
        retry_after: seconds to wait before trying again, if the response has it.
        detail: the text of the service's error; empty if it has none.
    """

    def __init__(
        self,
        message: str,
        *,
        request: str,
        status: int,
        request_id: str | None = None,
        retry_after: float | None = None,
        detail: str = "",
    ) -> None:
        super().__init__(message, request=request, request_id=request_id)
        self.status, self.retry_after, self.detail = status, retry_after, detail


class NotSignedIn(ServiceError):
    """401: the token is missing or invalid."""


class Forbidden(ServiceError):
    """403: the token's owner does not have permission."""


class NotFound(ServiceError):
    """404: the resource does not exist, or the user has no access to it."""


class NotSupported(ServiceError):
    """405, 501, or a 404 for the operation itself: this release of the service does not have it."""


class Conflict(ServiceError):
    """409: the state of the resource does not allow the request; the message has the reason."""


class PreconditionFailed(ServiceError):
    """412: a precondition is not met."""


class TooManyRequests(ServiceError):
    """429: the rate limit is reached; `retry_after` is in seconds, if known."""


class Refused(ServiceError):
    """Any other 4xx status."""


class ServiceFailed(ServiceError):
    """A 5xx status: the service failed."""


BY_STATUS: dict[int, type[ServiceError]] = {
    401: NotSignedIn,
    403: Forbidden,
    404: NotFound,
    405: NotSupported,
    409: Conflict,
    412: PreconditionFailed,
    429: TooManyRequests,
    501: NotSupported,
}


def for_status(status: int) -> type[ServiceError]:
    """Return the exception class for an HTTP status of 400 or more."""
    return BY_STATUS.get(status, ServiceFailed if status >= 500 else Refused)
