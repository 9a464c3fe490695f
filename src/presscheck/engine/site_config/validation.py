"""Parses the contents of a file into a document, and finds the place of each mistake.

Checks that need the site (limits of changed values, unknown spaces and pages) are in `push_plan`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from presscheck.engine.publish.site_structure import plain_path
from presscheck.engine.site_config.document import (
    FLAGS,
    INSIDE,
    TEXTS,
    WRITTEN,
    Entry,
    Kind,
    Place,
    RedirectEntry,
    SiteConfig,
    Target,
    place_name,
    without_nulls,
)

KINDS: tuple[Kind, ...] = ("group", "section", "space")
TARGETS = ("url", "section", "space", "gone")
TARGET_KEYS = ("url", "section", "space", "id", "page", "page_id", "gone")


class Problem(NamedTuple):
    """A mistake in a document: its place and a message."""

    place: Place
    message: str

    def __str__(self) -> str:
        name = place_name(self.place)
        return f"{name}: {self.message}" if name else self.message


def parse(plain: Mapping[str, Any]) -> tuple[SiteConfig, list[Problem]]:
    """Parse the contents of a file. Return the document, which may be incomplete, and its mistakes."""
    reader = _Reader()
    reader.known((), plain, WRITTEN)
    config = SiteConfig(
        customization=reader.json_object(("customization",), plain.get("customization")),
        structure=reader.structure(plain.get("structure")),
        redirects=reader.redirects(plain.get("redirects")),
        visitor_schema=reader.json_object(("visitor_schema",), plain.get("visitor_schema")),
        share_links=reader.share_links(plain.get("share_links")),
    )
    return config, reader.problems


@dataclass
class _Reader:
    """A converter of the values of a file, which collects mistakes."""

    problems: list[Problem] = field(default_factory=list[Problem])

    def add(self, place: Place, message: str) -> None:
        self.problems.append(Problem(place, message))

    def known(self, place: Place, table: Mapping[Any, Any], names: Iterable[str]) -> None:
        """Add a mistake for each key of a table that is not in `names`."""
        known = tuple(names)
        for key in table:
            if key not in known:
                self.add((*place, str(key)), f"is not a known key; known: {', '.join(known)}")

    def table(self, place: Place, value: Any) -> dict[str, Any] | None:
        """Return a table. For other values, add a mistake and return None."""
        if isinstance(value, dict):
            return cast("dict[str, Any]", value)
        self.add(place, "must be a table with keys and values")
        return None

    def items(self, place: Place, value: Any) -> list[Any]:
        """Return a list. If it is missing, return an empty list; if it is not a list, also add a mistake."""
        if isinstance(value, list):
            return cast("list[Any]", value)
        if value is not None:
            self.add(place, "must be a list")
        return []

    def text(self, place: Place, value: Any) -> str:
        """Return a text. If it is missing, return an empty text; if it is not a text, also add a mistake."""
        if value is None or isinstance(value, str):
            return value or ""
        self.add(place, "must be a text: put it in quotes")
        return ""

    def flag(self, place: Place, value: Any) -> bool:
        """Return a flag. If it is missing, return False; if it is not a flag, also add a mistake."""
        if value is not None and not isinstance(value, bool):
            self.add(place, "must be true or false")
        return value is True

    def json_object(self, place: Place, value: Any) -> dict[str, Any] | None:
        """Return a JSON object without null values, or None if it is missing or not an object."""
        if value is None:
            return None
        table = self.table(place, value)
        if table is None:
            return None
        self._check_json(place, table)
        return without_nulls(table)

    def _check_json(self, place: Place, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in cast("dict[Any, Any]", value).items():
                if not isinstance(key, str):
                    self.add((*place, str(key)), "the key must be a text: put it in quotes")
                elif inner is not None:
                    self._check_json((*place, key), inner)
        elif isinstance(value, list):
            for number, inner in enumerate(cast("list[Any]", value)):
                self._check_json((*place, number), inner)
        elif not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
            self.add(place, "must be a text, a number, true or false: put dates in quotes")

    def structure(self, value: Any) -> tuple[Entry, ...] | None:
        """Return the items of a structure, or None if it is missing."""
        if value is None:
            return None
        entries = self._entries(("structure",), value, KINDS)
        if len({entry.kind == "space" for entry in entries}) > 1:
            spaces = next(entry for entry in entries if entry.kind == "space")
            self.add(spaces.place, "a site has either spaces or sections at its top level: put it into a section")
        sections = [entry for entry in self._all(entries) if entry.kind == "section"]
        self._unique_paths(sections)
        self._one_default(sections, "section of the site")
        for siblings in ([entry for entry in entries if entry.kind == "space"], *(one.entries for one in sections)):
            self._unique_paths(siblings)
            self._one_default(siblings, "space here")
        spaces = dict[tuple[str, str], Place]()
        for entry in self._all(entries):
            if entry.kind == "space":
                name = (entry.space, "" if entry.space else entry.title)
                if name in spaces:
                    first = place_name(spaces[name])
                    self.add(entry.place, f"the space {entry.title or entry.space} is here twice: {first} too")
                spaces.setdefault(name, entry.place)
        return entries

    def _all(self, entries: Iterable[Entry]) -> Iterable[Entry]:
        for entry in entries:
            yield entry
            yield from self._all(entry.entries)

    def _unique_paths(self, siblings: Iterable[Entry]) -> None:
        taken: dict[str, Place] = {}
        for entry in siblings:
            path = entry.texts.get("path")
            if path in taken:
                self.add((*entry.place, "path"), f"{path} is the path of {place_name(taken[path])} too")
            elif path:
                taken[path] = entry.place

    def _one_default(self, siblings: Iterable[Entry], what: str) -> None:
        defaults = [entry for entry in siblings if "default" in entry.flags]
        for entry in defaults[1:]:
            first = place_name(defaults[0].place)
            self.add((*entry.place, "default"), f"only one {what} can be the default, and {first} is it")

    def _entries(self, place: Place, value: Any, kinds: tuple[Kind, ...]) -> tuple[Entry, ...]:
        entries = (self._entry((*place, number), inner, kinds) for number, inner in enumerate(self.items(place, value)))
        return tuple(entry for entry in entries if entry)

    def _entry(self, place: Place, value: Any, kinds: tuple[Kind, ...]) -> Entry | None:
        table = self.table(place, value)
        if table is None:
            return None
        named = [kind for kind in KINDS if kind in table] or (["space"] if "id" in table else [])
        if len(named) != 1 or named[0] not in kinds:
            self.add(place, f"must have one of the keys {', '.join(kinds)}, with a title")
            return None
        kind = named[0]
        texts = [name for name in TEXTS[kind] if name != "title"]
        inside = INSIDE.get(kind)
        own = (kind, *(["id"] if kind == "space" else []), *texts, *FLAGS[kind], *([inside] if inside else []))
        self.known(place, table, own)
        entry = Entry(
            kind,
            self.text((*place, kind), table.get(kind)),
            {name: text for name in texts if (text := self.text((*place, name), table.get(name)))},
            frozenset(name for name in FLAGS[kind] if self.flag((*place, name), table.get(name))),
            self.text((*place, "id"), table.get("id")) if kind == "space" else "",
            self._entries(
                (*place, inside), table.get(inside), ("space",) if kind == "section" else ("group", "section")
            )
            if inside
            else (),
            place=place,
        )
        if not entry.title and not entry.space:
            self.add((*place, kind), "must not be empty")
        return entry

    def redirects(self, value: Any) -> tuple[RedirectEntry, ...] | None:
        """Return the redirects without duplicate sources, or None if they are missing."""
        if value is None:
            return None
        found: dict[str, RedirectEntry] = {}
        for number, inner in enumerate(self.items(("redirects",), value)):
            place: Place = ("redirects", number)
            table = self.table(place, inner)
            if table is None:
                continue
            self.known(place, table, ("source", "to"))
            source, target = self.text((*place, "source"), table.get("source")), self._target((*place, "to"), table)
            path = plain_path(source)
            if not source:
                self.add((*place, "source"), "is missing: a path such as /old/page")
            elif path in found:
                self.add((*place, "source"), f"{source} is the source of {place_name(found[path].place)} too")
            elif target:
                found[path] = RedirectEntry(source, target, place)
        return tuple(found.values())

    def _target(self, place: Place, redirect: Mapping[str, Any]) -> Target | None:
        if "to" not in redirect:
            self.add(
                place, 'is missing, such as { url = "https://example.org/" } or { space = "Docs", page = "start" }'
            )
            return None
        table = self.table(place, redirect["to"])
        if table is None:
            return None
        self.known(place, table, TARGET_KEYS)
        texts = {name: self.text((*place, name), table.get(name)) for name in TARGET_KEYS}
        named = [name for name in TARGETS if texts[name] or (name == "space" and texts["id"])]
        if len(named) != 1:
            self.add(place, f"must have one of the keys {', '.join(TARGETS)}")
            return None
        rest = [name for name in ("id", "page", "page_id") if texts[name]]
        if named != ["space"] and rest:
            self.add((*place, rest[0]), "is only for a space")
        if texts["page"] and texts["page_id"]:
            self.add((*place, "page_id"), "give either page or page_id")
        return Target(space_id=texts.pop("id"), **texts)

    def share_links(self, value: Any) -> tuple[str, ...] | None:
        """Return the names of share links, or None if they are missing."""
        if value is None:
            return None
        names = list[str]()
        for number, inner in enumerate(self.items(("share_links",), value)):
            place: Place = ("share_links", number)
            name = self.text(place, inner)
            if isinstance(inner, str) and not name:
                self.add(place, "must not be empty: the name of a share link")
            elif "://" in name:
                self.add(place, "is an address: only names of share links belong here, addresses are secrets")
            elif name:
                names.append(name)
        return tuple(names)
