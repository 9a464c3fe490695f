"""Resolves the links of a page on a published site: to pages of the site, files, external URLs, or nothing."""

from __future__ import annotations

import re
from typing import Any, cast

from presscheck.api.content import ReusableContent
from presscheck.documents.markdown.anchors import decode_fragment
from presscheck.documents.pages.tree import PagePosition
from presscheck.service.content.revisions import document_texts
from presscheck.service.models.sites import SiteSpaceRow
from presscheck.service.sites.urls import own_key, site_address
from presscheck.service.web.html.context import Included, ResolvedLink
from presscheck.service.web.published_site import PublishedSite
from presscheck.service.web.site_files import file_url
from presscheck.text.sanitize import is_safe_link

_IN_APP = re.compile(r"/s(?:paces)?/([^/?#]+)(?:/pages/([^/?#]+))?/?(?:#(.*))?").fullmatch
_REUSABLE = re.compile(r"/~/reusable/([^/?#]+)").search
_OWN_FILE = re.compile(r"/files/([0-9a-f]{64})/").match
_HAS_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//").match


def outside(site: PublishedSite, url: str, *, is_new_tab: bool = False) -> ResolvedLink | None:
    """Resolves a URL.

    A URL of the site itself becomes its URL for this reader; an app URL of the service becomes the page on the site.
    """
    url = f"https:{url}" if url.startswith("//") else url
    own = site_address(site.context, site.site, own_key(site.site))
    if url.startswith(own):
        url = site.reader.base + url.removeprefix(own)
    app = site.context.app("")
    if url.startswith(f"{app}/") and (match := _IN_APP(url.removeprefix(app))):
        space_id, page_id, fragment = match.groups()
        return _in_space(site, space_id, page_id, decode_fragment(fragment or ""))
    if not is_safe_link(url):
        return None
    if url.startswith(site.reader.base):
        return ResolvedLink(site.base + url.removeprefix(site.reader.base))
    return ResolvedLink(url, is_outside=is_new_tab and url.startswith(("http:", "https:")))


def reference(site: PublishedSite, target: Any, space_id: str | None = None) -> ResolvedLink | None:
    """Resolves a reference of the API, such as ``{"kind": "page", "page": …}``.

    Args:
        site: the site and its reader.
        target: the reference.
        space_id: the space of a reference that names none.
    """
    given = cast("dict[str, Any]", target) if isinstance(target, dict) else {}
    values = {name: value for name, value in given.items() if isinstance(value, str)}
    kind = values.get("kind")
    named = values.get("space") or space_id
    if kind == "url":
        return outside(site, values.get("url", ""))
    if named is None or named not in site.spaces:
        return None
    if kind in ("page", "anchor", "space"):
        return _in_space(site, named, values.get("page"), values.get("anchor", ""))
    if kind == "file":
        site_space = _site_space(site, named)
        files = site.content(named).revision.files if site_space else []
        file = next((candidate for candidate in files if candidate["id"] == values.get("file")), None)
        return ResolvedLink(file_url(site, site_space, file), file["name"]) if site_space and file else None
    return None


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
    """The context of a page (see `html.context`)."""

    def __init__(self, site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition, *, is_new_tab: bool) -> None:
        self._site, self._site_space, self._place, self._is_new_tab = site, site_space, place, is_new_tab
        content = site.content(site_space.space_id)
        self._revision = content.revision
        targets = site.targets(content)
        self._files = {file["id"]: file for file in content.revision.files}
        self._by_content = {file["content"]: file for file in content.revision.files if file.get("content")}
        self._places = targets.places
        self._known = content.places
        self.source = targets.sources.get(("page", place.page["id"]), "")

    def leads(self, target: str, source: str) -> ResolvedLink | None:
        """The URL of a link target."""
        own_file = _OWN_FILE(target.removeprefix(self._site.context.origin))
        if own_file and own_file[1] in self._by_content:
            return self._file(self._by_content[own_file[1]])
        if _HAS_SCHEME(target):
            return outside(self._site, target, is_new_tab=self._is_new_tab)
        resolved = self._places.resolve(target, source)
        if resolved.kind == "file":
            return self._file(self._files[resolved.id])
        place = self._known.get(resolved.id) if resolved.kind == "page" else None
        if place is None:
            return None
        return ResolvedLink(self._site.address(self._site_space, place, resolved.anchor), place.page["title"])

    def _file(self, file: dict[str, Any]) -> ResolvedLink | None:
        url = file_url(self._site, self._site_space, file) if file.get("content") else None
        return ResolvedLink(url, file["name"]) if url else None

    def included(self, target: str, source: str) -> Included | None:
        """The Markdown of a reusable content."""
        named = _REUSABLE(target)
        identity = named[1] if named else self._places.resolve(target, source).id
        stored = (one for one in self._revision.reusable_contents if one["id"] == identity)
        snippet = next((ReusableContent.model_validate(one) for one in stored), None)
        if snippet is None or not snippet.document:
            return None
        texts = document_texts(self._site.context.session, [snippet.document])
        return Included(
            texts.get(snippet.document, ""), snippet.git.path if snippet.git else f"~/reusable/{snippet.id}"
        )

    def holds(self, condition: str) -> bool:
        """Whether a condition is true for this reader."""
        return self._site.holds(condition)

    def variable(self, name: str) -> str | None:
        """The value of a variable of the space or of the page."""
        owner, _, key = name.partition(".vars.")
        variables: dict[str, dict[str, Any] | None] = {
            "space": self._revision.variables,
            "page": self._place.page.get("variables"),
        }
        value = (variables.get(owner) or {}).get(key)
        return None if value is None else str(value)
