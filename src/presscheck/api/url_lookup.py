"""Looks up the content at a URL: of the web app, or of a published site."""

from typing import Annotated, Any, Literal, cast

from pydantic import Discriminator, Field, Tag

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.collections import Collection
from presscheck.api.content import RevisionPage
from presscheck.api.operation import Argument, Model, Operation
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


class PublishedContentRedirect(Model):
    """A redirect from a URL of a site.

    `redirect` is the URL to open; `target` is its kind: application, content or external.
    """

    target: str
    redirect: str
    site: str | None = None


class PublishedSiteContent(Model):
    """The content at a URL of a site.

    `pathname` is the path of a page within its space; `base_path` and `site_base_path` are the preceding paths of the
    space and of the site. `complete` means that longer URLs lead to the same space. `api_token` can only read the site.
    """

    site: str
    site_section: str | None = None
    site_space: str
    space: str
    change_request: str | None = None
    revision: str | None = None
    pathname: str = ""
    base_path: str = "/"
    site_base_path: str = "/"
    api_token: str = ""
    organization: str
    share_key: str | None = None
    complete: bool = False
    context_id: str | None = None
    canonical_url: str = ""
    preview: bool | None = None


def _published(answer: Any) -> str:
    if isinstance(answer, dict):
        return "redirect" if "redirect" in cast("dict[str, Any]", answer) else "content"
    return "redirect" if isinstance(answer, PublishedContentRedirect) else "content"


PublishedContent = Annotated[
    Annotated[PublishedSiteContent, Tag("content")] | Annotated[PublishedContentRedirect, Tag("redirect")],
    Discriminator(_published),
]


class Visitor(Argument):
    """The visitor of a site: a signed token, and claims without a signature."""

    type: Literal["human", "agent"] | None = None
    jwt_token: str | None = Field(default=None, repr=False)
    unsigned_claims: dict[str, Any] | None = None


class GetPublishedContent(Operation[PublishedContent]):
    """Get what a URL of a published site shows."""

    operation_id = "getPublishedContentByUrl"
    route = "GET /urls/published"
    secret_fields = frozenset({"apiToken"})
    may_be_absent = True
    feature = "reads of site renderers"
    release = "0.202.0"

    url: str = Field(max_length=2048)
    visitor_auth_token: str | None = Field(default=None, repr=False)
    redirect_on_error: bool | None = None


class ResolvePublishedContent(Operation[PublishedContent]):
    """Get what a URL of a published site shows a visitor."""

    operation_id = "resolvePublishedContentByUrl"
    route = "POST /urls/published"
    secret_fields = frozenset({"apiToken"})
    may_be_absent = True
    feature = "reads of site renderers"
    release = "0.202.0"

    url: str = Field(max_length=2048)
    redirect_on_error: bool | None = None
    visitor: Visitor | None = None
