"""What the plan of a site limits: the type that applies instead of the chosen one, and its frozen features."""

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
"""The features whose names are not their ids without hyphens."""


def plan_limits(site: Site) -> list[str]:
    """What the plan limits, a line each; none if it limits nothing, or the service does not tell."""
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
