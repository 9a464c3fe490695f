"""Looks up the content at a URL; the PDF export and the Git repository of a space."""

from presscheck.api.change_requests import ChangeRequest, ExportedPDF
from presscheck.api.collections import Collection
from presscheck.api.content import RevisionPage
from presscheck.api.operation import Model, Operation
from presscheck.api.spaces import GitSync, Space


class ContentAtUrl(Model):
    """The content at a URL: a collection, or a space with optionally a change request and a page."""

    collection: Collection | None = None
    space: Space | None = None
    change_request: ChangeRequest | None = None
    page: RevisionPage | None = None


class GetContentByUrl(Operation[ContentAtUrl]):
    """Get the content at a URL of the web app."""

    operation_id = "getContentByUrl"
    route = "GET /urls/content"
    feature = "lookup of addresses"
    may_be_absent = True

    url: str


class GetSpacePDF(Operation[ExportedPDF]):
    """Export a space as PDF.

    Exports everything, or everything from `page` (a page id) on; with `only`, that page alone.
    """

    operation_id = "getSpacePDF"
    route = "GET /spaces/{space_id}/pdf"
    feature = "PDF of a space"

    space_id: str
    only: bool | None = None
    page: str | None = None


class GetSpaceGitInfo(Operation[GitSync]):
    """Get the Git repository that a space syncs with.

    Fails with 404 if the space has no Git sync.
    """

    operation_id = "getSpaceGitInfo"
    route = "GET /spaces/{space_id}/git/info"
    feature = "Git information"
    may_be_absent = True

    space_id: str
