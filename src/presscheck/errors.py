"""Every error that presscheck raises on purpose; anything else is a bug.

::

    PresscheckError                     a message in the user's words
    ├── InvalidArgument                 a value breaks a limit; names field and limit; nothing was sent
    ├── ConfigurationError              a setting is wrong; names file, key and what to do
    │   └── NoToken                     there is no token; says where one may be put
    ├── StoreError                      the cache or the outbox cannot be used
    ├── NotNow                          an act that may not wait, tried without a connection
    │   └── ReadOnly                    a write with a profile that writes nothing
    ├── ChecksFailed                    what was checked is not as it should be
    └── RequestError                    carries the request: method and path
        ├── NetworkError                nothing came back (name, connection, time-out)
        │   └── Ambiguous               it was sent, and nothing is known of what became of it
        ├── MalformedAnswer             something came back that is not an answer
        └── ServiceError                the service returned an error; carries status, code and its message
            ├── NotSignedIn             401
            ├── Forbidden               403
            ├── NotFound                404
            ├── Conflict                409
            ├── PreconditionFailed      412
            ├── NotSupported            405, 501, or 404 from a release without the call
            ├── TooManyRequests         429; carries when to try again
            ├── Refused                 any other 4xx
            └── ServiceFailed           5xx

Each is raised with a sentence that a person can act on. Screens catch none of them: the app shows them in one place.
"""

from __future__ import annotations


class PresscheckError(Exception):
    """Something that the user can be told in a sentence."""

    @property
    def message(self) -> str:
        """The sentence."""
        return str(self)


class InvalidArgument(PresscheckError):
    """A value that the service would not take; nothing was sent. `wire` is the field as the service calls it."""

    def __init__(self, field: str, reason: str, *, call: str = "", wire: str = "") -> None:
        self.field, self.reason, self.call, self.wire = field, reason, call, wire or field
        super().__init__(f"{field}: {reason}" + (f" (in {call})" if call else ""))


class ConfigurationError(PresscheckError):
    """A setting that cannot be used."""


class NoToken(ConfigurationError):
    """There is no token for the service."""


class StoreError(PresscheckError):
    """The cache or the outbox cannot be used."""


class NotNow(PresscheckError):
    """An act that needs the service at once, and there is no connection."""


class ReadOnly(NotNow):
    """A write with a profile that writes nothing, connected or not."""


class ChecksFailed(PresscheckError):
    """What was checked is not as it should be."""


class RequestError(PresscheckError):
    """A request that did not end in an answer.

    `request` is the method and the path, such as ``GET /spaces/s1``; the token is never part of it. `broke_off` is
    True where the connection ended before the answer did.
    """

    def __init__(self, message: str, *, request: str, request_id: str | None = None, broke_off: bool = False) -> None:
        self.request, self.request_id, self.broke_off = request, request_id, broke_off
        super().__init__(message)


class NetworkError(RequestError):
    """Nothing came back."""


class Ambiguous(NetworkError):
    """The request left, and nothing is known of what became of it."""


class MalformedAnswer(RequestError):
    """The response is invalid: wrong type, bad JSON, incomplete or too large."""


class ServiceError(RequestError):
    """The service returned an error."""

    def __init__(
        self,
        message: str,
        *,
        request: str,
        status: int,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, request=request, request_id=request_id)
        self.status, self.retry_after = status, retry_after


class NotSignedIn(ServiceError):
    """401: no token, or one that the service does not know."""


class Forbidden(ServiceError):
    """403: the token's owner may not do this."""


class NotFound(ServiceError):
    """404: it does not exist, or the user has no access."""


class NotSupported(ServiceError):
    """405, 501, or a 404 that is about the call itself: this release of the service does not have it."""


class Conflict(ServiceError):
    """409: the current state does not allow it; the message has the reason."""


class PreconditionFailed(ServiceError):
    """412: something else must happen first."""


class TooManyRequests(ServiceError):
    """429: `retry_after` is in seconds, if the service sent it."""


class Refused(ServiceError):
    """Any other 4xx."""


class ServiceFailed(ServiceError):
    """5xx: the service broke."""


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
    """The class of the error that an HTTP status of 400 or more stands for."""
    return BY_STATUS.get(status, ServiceFailed if status >= 500 else Refused)
