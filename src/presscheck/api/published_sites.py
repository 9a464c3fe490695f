"""Published sites, with all data that is needed to display them."""

from typing import Any, Literal

from pydantic import Field

from presscheck.api.operation import Argument, InSite, Model, Operation, Page, Paged
from presscheck.api.search_results import SearchSpaceResult
from presscheck.api.site_structure import SiteStructure
from presscheck.api.sites import Site


class SiteScript(Model):
    """A script that an integration adds to the pages of a site."""

    script: str
    content_security_policy: str | None = None
    cookies: bool = False


class SiteCustomizations(Model):
    """The customization of a site, and of its site spaces by id; not parsed."""

    site: dict[str, Any] | None = None
    site_spaces: dict[str, dict[str, Any]] | None = None


class PublishedContentSite(Model):
    """A site with all data that is needed to display it."""

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


class SiteSearchScope(Argument):
    """The spaces of a site to search, by `mode`.

    ``all`` searches all spaces, ``specific`` the spaces in `site_space_ids`. ``default`` searches all spaces, or the
    spaces that `restrict_to` selects relative to `current_site_space`.
    """

    mode: Literal["default", "specific", "all"]
    current_site_space: str | None = None
    restrict_to: Literal["currentSiteSpace", "otherSiteSpaces"] | None = None
    site_space_ids: tuple[str, ...] | None = None


class SearchSite(InSite, Paged, Operation[Page[SearchSpaceResult]]):
    """Search a site as its visitors do.

    The query has at most 512 characters. `scope` chooses the spaces; the other fields are its former form.
    """

    operation_id = "searchSiteContent"
    route = "POST /orgs/{organization_id}/sites/{site_id}/search"
    in_query = frozenset({"page", "limit"})
    feature = "reads of site renderers"
    release = "0.202.0"

    query: str = Field(max_length=512)
    scope: SiteSearchScope | None = None
    mode: Literal["specific", "current", "all"] | None = None
    site_space_ids: tuple[str, ...] | None = None
    site_space_id: str | None = None
