"""Retries of requests that are safe to repeat: a few attempts, with exponential pauses and jitter.

Reads are safe to repeat. A write is only repeated after a 429 response, because the service did not process it; one
whose connection was lost is left to the caller, who can check whether it arrived.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from presscheck.api.operation import Operation
from presscheck.errors import Ambiguous, MalformedAnswer, NetworkError, RequestError, ServiceFailed, TooManyRequests

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")
ATTEMPTS = 3
TRANSIENT = frozenset((502, 503, 504))
"""Statuses of a service that is restarting or overloaded."""


async def with_retries(call: Operation[Any], attempt: Callable[[], Awaitable[T]], *, pause: float, longest: float) -> T:
    """Run a request until it succeeds or should not be repeated.

    Args:
        call: the call.
        attempt: sends it once.
        pause: seconds before the second attempt; later pauses double, and all of them vary.
        longest: the maximum number of seconds to wait for the service (`Retry-After`).

    Raises:
        RequestError: the error of the last attempt.
    """

    def should_retry(error: BaseException) -> bool:
        wait = getattr(error, "retry_after", None) or 0
        return isinstance(error, RequestError) and wait <= longest and _is_repeatable(call, error)

    try:
        return await attempt()
    except RequestError as error:
        if not should_retry(error):
            raise
        first = [error]

    async def next_attempt() -> T:
        if first:
            raise first.pop()
        return await attempt()

    # 6 ms, only after a failure, which is handed to the retrying as its first attempt
    from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

    # a lazy import, after the first failure, because it is rarely needed
    exponential = wait_exponential_jitter(multiplier=pause, jitter=pause, max=longest)
    retrying = AsyncRetrying(
        retry=retry_if_exception(should_retry),
        stop=stop_after_attempt(ATTEMPTS),
        wait=lambda state: max(exponential(state), _retry_after(state)),
        reraise=True,
    )
    return await retrying(next_attempt)


def _is_repeatable(call: Operation[Any], error: RequestError) -> bool:
    match error:
        case TooManyRequests():
            return True
        case ServiceFailed():
            return call.is_read() and error.status in TRANSIENT
        case Ambiguous():
            return False
        case NetworkError() | MalformedAnswer():
            return call.is_read() and error.broke_off
        case _:
            return False


def _retry_after(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return getattr(error, "retry_after", None) or 0.0
