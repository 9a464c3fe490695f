"""The limits of a site's plan: a type that replaces the chosen type, and frozen features."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from presscheck.api.sites import Site

_NAMES = {
    "ai-assistant": "AI assistant",
    "ai-insights": "AI insights",
    "ai-search": "AI search",
    "api-playground": "API playground",
    "multivariant-site": "several spaces",
    "pdf-export": "PDF export",
    "seo": "SEO",
    "visitor-authentication": "visitor sign-in",
}
"""Names of features whose ids are not readable names, even without hyphens."""


def plan_limits(site: Site) -> list[str]:
    """Return a line for each limit of the plan; empty if there are none or the service does not report any."""
    lines: list[str] = []
    if site.applied_type and site.applied_type != site.type:
        lines.append(f"Type: {site.type} was chosen, but the plan applies {site.applied_type}")
    frozen: dict[str, list[str]] = {}
    for feature in site.features:
        if feature.frozen:
            name = feature.id.removeprefix("sites-")
            frozen.setdefault(feature.plan or "", []).append(_NAMES.get(name, name.replace("-", " ")))
    if frozen:
        groups = (", ".join(names) + (f" (from {plan} on)" if plan else "") for plan, names in frozen.items())
        lines.append(f"Frozen by the plan: {'; '.join(groups)}")
    return lines
