"""Findings: problems of a site and its pages."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content import ContentDocument
from presscheck.api.content_changes import ChangedPage
from presscheck.api.operation import InSite, Model, NullableModel, Operation, Page, Paged
from presscheck.api.roles import Location

NEWEST = "0.202.0"
FEATURE = "findings of sites"

FindingStatus = Literal["candidate", "open", "done", "canceled"]
FindingType = Literal[
    "content-outdated", "content-incorrect", "content-gap", "broken-link", "outbound-link-error", "other"
]
FindingSeverity = Literal["low", "medium", "high"]
FindingOrder = Literal["updatedAt", "severity", "sources"]


class SiteFinding(NullableModel):
    """A problem of a site; `pages`, `change_requests` and the like are numbers."""

    nullable = frozenset({"topic"})

    object: str = "site-finding"
    id: str
    scan: str = ""
    topic: str | None = None
    title: str = ""
    change_requests: int = 0
    pages: int = 0
    records: int = 0
    questions: int = 0
    status: str = "open"
    type: str = "other"
    severity: str = "low"
    description: ContentDocument = Field(default_factory=ContentDocument)
    auto_fixable: bool = False
    broken_link_action: dict[str, Any] | None = None
    outbound_link: dict[str, Any] | None = None
    created_at: str = ""
    updated_at: str = ""
    urls: Location = Field(default_factory=Location)


class SiteFindingPage(Model):
    """A page with a problem."""

    object: str = "site-finding-page"
    space_id: str
    page: ChangedPage


class SiteFindingStats(Model):
    """Numbers of findings."""

    total: int = 0
    statuses: dict[str, Any] = Field(default_factory=dict)
    severities: dict[str, Any] = Field(default_factory=dict)
    connectors: dict[str, Any] = Field(default_factory=dict)
    questions: int = 0
    merged_change_requests: int = 0


class InSiteFinding(BaseModel):
    """Mixin of calls on a finding of a site, whose id is in the path."""

    site_finding_id: str


class ListSiteFindings(InSite, Paged, Operation[Page[SiteFinding]]):
    """List the problems that the service found in a site."""

    operation_id = "listSiteFindings"
    route = "GET /orgs/{organization_id}/sites/{site_id}/findings"
    feature = FEATURE
    release = NEWEST

    topic: str | None = None
    question: str | None = None
    status: FindingStatus | None = None
    type: tuple[FindingType, ...] | None = None
    severity: FindingSeverity | None = None
    has_change_requests: bool | None = None
    source: tuple[str, ...] | None = None
    updated_after: str | None = None
    updated_before: str | None = None
    order_by: FindingOrder | None = None


class GetSiteFinding(InSite, InSiteFinding, Operation[SiteFinding]):
    """Get a problem that the service found in a site."""

    operation_id = "getSiteFindingById"
    route = "GET /orgs/{organization_id}/sites/{site_id}/findings/{site_finding_id}"
    feature = FEATURE
    release = NEWEST


class UpdateSiteFinding(InSite, InSiteFinding, Operation[SiteFinding]):
    """Set the status of a problem of a site."""

    operation_id = "updateSiteFindingById"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}/findings/{site_finding_id}"
    feature = FEATURE
    release = NEWEST

    status: FindingStatus


class ListSiteFindingPages(InSite, InSiteFinding, Paged, Operation[Page[SiteFindingPage]]):
    """List the pages with a problem of a site."""

    operation_id = "listPagesForSiteFinding"
    route = "GET /orgs/{organization_id}/sites/{site_id}/findings/{site_finding_id}/pages"
    feature = FEATURE
    release = NEWEST


class ListSiteFindingChangeRequests(InSite, InSiteFinding, Paged, Operation[Page[ChangeRequest]]):
    """List the change requests about a problem of a site."""

    operation_id = "listChangeRequestsForSiteFinding"
    route = "GET /orgs/{organization_id}/sites/{site_id}/findings/{site_finding_id}/change-requests"
    feature = FEATURE
    release = NEWEST


class GetSiteFindingStats(InSite, Operation[SiteFindingStats]):
    """Count the problems that the service found in a site."""

    operation_id = "getSiteFindingStats"
    route = "GET /orgs/{organization_id}/sites/{site_id}/stats/findings"
    feature = FEATURE
    release = NEWEST

    topic: str | None = None
    status: FindingStatus | None = None
    type: tuple[FindingType, ...] | None = None
    severity: FindingSeverity | None = None
    has_change_requests: bool | None = None
    source: tuple[str, ...] | None = None
