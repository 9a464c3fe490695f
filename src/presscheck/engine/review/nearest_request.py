"""The change request whose content is nearest to main, for a service that returns content only of change requests."""

from __future__ import annotations

from presscheck.api.change_requests import ChangeRequest, ChangeRequestStatus, ListChangeRequests
from presscheck.api.operation import ALL
from presscheck.api.spaces import GetSpace
from presscheck.engine.protocols import Reader


async def nearest_request(reader: Reader, space_id: str) -> ChangeRequest | None:
    """Find the change request whose content is nearest to main.

    In order of preference: the change request whose merge produced the current main; an open change request or draft
    that is up to date with main; the most recently updated change request.

    Returns:
        The change request, or None if the space has none.

    Raises:
        PresscheckError: the change requests cannot be read.
    """
    statuses: tuple[ChangeRequestStatus, ...] = ("merged", "open", "draft", "archived")
    calls = [ListChangeRequests(space_id=space_id, status=status, limit=ALL) for status in statuses]
    space, requests = await reader.read(GetSpace(space_id=space_id)), list[ChangeRequest]()
    for call in calls:
        requests += (await reader.read(call)).items

    def nearness(request: ChangeRequest) -> tuple[bool, bool, str]:
        is_unfinished = request.status in ("open", "draft")
        return (
            request.revision_merged == space.revision,
            is_unfinished and not request.outdated,
            request.updated_at or "",
        )

    return max(requests, key=nearness, default=None)
