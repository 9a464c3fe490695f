"""Three-way merge of two revisions, page by page: `ours` is a change request, `theirs` the live content.

A page is dropped only if one side deleted it and the other did not change it. If both sides changed the same field, the
change request wins and a conflict is reported. Live pages keep their paths.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from presscheck.documents.diff.sequence_matcher import longest_increasing_subsequence
from presscheck.documents.merge.conflict_blocks import OUR_NAME, THEIR_NAME
from presscheck.documents.merge.text import MergedText, merge_text
from presscheck.documents.pages.file_urls import unsigned_file
from presscheck.documents.pages.tree import Page, PageAndParent, Tree, children, flatten, with_parents, with_slugs
from presscheck.text.phrases import count

Fields = Mapping[str, Any]

BOOKKEEPING = frozenset(("createdAt", "updatedAt", "git", "urls", "path", "pages"))
"""Derived fields, whose differences are not edits."""
_NESTED = frozenset(("layout", "variables"))
"""Fields whose values are merged field by field; all other values are merged as a whole."""
_NOTHING: Any = object()
__all__ = ["Conflict", "MergedText", "MergedTree", "documents_to_merge", "merge_pages", "merge_text"]
_KEPT = {
    True: "Deleted in the change request and edited live: kept.",
    False: "Deleted live and edited in the change request: kept.",
}
"""Reasons why a deleted object was kept, by whether the change request deleted it."""
_BYTES = ("content", "downloadURL", "contentType", "size", "dimensions")
"""Fields that depend on the bytes of a file and are merged together."""
_CALLED = {"emoji": "emoji", "slug": "address", "noIndex": "visibility", "hidden": "visibility"}
_NONE: dict[str, Any] = {}
_MISSING = PageAndParent(_NONE, None)


class MergedFields(NamedTuple):
    """Merged fields, and the names of fields in conflict."""

    fields: dict[str, Any]
    conflicts: list[str]


def merge_fields(
    base: Fields, ours: Fields, theirs: Fields, *, units: Iterable[tuple[str, ...]] = (), omitted: Iterable[str] = ()
) -> MergedFields:
    """Merge two objects.

    Args:
        base: the common ancestor; empty if both objects are new.
        ours: the side that wins a conflict.
        theirs: the other side.
        units: groups of names whose values must come from the same side.
        omitted: names to leave out.
    """
    fields: dict[str, Any] = {}
    conflicts: list[str] = []
    together = {name: unit for unit in units for name in unit}
    for name in {**ours, **theirs, **base}:
        if name in omitted:
            continue
        if name not in together and ours.get(name, _NOTHING) == theirs.get(name, _NOTHING):
            if name in ours:
                fields[name] = ours[name]
            continue
        our_value, their_value, was = (
            {key: side[key] for key in together.get(name, (name,)) if key in side} for side in (ours, theirs, base)
        )
        merged_value = their_value if their_value not in (our_value, was) and our_value == was else our_value
        if name in _NESTED and all(isinstance(side.get(name, {}), dict) for side in (our_value, their_value, was)):
            inner = merge_fields(*(cast("Fields", side.get(name, {})) for side in (was, our_value, their_value)))
            merged_value = {name: inner.fields} if inner.fields or name in merged_value else {}
            conflicts += [f"{name} {within}" for within in inner.conflicts]
        elif our_value != their_value and was not in (our_value, their_value):
            if name == "updatedAt":
                merged_value = max(our_value, their_value, key=lambda side: str(side.get(name, "")))
            elif name not in BOOKKEEPING:
                conflicts.append(name)
        fields |= {name: merged_value[name]} if name in merged_value else {}
    return MergedFields(fields, conflicts)


def is_edited(before: Fields, after: Fields) -> bool:
    """Return whether any field differs, apart from derived fields."""
    names = ({*before} | {*after}) - BOOKKEEPING
    return any(before.get(name, _NOTHING) != after.get(name, _NOTHING) for name in names)


def merge_order(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], members: Iterable[str]) -> list[str]:
    """Merge two orders of the members. An item that only one side moved or added keeps its place on that side.

    Its place is after the nearest preceding item that neither side moved. If both sides placed items there, ours come
    first.
    """
    member_set = dict.fromkeys(members)
    first, our_order, their_order = ([item for item in side if item in member_set] for side in (base, ours, theirs))
    if first == our_order == their_order:
        return [*dict.fromkeys((*first, *member_set))]
    of_ours = _moved(first, our_order)
    of_theirs = _moved(first, their_order) - of_ours
    unmoved = [item for item in first if item not in of_ours and item not in of_theirs]
    anchors = {*unmoved}
    runs = [_runs(our_order, anchors, of_ours), _runs(their_order, anchors, of_theirs)]
    order: list[str] = []
    for anchor in (None, *unmoved):
        order += [] if anchor is None else [anchor]
        for run in runs:
            order += run.get(anchor, ())
    return [*dict.fromkeys((*order, *member_set))]


def _moved(base: Sequence[str], side: Sequence[str]) -> set[str]:
    """Return the items that a side added, and the smallest set of moved items that explains the order of the side."""
    at = {item: number for number, item in enumerate(base)}
    stayed = [item for item in side if item in at]
    in_order = {stayed[number] for number in longest_increasing_subsequence([at[item] for item in stayed])}
    return {*side} - in_order


def _runs(side: Sequence[str], anchors: Container[str], own: Container[str]) -> dict[str | None, list[str]]:
    """Return the items that a side placed, by the unmoved item that they follow; None for the start."""
    runs: dict[str | None, list[str]] = {}
    anchor: str | None = None
    for item in side:
        if item in anchors:
            anchor = item
        elif item in own:
            runs.setdefault(anchor, []).append(item)
    return runs


@dataclass(frozen=True)
class Conflict:
    """A conflict: both sides changed the same field or object, and only one of the changes is kept.

    `kind` is text, details, moved or deleted for a page; for other objects it is file, reusable_content or variables.
    `page_id` is then the id of the object, or the name of the variable.
    """

    page_id: str
    title: str
    kind: str
    reason: str


class MergedTree(NamedTuple):
    """The content of the merged revision, as API objects; pages have no paths."""

    pages: Tree
    files: list[Page]
    reusable_contents: list[Page]
    variables: dict[str, Any] | None
    conflicts: list[Conflict]


@dataclass(frozen=True)
class _Documents:
    """Merges texts that are identified by document ids."""

    read: Callable[[str], str]
    write: Callable[[str], str]
    names: tuple[str, str]

    def merge(self, base: str | None, ours: str | None, theirs: str | None) -> tuple[str | None, int]:
        """Return the id of the merged document (None if it is empty), and the number of its conflicts."""
        if not _differ(base, ours, theirs):
            return theirs if ours == base else ours, 0
        our_name, their_name = self.names
        texts = (self._text(document) for document in (base, ours, theirs))
        text, conflicts = merge_text(*texts, our_name=our_name, their_name=their_name)
        return self.write(text) if text else None, conflicts

    def _text(self, document: str | None) -> str:
        return self.read(document) if document else ""


def merge_pages(
    base: Mapping[str, Any],
    ours: Mapping[str, Any],
    theirs: Mapping[str, Any],
    read: Callable[[str], str],
    write: Callable[[str], str],
    names: tuple[str, str] = (OUR_NAME, THEIR_NAME),
) -> MergedTree:
    """Merge two revisions.

    Args:
        base: the common ancestor: `pages`, and optionally `files`, `reusableContents` and `variables`.
        ours: the change request, in the same form.
        theirs: the live content, in the same form.
        read: returns the text of a document by its id.
        write: stores a text and returns the id of its document.
        names: the names of both sides in conflict markers.
    """
    documents = _Documents(read, write, names)
    pages = _Pages(_objects_of("pages", base, ours, theirs), documents)
    tree, conflicts = pages.tree(), pages.conflicts
    sides = [[unsigned_file(file) for file in side] for side in _objects_of("files", base, ours, theirs)]
    files = _Records("file", sides, documents, conflicts).merged()
    reusable = _objects_of("reusableContents", base, ours, theirs)
    contents = _Records("reusable_content", reusable, documents, conflicts).merged()
    variables, conflicting = merge_fields(*(side.get("variables") or _NONE for side in (base, ours, theirs)))
    conflicts += [Conflict(name, name, "variables", "Both sides changed its value.") for name in conflicting]
    return MergedTree(tree, files, contents, variables or None, conflicts)


def documents_to_merge(base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ids of the documents that `merge_pages` will read, page by page.

    These are all versions of the texts that both sides changed.
    """
    for name, field in (("pages", "documentId"), ("reusableContents", "document")):
        sides = [
            {page["id"]: page.get(field) for page in flatten(side)} for side in _objects_of(name, base, ours, theirs)
        ]
        for key in sides[1]:
            three = [side.get(key) for side in sides]
            if key in sides[2] and _differ(*three):
                yield from filter(None, three)


