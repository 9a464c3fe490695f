"""The document with the configuration of a site: its parts, and how a file writes them.

A document has up to five parts, each a top-level key of the file; a part that the file does not have is None and is
left alone. Spaces are named by their title and id, sections and groups by their titles and paths, pages by the paths in
their space, so that the references stay the same when the site changes. Null values are left out: TOML has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, cast

Place = tuple[str | int, ...]
"""Where something is in a document: keys and positions in lists, from 0."""
Part = Literal["visitor_schema", "structure", "redirects", "customization", "share_links"]
Kind = Literal["space", "section", "group"]
PARTS: tuple[Part, ...] = ("visitor_schema", "structure", "redirects", "customization", "share_links")
"""The parts in the order in which they are sent: conditions need the schema, redirects need the structure."""
WRITTEN: tuple[Part, ...] = ("customization", "structure", "redirects", "visitor_schema", "share_links")
"""The parts in the order in which a file has them."""
TEXTS: dict[Kind, tuple[str, ...]] = {
    "group": ("title", "icon"),
    "section": ("title", "path", "icon", "description", "condition"),
    "space": ("path", "condition"),
}
"""The texts of an item of a structure, by its kind; the title of a group or section is the value of its first key."""
FLAGS: dict[Kind, tuple[str, ...]] = {
    "group": ("draft",),
    "section": ("default", "draft"),
    "space": ("default", "draft", "hidden"),
}
"""The flags of an item, by its kind."""
INSIDE: dict[Kind, str] = {"group": "items", "section": "spaces"}
"""The key below which an item has the items in it."""
GENERATED = frozenset(("updatedAt",))
"""Fields of a customization that only the service sets."""


@dataclass(frozen=True)
class Entry:
    """An item of a structure: a group, a section or a space.

    Attributes:
        kind: what it is.
        title: its title; for a space only a name beside its id.
        texts: its texts that are not empty, without the title; see `TEXTS`.
        flags: those of `FLAGS` that are set.
        space: the id of the space, if a file has it; empty for other kinds.
        entries: the items in it.
        key: its kind and id in the site; empty in a file.
        place: where it is in a file.
    """

    kind: Kind
    title: str = ""
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    flags: frozenset[str] = frozenset()
    space: str = ""
    entries: tuple[Entry, ...] = ()
    key: str = ""
    place: Place = ()

    @property
    def label(self) -> str:
        """What it is called in messages."""
        path = self.texts.get("path")
        if self.kind == "space":
            return f"space {self.title or self.space}"
        return f"{self.kind} {self.title or path or self.key}"

    @property
    def plain(self) -> dict[str, Any]:
        """The item as a file writes it."""
        written: dict[str, Any] = {self.kind: self.title}
        if self.kind == "space":
            written["id"] = self.space
        written |= {name: text for name in TEXTS[self.kind] if name != "title" and (text := self.texts.get(name))}
        written |= {name: True for name in FLAGS[self.kind] if name in self.flags}
        if self.kind in INSIDE:
            written[INSIDE[self.kind]] = [entry.plain for entry in self.entries]
        return written


class Target(NamedTuple):
    """Where a redirect leads: a web address, a section by its path, or a space, perhaps with a page.

    Attributes:
        url: a web address.
        section: the path of a section.
        space: the title of a space.
        space_id: its id.
        page: the path of a page in the space.
        page_id: the id of the page, if it has no path: it is gone, or the pages of the space cannot be read.
        gone: ids of something that is not in the site, as `redirects.reference` returns them.
    """

    url: str = ""
    section: str = ""
    space: str = ""
    space_id: str = ""
    page: str = ""
    page_id: str = ""
    gone: str = ""

    @property
    def plain(self) -> dict[str, Any]:
        """The target as a file writes it."""
        names = {"space_id": "id"}
        return {names.get(name, name): value for name, value in self._asdict().items() if value}

    def __str__(self) -> str:
        page = f" / {self.page or self.page_id}" if self.page or self.page_id else ""
        section = f"section {self.section}" if self.section else ""
        return self.url or self.gone or section or f"{self.space or self.space_id}{page}"


class RedirectEntry(NamedTuple):
    """A redirect of a document; `source` is a path of the site."""

    source: str
    target: Target
    place: Place = ()


@dataclass(frozen=True)
class SiteConfig:
    """The configuration of a site; a part that is not managed is None.

    Attributes:
        customization: as the API has it, without null values and without what only the service sets.
        structure: groups, sections and spaces in their order.
        redirects: by their sources.
        visitor_schema: the JSON schema of visitors' claims.
        share_links: the names of share links; several may have the same.
    """

    customization: dict[str, Any] | None = None
    structure: tuple[Entry, ...] | None = None
    redirects: tuple[RedirectEntry, ...] | None = None
    visitor_schema: dict[str, Any] | None = None
    share_links: tuple[str, ...] | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that it has, in the order in which they are sent."""
        return tuple(part for part in PARTS if getattr(self, part) is not None)

    @property
    def plain(self) -> dict[str, Any]:
        """The document as a file writes it."""
        values = {
            "customization": self.customization,
            "structure": None if self.structure is None else [entry.plain for entry in self.structure],
            "redirects": None
            if self.redirects is None
            else [{"source": one.source, "to": one.target.plain} for one in self.redirects],
            "visitor_schema": self.visitor_schema,
            "share_links": None if self.share_links is None else list(self.share_links),
        }
        return {part: value for part in WRITTEN if (value := values[part]) is not None}


def every_entry(entries: Sequence[Entry]) -> Iterator[Entry]:
    """All items of a structure, each before those in it."""
    for entry in entries:
        yield entry
        yield from every_entry(entry.entries)


def place_name(place: Place) -> str:
    """A place as a path, such as ``structure[1].spaces[0].path``."""
    name = ""
    for part in place:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else part
    return name


def without_nulls(value: Any) -> Any:
    """A JSON value without the null values of its objects."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {name: without_nulls(inner) for name, inner in items if inner is not None}
    return [without_nulls(inner) for inner in cast("list[Any]", value)] if isinstance(value, list) else value
