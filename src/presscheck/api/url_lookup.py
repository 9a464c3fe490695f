"""Looks up the content at a URL."""

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.collections import Collection
from presscheck.api.content import RevisionPage
from presscheck.api.operation import Model, Operation
from presscheck.api.spaces import Space


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
