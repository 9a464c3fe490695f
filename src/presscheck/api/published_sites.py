"""A published site, with all that it takes to show it to its readers."""

from typing import Any

from pydantic import Field

from presscheck.api.operation import InSite, Model, Operation
from presscheck.api.site_structure import SiteStructure
from presscheck.api.sites import Site


class SiteScript(Model):
    """A script that an integration adds to the pages of a site."""

    script: str
    content_security_policy: str | None = None
    cookies: bool = False


class SiteCustomizations(Model):
    """The customization of a site, and of its site spaces by id, as received."""

    site: dict[str, Any] | None = None
    site_spaces: dict[str, dict[str, Any]] | None = None


class PublishedContentSite(Model):
    """All that it takes to show a site to its readers."""

    object: str = "published-content-site"
    site: Site
    structure: SiteStructure
    customizations: SiteCustomizations = Field(default_factory=SiteCustomizations)
    scripts: tuple[SiteScript, ...] = ()


class GetPublishedSite(InSite, Operation[PublishedContentSite]):
    """Get a site as its visitors see it.

    Fails with 404 if it is not published for them.
    """

    operation_id = "getPublishedContentSite"
    route = "GET /orgs/{organization_id}/sites/{site_id}/published"

    share_key: str | None = None
