"""Settings of a site: customization, visitor authentication, share links and redirects."""

from typing import Any, Literal

from pydantic import Field

from presscheck.api.operation import Argument, Model, Operation, Page, Paged
from presscheck.api.site_structure import PublishedUrl


class ShareLink(Model):
    """A share link of a site."""

    object: str = "share-link"
    id: str
    created_at: str | None = None
    name: str | None = None
    active: bool | None = None
    urls: PublishedUrl = Field(default_factory=PublishedUrl)


class PublishingAuth(Model):
    """How visitors sign in: `backend` is custom or integration. The key signs their tokens: it is never shown."""

    object: str = "publishing-auth"
    backend: str = "custom"
    private_key: str = Field(default="", repr=False)
    fallback_url: str | None = Field(default=None, alias="fallbackURL")
    logout_url: str | None = Field(default=None, alias="logoutURL")
    integration: str | None = None


class Preview(Model):
    """The URL of a preview, valid for an hour."""

    url: str


class RedirectTarget(Model):
    """The target of a redirect: `kind` is site-section, site-space, site-page, or external (newest release)."""

    kind: str
    site_section_id: str | None = None
    site_space_id: str | None = None
    page_id: str | None = None
    url: str | None = None


class Redirect(Model):
    """A redirect: a path and its target."""

    object: str = "site-redirect"
    id: str
    source: str = ""
    destination: RedirectTarget
    draft: bool | None = None
    capture_wildcard: bool | None = None
    permanent: bool | None = None
    created_at: str | None = None
    updated_at: str | None = None


class RedirectDestination(Argument):
    """The target of a new redirect, with the ids of its kind. ``external`` in the newest release only."""

    kind: Literal["site-section", "site-space", "site-page", "external"]
    site_section_id: str | None = None
    site_space_id: str | None = None
    page_id: str | None = None
    url: str | None = Field(default=None, max_length=2048)


class AdaptiveSchema(Model):
    """The schema of a site's visitors, as JSON schema draft 7."""

    object: str = "site-adaptive-schema"
    json_schema: dict[str, Any] | None = None
    updated_at: str | None = None


class TemplateCondition(Model):
    """A suggested condition."""

    description: str = ""
    condition: str = ""


class TemplateConditions(Model):
    """Conditions that fit the schema of a site."""

    items: tuple[TemplateCondition, ...] = ()


class ListShareLinks(Paged, Operation[Page[ShareLink]]):
    """List the share links of a site."""

    operation_id = "listSiteShareLinks"
    route = "GET /orgs/{organization_id}/sites/{site_id}/share-links"

    organization_id: str
    site_id: str


class CreateShareLink(Operation[ShareLink]):
    """Create a share link; its name is at most 50 characters."""

    operation_id = "createSiteShareLink"
    route = "POST /orgs/{organization_id}/sites/{site_id}/share-links"
    success = 201

    organization_id: str
    site_id: str
    name: str = Field(max_length=50)


class UpdateShareLink(Operation[ShareLink]):
    """Rename a share link, or enable or disable it."""

    operation_id = "updateSiteShareLinkById"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}/share-links/{share_link_id}"

    organization_id: str
    site_id: str
    share_link_id: str
    active: bool | None = None
    name: str | None = Field(default=None, max_length=50)


class DeleteShareLink(Operation[None]):
    """Delete a share link; one that does not exist is not an error."""

    operation_id = "deleteSiteShareLinkById"
    route = "DELETE /orgs/{organization_id}/sites/{site_id}/share-links/{share_link_id}"
    success = 204

    organization_id: str
    site_id: str
    share_link_id: str


class GetCustomization(Operation[dict[str, Any]]):
    """Get the customization of a site; `unmasked` includes settings that its plan hides."""

    operation_id = "getSiteCustomizationById"
    route = "GET /orgs/{organization_id}/sites/{site_id}/customization"

    organization_id: str
    site_id: str
    unmasked: bool | None = None


