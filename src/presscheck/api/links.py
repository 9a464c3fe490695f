"""Links and backlinks, with the linked resources (release 0.146.0 only)."""

from typing import Literal

from pydantic import Field

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.collections import Collection
from presscheck.api.content import ReusableContent, Revision, RevisionFile, RevisionPage
from presscheck.api.openapi import OpenAPISpec
from presscheck.api.operation import InChangeRequest, InSpace, Model, Operation, Page, Paged
from presscheck.api.organizations import Organization
from presscheck.api.spaces import Space
from presscheck.api.users import User

LinkStatus = Literal["ok", "broken", "in-app"]
"""``in-app`` works for members but not for readers."""


class VersionContext(Model):
    """The revision or change request of a location."""

    type: str
    revision: Revision | None = None
    change_request: ChangeRequest | None = None


class PlaceInPage(Model):
    """An anchor or a node within a page."""

    type: str
    anchor: str | None = None
    node: str | None = None


class ContentLocation(Model):
    """A location in content; `kind` determines which other fields are used."""

    kind: str
    organization: Organization | None = None
    space: Space | None = None
    version_context: VersionContext | None = None
    internal_location: PlaceInPage | None = None
    page: RevisionPage | None = None
    file: RevisionFile | None = None
    collection: Collection | None = None
    reusable_content: ReusableContent | None = None
    open_api_spec: OpenAPISpec | None = Field(default=None, alias="openAPISpec")
    user: User | None = None
    url: str | None = None


class Link(Model):
    """A link target and the locations that link to it; `status` is ok, broken or in-app."""

    status: str
    relation: str = "reference"
    target_reference: ContentLocation | None = None
    location_references: tuple[ContentLocation, ...] = ()


class BrokenCount(Model):
    """The number of broken links, and how many of them the change request breaks."""

    total: int = 0
    change_request: int | None = None


class LinkStats(Model):
    """The number of links and of broken links."""

    total: int = 0
    broken: BrokenCount = Field(default_factory=BrokenCount)


class Links(Page[Link]):
    """A page of links, with counts of all links."""

    stats: LinkStats = Field(default_factory=LinkStats)


class ListSpaceLinks(InSpace, Paged, Operation[Links]):
    """List the links in a space."""

    operation_id = "listSpaceLinks"
    route = "GET /spaces/{space_id}/links"
    release = "0.146.0"

    status: LinkStatus | None = None


class ListPageLinks(InSpace, Paged, Operation[Links]):
    """List the links in a page of the live content."""

    operation_id = "listPageLinksInSpace"
    route = "GET /spaces/{space_id}/content/page/{page_id}/links"
    feature = "links of pages on main"
    release = "0.146.0"

    page_id: str
    status: LinkStatus | None = None


class ListPageBacklinks(InSpace, Paged, Operation[Page[ContentLocation]]):
    """List the links to a page of the live content."""

    operation_id = "listSpacePageBacklinks"
    route = "GET /spaces/{space_id}/content/page/{page_id}/backlinks"
    feature = "links of pages on main"
    release = "0.146.0"

    page_id: str


class ListChangeRequestPageLinks(InChangeRequest, Paged, Operation[Links]):
    """List the links in a page of a change request."""

    operation_id = "listPageLinksInChangeRequest"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/content/page/{page_id}/links"
    release = "0.146.0"

    page_id: str


class ListChangeRequestPageBacklinks(InChangeRequest, Paged, Operation[Page[ContentLocation]]):
    """List the links to a page of a change request."""

    operation_id = "listChangeRequestPageBacklinks"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/content/page/{page_id}/backlinks"
    release = "0.146.0"

    page_id: str


class ListChangeRequestFileBacklinks(InChangeRequest, Paged, Operation[Page[ContentLocation]]):
    """List the links to a file of a change request."""

    operation_id = "listChangeRequestFileBacklinks"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/content/files/{file_id}/backlinks"
    release = "0.146.0"

    file_id: str
