"""The calls that tell which change requests the user reviewed, on which *Needs me*, *Involved* and others depend.

The service lists what somebody wrote, or was asked to review, but not what somebody reviewed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests
from presscheck.engine.inbox.views import personal_listings
from presscheck.engine.shared_calls import reviewers_of, reviews_of
from presscheck.text.phrases import now, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from presscheck.api.operation import Operation, Page
    from presscheck.engine.results import Window

M = TypeVar("M")
MAX_REVIEWS = 100
"""Change requests of a listing whose reviews are read: the latest ones."""


class WindowReader(Protocol):
    """Reads windows of cached listings."""

    def window(self, listing: Operation[Page[M]], start: int, count: int, /) -> Window[M]:
        """Rows of a listing."""
        ...


def missing_reviews(engine: WindowReader, organization: str, me: str) -> Iterator[Operation[Page[Any]]]:
    """The calls that were not answered since the last update of their change request.

    Those of requested reviews come first, with the requests; then those of the latest open change requests. Each is
    checked when it is its turn: something else may have read it while the ones before it were read.

    Args:
        engine: reads the cached listings.
        organization: the id of the organization.
        me: the id of the user; there are none if it is unknown (empty).
    """
    if not me:
        return
    requested, *_ = personal_listings(organization, me)
    all_open = ListOrganizationChangeRequests(organization_id=organization, status="open")
    seen: set[str] = set()
    for listing, is_requested in ((requested, True), (all_open, False)):
        for request in engine.window(listing, 0, MAX_REVIEWS).items:
            found: list[Operation[Page[Any]]] = [reviews_of(request)]
            found += [reviewers_of(request)] if is_requested else []
            for call in found:
                age = engine.window(call, 0, 0).age
                if call.key() not in seen and (age is None or is_older(age, request)):
                    seen.add(call.key())
                    yield call


def is_older(age: float, request: ChangeRequest) -> bool:
    """Whether an answer of this age, in seconds, is older than the last update of the change request."""
    updated = parse_time(request.updated_at)
    return updated is not None and age > (now() - updated).total_seconds()
