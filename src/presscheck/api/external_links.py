"""External links: links among the sections of a site."""

from pydantic import Field

from presscheck.api.operation import InSite, Operation
from presscheck.api.site_structure import SiteExternalLink

NEWEST = "0.202.0"
FEATURE = "external links of sites"


class AddExternalLink(InSite, Operation[SiteExternalLink]):
    """Add a link among the sections of a site.

    The title has 2 to 128 characters, the description at most 256, the condition 1024. `parent` is the id of a section
    group.
    """

    operation_id = "addExternalLinkToSite"
    route = "POST /orgs/{organization_id}/sites/{site_id}/external-links"
    success = 201
    feature = FEATURE
    release = NEWEST

    title: str = Field(min_length=2, max_length=128)
    url: str = Field(max_length=2048)
    localized_title: dict[str, str] | None = None
    description: str | None = Field(default=None, max_length=256)
    localized_description: dict[str, str] | None = None
    icon: str | None = Field(default=None, max_length=50)
    parent: str | None = None
    draft: bool | None = None
    condition: str | None = Field(default=None, max_length=1024)


class UpdateExternalLink(InSite, Operation[SiteExternalLink]):
    """Change a link among the sections of a site.

    The title has 2 to 128 characters, the description at most 256, the condition 1024. All values but title, URL and
    draft can be null; a parent of null moves the link out of its group.
    """

    operation_id = "updateSiteExternalLinkById"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}/external-links/{site_external_link_id}"
    feature = FEATURE
    release = NEWEST

    site_external_link_id: str
    title: str | None = Field(default=None, min_length=2, max_length=128)
    url: str | None = Field(default=None, max_length=2048)
    localized_title: dict[str, str] | None = None
    description: str | None = Field(default=None, max_length=256)
    localized_description: dict[str, str] | None = None
    icon: str | None = Field(default=None, max_length=50)
    parent: str | None = None
    draft: bool | None = None
    condition: str | None = Field(default=None, max_length=1024)


class DeleteExternalLink(InSite, Operation[None]):
    """Remove a link among the sections of a site.

    Succeeds if the site does not have the link.
    """

    operation_id = "deleteSiteExternalLinkById"
    route = "DELETE /orgs/{organization_id}/sites/{site_id}/external-links/{site_external_link_id}"
    success = 204
    feature = FEATURE
    release = NEWEST

    site_external_link_id: str
