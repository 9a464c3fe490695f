"""The structure of a site: keys, kinds, titles and children of its items, and the paths of its places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast
from urllib.parse import quote, unquote, urlsplit

from presscheck.api.content import RevisionPage
from presscheck.api.site_settings import RedirectDestination, RedirectTarget
from presscheck.api.site_structure import (
    SiteSection,
    SiteSectionGroup,
    SiteSpace,
    SiteStructure,
    StructureItem,
    StructureItemPointer,
)
from presscheck.api.sites import Site
from presscheck.documents.pages.tree import flatten
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from typing import Literal

Items = tuple[StructureItem, ...]
_SLUG = re.compile(r"\w+(?:[-.]\w+)*")
_ICON = re.compile(r"[a-z0-9-]*")
KINDS = {"site-space": "space", "site-section": "section", "site-section-group": "group"}
"""The word for each kind of item."""
Trees = Mapping[str, Sequence[RevisionPage]]
"""Page trees by space id; spaces whose pages are unknown are missing."""


def kind_of(item: StructureItem) -> str:
    """Return the word for the kind of an item."""
    return KINDS.get(item.object, "link")


def pointer(item: StructureItem) -> StructureItemPointer:
    """Return the API's reference to an item."""
    kind = item.object if item.object in KINDS else "site-external-link"
    return StructureItemPointer(
        type=cast("Literal['site-space', 'site-section', 'site-section-group', 'site-external-link']", kind), id=item.id
    )


def children_of(item: StructureItem) -> Items:
    """Return the items below an item."""
    if isinstance(item, SiteSection):
        return item.site_spaces
    return item.children if isinstance(item, SiteSectionGroup) else ()


def all_items(items: Items) -> Items:
    """Return all items, depth first."""
    return tuple(nested for item in items for nested in (item, *all_items(children_of(item))))


def title_of(item: StructureItem) -> str:
    """Return the title of an item for display."""
    return sanitize(item.title or (item.space.title if isinstance(item, SiteSpace) else "")) or "(no title)"


def path_problem(text: str, taken: Mapping[str, str]) -> str | None:
    """Return why a text cannot be the path of an item, or None if it can.

    Args:
        text: the text.
        taken: the titles of the sibling items by path.
    """
    if text != text.lower():
        return "small letters only"
    if not _SLUG.fullmatch(text):
        return "small letters, digits, _ and single - or ."
    return f"it is the path of {taken[text]}" if text in taken else None


def icon_problem(text: str) -> str | None:
    """Return why a text cannot be the name of an icon, or None if it can."""
    return None if _ICON.fullmatch(text) else "small letters, digits and - only"


class Target(NamedTuple):
    """A place in a site.

    Attributes:
        path: the path from the root of the site; empty for the root.
        title: the titles of the space and the page, or of the section.
        destination: the destination of a redirect to the place.
    """

    path: str
    title: str
    destination: RedirectDestination


