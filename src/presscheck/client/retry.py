"""What is said again, and when: only what is safe to repeat, a few times, with pauses that grow and differ.

A read may always be repeated. A write may be where the service refused it unread (429); what became of one that broke
off is for whoever can look.
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
PASSING = frozenset((502, 503, 504))
"""Statuses of a service that is being restarted, or has too much to do."""


async def repeated(call: Operation[Any], attempt: Callable[[], Awaitable[T]], *, pause: float, longest: float) -> T:
    """Try until it is good, or not worth another try.

    Args:
        call: what is said.
        attempt: says it once.
        pause: seconds before the second attempt; each later pause is twice as long, and all of them vary.
        longest: seconds that a service may ask us to wait.

    Raises:
        RequestError: what the last attempt came to.
    """

    def is_worth_another(error: BaseException) -> bool:
        wait = getattr(error, "retry_after", None) or 0
        return isinstance(error, RequestError) and wait <= longest and _may_repeat(call, error)

    try:
        return await attempt()
    except RequestError as error:
        if not is_worth_another(error):
            raise
        first = [error]

    async def next_attempt() -> T:
        if first:
            raise first.pop()
        return await attempt()

    # 6 ms, only after a failure, which is handed to the retrying as its first attempt
    from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

    grows = wait_exponential_jitter(multiplier=pause, jitter=pause, max=longest)
    trying = AsyncRetrying(
        retry=retry_if_exception(is_worth_another),
        stop=stop_after_attempt(ATTEMPTS),
        wait=lambda state: max(grows(state), _asked_wait(state)),
        reraise=True,
    )
    return await trying(next_attempt)


def _may_repeat(call: Operation[Any], error: RequestError) -> bool:
    match error:
        case TooManyRequests():
            return True
        case ServiceFailed():
            return call.is_read() and error.status in PASSING
        case Ambiguous():
            return False
        case NetworkError() | MalformedAnswer():
            return call.is_read() and error.broke_off
        case _:
            return False


def _asked_wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return getattr(error, "retry_after", None) or 0.0
