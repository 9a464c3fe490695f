"""What the plan of a site allows. The service itself limits nothing: it only tells what a hosted service would."""

from __future__ import annotations

from presscheck.api.sites import SiteFeature
from presscheck.service.models.sites import SiteRow

_RANKS = {"basic": 0, "legacy-basic": 0, "premium": 1, "legacy-premium": 1, "sponsored": 1, "ultimate": 2}
_FEATURES = {
    "sites-public-visibility": "basic",
    "sites-redirects": "basic",
    "sites-full-text-search": "basic",
    "sites-custom-domain": "premium",
    "sites-advanced-customization": "premium",
    "sites-custom-fonts": "premium",
    "sites-share-links": "premium",
    "sites-sections": "ultimate",
    "sites-adaptive-content": "ultimate",
    "sites-visitor-authentication": "ultimate",
}
"""The type from which on a site has a feature."""


def features_of(site: SiteRow) -> tuple[SiteFeature, ...]:
    """The features of the chosen type; those that the applied type lacks are frozen. Without an applied type, none."""
    if site.applied_type is None:
        return ()
    chosen, applied = _RANKS.get(site.type, 0), _RANKS.get(site.applied_type, 0)
    return tuple(
        SiteFeature(id=name, plan=plan, frozen=_RANKS[plan] > applied)
        for name, plan in _FEATURES.items()
        if _RANKS[plan] <= chosen
    )
