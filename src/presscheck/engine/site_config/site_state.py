"""The current state of a site: the configuration as a document, and the ids and full responses that calls need.

The document never contains secrets. The address of a share link contains its key, and a customization or a redirect may
contain such an address, for example as a link in the header. A file, which is meant to be committed, has the name of
the share link in place of the key.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar, cast

from presscheck.api.content import ListPages, RevisionPage
from presscheck.api.site_settings import (
    AdaptiveSchema,
    GetAdaptiveSchema,
    GetCustomization,
    ListRedirects,
    ListShareLinks,
    Redirect,
    RedirectTarget,
    ShareLink,
)
from presscheck.api.site_structure import (
    GetSiteStructure,
    SiteSection,
    SiteSectionGroup,
    SiteSpace,
    SiteStructure,
    StructureItem,
)
from presscheck.api.sites import GetSite, Site
from presscheck.api.spaces import ListSpaces, Space
from presscheck.documents.pages.tree import flatten
from presscheck.documents.sites.content import key_of
from presscheck.engine.connection import Status
from presscheck.engine.protocols import Reader
from presscheck.engine.publish.redirects import reference
from presscheck.engine.publish.shown_addresses import key_in
from presscheck.engine.publish.site_structure import children_of, plain_path, site_spaces
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.engine.site_config.document import (
    GENERATED,
    PARTS,
    Entry,
    Part,
    RedirectEntry,
    SiteConfig,
    Target,
    without_nulls,
)
from presscheck.errors import Forbidden, NotFound, NotNow, NotSupported, PresscheckError

T = TypeVar("T")
Trees = Mapping[str, Sequence[RevisionPage]]
"""Page trees by space id; spaces whose pages cannot be read are missing."""


class OnlineReader(Reader, Protocol):
    """A reader that reports whether the service can be reached."""

    @property
    def status(self) -> Status:
        """The state of the connection."""
        ...


@dataclass(frozen=True)
class SiteState:
    """The state of a site as it was read. `config` has only the requested parts.

    Attributes:
        organization_id: the id of the site's organization.
        site: the site.
        config: the configuration; a part is None if it was not read or the site does not have it.
        unread: the errors of parts that could not be read.
        customization: the JSON of the API with its nulls and secrets, without the `GENERATED` fields.
        structure: the response of `GetSiteStructure`.
        redirects: the redirects by their sources, normalized by `plain_path`.
        share_links: the share links in the order of the service.
        trees: the page trees of the spaces whose pages are targets of redirects.
        secrets: the keys of the site and its share links.
    """

    organization_id: str
    site: Site
    config: SiteConfig = field(default_factory=SiteConfig)
    unread: Mapping[Part, PresscheckError] = field(default_factory=dict[Part, PresscheckError])
    customization: Mapping[str, Any] = field(default_factory=dict[str, Any])
    structure: SiteStructure = field(default_factory=lambda: SiteStructure(type="siteSpaces"))
    redirects: Mapping[str, Redirect] = field(default_factory=dict[str, Redirect])
    share_links: tuple[ShareLink, ...] = ()
    trees: Trees = field(default_factory=dict[str, Sequence[RevisionPage]])
    secrets: SiteSecrets = field(default_factory=lambda: SiteSecrets(Site(id=""), ()))

    @property
    def path(self) -> dict[str, Any]:
        """The path parameters of calls about the site."""
        return {"organization_id": self.organization_id, "site_id": self.site.id}


@dataclass
class StateReader:
    """A reader of the state of a site, always from the service, because cached responses may be outdated.

    Args:
        engine: reads from the service.
        organization_id: the id of the site's organization.
        site_id: the id of the site.
    """

    engine: OnlineReader
    organization_id: str
    site_id: str

    async def read(self, parts: Iterable[Part] = PARTS) -> SiteState:
        """Read the state of the site.

        Args:
            parts: the parts to read; all other parts stay None.

        Raises:
            NotNow: the service cannot be reached.
            PresscheckError: the site or its structure cannot be read.
        """
        site = await self.engine.read(GetSite(**self._path))
        unread: dict[Part, PresscheckError] = {}
        links = await self._part("share_links", whole_listing(self.engine, ListShareLinks(**self._path)), unread, ())
        state = SiteState(
            self.organization_id,
            site,
            unread=unread,
            structure=await self.engine.read(GetSiteStructure(**self._path)),
            share_links=links,
            secrets=SiteSecrets(site, links),
        )
        wanted = set(parts)
        if "share_links" not in wanted:
            unread.pop("share_links", None)
        elif "share_links" not in unread:
            names = tuple(link.name for link in links if link.name)
            state = replace(state, config=replace(state.config, share_links=names))
        if "structure" in wanted:
            entries = entries_of(state.structure.structure)
            state = replace(state, config=replace(state.config, structure=entries))
        if "customization" in wanted:
            state = await self._with_customization(state, unread)
        if "visitor_schema" in wanted:
            state = await self._with_schema(state, unread)
        if "redirects" in wanted:
            state = await self._with_redirects(state, unread)
        if not self.engine.status.online:
            raise NotNow("You are offline: the configuration of a site is always compared with the service")
        return state

    @property
    def _path(self) -> dict[str, Any]:
        return {"organization_id": self.organization_id, "site_id": self.site_id}

    @staticmethod
    async def _part(name: Part, work: Awaitable[T], unread: dict[Part, PresscheckError], default: T) -> T:
        """Read a part. If it is forbidden, missing or not supported, record the error and return the default.

        A missing visitor schema is not recorded as an error.
        """
        try:
            return await work
        except (Forbidden, NotSupported, NotFound) as error:
            if not (name == "visitor_schema" and type(error) is NotFound):  # a site without a schema
                unread[name] = error
            return default

    async def _with_customization(self, state: SiteState, unread: dict[Part, PresscheckError]) -> SiteState:
        read: Awaitable[dict[str, Any] | None] = self.engine.read(GetCustomization(**self._path))
        looks = await self._part("customization", read, unread, None)
        if looks is None:
            return state
        own = {name: value for name, value in looks.items() if name not in GENERATED}
        hidden = part_config("customization", looks, state.secrets).customization
        return replace(state, customization=own, config=replace(state.config, customization=hidden))

    async def _with_schema(self, state: SiteState, unread: dict[Part, PresscheckError]) -> SiteState:
        read: Awaitable[AdaptiveSchema | None] = self.engine.read(GetAdaptiveSchema(**self._path))
        schema = await self._part("visitor_schema", read, unread, None)
        if schema is None or schema.json_schema is None:
            return state
        found = part_config("visitor_schema", schema.json_schema, state.secrets).visitor_schema
        return replace(state, config=replace(state.config, visitor_schema=found))

    async def _with_redirects(self, state: SiteState, unread: dict[Part, PresscheckError]) -> SiteState:
        read: Awaitable[tuple[Redirect, ...] | None] = whole_listing(self.engine, ListRedirects(**self._path))
        found = await self._part("redirects", read, unread, None)
        if found is None:
            return state
        by_source = {plain_path(redirect.source): redirect for redirect in found}
        ids = {item.id: item.space.id for item, _ in site_spaces(state.structure.structure)}
        targets = [redirect.destination for redirect in found if redirect.destination.page_id]
        spaces = {ids.get(target.site_space_id or "") for target in targets}
        state = await self.with_pages(replace(state, redirects=by_source), filter(None, spaces))
        return replace(state, config=replace(state.config, redirects=redirects_of(state)))

    async def spaces(self) -> tuple[Space, ...]:
        """Read the spaces of the organization.

        Raises:
            PresscheckError: the spaces cannot be read.
        """
        return await whole_listing(self.engine, ListSpaces(organization_id=self.organization_id))

    async def with_pages(self, state: SiteState, spaces: Iterable[str]) -> SiteState:
        """Add the page trees of some spaces to a state, except for spaces that the user may not read.

        Raises:
            PresscheckError: the service failed, or cannot be reached.
        """
        trees = dict(state.trees)
        for space in sorted({*spaces} - trees.keys()):
            try:
                trees[space] = (await self.engine.read(ListPages(space_id=space))).pages
            except (Forbidden, NotFound, NotSupported):
                continue
        return replace(state, trees=trees)


def part_config(
    part: Literal["customization", "visitor_schema"], value: Mapping[str, Any], secrets: SiteSecrets
) -> SiteConfig:
    """Convert the API's JSON of a customization or visitor schema to a configuration with that part."""
    if part == "visitor_schema":
        return SiteConfig(visitor_schema=without_nulls(value))
    own = {name: inner for name, inner in value.items() if name not in GENERATED}
    return SiteConfig(customization=secrets.hide(without_nulls(own)))