def _differ(base: str | None, ours: str | None, theirs: str | None) -> bool:
    """Return whether both sides changed a document, in different ways."""
    return theirs not in (base, ours) and ours != base


class _Pages:
    """Merges two page trees: first each page, then the positions in the tree."""

    def __init__(self, trees: Sequence[Tree], documents: _Documents) -> None:
        self.conflicts: list[Conflict] = []
        self._documents = documents
        self._trees = trees
        self._places = [{place.page["id"]: place for place in with_parents(tree)} for tree in trees]
        self._merged: dict[str, Page] = {}
        self._sides: dict[str, dict[str, PageAndParent]] = {}

    def tree(self) -> Tree:
        """Return the merged tree."""
        base, ours, theirs = self._places
        for page_id in {**ours, **theirs}:
            sides = base.get(page_id), ours.get(page_id), theirs.get(page_id)
            if self._stays(page_id, *sides):
                self._merged[page_id] = self._page(page_id, *sides)
        self._sides = {page_id: self._deciding_side(page_id) for page_id in self._merged}
        while self._resolve_cycle():
            pass
        below: dict[str | None, list[str]] = {}
        for page_id in self._merged:
            above = self._above(page_id)
            below.setdefault(above, []).append(page_id)
            self._report_moved_up(page_id, above)
        settled = [
            page_id
            for page_id, page in self._merged.items()
            if page_id in theirs and page.get("slug") == theirs[page_id].page.get("slug")
        ]
        return with_slugs(self._level(None, below), settled)

    def _note(self, page_id: str, kind: str, reason: str) -> None:
        place = self._places[1].get(page_id) or self._places[2][page_id]
        self.conflicts.append(Conflict(page_id, place.page.get("title", ""), kind, reason))

    def _stays(
        self, page_id: str, was: PageAndParent | None, ours: PageAndParent | None, theirs: PageAndParent | None
    ) -> bool:
        remaining = ours or theirs
        if was is None or remaining is None or (ours and theirs):
            return True
        if not is_edited(was.page, remaining.page) and _id(was.above) == _id(remaining.above):
            return False
        self._note(page_id, "deleted", _KEPT[ours is None])
        return True

    def _page(
        self, page_id: str, was: PageAndParent | None, ours: PageAndParent | None, theirs: PageAndParent | None
    ) -> Page:
        """Return the merged page; a page that exists on one side only is taken from that side."""
        if ours is None or theirs is None:
            return _without_path((ours or theirs or _MISSING).page)
        base, our_page, their_page = was.page if was else _NONE, ours.page, theirs.page
        documents = base.get("documentId"), our_page.get("documentId"), their_page.get("documentId")
        if our_page == their_page | {"documentId": documents[1]}:
            page = _without_path(our_page)  # most changed pages differ in their text only
            page.pop("documentId", None)
        else:
            page, conflicting = merge_fields(base, our_page, their_page, omitted=("path", "documentId"))
            if conflicting:
                self._note(
                    page_id, "details", f"Both sides changed its {_listed(conflicting)}: the change request wins."
                )
        document, text_conflicts = self._documents.merge(*documents)
        if text_conflicts:
            self._note(page_id, "text", f"{_conflict_count(text_conflicts)}: both versions are in the page.")
        if document:
            page["documentId"] = document
        return page

    def _deciding_side(self, page_id: str) -> dict[str, PageAndParent]:
        """Return the side that decides the position of a page, as its pages by id.

        If both sides moved the page to different parents, the change request decides, and a conflict is noted.
        """
        base, ours, theirs = self._places
        if page_id not in ours or page_id not in theirs:
            return ours if page_id in ours else theirs
        our_parent, their_parent = _id(ours[page_id].above), _id(theirs[page_id].above)
        if our_parent != their_parent:
            was = base.get(page_id)
            if was and _id(was.above) == our_parent:
                return theirs
            if not was or _id(was.above) != their_parent:
                self._note(page_id, "moved", "Both sides moved it: the change request's position wins.")
        return ours

    def _above(self, page_id: str) -> str | None:
        """Return the id of the nearest ancestor that still exists and can have subpages; None for the root."""
        side = self._sides[page_id]
        above = side[page_id].above
        while above is not None and (above["id"] not in self._merged or self._merged[above["id"]]["type"] == "link"):
            above = side[above["id"]].above
        return _id(above)

    def _resolve_cycle(self) -> bool:
        """Resolve a cycle of pages that were moved below each other. Return False if there is no cycle."""
        _, ours, theirs = self._places
        for page_id, side in self._sides.items():
            if side is theirs and page_id in ours and self._is_below_itself(page_id):
                self._sides[page_id] = ours
                reason = "Each side moved one page below the other: the change request's position wins."
                self._note(page_id, "moved", reason)
                return True
        return False

    def _is_below_itself(self, page_id: str) -> bool:
        seen: set[str | None] = {None}
        above = self._above(page_id)
        while above is not None and above not in seen:
            if above == page_id:
                return True
            seen.add(above)
            above = self._above(above)
        return False

    def _report_moved_up(self, page_id: str, above: str | None) -> None:
        parent = self._sides[page_id][page_id].above
        if parent and parent["id"] != above:
            what = "is a link now" if parent["id"] in self._merged else "was deleted"
            self._note(page_id, "moved", f"Its parent page {what} ({parent.get('title', '')}): it moved up.")

    def _level(self, above: str | None, below: Mapping[str | None, list[str]]) -> Tree:
        if above not in below:
            return []
        base, ours, theirs = (self._ids_below(above, side) for side in range(3))
        order = merge_order(base, ours, theirs, below[above])
        return [self._with_pages(page_id, self._level(page_id, below)) for page_id in order]

    def _ids_below(self, above: str | None, side: int) -> list[str]:
        place = self._places[side].get(above) if above else None
        if above and place is None:
            return []
        return [page["id"] for page in children(place.page if place else None, self._trees[side])]

    def _with_pages(self, page_id: str, pages: Tree) -> Page:
        page = self._merged[page_id]
        return page | {"pages": pages} if pages or page.get("pages", []) != [] else page


