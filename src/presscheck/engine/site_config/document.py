"""The document with the configuration of a site, its parts, and their form in a file.

A document has up to five parts, each a top-level key of the file. A part that the file does not have is None and is not
changed in the site. Spaces are named by title and id, sections and groups by title and path, pages by their path in the
space, so that references remain valid when the site changes. Null values are left out because TOML has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, cast

Place = tuple[str | int, ...]
"""The path of a value in a document: keys and list indexes."""
Part = Literal["visitor_schema", "structure", "redirects", "customization", "share_links"]
Kind = Literal["space", "section", "group"]
PARTS: tuple[Part, ...] = ("visitor_schema", "structure", "redirects", "customization", "share_links")
"""The parts in sending order: conditions need the schema, redirects need the structure."""
WRITTEN: tuple[Part, ...] = ("customization", "structure", "redirects", "visitor_schema", "share_links")
"""The parts in the order of a written file."""
TEXTS: dict[Kind, tuple[str, ...]] = {
    "group": ("title", "icon"),
    "section": ("title", "path", "icon", "description", "condition"),
    "space": ("path", "condition"),
}
"""The text fields of a structure item by kind. A file writes the title as the value of the key named like the kind."""
FLAGS: dict[Kind, tuple[str, ...]] = {
    "group": ("draft",),
    "section": ("default", "draft"),
    "space": ("default", "draft", "hidden"),
}
"""The flags of a structure item by kind."""
INSIDE: dict[Kind, str] = {"group": "items", "section": "spaces"}
"""The key of the list of child items, by kind."""
GENERATED = frozenset(("updatedAt",))
"""Fields of a customization that only the service sets."""


@dataclass(frozen=True)
class Entry:
    """An item of a structure: a group, a section or a space.

    Attributes:
        kind: group, section or space.
        title: the title; for a space, only a readable addition to its id.
        texts: the texts that are not empty, without the title; see `TEXTS`.
        flags: the flags that are set; see `FLAGS`.
        space: the id of the space, if the file has it; empty for other kinds.
        entries: the child items.
        key: the kind and id of the item in the site; empty in a file.
        place: the place in a file.
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
        """The name of the item in messages, such as `section Guides`."""
        path = self.texts.get("path")
        if self.kind == "space":
            return f"space {self.title or self.space}"
        return f"{self.kind} {self.title or path or self.key}"

    @property
    def plain(self) -> dict[str, Any]:
        """The item as it is written to a file."""
        written: dict[str, Any] = {self.kind: self.title}
        if self.kind == "space":
            written["id"] = self.space
        written |= {name: text for name in TEXTS[self.kind] if name != "title" and (text := self.texts.get(name))}
        written |= {name: True for name in FLAGS[self.kind] if name in self.flags}
        if self.kind in INSIDE:
            written[INSIDE[self.kind]] = [entry.plain for entry in self.entries]
        return written


class Target(NamedTuple):
    """The target of a redirect: a web address, a section by its path, or a space with an optional page.

    Attributes:
        url: a web address.
        section: the path of a section.
        space: the title of a space.
        space_id: the id of the space.
        page: the path of a page in the space.
        page_id: the id of the page if its path is unknown: the page is gone, or the pages of the space cannot be read.
        gone: the ids of a target that is not in the site, as returned by `redirects.reference`.
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
        """The target as it is written to a file."""
        names = {"space_id": "id"}
        return {names.get(name, name): value for name, value in self._asdict().items() if value}

    def __str__(self) -> str:
        page = f" / {self.page or self.page_id}" if self.page or self.page_id else ""
        section = f"section {self.section}" if self.section else ""
        return self.url or self.gone or section or f"{self.space or self.space_id}{page}"


class RedirectEntry(NamedTuple):
    """A redirect in a document; `source` is a path of the site."""

    source: str
    target: Target
    place: Place = ()


@dataclass(frozen=True)
class SiteConfig:
    """The configuration of a site; parts that are not managed are None.

    Attributes:
        customization: the API's JSON, without null values and without the `GENERATED` fields.
        structure: groups, sections and spaces in display order.
        redirects: the redirects, sorted by source when read from a site.
        visitor_schema: the JSON schema of visitors' claims.
        share_links: the names of share links; names may repeat.
    """

    customization: dict[str, Any] | None = None
    structure: tuple[Entry, ...] | None = None
    redirects: tuple[RedirectEntry, ...] | None = None
    visitor_schema: dict[str, Any] | None = None
    share_links: tuple[str, ...] | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """The managed parts, in sending order."""
        return tuple(part for part in PARTS if getattr(self, part) is not None)

    @property
    def plain(self) -> dict[str, Any]:
        """The document as it is written to a file."""
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
    """Yield all items of a structure, each before its children."""
    for entry in entries:
        yield entry
        yield from every_entry(entry.entries)


def place_name(place: Place) -> str:
    """Format a place as a path, such as ``structure[1].spaces[0].path``."""
    name = ""
    for part in place:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else part
    return name


def without_nulls(value: Any) -> Any:
    """Remove null values from all objects in a JSON value."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {name: without_nulls(inner) for name, inner in items if inner is not None}
    return [without_nulls(inner) for inner in cast("list[Any]", value)] if isinstance(value, list) else value
