"""Docs sites: their settings, visibility and publication."""

from typing import Annotated, Any, Literal, cast

from pydantic import Discriminator, Field, Tag

from presscheck.api.content import ContentRef
from presscheck.api.operation import Argument, InOrganization, InSite, Model, Operation, Page, Paged
from presscheck.api.roles import Location

SiteType = Literal["basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium"]
"""The type of a site; ``basic`` by default."""
SiteVisibility = Literal["public", "unlisted", "share-link", "visitor-auth"]
"""The readers of a published site."""


class SiteUrls(Location):
    """The URLs of a site; `published` is missing if the site is not published."""

    published: str | None = None
    preview: str | None = None


class SiteProxy(Model):
    """A site that is served below the address of another website."""

    origin: str
    target: str | None = None


class AdaptiveContent(Model):
    """Whether content with conditions adapts to the visitor."""

    enabled: bool = False


class SiteFeature(Model):
    """A feature of a site and the plan that includes it."""

    id: str
    plan: str | None = None
    frozen: bool = False
    customizations: tuple[str, ...] | None = None


class Site(Model):
    """A docs site. `published` means that the visitors in `visibility` can read it; `site_spaces` is a count."""

    object: str = "site"
    id: str
    type: str = "basic"
    applied_type: str | None = None
    title: str = ""
    icon: dict[str, Any] | None = None
    hostname: str | None = None
    basename: str | None = None
    proxy: SiteProxy | None = None
    visibility: str = "public"
    default_level: str | None = None
    published: bool = False
    site_spaces: int = 0
    created_at: str | None = None
    adaptive_content: AdaptiveContent | None = None
    ads: dict[str, Any] | None = None
    agents_context: str | None = None
    styleguide: ContentRef | None = None
    features: tuple[SiteFeature, ...] = ()
    permissions: dict[str, Any] | None = None
    urls: SiteUrls = Field(default_factory=SiteUrls)


class Checkout(Model):
    """The response to `PublishSite` if the site needs a plan.

    The site stays unpublished; plans are bought in the web app.
    """

    type: str = "checkout"
    session_id: str


def _publishing(answer: Any) -> str:
    if isinstance(answer, dict):
        return "checkout" if "sessionId" in cast("dict[str, Any]", answer) else "site"
    return "checkout" if isinstance(answer, Checkout) else "site"


SiteOrCheckout = Annotated[
    Annotated[Site, Tag("site")] | Annotated[Checkout, Tag("checkout")], Discriminator(_publishing)
]


class AdaptiveContentChange(Argument):
    """Turn adaptive content on or off."""

    enabled: bool


class ListSites(InOrganization, Paged, Operation[Page[Site]]):
    """List the sites of an organization."""

    operation_id = "listSites"
    route = "GET /orgs/{organization_id}/sites"

    space: str | None = None
    title: str | None = None
    published: bool | None = None
    type: tuple[SiteType, ...] | None = None


class CreateSite(InOrganization, Operation[Site]):
    """Create a site.

    It is not published yet. The title has 2 to 128 characters; `spaces` are ids.
    """

    operation_id = "createSite"
    route = "POST /orgs/{organization_id}/sites"
    success = 201

    type: SiteType | None = None
    title: str | None = Field(default=None, min_length=2, max_length=128)
    visibility: SiteVisibility | None = None
    spaces: tuple[str, ...] | None = None


class GetSite(InSite, Operation[Site]):
    """Get a site."""

    operation_id = "getSiteById"
    route = "GET /orgs/{organization_id}/sites/{site_id}"


class UpdateSite(InSite, Operation[Site]):
    """Update a site.

    The title has 2 to 128 characters, the basename 1 to 100. `proxy` is host/path; null removes it.
    """

    operation_id = "updateSiteById"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}"

    title: str | None = Field(default=None, min_length=2, max_length=128)
    visibility: SiteVisibility | None = None
    basename: str | None = Field(default=None, min_length=1, max_length=100)
    adaptive_content: AdaptiveContentChange | None = None
    agents_context: Literal["excluded", "included"] | None = None
    default_site_space: str | None = None
    default_site_section: str | None = None
    proxy: str | None = Field(
        default=None,
        max_length=512,
        pattern=r"^([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(/[\w-]+)+$",
        description="a host and a path, such as example.org/docs",
    )


class DeleteSite(InSite, Operation[None]):
    """Delete a site; its spaces are kept.

    Succeeds even if it does not exist.
    """

    operation_id = "deleteSiteById"
    route = "DELETE /orgs/{organization_id}/sites/{site_id}"
    success = 204


class PublishSite(InSite, Operation[SiteOrCheckout]):
    """Publish a site.

    If the site needs a paid plan first, it stays unpublished, and the response is a checkout. Plans are bought in the
    web app.
    """

    operation_id = "publishSite"
    route = "POST /orgs/{organization_id}/sites/{site_id}/publish"


class UnpublishSite(InSite, Operation[Site]):
    """Unpublish a site."""

    operation_id = "unpublishSite"
    route = "POST /orgs/{organization_id}/sites/{site_id}/unpublish"