def entries_of(items: Iterable[StructureItem]) -> tuple[Entry, ...]:
    """Convert structure items to entries, without items of unknown kinds."""
    return tuple(entry for item in items if (entry := _entry(item)))


def _entry(item: StructureItem) -> Entry | None:
    inside = entries_of(children_of(item))
    key = key_of(item)
    if isinstance(item, SiteSpace):
        texts = {"path": item.path, "condition": item.condition or ""}
        title = item.space.title or item.title
        return Entry("space", title, _given(texts), _flags(item), item.space.id, key=key)
    if isinstance(item, SiteSection):
        names = ("path", "icon", "description", "condition")
        texts = {name: getattr(item, name) or "" for name in names}
        return Entry("section", item.title, _given(texts), _flags(item), entries=inside, key=key)
    if isinstance(item, SiteSectionGroup):
        return Entry("group", item.title, _given({"icon": item.icon or ""}), _flags(item), entries=inside, key=key)
    return None


def _given(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if text}


def _flags(item: StructureItem) -> frozenset[str]:
    return frozenset(name for name in ("default", "draft", "hidden") if getattr(item, name, None))


def redirects_of(state: SiteState) -> tuple[RedirectEntry, ...]:
    """Return the redirects of a site in the form of a document, sorted by source."""
    places = _Places(state)
    return tuple(
        RedirectEntry(redirect.source, places.target(redirect.destination))
        for _, redirect in sorted(state.redirects.items())
    )


