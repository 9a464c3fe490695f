"""The changed items of a change request: one entry for each page, file or other item, in reading order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from presscheck.documents.pages.tree import flatten
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.api.content import RevisionPage
    from presscheck.api.content_changes import ChangedPage, ParentChange, SemanticChange

UNTITLED = "Untitled"
_RENAMING = frozenset(("title", "slug", "name", "label"))
_TEXT = frozenset(("document", "downloadURL"))
NOT_COMPARED = "not compared"
"""The kind of a page whose changes are unknown because the service does not return its earlier content."""
_KINDS = ("added", "deleted", "edited", "moved", "renamed", "details", NOT_COMPARED)
"""The kinds of change, most important first."""
_NOUNS = {
    "page": ("page", "pages"),
    "file": ("file", "files"),
    "content": ("reusable piece", "reusable pieces"),
    "tag": ("tag", "tags"),
    "variables": ("set of variables", "sets of variables"),
}


@dataclass(frozen=True)
class ChangedItem:
    """A page, file, reusable content, tag or set of variables that a change request changes."""

    id: str
    noun: str
    """page, file, content, tag or variables."""
    title: str
    kinds: tuple[str, ...]
    """One or more of added, deleted, edited, moved, renamed, details and not compared, most important first."""
    type: str = "document"
    """The type of a page: document, group, link or computed."""
    path: str | None = None
    text: str | None = None
    """Identifies the new text, so that a "viewed" mark lasts until the text changes."""
    details: tuple[str, ...] = ()
    """Changes other than to the text, one line each."""
    moved_from: str = ""
    """The title of the former parent; empty unless the page was moved to another parent."""

    @property
    def has_text(self) -> bool:
        """Whether the item has a text that can be compared."""
        return self.noun == "page" and self.type in ("document", "computed")


@dataclass(frozen=True)
class WordCount:
    """The number of words added and removed."""

    added: int
    removed: int

    @property
    def text(self) -> str:
        """The numbers that are not zero: `+12 −3`."""
        return " ".join(f"{sign}{number:,}" for sign, number in (("+", self.added), ("−", self.removed)) if number)

    @property
    def phrase(self) -> str:
        """The numbers with their noun: `+12 −3 words`; empty if both are zero."""
        return f"{self.text} {'word' if self.added + self.removed == 1 else 'words'}" if self.text else ""


def changed_items(changes: Iterable[SemanticChange]) -> tuple[ChangedItem, ...]:
    """Combine changes into one entry for each changed item, in the order of the items' first changes."""
    items: dict[tuple[str, str], ChangedItem] = {}
    for change in changes:
        item = _item_of(change)
        if item is None:
            continue
        earlier = items.get((item.noun, item.id))
        items[item.noun, item.id] = _combine(earlier, item) if earlier else item
    return tuple(items.values())


def in_reading_order(items: Sequence[ChangedItem], tree: Iterable[RevisionPage]) -> tuple[ChangedItem, ...]:
    """Sort items: pages in the order of the page tree, then deleted pages, then items that are not pages."""
    positions = {page.id: number for number, page in enumerate(flatten(tree))}
    last = len(positions)
    return tuple(
        sorted(
            items,
            key=lambda item: (item.noun != "page", positions.get(item.id, last) if item.noun == "page" else 0),
        )
    )


def change_sizes(item: ChangedItem, words: WordCount | None) -> tuple[str, ...]:
    """Describe the size of a change, from the longest form to the shortest: `+12 −3 · moved from Guides`."""
    first = item.kinds[0]
    if first == NOT_COMPARED:
        return ("",)
    moves = (f"moved from {item.moved_from}", "moved") if item.moved_from else ("moved",)
    if first == "moved":
        return moves
    if first in ("deleted", "renamed", "details"):
        return (first,)
    counts = words.text if words else ""
    size = f"new {counts}".rstrip() if first == "added" else counts or "edited"
    return (*(f"{size} · {move}" for move in moves), size) if "moved" in item.kinds else (size,)


def kinds_text(item: ChangedItem) -> str:
    """Join the kinds of change: `edited, moved`."""
    return ", ".join(item.kinds)


