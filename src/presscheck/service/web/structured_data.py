"""Structured data of a page for search engines: JSON-LD with the vocabulary of schema.org."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from presscheck.documents.pages.tree import Page
from presscheck.service.web.published_site import PublishedSite


def structured_data(
    site: PublishedSite, page: Page, url: str, trail: Iterable[tuple[str, str]], language: str
) -> dict[str, Any]:
    """Return the article and the breadcrumbs of a page.

    Args:
        site: the site.
        page: the page.
        url: its absolute URL.
        trail: titles and URLs of its ancestors, outermost first. Groups, which have no URL, are left out.
        language: its language.
    """
    home = site.absolute(site.base)
    article: dict[str, Any] = {
        "@type": "TechArticle",
        "headline": page["title"],
        "url": url,
        "inLanguage": language,
        "isPartOf": {"@type": "WebSite", "name": site.title, "url": home},
    }
    if page.get("description"):
        article["description"] = page["description"]
    if page.get("updatedAt"):
        article["dateModified"] = page["updatedAt"]
    steps = [(site.title, home), *((title, site.absolute(address)) for title, address in trail if address)]
    if url != home:
        steps.append((page["title"], url))
    items = [
        {"@type": "ListItem", "position": position, "name": name, "item": address}
        for position, (name, address) in enumerate(steps, start=1)
    ]
    breadcrumbs = {"@type": "BreadcrumbList", "itemListElement": items}
    return {"@context": "https://schema.org", "@graph": [article, breadcrumbs]}