class _Records:
    """Merges two lists of objects with ids: files or reusable content."""

    def __init__(
        self, kind: str, sides: Sequence[Sequence[Page]], documents: _Documents, conflicts: list[Conflict]
    ) -> None:
        self._kind = kind
        self._sides = [{item["id"]: item for item in side} for side in sides]
        self._documents, self._conflicts = documents, conflicts

    def merged(self) -> list[Page]:
        """Return the merged objects."""
        objects = {item["id"]: item for item in self._merge_all()}
        base, ours, theirs = ([*side] for side in self._sides)
        return [objects[key] for key in merge_order(base, ours, theirs, objects)]

    def _note(self, page: Page, reason: str) -> None:
        self._conflicts.append(Conflict(page["id"], page.get("title") or page.get("name", ""), self._kind, reason))

    def _merge_all(self) -> Iterator[Page]:
        base, ours, theirs = self._sides
        for key in {**ours, **theirs}:
            was, our_item, their_item = base.get(key), ours.get(key), theirs.get(key)
            remaining = our_item or their_item
            if our_item and their_item:
                yield self._merge_object(was or {}, our_item, their_item)
            elif remaining and (was is None or is_edited(was, remaining)):
                if was:
                    self._note(remaining, _KEPT[our_item is None])
                yield remaining

    def _merge_object(self, was: Page, ours: Page, theirs: Page) -> Page:
        merged, conflicting = merge_fields(was, ours, theirs, units=(_BYTES,), omitted=("document",))
        document, text_conflicts = self._documents.merge(
            was.get("document"), ours.get("document"), theirs.get("document")
        )
        if conflicting or text_conflicts:
            self._note(ours, f"Both sides changed its {_listed(conflicting or ['text'])}.")
        return merged | ({"document": document} if document else {})


def _without_path(page: Page) -> Page:
    copy = {**page}
    copy.pop("path", None)
    return copy


def _objects_of(name: str, *sides: Mapping[str, Any]) -> list[list[Page]]:
    return [side.get(name) or [] for side in sides]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(_CALLED.get(name, name) for name in names))


def _conflict_count(number: int) -> str:
    return count(number, "conflict")


def _id(page: Page | None) -> str | None:
    return page["id"] if page else None
