"""The structure of a site: the keys, kinds, titles and children of its items, and its paths as visitors type them."""

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
"""The nouns of the kinds of items."""
Trees = Mapping[str, Sequence[RevisionPage]]
"""Page trees by the ids of their spaces; a space whose pages are not known is missing."""


def key_of(item: StructureItem) -> str:
    """The key of an item in the tree."""
    return f"{item.object} {item.id}"


def kind_of(item: StructureItem) -> str:
    """The noun of an item."""
    return KINDS.get(item.object, "link")


def pointer(item: StructureItem) -> StructureItemPointer:
    """An item as the API refers to it."""
    kind = item.object if item.object in KINDS else "site-external-link"
    return StructureItemPointer(
        type=cast("Literal['site-space', 'site-section', 'site-section-group', 'site-external-link']", kind), id=item.id
    )


def children_of(item: StructureItem) -> Items:
    """The items below an item."""
    if isinstance(item, SiteSection):
        return item.site_spaces
    return item.children if isinstance(item, SiteSectionGroup) else ()


def all_items(items: Items) -> Items:
    """All items, depth first."""
    return tuple(nested for item in items for nested in (item, *all_items(children_of(item))))


def title_of(item: StructureItem) -> str:
    """The title of an item, as display text."""
    return sanitize(item.title or (item.space.title if isinstance(item, SiteSpace) else "")) or "(no title)"


def path_problem(text: str, taken: Mapping[str, str]) -> str | None:
    """Why a text cannot be a path; None if it can.

    Args:
        text: the text.
        taken: the titles of the items beside it, by their paths.
    """
    if text != text.lower():
        return "small letters only"
    if not _SLUG.fullmatch(text):
        return "small letters, digits, _ and single - or ."
    return f"it is the path of {taken[text]}" if text in taken else None


def icon_problem(text: str) -> str | None:
    """Why a text cannot be the name of an icon; None if it can."""
    return None if _ICON.fullmatch(text) else "small letters, digits and - only"


class Target(NamedTuple):
    """A place in a site.

    Attributes:
        path: where visitors find it, from the root of the site; empty for the root.
        title: the titles of the space and the page, or of the section.
        destination: what a redirect to it says.
    """

    path: str
    title: str
    destination: RedirectDestination


class SitePaths:
    """Every place of a site by its path.

    Args:
        site: the site.
        structure: its sections and spaces.
        trees: the page trees of its spaces.
    """

    def __init__(self, site: Site, structure: SiteStructure, trees: Trees) -> None:
        address = urlsplit(site.urls.published or "")
        self._host, self._base = address.netloc, address.path.rstrip("/")
        self._places: dict[tuple[str, ...], Target] = {}
        """By what names a place in a redirect: kind and ids."""
        self._by_path: dict[str, Target] = {}
        self._unread: set[str] = set()
        """The ids of the site spaces whose pages are not known."""
        for item, section in site_spaces(structure.structure):
            self._add_space(item, section, trees.get(item.space.id))

    @property
    def targets(self) -> tuple[Target, ...]:
        """All places in the order of the site."""
        return tuple(self._places.values())

    def at(self, path: str) -> Target | None:
        """What visitors see at a path; None if nothing is there, as far as is known."""
        return self._by_path.get(plain_path(path))

    def path_of(self, target: RedirectTarget | RedirectDestination) -> str | None:
        """The path or address to which a redirect leads; None if it leads to something that is gone, or not known."""
        if target.kind == "external":
            return self.inside(target.url or "") or target.url
        place = self._places.get(_key(target))
        return (place.path or "/") if place else None

    def title_of(self, target: RedirectTarget | RedirectDestination) -> str:
        """The title of what a redirect leads to; empty if it is no place of the site."""
        place = self._places.get(_key(target))
        return place.title if place else ""

    def is_unread(self, target: RedirectTarget | RedirectDestination) -> bool:
        """Whether it is not known if a page is still there, because the pages of its space are not known."""
        return target.site_space_id in self._unread

    def inside(self, url: str) -> str:
        """The path within the site of a web address; empty if it is the address of something else."""
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

    def _add(self, path: str, title: str, destination: RedirectDestination) -> None:
        target = Target(path, title, destination)
        self._places.setdefault(_key(destination), target)
        self._by_path.setdefault(plain_path(path), target)


def section_path(section: SiteSection | None) -> str:
    """The path of a section from the root of its site; empty for the default one, and without sections."""
    return f"/{section.path}" if section and not section.default else ""


def space_path(item: SiteSpace, section: SiteSection | None) -> str:
    """The path of a space from the root of its site; the default one has the path of its section."""
    return section_path(section) if item.default else f"{section_path(section)}/{item.path}"


def plain_path(path: str) -> str:
    """A path as it is compared: decoded, without the slash at its end; empty for the root."""
    return unquote(path).rstrip("/")


def wire_path(path: str) -> str:
    """A path as the service stores it: encoded, without the slash at its end."""
    return quote(unquote(path), safe="/-._~").rstrip("/")


def _key(target: RedirectTarget | RedirectDestination) -> tuple[str, ...]:
    ids = (target.site_section_id, target.site_space_id, target.page_id)
    return (target.kind, *(one for one in ids if one))


def ways(targets: Mapping[str, str], start: str) -> Iterator[str]:
    """The paths through which a path leads, one after another; ends at one that leads to nothing, or that was there.

    Args:
        targets: where each path leads; both as `plain_path`.
        start: the first path, which is not part of the result.
    """
    seen, path = {start}, start
    while (path := targets.get(path, "\0")) != "\0":
        yield path
        if path in seen:
            return
        seen.add(path)


def site_spaces(items: Iterable[StructureItem]) -> Iterator[tuple[SiteSpace, SiteSection | None]]:
    """The spaces of a structure in order, each with its section."""
    for item in items:
        if isinstance(item, SiteSpace):
            yield item, None
        elif isinstance(item, SiteSection):
            yield from ((space, item) for space in item.site_spaces)
        elif isinstance(item, SiteSectionGroup):
            yield from site_spaces(item.children)
