"""Comparison of two configurations field by field, or of three to find other people's changes.

A configuration is flattened into named fields of structure items and redirects, and paths in a customization. Items of
a file are matched with items of the site first, so that a renamed section is a changed title, not a new section.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

from presscheck.engine.publish.site_structure import plain_path
from presscheck.engine.site_config.document import (
    FLAGS,
    TEXTS,
    Entry,
    Kind,
    Part,
    Place,
    SiteConfig,
    every_entry,
)

Change = Literal["added", "changed", "removed"]
Matching = Mapping[Place, str]
"""The key of an item in the site, by the place of the matching item in the file."""
ORDER, DEFAULT, DEFAULT_SECTION = "order", "default", "default section"
NEVER_REMOVED = frozenset((DEFAULT, DEFAULT_SECTION, "path"))
"""Structure fields that always have a value: a file without them leaves them unchanged."""
READ_ONLY = frozenset(("draft", "hidden"))
"""Fields that no call of the API can set."""


class Field(NamedTuple):
    """The name of a value: a part, an item of the part (empty for the part itself), and a field of the item."""

    part: Part
    item: str
    name: str

    def __str__(self) -> str:
        return ": ".join(word for word in (" ".join(one for one in (self.part, self.item) if one), self.name) if word)


@dataclass(frozen=True)
class Difference:
    """A field, or a whole item, that differs between a site and a file.

    Attributes:
        field: the field; its name is empty for a whole item.
        change: the effect of a push on the site.
        site: the value in the site; None if the site does not have the field.
        file: the value in the file.
        needs_prune: whether only a push with `prune` makes the change.
    """

    field: Field
    change: Change
    site: Any
    file: Any
    needs_prune: bool = False


class Drift(NamedTuple):
    """A field that somebody else changed, with its value before, its current value and its value in the pushed file."""

    field: Field
    before: Any
    now: Any
    file: Any


def match(site: Sequence[Entry], file: Sequence[Entry]) -> dict[Place, str]:
    """Match the items of a file with items of a site.

    Spaces match by id. Sections and groups match by likeness of title, path and content, the most similar pairs first:
    a section with a new title or a new path is still the same section.

    Returns:
        The key in the site for the place of each matched item of the file.
    """
    ours, theirs = list(every_entry(site)), list(every_entry(file))
    matched: dict[Place, str] = {}
    for entry in theirs:
        if entry.kind == "space":
            taken = set(matched.values())
            same = [item.key for item in ours if item.kind == "space" and item.space == entry.space]
            if same and same[0] not in taken:
                matched[entry.place] = same[0]
    for kind in ("section", "group"):
        pairs = [
            (score, -ours_at, -theirs_at)
            for theirs_at, entry in enumerate(theirs)
            for ours_at, item in enumerate(ours)
            if entry.kind == item.kind == kind and (score := _likeness(item, entry, matched)) > 0
        ]
        # the most similar pairs first; of equally similar pairs, the first in the order of the site and the file
        for _, ours_at, theirs_at in sorted(pairs, reverse=True):
            key, place = ours[-ours_at].key, theirs[-theirs_at].place
            if place not in matched and key not in matched.values():
                matched[place] = key
    return matched


def _likeness(site: Entry, file: Entry, matched: Matching) -> int:
    """Rate how similar a section or group of a file is to an item of the site; 0 if they share nothing."""
    inside = {entry.key for entry in every_entry(site.entries)}
    shared = sum(matched.get(entry.place) in inside for entry in every_entry(file.entries))
    path = file.texts.get("path")
    return 30 * (site.title == file.title) + 30 * (bool(path) and site.texts.get("path") == path) + min(shared, 20)


def names_of(entries: Sequence[Entry], known: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a unique name for each item of a site, by key: its label, with a suffix where needed.

    Args:
        entries: the items.
        known: names that some items already have, by key.
    """
    names, taken = dict[str, str](), set[str]()
    for entry in every_entry(entries):
        name = (known or {}).get(entry.key) or unique_name(entry, taken)
        names[entry.key] = name
        taken.add(name)
    return names


