"""Settings of a site: customization, visitor authentication, share links and redirects."""

from typing import Any, Literal

from pydantic import Field

from presscheck.api.operation import Argument, InSite, Model, Operation, Page, Paged
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
    """The visitor authentication: `backend` is custom or integration. The secret key signs tokens of visitors."""

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
    """The target of a new redirect; `kind` determines the other fields.

    The kind ``external`` exists in the newest release only.
    """

    kind: Literal["site-section", "site-space", "site-page", "external"]
    site_section_id: str | None = None
    site_space_id: str | None = None
    page_id: str | None = None
    url: str | None = Field(default=None, max_length=2048)


class RedirectInputDestination(Argument):
    """The target of a redirect in a list of redirects, which may also be the path of a page in a space."""

    kind: Literal["site-section", "site-space", "site-page", "external", "path"]
    site_section_id: str | None = None
    site_space_id: str | None = None
    page_id: str | None = None
    url: str | None = Field(default=None, max_length=2048)
    space_id: str | None = None
    path: str | None = None


class RedirectChange(Argument):
    """A redirect to create or to replace; a destination of null deletes it.

    The local service has only live redirects from one path each: it refuses other intents, wildcards and `permanent`.
    """

    source: str = Field(max_length=512)
    intent: Literal["publish", "live", "draft"] | None = None
    capture_wildcard: bool | None = None
    permanent: bool | None = None
    destination: RedirectInputDestination | None = None


class RedirectChangeResult(Model):
    """The result of one change; `error` is the reason if `status` is ``error``."""

    status: str
    source: str = ""
    draft: bool = False
    id: str | None = None
    error: str | None = None


class RedirectChangeResults(Model):
    """The results of a list of changes, in their order."""

    results: tuple[RedirectChangeResult, ...] = ()


class RedirectMatch(Model):
    """The redirect from a path, and the URL that it leads to."""

    redirect: Redirect
    target: str = ""


class AdaptiveSchema(Model):
    """The JSON schema (draft 7) of the claims of visitors."""

    object: str = "site-adaptive-schema"
    json_schema: dict[str, Any] | None = None
    updated_at: str | None = None


class TemplateCondition(Model):
    """A suggested condition."""

    description: str = ""
    condition: str = ""


class TemplateConditions(Model):
    """Suggested conditions for the schema of a site."""

    items: tuple[TemplateCondition, ...] = ()


class ListShareLinks(InSite, Paged, Operation[Page[ShareLink]]):
    """List the share links of a site."""

    operation_id = "listSiteShareLinks"
    route = "GET /orgs/{organization_id}/sites/{site_id}/share-links"
    feature = "share links"


class CreateShareLink(InSite, Operation[ShareLink]):
    """Create a share link of a site.

    The name has at most 50 characters.
    """

    operation_id = "createSiteShareLink"
    route = "POST /orgs/{organization_id}/sites/{site_id}/share-links"
    feature = "share links"
    success = 201

    name: str = Field(max_length=50)


class UpdateShareLink(InSite, Operation[ShareLink]):
    """Rename, activate or deactivate a share link."""

    operation_id = "updateSiteShareLinkById"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}/share-links/{share_link_id}"
    feature = "share links"

    share_link_id: str
    active: bool | None = None
    name: str | None = Field(default=None, max_length=50)


class DeleteShareLink(InSite, Operation[None]):
    """Delete a share link of a site.

    Succeeds even if it does not exist.
    """

    operation_id = "deleteSiteShareLinkById"
    route = "DELETE /orgs/{organization_id}/sites/{site_id}/share-links/{share_link_id}"
    feature = "share links"
    success = 204

    share_link_id: str


class GetCustomization(InSite, Operation[dict[str, Any]]):
    """Get the customization of a site.

    `unmasked` includes settings that the plan of the site does not show.
    """

    operation_id = "getSiteCustomizationById"
    route = "GET /orgs/{organization_id}/sites/{site_id}/customization"
    feature = "site customization"

    unmasked: bool | None = None


class UpdateCustomization(InSite, Operation[dict[str, Any]]):
    """Replace the customization of a site.

    Get it first: fields that are left out are reset.
    """

    operation_id = "updateSiteCustomizationById"
    route = "PUT /orgs/{organization_id}/sites/{site_id}/customization"
    feature = "site customization"
    body_field = "settings"

    settings: dict[str, Any]


class GetSiteSpaceCustomization(InSite, Operation[dict[str, Any]]):
    """Get the customization of a space in a site.

    It includes what the space shares with the site. `unmasked` includes settings that the plan of the site does not
    show.
    """

    operation_id = "getSiteSpaceCustomizationById"
    route = "GET /orgs/{organization_id}/sites/{site_id}/site-spaces/{site_space_id}/customization"
    feature = "customization of spaces in sites"
    release = "0.202.0"

    site_space_id: str
    unmasked: bool | None = None


class OverrideSiteSpaceCustomization(InSite, Operation[dict[str, Any]]):
    """Change the customization of a space in a site.

    Fields that are left out stay; fields that are null become those of the site.
    """

    operation_id = "overrideSiteSpaceCustomizationById"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}/site-spaces/{site_space_id}/customization"
    body_field = "settings"
    feature = "customization of spaces in sites"
    release = "0.202.0"

    site_space_id: str
    settings: dict[str, Any]


