"""Actions of a page: its Markdown, its PDF, and the link that edits it in its Git repository."""

from __future__ import annotations

from typing import Any, NamedTuple, cast
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from presscheck.documents.openapi.generated_pages import TEXT
from presscheck.documents.pages.tree import PagePosition, find
from presscheck.documents.visitors.condition_tags import holds_without_claims
from presscheck.documents.visitors.visible_pages import visible_pages
from presscheck.service.models.sites import SiteSpaceRow
from presscheck.service.pdf.export import Export, export_address
from presscheck.service.sites.customization import combined
from presscheck.service.web.json_rpc import MCP_PATH
from presscheck.service.web.machine_files import markdown_address
from presscheck.service.web.published_site import PublishedSite

PDF = ".pdf"


class PageActions(NamedTuple):
    """URLs of the actions of a page; an empty URL means that the site does not offer the action."""

    markdown: str = ""
    mcp: str = ""
    pdf: str = ""
    edit: str = ""


def page_actions(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> PageActions:
    """Return the actions of a page that the customization of the site offers."""
    offered = _offered(combined(site.record.looks, site_space.looks))
    own = site.own_address(site_space, place)
    return PageActions(
        markdown_address(site, site_space, place) if "markdown" in offered else "",
        f"{site.absolute(site.base)}{MCP_PATH}" if "mcp" in offered and not site.reader.is_previewing else "",
        f"{own}{PDF}" if "pdf" in offered and _is_public(site, site_space, place) else "",
        _edit_address(site, site_space, place) if "git" in offered else "",
    )


def page_pdf(site: PublishedSite) -> Response | None:
    """Redirect from `page.pdf` to the PDF of the page, or return None if the path belongs to no page with a PDF."""
    path = site.path
    page = site.find(path.removesuffix(PDF)) if path.endswith(PDF) else None
    if page is None or not page_actions(site, *page).pdf:
        return None
    site_space, place = page
    content = site.content(site_space.space_id)
    export = Export(site_space.space_id, content.revision.id, place.page["id"], only=True)
    address = export_address(site.context.session, site.context.origin, export, str(place.page["title"]))
    return RedirectResponse(address, 307, {"cache-control": "no-store"})


def _offered(looks: dict[str, Any]) -> set[str]:
    """Return the actions that the customization offers. The documented API release has flags, the newest has a list."""
    actions = _part(looks, "pageActions")
    items = actions.get("items")
    offered = {item for item in cast("list[Any]", items) if isinstance(item, str)} if isinstance(items, list) else set()
    switches = {
        "markdown": actions.get("markdown"),
        "mcp": actions.get("mcp"),
        "pdf": _part(looks, "pdf").get("enabled"),
        "git": _part(looks, "git").get("showEditLink"),
    }
    return offered | {name for name, is_on in switches.items() if is_on is True}


def _part(looks: dict[str, Any], name: str) -> dict[str, Any]:
    part = looks.get(name)
    return cast("dict[str, Any]", part) if isinstance(part, dict) else {}


def _is_public(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> bool:
    """Return whether a PDF can contain a page. The page must be visible without claims, and not generated."""
    if TEXT in place.page:
        return False
    if not site.site.adaptive_content:
        return True
    tree = site.content(site_space.space_id).revision.tree
    return find(visible_pages(tree, holds_without_claims), place.page["id"]) is not None


def _edit_address(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> str:
    """Return the URL for editing the file of a page in its repository on the web, or an empty string."""
    tree, source = site.spaces[site_space.space_id].repository_url, place.page.get("git") or {}
    path = source.get("path")
    if not tree or not path:
        return ""
    return f"{tree.rstrip('/').replace('/tree/', '/edit/', 1)}/{quote(path)}"