class _Places:
    """A converter of redirect destinations, which have ids, to targets with the names of a document."""

    def __init__(self, state: SiteState) -> None:
        pairs = list(site_spaces(state.structure.structure))
        self._secrets = state.secrets
        self._spaces = {item.id: item.space for item, _ in pairs}
        self._sections = {section.id: section.path for section in every_section(state.structure.structure)}
        self._paths = {
            space: {page_id: path for path, page_id in paths_of(tree).items()} for space, tree in state.trees.items()
        }

    def target(self, destination: RedirectTarget) -> Target:
        """Convert the destination of a redirect, with the names that a document uses."""
        if destination.kind == "external":
            return Target(url=self._secrets.hide(destination.url or ""))
        if path := self._sections.get(destination.site_section_id or ""):
            return Target(section=path)
        space = self._spaces.get(destination.site_space_id or "")
        if space is None:
            return Target(gone=reference(destination))
        page = destination.page_id or ""
        path = self._paths.get(space.id, {}).get(page, "")
        return Target(space=space.title, space_id=space.id, page=path, page_id="" if path else page)


def paths_of(tree: Iterable[RevisionPage]) -> dict[str, str]:
    """Return page ids by path, without links."""
    return {page.path: page.id for page in flatten(tree) if page.path is not None and page.type != "link"}


def every_section(items: Iterable[StructureItem]) -> list[SiteSection]:
    """Return all sections of a structure, including sections in groups."""
    found = list[SiteSection]()
    for item in items:
        found += [item] if isinstance(item, SiteSection) else every_section(children_of(item))
    return found


class SiteSecrets:
    """The keys in the addresses of a site, and a name to replace each key in a document.

    Args:
        site: the site, whose address has a key if its visibility is `share-link`.
        share_links: the share links of the site.
    """

    def __init__(self, site: Site, share_links: Iterable[ShareLink]) -> None:
        own = site.urls.published if site.visibility == "share-link" else None
        links = [(link.urls.published, link.name or link.id, link.id) for link in share_links]
        self._names: dict[str, str] = {}
        for address, name, identity in [(own, "the site", ""), *links]:
            key = key_in(address)
            if key and key not in self._names:
                text = f"(key of {name})"
                # several links may have one name, and each name must lead back to its own key
                self._names[key] = f"(key of {name}, {identity})" if text in self._names.values() else text

    def hide(self, value: Any) -> Any:
        """Replace keys in a JSON value by their names."""
        return _replaced(value, self._names)

    def reveal(self, value: Any) -> Any:
        """Replace names in a JSON value by their keys."""
        return _replaced(value, {name: key for key, name in self._names.items()})


def _replaced(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for before, after in texts.items():
            value = value.replace(before, after)
        return value
    if isinstance(value, dict):
        return {name: _replaced(inner, texts) for name, inner in cast("dict[str, Any]", value).items()}
    return [_replaced(inner, texts) for inner in cast("list[Any]", value)] if isinstance(value, list) else value