class DeleteSiteSpaceCustomization(InSite, Operation[None]):
    """Give a space the customization of its site.

    Succeeds if the space has no customization of its own.
    """

    operation_id = "deleteSiteSpaceCustomizationById"
    route = "DELETE /orgs/{organization_id}/sites/{site_id}/site-spaces/{site_space_id}/customization"
    success = 204
    feature = "customization of spaces in sites"
    release = "0.202.0"

    site_space_id: str


class GetPublishingAuth(InSite, Operation[PublishingAuth]):
    """Get the visitor authentication of a site."""

    operation_id = "getSitePublishingAuthById"
    route = "GET /orgs/{organization_id}/sites/{site_id}/publishing/auth"
    secret_fields = frozenset({"privateKey"})
    feature = "visitor sign-in settings"


class UpdatePublishingAuth(InSite, Operation[PublishingAuth]):
    """Change the visitor authentication of a site.

    A URL of null is removed.
    """

    operation_id = "updateSitePublishingAuthById"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}/publishing/auth"
    feature = "visitor sign-in settings"

    backend: Literal["custom", "integration"]
    fallback_url: str | None = Field(default=None, alias="fallbackURL")
    logout_url: str | None = Field(default=None, alias="logoutURL")


class RegeneratePublishingAuth(InSite, Operation[PublishingAuth]):
    """Create a new visitor-authentication key.

    Tokens that were signed with the old key become invalid.
    """

    operation_id = "regenerateSitePublishingAuthById"
    route = "POST /orgs/{organization_id}/sites/{site_id}/publishing/auth/regenerate"
    feature = "visitor sign-in settings"


class GetPreview(InSite, Operation[Preview]):
    """Get a preview URL of a site.

    Shows the site before it is published, as a visitor with these `claims` would see it.
    """

    operation_id = "getSitePublishingPreviewById"
    route = "GET /orgs/{organization_id}/sites/{site_id}/publishing/preview"
    feature = "site previews"
    may_be_absent = True

    site_space: str | None = None
    claims: str | None = None


class ListRedirects(InSite, Paged, Operation[Page[Redirect]]):
    """List the redirects of a site."""

    operation_id = "listSiteRedirects"
    route = "GET /orgs/{organization_id}/sites/{site_id}/redirects"
    feature = "redirects"

    search: str | None = None


class GetRedirectBySource(InSite, Operation[RedirectMatch]):
    """Get the redirect from a path of a site.

    The source starts with / and has at most 512 characters.
    """

    operation_id = "getSiteRedirectBySource"
    route = "GET /orgs/{organization_id}/sites/{site_id}/redirect"
    feature = "reads of site renderers"
    release = "0.202.0"
    may_be_absent = True

    share_key: str | None = None
    source: str = Field(max_length=512)


class CreateRedirect(InSite, Operation[Redirect]):
    """Create a redirect of a site.

    The source starts with / and has at most 512 characters.
    """

    operation_id = "createSiteRedirect"
    route = "POST /orgs/{organization_id}/sites/{site_id}/redirects"
    feature = "redirects"
    success = 201

    source: str = Field(max_length=512)
    destination: RedirectDestination


class UpdateRedirect(InSite, Operation[Redirect]):
    """Change a redirect of a site."""

    operation_id = "updateSiteRedirectById"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}/redirects/{site_redirect_id}"
    feature = "redirects"

    site_redirect_id: str
    source: str | None = Field(default=None, max_length=512)
    destination: RedirectDestination | None = None


class BulkUpsertRedirects(InSite, Operation[RedirectChangeResults]):
    """Create, replace and delete up to 500 redirects of a site.

    An invalid change does not prevent the others: its result has the reason.
    """

    operation_id = "bulkUpsertSiteRedirects"
    route = "PUT /orgs/{organization_id}/sites/{site_id}/redirects"
    feature = "lists of redirects"
    release = "0.202.0"

    redirects: tuple[RedirectChange, ...] = Field(min_length=1, max_length=500)


class DeleteRedirect(InSite, Operation[None]):
    """Delete a redirect of a site.

    Succeeds even if it does not exist.
    """

    operation_id = "deleteSiteRedirectById"
    route = "DELETE /orgs/{organization_id}/sites/{site_id}/redirects/{site_redirect_id}"
    feature = "redirects"
    success = 204

    site_redirect_id: str


class GetAdaptiveSchema(InSite, Operation[AdaptiveSchema]):
    """Get the visitor schema for adaptive content.

    Fails with 404 if the site has no schema.
    """

    operation_id = "getSiteAdaptiveSchema"
    route = "GET /orgs/{organization_id}/sites/{site_id}/adaptive-schema"


class UpdateAdaptiveSchema(InSite, Operation[AdaptiveSchema]):
    """Replace the visitor schema for adaptive content.

    Fails with 400 if the service does not support the schema.
    """

    operation_id = "updateSiteAdaptiveSchema"
    route = "PUT /orgs/{organization_id}/sites/{site_id}/adaptive-schema"

    json_schema: dict[str, Any]


class ListTemplateConditions(InSite, Operation[TemplateConditions]):
    """List the suggested conditions for adaptive content.

    Returns all of them; there is no pagination.
    """

    operation_id = "listSiteAdaptiveTemplateConditions"
    route = "GET /orgs/{organization_id}/sites/{site_id}/adaptive-schema/template-conditions"
