"""The variants of a section: its spaces, which have the same pages in several versions or languages."""

from __future__ import annotations

from typing import NamedTuple

from presscheck.documents.pages.tree import PagePosition
from presscheck.service.models.sites import SiteSpaceRow
from presscheck.service.web.languages import language_name
from presscheck.service.web.navigation import NavigationLink, emoji_of
from presscheck.service.web.published_site import PublishedSite


class Variant(NamedTuple):
    """A link to a variant; `language` is set if the title is the name of its language."""

    title: str
    url: str
    is_current: bool = False
    emoji: str = ""
    language: str = ""


class DefaultVersion(NamedTuple):
    """A link from a page of another version to the default version.

    `current` is the title of the other version, `title` the title of the default version. `url` leads to the same page
    if `has_page`, and otherwise to the first page.
    """

    current: str
    title: str
    url: str
    has_page: bool


def variants(site: PublishedSite, current: SiteSpaceRow | None, place: PagePosition | None) -> list[Variant]:
    """Return links to the variants of the current section, or an empty list if there is only one.

    A link leads to the page of the variant with the same id or path, and otherwise to its first page.
    """
    siblings = site.within(site.section_of(current)) if current else []
    if len(siblings) < 2:
        return []
    languages = [site.spaces[sibling.space_id].language or "" for sibling in siblings]
    links: list[Variant] = []
    for sibling, language in zip(siblings, languages, strict=True):
        space, page = site.spaces[sibling.space_id], place and _same_page(site, sibling, place)
        name = language_name(language) if languages.count(language) == 1 else ""
        emoji = emoji_of(space.emoji)
        url = site.address(sibling, page)
        links.append(Variant(name or space.title, url, sibling is current, emoji, language if name else ""))
    return links


def default_version(site: PublishedSite, current: SiteSpaceRow, place: PagePosition) -> DefaultVersion | None:
    """Return a link to the default version. Return None if the page belongs to it or is in another language."""
    default = site.first_of(site.section_of(current))
    if default is None or default is current:
        return None
    space, other = site.spaces[current.space_id], site.spaces[default.space_id]
    if space.language != other.language:
        return None
    page = _same_page(site, default, place)
    return DefaultVersion(space.title, other.title, site.address(default, page), page is not None)


def alternates(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> list[NavigationLink]:
    """Return links to all language versions of a page, including the page itself. The title of a link is the language.

    The URLs are absolute, because search engines ignore others. The list is empty if there is only one version, or the
    space of the page has no language.
    """
    if not site.spaces[site_space.space_id].language:
        return []
    links: list[NavigationLink] = []
    for sibling in site.within(site.section_of(site_space)):
        language = site.spaces[sibling.space_id].language
        page = _same_page(site, sibling, place) if language else None
        if language and page:
            links.append(NavigationLink(language, site.absolute(site.address(sibling, page))))
    return links if len(links) > 1 else []


def _same_page(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> PagePosition | None:
    """Return the page of a space with the same id or path, or None."""
    content = site.content(site_space.space_id)
    page = content.places.get(place.page["id"]) or content.paths.get(place.path or "")
    return page if page and page.page["type"] == "document" else None