def unique_name(entry: Entry, taken: Iterable[str]) -> str:
    """Return a name for an item: its label, with a suffix if another item has this name already."""
    names, more = set(taken), entry.space or entry.texts.get("path", "")
    name = entry.label if entry.label not in names or not more else f"{entry.label} ({more})"
    number = 2
    while name in names:
        name, number = f"{entry.label} ({number})", number + 1
    return name


def fields_of(config: SiteConfig, name_of: Callable[[Entry], str]) -> dict[Field, Any]:
    """Flatten a configuration into fields.

    Args:
        config: the configuration.
        name_of: returns the name of an item of the structure.
    """
    fields: dict[Field, Any] = {}
    for part in ("customization", "visitor_schema"):
        value = getattr(config, part)
        if value is not None:
            fields |= {Field(part, "", name): inner for name, inner in _leaves("", value)}
    if config.structure is not None:
        _add_structure(fields, "", config.structure, name_of)
        sections = [one for one in every_entry(config.structure) if one.kind == "section"]
        _add_default(fields, "", DEFAULT_SECTION, sections, name_of)
    for redirect in config.redirects or ():
        fields[Field("redirects", plain_path(redirect.source) or "/", "to")] = str(redirect.target)
    numbers = dict[str, int]()
    for link in config.share_links or ():
        numbers[link] = numbers.get(link, 0) + 1
        name = link if numbers[link] == 1 else f"{link} ({numbers[link]})"
        fields[Field("share_links", name, "name")] = link
    return fields


def _add_structure(
    fields: dict[Field, Any], parent: str, entries: Sequence[Entry], name_of: Callable[[Entry], str]
) -> None:
    names = [name_of(entry) for entry in entries]
    fields[Field("structure", parent, ORDER)] = names
    _add_default(fields, parent, DEFAULT, [entry for entry in entries if entry.kind == "space"], name_of)
    for entry, name in zip(entries, names, strict=True):
        texts = dict(entry.texts)
        if entry.kind != "space":
            texts["title"] = entry.title
        fields |= {Field("structure", name, text): texts[text] for text in TEXTS[entry.kind] if texts.get(text)}
        fields |= {Field("structure", name, flag): flag in entry.flags for flag in _plain_flags(entry.kind)}
        fields[Field("structure", name, "in")] = parent
        if entry.kind != "space":
            _add_structure(fields, name, entry.entries, name_of)


def _add_default(
    fields: dict[Field, Any], parent: str, name: str, entries: Sequence[Entry], name_of: Callable[[Entry], str]
) -> None:
    default = next((entry for entry in entries if "default" in entry.flags), None)
    if default:
        fields[Field("structure", parent, name)] = name_of(default)


def _plain_flags(kind: Kind) -> list[str]:
    return [flag for flag in FLAGS[kind] if flag in READ_ONLY]


def _leaves(name: str, value: Any) -> Iterable[tuple[str, Any]]:
    """Yield the leaves of a JSON value with their paths; an empty object or list is a leaf."""
    if isinstance(value, dict) and value:
        for key, inner in cast("dict[str, Any]", value).items():
            yield from _leaves(f"{name}.{key}" if name else key, inner)
    elif isinstance(value, list) and value:
        for number, inner in enumerate(cast("list[Any]", value)):
            yield from _leaves(f"{name}[{number}]", inner)
    elif name:
        yield name, value


def file_fields(site: SiteConfig, file: SiteConfig) -> dict[Field, Any]:
    """Flatten the configuration in a file; its items have the names of the matching items of the site."""
    matched = match(site.structure or (), file.structure or ())
    names, own = names_of(site.structure or ()), dict[Place, str]()
    for entry in every_entry(file.structure or ()):
        taken = {*names.values(), *own.values()}
        own[entry.place] = names[matched[entry.place]] if entry.place in matched else unique_name(entry, taken)
    return fields_of(file, lambda entry: own[entry.place])


def compare(site: SiteConfig, file: SiteConfig) -> list[Difference]:
    """Return the differences between a site and a file, in the parts that the file has."""
    names = names_of(site.structure or ())
    theirs = fields_of(site, lambda entry: names[entry.key])
    ours = file_fields(site, file)
    found = list[Difference]()
    for part in file.parts:
        found += _compare_part(_only(part, theirs), _only(part, ours))
    return found


