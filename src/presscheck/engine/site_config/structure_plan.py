"""Plans the calls that change the structure of a site to the structure in a file.

The service has three constraints: an item can only be placed next to another item, a new section needs a space that is
in no other section, and the first section of a site takes all its spaces. The plan therefore keeps a model of the
structure and applies each step to the model as the service would. Conditions are set before any step that could show
content to more visitors; defaults are set last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from presscheck.api.operation import Operation
from presscheck.api.site_structure import (
    AddSection,
    AddSectionGroup,
    AddSiteSpace,
    DeleteSection,
    DeleteSectionGroup,
    DeleteSiteSpace,
    SortSiteStructure,
    UpdateSection,
    UpdateSectionGroup,
    UpdateSiteSpace,
)
from presscheck.api.sites import UpdateSite
from presscheck.engine.publish.site_structure import icon_problem, path_problem
from presscheck.engine.site_config.comparison import match
from presscheck.engine.site_config.document import TEXTS, Entry, Kind, Place, every_entry
from presscheck.engine.site_config.steps import ItemId, Step
from presscheck.engine.site_config.validation import Problem
from presscheck.errors import InvalidArgument

OBJECTS: dict[Kind, str] = {"space": "site-space", "section": "site-section", "group": "site-section-group"}
UPDATES: dict[Kind, type[Operation[Any]]] = {
    "space": UpdateSiteSpace,
    "section": UpdateSection,
    "group": UpdateSectionGroup,
}
DELETIONS: dict[Kind, type[Operation[Any]]] = {
    "space": DeleteSiteSpace,
    "section": DeleteSection,
    "group": DeleteSectionGroup,
}
TOP = ""
"""The parent of the items at the top level."""


@dataclass
class _Item:
    """An item of the model after the steps planned so far; `texts` lacks values that the service will choose."""

    kind: Kind
    label: str
    space: str
    texts: dict[str, str]
    is_new: bool = False


@dataclass
class _Model:
    """The structure after the steps planned so far. Items are identified by key, new items by name."""

    items: dict[str, _Item] = field(default_factory=dict[str, _Item])
    below: dict[str, list[str]] = field(default_factory=lambda: {TOP: []})
    parents: dict[str, str] = field(default_factory=dict[str, str])
    defaults: dict[str, str] = field(default_factory=dict[str, str])
    """The known default space of each section, or of the top level (`TOP`)."""
    default_section: str = ""

    def add_entries(self, parent: str, entries: Sequence[Entry]) -> None:
        """Add the items of a site to the model."""
        for entry in entries:
            title = {"title": entry.title} if entry.kind != "space" else {}
            self.add(entry.key, parent, _Item(entry.kind, entry.label, entry.space, {**entry.texts, **title}))
            if "default" in entry.flags and entry.kind == "space":
                self.defaults[parent] = entry.key
            elif "default" in entry.flags:
                self.default_section = entry.key
            self.add_entries(entry.key, entry.entries)

    def add(self, name: str, parent: str, item: _Item) -> None:
        """Add an item as the last child of its parent."""
        self.items[name], self.parents[name] = item, parent
        self.below.setdefault(name, [])
        self.below[parent].append(name)

    def remove(self, name: str) -> None:
        """Remove an item and its children; the children of a group move one level up instead."""
        parent = self.parents[name]
        if self.items[name].kind == "group":
            at = self.below[parent].index(name)
            self.below[parent][at + 1 : at + 1] = self.below[name]
            self.parents |= dict.fromkeys(self.below[name], parent)
        else:
            for child in [*self.below[name]]:
                self.remove(child)
        self.below[parent].remove(name)
        del self.items[name], self.parents[name], self.below[name]
        self.defaults = {above: default for above, default in self.defaults.items() if default != name}
        self.default_section = "" if self.default_section == name else self.default_section

    def move(self, name: str, parent: str, after: str | None) -> None:
        """Move an item into a parent: after the child `after`, or to the beginning if `after` is None."""
        before = self.parents[name]
        self.below[before].remove(name)
        if before != parent and self.defaults.get(before) == name:
            del self.defaults[before]
        at = self.below[parent].index(after) + 1 if after else 0
        self.below[parent].insert(at, name)
        self.parents[name] = parent

    def is_within(self, name: str, ancestor: str) -> bool:
        """Return whether an item is `ancestor` or below `ancestor`."""
        while name not in (TOP, ancestor):
            name = self.parents[name]
        return name == ancestor

    def of_kind(self, kind: Kind) -> list[str]:
        return [name for name, item in self.items.items() if item.kind == kind]


@dataclass
class StructurePlanner:
    """A planner of the steps from the structure of a site to the structure in a file.

    Args:
        path: the path parameters of calls about the site.
        site: the structure of the site.
        file: the structure in the file, whose spaces have ids.
        prune: whether items and texts that the file does not have are removed.

    Attributes:
        steps: the steps, after `plan`.
        problems: the reasons why the structure cannot be reached.
        names: the key in the site, or the name in the plan, of each item of the file, by place.
    """

    path: dict[str, Any]
    site: Sequence[Entry]
    file: Sequence[Entry]
    prune: bool = False
    steps: list[Step] = field(default_factory=list[Step])
    problems: list[Problem] = field(default_factory=list[Problem])
    names: dict[Place, str] = field(default_factory=dict[Place, str])

    def __post_init__(self) -> None:
        self._model = _Model()
        self._model.add_entries(TOP, self.site)
        self.names = match(self.site, self.file)
        self._parents: dict[str, str] = {}
        self._changed = set[str]()
        """New and moved items: the service may have chosen different paths for them than the model assumes."""
        for number, entry in enumerate(every_entry(self.file)):
            self.names.setdefault(entry.place, f"new {number}")

    def plan(self) -> None:
        """Plan all steps."""
        self._check_texts()
        if self._cannot_be_done():
            return
        self._remember_parents(TOP, self.file)
        entries = list(every_entry(self.file))
        self._add_conditions(entries)
        self._add_sections([entry for entry in entries if entry.kind == "section"])
        if self.problems:
            return
        self._add_spaces(TOP, self.file)
        self._add_groups(TOP, self.file)
        self._move_to_parents(entries)
        self._sort(TOP, self.file)
        if self.prune:
            self._remove()
        self._update_texts(entries)
        self._update_paths([entry for entry in entries if entry.kind == "section"])
        self._update_paths_of_spaces(entries)
        self._set_defaults(entries)

    def name(self, entry: Entry) -> str:
        """Return the key of an item of the file, or its name in the plan."""
        return self.names[entry.place]

    def _problem(self, entry: Entry, message: str, name: str = "") -> None:
        self.problems.append(Problem((*entry.place, name) if name else entry.place, message))

    def _remember_parents(self, parent: str, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self._parents[self.name(entry)] = parent
            self._remember_parents(self.name(entry), entry.entries)

    def _cannot_be_done(self) -> bool:
        """Add a problem for each part of the structure that no steps can reach. Return True if there is a problem."""
        if self._model.of_kind("section") and any(entry.kind == "space" for entry in self.file):
            self._problem(self.file[0], "the site has sections, and the service cannot remove them all: use sections")
        for entry in every_entry(self.file):
            if entry.kind == "section" and self.name(entry) not in self._model.items and not entry.entries:
                self._problem(entry, "a new section needs a space", "spaces")
        return bool(self.problems)

    def _check_texts(self) -> None:
        """Add a problem for each new or changed text that the service would refuse."""
        for entry in every_entry(self.file):
            item = self._model.items.get(self.name(entry))
            for name in TEXTS[entry.kind]:
                text = entry.title if name == "title" else entry.texts.get(name)
                if text and (item is None or item.texts.get(name) != text):
                    reason = self._text_problem(entry.kind, name, text)
                    if reason:
                        self._problem(entry, reason, entry.kind if name == "title" else name)

    def _text_problem(self, kind: Kind, name: str, text: str) -> str | None:
        given: dict[str, Any] = {UPDATES[kind].path_fields()[-1]: "id", name: text}
        try:
            UPDATES[kind](**self.path, **given)
        except InvalidArgument as error:
            return error.reason
        if name == "path":
            return path_problem(text, {})
        return icon_problem(text) if name == "icon" else None

    def _step(self, text: str, operation: type[Operation[Any]], given: Mapping[str, Any], **more: Any) -> None:
        self.steps.append(Step("structure", text, operation, {**self.path, **given}, **more))

    # -- adding

    def _add_conditions(self, entries: Iterable[Entry]) -> None:
        """Set new conditions first, so that items are already restricted when they are moved or renamed."""
        for entry in entries:
            item, condition = self._model.items.get(self.name(entry)), entry.texts.get("condition")
            if item and condition and not item.texts.get("condition"):
                self._set_texts(entry, {"condition": condition})

    def _add_sections(self, sections: Sequence[Entry]) -> None:
        new = [entry for entry in sections if self.name(entry) not in self._model.items]
        is_first = not self._model.of_kind("section")
        firsts: dict[Place, Entry] = {}
        for number, entry in enumerate(new):
            unused = next((one for one in entry.entries if self.name(one) not in self._model.items), None)
            first = unused or entry.entries[0]
            if unused is None and not (is_first and number == 0):
                self._take_out(entry, first)
            firsts[entry.place] = first
        for entry in new:
            self._add_section(entry, firsts[entry.place])

    def _take_out(self, section: Entry, space: Entry) -> None:
        """Remove a space from the site, so that a new section can be created with it.

        The service cannot move a space into a new section. Without `prune`, add a problem instead.
        """
        if not self.prune:
            self._problem(
                section,
                f"the service cannot move a space into a new section: with --prune, {space.label} is removed from the "
                "site and added again with another id, or add a space that is not in the site",
                "spaces",
            )
            return
        self._remove_to_add(space, self.name(section), f"section {section.title}")

    def _remove_to_add(self, space: Entry, parent: str, label: str) -> None:
        name = self.name(space)
        self._delete(name, f"remove the {space.label} from where it is, to add it to the {label}")
        new_name = f"again {name}"
        self.names[space.place] = new_name
        self._parents = {(new_name if child == name else child): above for child, above in self._parents.items()}
        self._parents[new_name] = parent

    def _add_section(self, entry: Entry, first: Entry) -> None:
        name, space, icon = self.name(entry), self.name(first), entry.texts.get("icon")
        given: dict[str, Any] = {"space_id": first.space, **({"title": entry.title} if entry.title else {})}
        given |= {"icon": icon} if icon else {}
        taken = [] if self._model.of_kind("section") else [*self._model.below[TOP]]
        text = f"add the section {entry.title} with the {first.label}"
        text += ": it takes all spaces of the site" if taken else ""
        self._step(text, AddSection, given, creates=name, adds_space=(first.space, space))
        texts = {"title": entry.title, **({"icon": icon} if icon else {})}
        self._model.add(name, TOP, _Item("section", entry.label, "", texts, is_new=True))
        self._changed.add(name)
        for one in taken:
            self._model.move(one, name, self._model.below[name][-1] if self._model.below[name] else None)
        if space not in self._model.items:
            self._model.add(space, name, _Item("space", first.label, first.space, {}, is_new=True))
            self._changed.add(space)
        self._limit(entry)
        self._limit(first)

    def _add_spaces(self, parent: str, entries: Sequence[Entry]) -> None:
        for entry in entries:
            name = self.name(entry)
            if entry.kind != "space":
                self._add_spaces(name, entry.entries)
            elif name not in self._model.items:
                self._add_space(parent, entry)

    def _add_space(self, parent: str, entry: Entry) -> None:
        name = self.name(entry)
        self._step(
            f"add the {entry.label}{f' to the {self._model.items[parent].label}' if parent else ''}",
            AddSiteSpace,
            {"space_id": entry.space, **({"section_id": ItemId(parent)} if parent else {})},
            adds_space=(entry.space, name),
        )
        self._model.add(name, parent, _Item("space", entry.label, entry.space, {}, is_new=True))
        self._changed.add(name)
        self._limit(entry)

    def _limit(self, entry: Entry) -> None:
        """Set the condition of a new item immediately, because the item is visible to everybody without it."""
        condition = entry.texts.get("condition")
        if condition and self._model.items[self.name(entry)].texts.get("condition") != condition:
            self._set_texts(entry, {"condition": condition})

    def _add_groups(self, parent: str, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if entry.kind != "group":
                continue
            name, icon = self.name(entry), entry.texts.get("icon")
            if name not in self._model.items:
                sections = [self.name(one) for one in entry.entries if one.kind == "section"]
                texts = {"title": entry.title, **({"icon": icon} if icon else {})}
                inside = {"sections": tuple(map(ItemId, sections))} if sections else {}
                above = {"parent": ItemId(parent)} if parent else {}
                where = f" in the {self._model.items[parent].label}" if parent else ""
                text = f"add the group {entry.title}{where}"
                self._step(text, AddSectionGroup, {**texts, **inside, **above}, creates=name)
                self._model.add(name, parent, _Item("group", entry.label, "", texts, is_new=True))
                for section in sections:
                    self._model.move(section, name, self._model.below[name][-1] if self._model.below[name] else None)
            self._add_groups(name, entry.entries)

    # -- moving

    def _move_to_parents(self, entries: Sequence[Entry]) -> None:
        """Move items to their new parents. Each move may make other moves possible, so repeat while any is possible."""
        waiting = [
            entry for entry in entries if self._model.parents[self.name(entry)] != self._parents[self.name(entry)]
        ]
        while possible := [entry for entry in waiting if self._neighbour(entry)]:
            # prefer moves that do not empty a parent that other items still move into: they need a neighbour there
            entry = next((one for one in possible if not self._empties(one, waiting)), possible[0])
            if neighbour := self._neighbour(entry):
                self._move(entry, *neighbour)
            waiting.remove(entry)
        for entry in waiting:
            if entry.kind == "space" and self.prune:
                self._add_again(entry)
                continue
            parent = self._parents[self.name(entry)]
            where = self._model.items[parent].label if parent else "site"
            more = ": with --prune, it is removed from the site and added again" if entry.kind == "space" else ""
            self._problem(
                entry, f"cannot be moved into the {where}: the service only places an item next to another one{more}"
            )

    def _empties(self, entry: Entry, waiting: Iterable[Entry]) -> bool:
        """Return whether a move takes the last item out of a parent that other items still move into."""
        parent = self._model.parents[self.name(entry)]
        is_last = len(self._model.below[parent]) == 1
        return is_last and any(self._parents[self.name(one)] == parent for one in waiting)

    def _add_again(self, entry: Entry) -> None:
        """Remove a space and add it to an empty section, into which the service cannot move a space."""
        parent = self._parents[self.name(entry)]
        self._remove_to_add(entry, parent, self._model.items[parent].label)
        self._add_space(parent, entry)

    def _neighbour(self, entry: Entry) -> tuple[str, bool] | None:
        """Return the item in the new parent next to which `entry` is placed, and whether `entry` goes after that item.

        Returns None if the new parent is empty, or if it is `entry` itself or below `entry`.
        """
        name = self.name(entry)
        parent = self._parents[name]
        if parent and self._model.is_within(parent, name):
            return None
        beside = self._model.below.get(parent) or []
        if not beside:
            return None
        wanted = [child for child, above in self._parents.items() if above == parent]
        before = [child for child in wanted[: wanted.index(name)] if child in beside]
        return (before[-1], True) if before else (beside[0], False)

    def _move(self, entry: Entry, neighbour: str, is_after: bool) -> None:
        name = self.name(entry)
        parent = self._model.parents[neighbour]
        item, other = self._model.items[name], self._model.items[neighbour]
        is_same = self._model.parents[name] == parent
        where = f" into the {self._model.items[parent].label}" if parent and not is_same else ""
        where = where or ("" if is_same else " to the top level")
        text = f"move the {item.label}{where} {'after' if is_after else 'before'} the {other.label}"
        beside = {"type": OBJECTS[other.kind], "id": ItemId(neighbour)}
        given: dict[str, Any] = {"item": {"type": OBJECTS[item.kind], "id": ItemId(name)}}
        given["position"] = {"after" if is_after else "before": beside}
        expects = {} if item.is_new else {"in": self._model.parents[name]}
        self._step(text, SortSiteStructure, given, item=name, expects=expects)
        if not is_same:
            self._changed.add(name)
        at = self._model.below[parent].index(neighbour)
        self._model.move(name, parent, neighbour if is_after else self._model.below[parent][at - 1] if at else None)

    def _sort(self, parent: str, entries: Sequence[Entry]) -> None:
        """Sort the children of a parent as in the file with the fewest moves; items that are not in the file stay.

        The items of the longest run that is already in order stay; all others are moved after their predecessor.
        """
        by_name = {self.name(entry): entry for entry in entries}
        wanted = [name for name in by_name if self._model.parents.get(name) == parent]
        present = [name for name in self._model.below.get(parent, []) if name in wanted]
        staying = set(_longest_run([wanted.index(name) for name in present]))
        for number, name in enumerate(wanted):
            if number in staying:
                continue
            if number:
                self._move(by_name[name], wanted[number - 1], is_after=True)
            else:
                first = next(one for one in self._model.below[parent] if one in wanted and one != name)
                self._move(by_name[name], first, is_after=False)
        for entry in entries:
            self._sort(self.name(entry), entry.entries)

    # -- removing

    def _remove(self) -> None:
        """Remove items that the file lacks: spaces, sections with their contents, then groups, innermost first."""
        extra = [name for name in self._model.items if name not in self._parents]
        sections = [name for name in extra if self._model.items[name].kind == "section"]
        spaces = [name for name in extra if self._model.items[name].kind == "space"]
        groups = [name for name in extra if self._model.items[name].kind == "group"]
        for name in spaces:
            if self._model.parents[name] not in sections:
                self._delete(name, f"remove the {self._model.items[name].label} from the site")
        for name in sections:
            inside = [self._model.items[one].label for one in self._model.below[name]]
            with_spaces = f" with the {', the '.join(inside)}" if inside else ""
            self._delete(name, f"remove the {self._model.items[name].label}{with_spaces} from the site")
        for name in reversed(groups):
            self._delete(name, f"remove the {self._model.items[name].label}")

    def _delete(self, name: str, text: str) -> None:
        operation = DELETIONS[self._model.items[name].kind]
        expects = {"in": self._model.parents[name], "content": frozenset(self._model.below[name])}
        self._step(text, operation, {operation.path_fields()[-1]: ItemId(name)}, item=name, expects=expects)
        self._model.remove(name)

    # -- texts

    def _update_texts(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            item = self._model.items[self.name(entry)]
            changes: dict[str, str | None] = {}
            for name in TEXTS[entry.kind]:
                text = entry.title if name == "title" else entry.texts.get(name)
                present = item.texts.get(name)
                if name == "path" or text == present or (not text and not present):
                    continue
                if text or (self.prune and name != "title"):
                    changes[name] = text or None
            if changes:
                self._set_texts(entry, changes)

    def _set_texts(self, entry: Entry, changes: Mapping[str, str | None]) -> None:
        name = self.name(entry)
        item = self._model.items[name]
        operation = UPDATES[entry.kind]
        words = [_change_words(field_name, item.texts.get(field_name), text) for field_name, text in changes.items()]
        expects = (
            {}
            if item.is_new
            else {one: item.texts.get(one) for one in changes if not (one == "path" and name in self._changed)}
        )
        self._step(
            f"{item.label}: {', '.join(words)}",
            operation,
            {operation.path_fields()[-1]: ItemId(name), **changes},
            item=name,
            expects=expects,
            leaves=changes,
        )
        for field_name, text in changes.items():
            item.texts.pop(field_name, None)
            if text:
                item.texts[field_name] = text

    def _update_paths_of_spaces(self, entries: Iterable[Entry]) -> None:
        self._update_paths([entry for entry in self.file if entry.kind == "space"])
        for section in [entry for entry in entries if entry.kind == "section"]:
            self._update_paths(section.entries)

    def _update_paths(self, entries: Iterable[Entry]) -> None:
        """Set paths in an order in which each new path is free.

        If paths are swapped in a cycle, one item gets a temporary path first, with a number at the end.
        """
        waiting = [entry for entry in entries if (path := entry.texts.get("path")) and self._needs_path(entry, path)]
        while waiting:
            free = next((one for one in waiting if one.texts["path"] not in self._taken_paths(one)), None)
            if free:
                self._set_texts(free, {"path": free.texts["path"]})
                self._changed.discard(self.name(free))
                waiting.remove(free)
                continue
            first = waiting[0]
            blocking = next(
                (
                    one
                    for one in waiting[1:]
                    if self._model.items[self.name(one)].texts.get("path") == first.texts["path"]
                ),
                None,
            )
            if blocking is None:
                self._problem(
                    first, f"{first.texts['path']} is the path of another item that stays in the site", "path"
                )
                waiting.remove(first)
                continue
            taken, number = self._taken_paths(blocking), 2
            while f"{blocking.texts['path']}-{number}" in taken:
                number += 1
            self._set_texts(blocking, {"path": f"{blocking.texts['path']}-{number}"})

    def _needs_path(self, entry: Entry, path: str) -> bool:
        name = self.name(entry)
        return name in self._changed or self._model.items[name].texts.get("path") != path

    def _taken_paths(self, entry: Entry) -> set[str]:
        name = self.name(entry)
        beside = self._model.of_kind("section") if entry.kind == "section" else self._model.below[self._parents[name]]
        return {path for one in beside if one != name and (path := self._model.items[one].texts.get("path"))}

    # -- defaults

    def _set_defaults(self, entries: Sequence[Entry]) -> None:
        section = next((one for one in entries if one.kind == "section" and "default" in one.flags), None)
        for entry in entries:
            name = self.name(entry)
            if entry.kind != "space" or "default" not in entry.flags:
                continue
            parent = self._parents[name]
            if self._model.defaults.get(parent) == name:
                continue
            whole = self._model.items[parent].label if parent else "site"
            above = {"site_section_id": ItemId(parent)} if parent else {}
            self._make_default(entry, whole, {**above, "default_site_space": ItemId(name)})
        if section and self._model.default_section != self.name(section):
            self._make_default(section, "site", {"default_site_section": ItemId(self.name(section))})

    def _make_default(self, entry: Entry, whole: str, given: Mapping[str, ItemId]) -> None:
        operation = UpdateSection if "site_section_id" in given else UpdateSite
        text = f"make the {entry.label} the default of the {whole}"
        self._step(text, operation, given, item=self.name(entry), leaves={"default": True})


def _change_words(name: str, before: str | None, after: str | None) -> str:
    if not after:
        return f"no {name}"
    return f"{name} {before} → {after}" if before and before != after else f"{name} {after}"


def _longest_run(numbers: Sequence[int]) -> list[int]:
    """Return the longest increasing subsequence of distinct numbers. Sorting need not move these numbers."""
    best: list[list[int]] = []
    for number in numbers:
        shorter = [run for run in best if run[-1] < number]
        best.append([*(max(shorter, key=len) if shorter else ()), number])
    return max(best, key=len) if best else []
