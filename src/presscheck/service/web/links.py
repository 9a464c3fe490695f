"""Resolution of links on a published site: to pages of the site, files, external URLs, or nothing."""

from __future__ import annotations

import re
from typing import Any, cast

from presscheck.api.content import ReusableContent
from presscheck.documents.markdown.anchors import decode_fragment, heading_anchor
from presscheck.documents.openapi.generated_pages import MODELS
from presscheck.documents.openapi.specification import SpecificationReader
from presscheck.documents.pages.tree import PagePosition
from presscheck.service.content.revisions import document_texts
from presscheck.service.models.sites import SiteSpaceRow
from presscheck.service.sites.urls import own_key, site_address
from presscheck.service.web.html.context import Component, Included, ResolvedLink
from presscheck.service.web.integration_blocks import PageBlocks
from presscheck.service.web.published_site import PublishedSite
from presscheck.service.web.site_files import file_url
from presscheck.service.web.specifications import (
    specification_by_slug,
    specification_by_url,
    specification_in_file,
)
from presscheck.text.sanitize import is_safe_link

_IN_APP = re.compile(r"/s(?:paces)?/([^/?#]+)(?:/pages/([^/?#]+))?/?(?:#(.*))?").fullmatch
_REUSABLE = re.compile(r"/~/reusable/([^/?#]+)").search
_OWN_FILE = re.compile(r"/files/([0-9a-f]{64})/").match
_HAS_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//").match


def resolve_url(site: PublishedSite, url: str, *, is_new_tab: bool = False) -> ResolvedLink | None:
    """Resolve a URL. Return None if it is not safe, or leads to a page that the reader may not see.

    URLs of the site itself get the base URL of this reader, and app URLs of the service become URLs of the same page on
    the site.
    """
    url = f"https:{url}" if url.startswith("//") else url
    site_url = site_address(site.context, site.site, own_key(site.site))
    if url.startswith(site_url):
        url = site.reader.base + url.removeprefix(site_url)
    app_url = site.context.app("")
    if url.startswith(f"{app_url}/") and (match := _IN_APP(url.removeprefix(app_url))):
        space_id, page_id, fragment = match.groups()
        return _in_space(site, space_id, page_id, decode_fragment(fragment or ""))
    if not is_safe_link(url):
        return None
    if url.startswith(site.reader.base):
        return ResolvedLink(site.base + url.removeprefix(site.reader.base))
    return ResolvedLink(url, is_outside=is_new_tab and url.startswith(("http:", "https:")))


def resolve_reference(site: PublishedSite, target: Any, space_id: str | None = None) -> ResolvedLink | None:
    """Resolve a reference of the API, such as ``{"kind": "page", "page": …}``.

    Return None if the target does not exist or is not visible to the reader.

    Args:
        site: the site and its reader.
        target: the reference.
        space_id: the space of references without a space.
    """
    fields = cast("dict[str, Any]", target) if isinstance(target, dict) else {}
    values = {name: value for name, value in fields.items() if isinstance(value, str)}
    kind = values.get("kind")
    target_space = values.get("space") or space_id
    if kind == "url":
        return resolve_url(site, values.get("url", ""))
    if target_space is None or target_space not in site.spaces:
        return None
    if kind in ("page", "anchor", "space"):
        return _in_space(site, target_space, values.get("page"), values.get("anchor", ""))
    if kind == "file":
        site_space = _site_space(site, target_space)
        files = site.content(target_space).revision.files if site_space else []
        file = next((candidate for candidate in files if candidate["id"] == values.get("file")), None)
        return ResolvedLink(file_url(site, site_space, file), file["name"]) if site_space and file else None
    return None


def destination_address(site: PublishedSite, destination: dict[str, Any]) -> str | None:
    """Return the URL of the destination of a redirect, or None if it does not exist or is not visible."""
    if destination["kind"] == "external":
        address = resolve_url(site, destination["url"])
        return address.url if address else None
    if destination["kind"] == "site-section":
        section = next(
            (candidate for candidate in site.sections() if candidate.id == destination["site_section_id"]), None
        )
        first = site.first_of(section) if section else None
        return site.address(first) if first else None
    site_space = next((row for row in site.site_spaces if row.id == destination["site_space_id"]), None)
    if site_space is None or destination["kind"] == "site-space":
        return site.address(site_space) if site_space else None
    return site.page_address(site_space.space_id, destination["page_id"])


def _site_space(site: PublishedSite, space_id: str) -> SiteSpaceRow | None:
    return next((candidate for candidate in site.site_spaces if candidate.space_id == space_id), None)


def _in_space(site: PublishedSite, space_id: str, page_id: str | None, anchor: str) -> ResolvedLink | None:
    site_space = _site_space(site, space_id)
    if site_space is None:
        return None
    if not page_id:
        return ResolvedLink(site.address(site_space), site.spaces[space_id].title)
    place = site.content(space_id).places.get(page_id)
    return ResolvedLink(site.address(site_space, place, anchor), place.page["title"]) if place else None