def _only(part: Part, fields: Mapping[Field, Any]) -> dict[Field, Any]:
    return {field: value for field, value in fields.items() if field.part == part}


def _compare_part(site: Mapping[Field, Any], file: Mapping[Field, Any]) -> list[Difference]:
    site_items, file_items = {field.item for field in site}, {field.item for field in file}
    both, named = {"", *(site_items & file_items)}, set[str]()
    found = list[Difference]()
    for field in [*file, *(field for field in site if field not in file)]:
        if field.item not in both:
            if field.item not in named:
                named.add(field.item)
                found.append(_whole(field, site, file))
            continue
        difference = _compare_field(field, site, file)
        if difference:
            found.append(difference)
    return found


def _whole(field: Field, site: Mapping[Field, Any], file: Mapping[Field, Any]) -> Difference:
    """Return the difference for an item that only one side has, with its target or path as the value."""
    fields = file if field in file else site
    named = next((fields[one] for name in ("to", "path") if (one := field._replace(name=name)) in fields), None)
    whole = field._replace(name="")
    if fields is file:
        return Difference(whole, "added", None, named)
    return Difference(whole, "removed", named, None, needs_prune=True)


def _compare_field(field: Field, site: Mapping[Field, Any], file: Mapping[Field, Any]) -> Difference | None:
    ours, theirs = file.get(field), site.get(field)
    if field.part == "structure":
        if field.name == ORDER:
            return _compare_order(field, site, file)
        if ours is None and field.name in NEVER_REMOVED:
            return None
    if same_value(theirs, ours) or _is_filled(field, theirs, file) or _is_filled(field, ours, site):
        return None
    if field not in site:
        return Difference(field, "added", None, ours)
    if field in file:
        return Difference(field, "changed", theirs, ours)
    return Difference(field, "removed", theirs, None, needs_prune=not _is_in_list(field, file))


def _is_filled(field: Field, value: Any, other: Mapping[Field, Any]) -> bool:
    """Return whether a value is an empty object or list that has content on the other side.

    The leaves of that content are compared on their own.
    """
    if value not in ({}, []):
        return False
    inside = (f"{field.name}.", f"{field.name}[")
    return any(one.item == field.item and one.name.startswith(inside) for one in other)


def _compare_order(field: Field, site: Mapping[Field, Any], file: Mapping[Field, Any]) -> Difference | None:
    """Return the difference in the order of the items that both sides have below the same parent, or None."""
    theirs, ours = site.get(field) or (), file.get(field) or ()
    before, after = [name for name in theirs if name in ours], [name for name in ours if name in theirs]
    return Difference(field, "changed", before, after) if before != after else None


def _is_in_list(field: Field, file: Mapping[Field, Any]) -> bool:
    """Return whether a field that the file lacks is inside a list of the file. Lists are replaced as a whole."""
    name, bracket, _ = field.name.partition("[")
    return bool(bracket) and any(
        one.item == field.item and (one.name == name or one.name.startswith(f"{name}[")) for one in file
    )


def same_value(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal; unlike in Python, true and 1 differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        ours, theirs = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return ours.keys() == theirs.keys() and all(same_value(value, theirs[name]) for name, value in ours.items())
    if isinstance(one, list) and isinstance(other, list):
        first, second = cast("list[Any]", one), cast("list[Any]", other)
        return len(first) == len(second) and all(map(same_value, first, second))
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def drifts(part: Part, before: SiteConfig, now: SiteConfig, file: SiteConfig) -> list[Drift]:
    """Return the fields of a part that somebody else changed.

    Args:
        part: the part.
        before: the configuration of the site when the plan was made.
        now: the current configuration of the site.
        file: the configuration to be sent, for display.
    """
    names = names_of(before.structure or ())
    present = names_of(now.structure or (), names)
    fields = [
        fields_of(before, lambda entry: names[entry.key]),
        fields_of(now, lambda entry: present[entry.key]),
        file_fields(before, file),
    ]
    first, second, third = [_only(part, one) for one in fields]
    differing = [field for field in {**first, **second} if not same_value(first.get(field), second.get(field))]
    return [Drift(field, first.get(field), second.get(field), third.get(field)) for field in differing]