class UpdateCustomization(Operation[dict[str, Any]]):
    """Replace the whole customization of a site; read it first, then send all of it."""

    operation_id = "updateSiteCustomizationById"
    route = "PUT /orgs/{organization_id}/sites/{site_id}/customization"
    body_field = "settings"

    organization_id: str
    site_id: str
    settings: dict[str, Any]


class GetPublishingAuth(Operation[PublishingAuth]):
    """How visitors sign in to a site."""

    operation_id = "getSitePublishingAuthById"
    route = "GET /orgs/{organization_id}/sites/{site_id}/publishing/auth"

    organization_id: str
    site_id: str


class UpdatePublishingAuth(Operation[PublishingAuth]):
    """Change how visitors sign in; null clears an address. `logout_url` in the newest release only."""

    operation_id = "updateSitePublishingAuthById"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}/publishing/auth"

    organization_id: str
    site_id: str
    backend: Literal["custom", "integration"]
    fallback_url: str | None = Field(default=None, alias="fallbackURL")
    logout_url: str | None = Field(default=None, alias="logoutURL")


class RegeneratePublishingAuth(Operation[PublishingAuth]):
    """Create a new signing key; tokens signed with the old one become invalid."""

    operation_id = "regenerateSitePublishingAuthById"
    route = "POST /orgs/{organization_id}/sites/{site_id}/publishing/auth/regenerate"

    organization_id: str
    site_id: str


class GetPreview(Operation[Preview]):
    """Get a preview URL of a site, as a visitor with `claims` would see it."""

    operation_id = "getSitePublishingPreviewById"
    route = "GET /orgs/{organization_id}/sites/{site_id}/publishing/preview"

    organization_id: str
    site_id: str
    site_space: str | None = None
    claims: str | None = None


class ListRedirects(Paged, Operation[Page[Redirect]]):
    """List the redirects of a site."""

    operation_id = "listSiteRedirects"
    route = "GET /orgs/{organization_id}/sites/{site_id}/redirects"

    organization_id: str
    site_id: str
    search: str | None = None


class CreateRedirect(Operation[Redirect]):
    """Create a redirect from a path, which starts with / and is at most 512 characters."""

    operation_id = "createSiteRedirect"
    route = "POST /orgs/{organization_id}/sites/{site_id}/redirects"
    success = 201

    organization_id: str
    site_id: str
    source: str = Field(max_length=512)
    destination: RedirectDestination


class UpdateRedirect(Operation[Redirect]):
    """Change the source or the target of a redirect."""

    operation_id = "updateSiteRedirectById"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}/redirects/{site_redirect_id}"

    organization_id: str
    site_id: str
    site_redirect_id: str
    source: str | None = Field(default=None, max_length=512)
    destination: RedirectDestination | None = None


class DeleteRedirect(Operation[None]):
    """Delete a redirect; one that does not exist is not an error."""

    operation_id = "deleteSiteRedirectById"
    route = "DELETE /orgs/{organization_id}/sites/{site_id}/redirects/{site_redirect_id}"
    success = 204

    organization_id: str
    site_id: str
    site_redirect_id: str


class GetAdaptiveSchema(Operation[AdaptiveSchema]):
    """Get the schema of a site's visitors; 404 if it has none."""

    operation_id = "getSiteAdaptiveSchema"
    route = "GET /orgs/{organization_id}/sites/{site_id}/adaptive-schema"

    organization_id: str
    site_id: str


class UpdateAdaptiveSchema(Operation[AdaptiveSchema]):
    """Replace the whole schema; 400 if it is invalid."""

    operation_id = "updateSiteAdaptiveSchema"
    route = "PUT /orgs/{organization_id}/sites/{site_id}/adaptive-schema"

    organization_id: str
    site_id: str
    json_schema: dict[str, Any]


class ListTemplateConditions(Operation[TemplateConditions]):
    """Conditions that fit the schema of a site; all at once, without pages."""

    operation_id = "listSiteAdaptiveTemplateConditions"
    route = "GET /orgs/{organization_id}/sites/{site_id}/adaptive-schema/template-conditions"

    organization_id: str
    site_id: str