class PageLinks:
    """The links, includes and variables of one page; implements `html.context.RenderContext`.

    Attributes:
        has_blocks: whether the page has looked up a block of an integration.
        is_lasting: whether all results so far depend only on the site and the pages of the space.
    """

    def __init__(
        self,
        site: PublishedSite,
        site_space: SiteSpaceRow,
        place: PagePosition,
        *,
        is_new_tab: bool = False,
        blocks: PageBlocks | None = None,
    ) -> None:
        self._blocks = blocks
        self.has_blocks, self.is_lasting = False, True
        self._specifications: dict[tuple[str, str | None], SpecificationReader | None] = {}
        self._site, self._site_space, self._place, self._is_new_tab = site, site_space, place, is_new_tab
        content = site.content(site_space.space_id)
        self._revision = content.revision
        targets = site.targets(content)
        self._files = {file["id"]: file for file in content.revision.files}
        self._by_content = {file["content"]: file for file in content.revision.files if file.get("content")}
        self._places = targets.places
        self._visible_pages = content.places
        self.source = targets.sources.get(("page", place.page["id"]), "")

    def leads(self, target: str, source: str) -> ResolvedLink | None:
        """Resolve a link target of the page; return None if it does not exist or is not safe."""
        own_file = _OWN_FILE(target.removeprefix(self._site.context.origin))
        if own_file and own_file[1] in self._by_content:
            return self._file(self._by_content[own_file[1]])
        if _HAS_SCHEME(target):
            return resolve_url(self._site, target, is_new_tab=self._is_new_tab)
        resolved = self._places.resolve(target, source)
        if resolved.kind == "file":
            return self._file(self._files[resolved.id])
        place = self._visible_pages.get(resolved.id) if resolved.kind == "page" else None
        if place is None:
            return None
        return ResolvedLink(self._site.address(self._site_space, place, resolved.anchor), place.page["title"])

    def _file(self, file: dict[str, Any]) -> ResolvedLink | None:
        url = file_url(self._site, self._site_space, file) if file.get("content") else None
        return ResolvedLink(url, file["name"]) if url else None

    def included(self, target: str, source: str) -> Included | None:
        """Return the Markdown of reusable content, or None if it does not exist."""
        match = _REUSABLE(target)
        snippet_id = match[1] if match else self._places.resolve(target, source).id
        stored = (item for item in self._revision.reusable_contents if item["id"] == snippet_id)
        snippet = next((ReusableContent.model_validate(item) for item in stored), None)
        if snippet is None or not snippet.document:
            return None
        texts = document_texts(self._site.context.session, [snippet.document])
        return Included(
            texts.get(snippet.document, ""), snippet.git.path if snippet.git else f"~/reusable/{snippet.id}"
        )

    def component(self, integration: str, block: str, props: dict[str, Any]) -> Component | None:
        """Return the component for a block of an integration, or None if it cannot be drawn."""
        self.has_blocks, self.is_lasting = True, False
        return self._blocks.draw(integration, block, props) if self._blocks else None

    def specification(self, name: str, source: str, *, is_file: bool) -> SpecificationReader | None:
        """Return a specification, or None if it cannot be read (see `html.context.RenderContext`)."""
        self.is_lasting = False
        key = (name, source if is_file else None)
        if key not in self._specifications:
            self._specifications[key] = self._specification(name, source, is_file=is_file)
        return self._specifications[key]

    def _specification(self, name: str, source: str, *, is_file: bool) -> SpecificationReader | None:
        if not is_file:
            return specification_by_slug(self._site, name)
        if _HAS_SCHEME(name) and not name.startswith(self._site.context.origin):
            return specification_by_url(self._site, name)
        own_file = _OWN_FILE(name.removeprefix(self._site.context.origin))
        if own_file:
            return specification_in_file(self._site, own_file[1]) if own_file[1] in self._by_content else None
        resolved = self._places.resolve(name, source)
        content = self._files[resolved.id].get("content") if resolved.kind == "file" else None
        return specification_in_file(self._site, content) if content else None

    def model_url(self, reader: SpecificationReader, name: str) -> str | None:
        """Return the URL of the description of a model, or None if no page has it."""
        if name not in reader.specification.schemas or not reader.slug:
            return None
        pages = (place for place in self._visible_pages.values() if place.page.get(MODELS) == reader.slug)
        page = next(pages, None)
        return self._site.address(self._site_space, page, heading_anchor(name)) if page else None

    def holds(self, condition: str) -> bool:
        """Return whether the reader meets a condition."""
        return self._site.holds(condition)

    def variable(self, name: str) -> str | None:
        """Return the value of a variable of the space or the page, or None."""
        owner, _, key = name.partition(".vars.")
        variables: dict[str, dict[str, Any] | None] = {
            "space": self._revision.variables,
            "page": self._place.page.get("variables"),
        }
        value = (variables.get(owner) or {}).get(key)
        return None if value is None else str(value)