class SitePaths:
    """All places of a site, by path and by redirect destination.

    Args:
        site: the site.
        structure: its sections and spaces.
        trees: the page trees of its spaces.
    """

    def __init__(self, site: Site, structure: SiteStructure, trees: Trees) -> None:
        address = urlsplit(site.urls.published or "")
        self._host, self._base = address.netloc, address.path.rstrip("/")
        self._places: dict[tuple[str, ...], Target] = {}
        """The places by the kind and the ids of a redirect destination."""
        self._by_path: dict[str, Target] = {}
        self._unread: set[str] = set()
        """The ids of site spaces whose pages are unknown."""
        spaces = [*site_spaces(structure.structure)]
        for item, section in spaces:
            self._add_space(item, section, trees.get(item.space.id))
        for item, section in spaces:
            self._add_full_paths(item, section, trees.get(item.space.id) or ())

    @property
    def targets(self) -> tuple[Target, ...]:
        """All places in the order of the site."""
        return tuple(self._places.values())

    def at(self, path: str) -> Target | None:
        """Return the place at a path, or None if no place is known there."""
        return self._by_path.get(plain_path(path))

    def path_of(self, target: RedirectTarget | RedirectDestination) -> str | None:
        """Return the path or address of a redirect target, or None if the target is gone or unknown."""
        if target.kind == "external":
            return self.inside(target.url or "") or target.url
        place = self._places.get(_key(target))
        return (place.path or "/") if place else None

    def title_of(self, target: RedirectTarget | RedirectDestination) -> str:
        """Return the title of a redirect target; empty if it is not a place of the site."""
        place = self._places.get(_key(target))
        return place.title if place else ""

    def is_unread(self, target: RedirectTarget | RedirectDestination) -> bool:
        """Return whether the pages of the target's space are unknown, so that its page may or may not exist."""
        return target.site_space_id in self._unread

    def inside(self, url: str) -> str:
        """Return the path of a web address within the site; empty for addresses outside the site."""
        address = urlsplit(url)
        is_inside = (
            bool(self._host) and address.netloc == self._host and f"{address.path}/".startswith(f"{self._base}/")
        )
        return (address.path[len(self._base) :] or "/") if is_inside else ""

    def _add_space(self, item: SiteSpace, section: SiteSection | None, pages: Sequence[RevisionPage] | None) -> None:
        above, path = section_path(section), space_path(item, section)
        title = item.title or item.space.title
        if section and ("site-section", section.id) not in self._places:
            self._add(above, section.title, RedirectDestination(kind="site-section", site_section_id=section.id))
        self._add(path, title, RedirectDestination(kind="site-space", site_space_id=item.id))
        if pages is None:
            self._unread.add(item.id)
        for page in flatten(pages or ()):
            if page.path is not None and page.type != "link":
                where = RedirectDestination(kind="site-page", site_space_id=item.id, page_id=page.id)
                self._add(f"{path}/{page.path}", f"{title} › {page.title}", where)

    def _add_full_paths(self, item: SiteSpace, section: SiteSection | None, pages: Sequence[RevisionPage]) -> None:
        """Add the paths that name a default section or a default space. The site redirects them to the short paths."""
        path = space_path(item, section)
        above = {section_path(section), f"/{section.path}" if section else ""}
        below = {"", f"/{item.path}"} if item.default else {f"/{item.path}"}
        for full in {f"{start}{end}" for start in above for end in below} - {path}:
            for part in ("", *(f"/{page.path}" for page in flatten(pages))):
                if target := self._by_path.get(plain_path(f"{path}{part}")):
                    self._by_path.setdefault(plain_path(f"{full}{part}"), target)

    def _add(self, path: str, title: str, destination: RedirectDestination) -> None:
        target = Target(path, title, destination)
        self._places.setdefault(_key(destination), target)
        self._by_path.setdefault(plain_path(path), target)


def section_path(section: SiteSection | None) -> str:
    """Return the path of a section from the root of its site; empty for the default section and for None."""
    return f"/{section.path}" if section and not section.default else ""


def space_path(item: SiteSpace, section: SiteSection | None) -> str:
    """Return the path of a space from the root of its site; the default space has the path of its section."""
    return section_path(section) if item.default else f"{section_path(section)}/{item.path}"


def plain_path(path: str) -> str:
    """Normalize a path for comparison: decoded, without a slash at the end; empty for the root."""
    return unquote(path).rstrip("/")


def wire_path(path: str) -> str:
    """Convert a path to the form that the service stores: encoded, without a slash at the end."""
    return quote(unquote(path), safe="/-._~").rstrip("/")


def _key(target: RedirectTarget | RedirectDestination) -> tuple[str, ...]:
    ids = (target.site_section_id, target.site_space_id, target.page_id)
    return (target.kind, *(identity for identity in ids if identity))


def ways(targets: Mapping[str, str], start: str) -> Iterator[str]:
    """Yield the paths to which redirects lead from a path, up to a path without a redirect or an already visited path.

    Args:
        targets: the target path of each source path; both normalized by `plain_path`.
        start: the first path, which is not part of the result.
    """
    seen, path = {start}, start
    while (path := targets.get(path, "\0")) != "\0":
        yield path
        if path in seen:
            return
        seen.add(path)


def site_spaces(items: Iterable[StructureItem]) -> Iterator[tuple[SiteSpace, SiteSection | None]]:
    """Yield the spaces of a structure in order, each with its section or None."""
    for item in items:
        if isinstance(item, SiteSpace):
            yield item, None
        elif isinstance(item, SiteSection):
            yield from ((space, item) for space in item.site_spaces)
        elif isinstance(item, SiteSectionGroup):
            yield from site_spaces(item.children)
