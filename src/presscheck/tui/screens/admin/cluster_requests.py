"""The change requests made for a group of issues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from presscheck.api.change_requests import ListOrganizationChangeRequests
from presscheck.api.conversations import IssuesCluster, ListConversationIssues, ListIssuesClusters
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.text.phrases import ago, now
from presscheck.text.sanitize import sanitize
from presscheck.tui.places import Place
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.tui.screens.admin.family import OrganizationScreen
    from presscheck.tui.screens.admin.table import FamilyTable

Status = Literal["draft", "open", "merged", "archived"]


class ClusterRequests:
    """The command that lists the change requests of a group of issues.

    Args:
        screen: the screen.
        table: the table of groups, or of the issues in a group.
    """

    def __init__(self, screen: OrganizationScreen, table: FamilyTable) -> None:
        self._screen, self._table = screen, table

    @property
    def _cluster(self) -> str | None:
        """The id of the group whose issues the table lists, or of the group under the cursor; None if there is none."""
        if self._table.family.listing is ListConversationIssues:
            return self._table.given.get("cluster")
        current = self._table.current
        return current.id if isinstance(current, IssuesCluster) else None

    def reason_list_requests(self) -> str | None:
        """Return why no change requests can be listed: the table is not about groups of issues, or it is empty."""
        if self._table.family.listing not in (ListIssuesClusters, ListConversationIssues):
            return f"{self._table.family.nouns} have no change requests"
        return None if self._cluster else f"no {self._table.family.noun} here"

    async def command_list_requests(self) -> None:
        """List the change requests made for the group, and open the review of the chosen request."""
        screen, cluster, organization = self._screen, self._cluster, self._screen.organization
        if cluster is None or organization is None:
            return
        requests: list[ChangeRequest] = []
        for status in get_args(Status):
            call = ListOrganizationChangeRequests(
                organization_id=organization.id, status=status, conversations_issues_cluster=cluster
            )
            requests += await whole_listing(screen.engine, call)
        # services that do not support the filter return all change requests
        requests = [request for request in requests if request.conversations_issues_cluster == cluster]
        if not requests:
            screen.notify("no change request was made for this group of issues")
            return
        choices = [
            Choice(
                request.id,
                f"#{request.number} {sanitize(request.subject) or '(no subject)'}",
                f"{request.status} · {ago(request.updated_at, now())}",
            )
            for request in sorted(requests, key=lambda request: request.updated_at or "", reverse=True)
        ]
        chosen = await choose(screen, "Change requests of this group", choices)
        request = next((request for request in requests if request.id == chosen), None)
        if request:
            await screen.app_context.go(Place.review(request.space, request.id))
