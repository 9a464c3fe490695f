"""What is known of the access to a site: redirects and where they lead, share links, visitor sign-in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from presscheck.api.site_settings import PublishingAuth, Redirect, ShareLink
from presscheck.api.sites import Site
from presscheck.engine.publish.redirects import RedirectMap
from presscheck.engine.publish.site_structure import SitePaths
from presscheck.errors import PresscheckError


@dataclass
class SiteAccess:
    """The access to a site, as far as it is loaded.

    Attributes:
        organization_id: the organization of the site.
        site: the site.
        redirects: by their paths; None while they are not loaded.
        paths: the places of the site; None while they are not loaded.
        problems: what is wrong with redirects, by their ids.
        links: the share links; None while they are not loaded.
        sign_in: how visitors sign in; None while it is not loaded.
        errors: why something could not be loaded, by the noun of its tab.
    """

    organization_id: str
    site: Site
    redirects: tuple[Redirect, ...] | None = None
    paths: SitePaths | None = None
    problems: dict[str, str] = field(default_factory=dict[str, str])
    links: tuple[ShareLink, ...] | None = None
    sign_in: PublishingAuth | None = None
    errors: dict[str, PresscheckError] = field(default_factory=dict[str, PresscheckError])

    @property
    def path(self) -> dict[str, Any]:
        """The arguments that name the site in a call."""
        return {"organization_id": self.organization_id, "site_id": self.site.id}

    @property
    def map(self) -> RedirectMap | None:
        """The redirects and where they lead; None until both are loaded."""
        if self.redirects is None or self.paths is None:
            return None
        return RedirectMap(self.redirects, self.paths)