def summarize_changes(items: Iterable[ChangedItem]) -> str:
    """Summarize all changes: `3 pages added, 8 edited, 1 file added`."""
    tally = Counter((item.noun, item.kinds[0]) for item in items)
    parts: list[str] = []
    for noun, (single, several) in _NOUNS.items():
        named = ""
        for kind in _KINDS:
            number = tally[noun, kind]
            if not number:
                continue
            word = "" if named else f"{single if number == 1 else several} "
            named = named or word
            parts.append(f"{number:,} {word}{'with changed details' if kind == 'details' else kind}")
    return ", ".join(parts)


def is_viewed(item: ChangedItem, viewed: Mapping[str, str], revision: str) -> bool:
    """Return whether an item was marked as viewed in its current version."""
    return viewed.get(item.id) in (item.text or revision, revision)


def _item_of(change: SemanticChange) -> ChangedItem | None:
    if change.page:
        page = change.page
        item = ChangedItem(page.id, "page", page.title, (), type=page.type, path=page.path)
    elif change.file:
        item = ChangedItem(change.file.id, "file", change.file.name, ())
    elif change.reusable_content:
        item = ChangedItem(change.reusable_content.id, "content", change.reusable_content.title, ())
    elif change.tag:
        item = ChangedItem(change.tag.slug, "tag", change.tag.label or change.tag.slug, ())
    elif change.variables is not None:
        item = ChangedItem("variables", "variables", "Variables", ())
    else:
        return None
    return replace(
        item,
        title=sanitize(item.title).strip() or UNTITLED,
        kinds=_kinds(change),
        text=new_text(change),
        details=tuple(_details(change)),
        moved_from=_moved_from(change),
    )


def _combine(earlier: ChangedItem, later: ChangedItem) -> ChangedItem:
    kinds = {*earlier.kinds, *later.kinds}
    return replace(
        later,
        kinds=tuple(kind for kind in _KINDS if kind in kinds),
        text=later.text or earlier.text,
        details=earlier.details + later.details,
        moved_from=later.moved_from or earlier.moved_from,
    )


def _kinds(change: SemanticChange) -> tuple[str, ...]:
    verb = change.type.rpartition("_")[2]
    if verb == "listed":
        return (NOT_COMPARED,)
    if verb in ("created", "deleted", "moved"):
        return ("added" if verb == "created" else verb,)
    names = set(change.attributes or ())
    if change.variables is not None or not names:
        return ("edited",)
    kinds = {
        "edited": names & _TEXT,
        "renamed": names & _RENAMING,
        "details": names - _TEXT - _RENAMING,
    }
    return tuple(kind for kind, of_kind in kinds.items() if of_kind)


def new_text(change: SemanticChange) -> str | None:
    """Return the id of a page's new text, or None if the change leaves the text as it is.

    The service assigns a new id whenever the text changes.
    """
    after = (change.attributes or {}).get("document")
    return after.after if after and isinstance(after.after, str) else None


def _details(change: SemanticChange) -> Iterator[str]:
    if change.type == "page_moved" and change.parent:
        yield moved_text(change.parent)
    for name, values in {**(change.attributes or {}), **(change.variables or {})}.items():
        if name in _TEXT:
            continue
        label = sanitize(name)
        if _is_short(values.before) and _is_short(values.after):
            yield f"{label}: {_quoted(values.before)} → {_quoted(values.after)}"
        else:
            yield f"{label} changed"


def _moved_from(change: SemanticChange) -> str:
    parent = change.parent
    if change.type != "page_moved" or parent is None:
        return ""
    is_same = (parent.before and parent.before.id) == (parent.after and parent.after.id)
    return "" if is_same else _parent_title(parent.before)


def moved_text(parent: ParentChange) -> str:
    """Describe a move: `moved from Guides to Reference`, or `moved within Guides` if the parent is the same."""
    if (parent.before and parent.before.id) == (parent.after and parent.after.id):
        return f"moved within {_parent_title(parent.after)}"
    return f"moved from {_parent_title(parent.before)} to {_parent_title(parent.after)}"


def _parent_title(page: ChangedPage | None) -> str:
    return (sanitize(page.title).strip() or UNTITLED) if page else "the top level"


def _is_short(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _quoted(value: object) -> str:
    text = "" if value is None else str(value)
    return f"“{sanitize(text)}”" if text else "nothing"
