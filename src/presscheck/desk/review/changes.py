"""What a change request changes, thing by thing: all that happened to a page is one entry, in the order of reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from presscheck.documents.display_text import display_text

if TYPE_CHECKING:
    from presscheck.api.changes import ParentChange, SemanticChange
    from presscheck.api.content import RevisionPage

UNTITLED = "Untitled"
_RENAMING = frozenset(("title", "slug", "name", "label"))
_TEXT = frozenset(("document", "downloadURL"))
_KINDS = ("added", "deleted", "edited", "moved", "renamed", "details")
"""What may have happened to a thing, the weightiest first."""
_NOUNS = {
    "page": ("page", "pages"),
    "file": ("file", "files"),
    "content": ("reusable piece", "reusable pieces"),
    "tag": ("tag", "tags"),
    "variables": ("set of variables", "sets of variables"),
}


@dataclass(frozen=True)
class Changed:
    """One thing that a change request changes."""

    id: str
    noun: str
    """page, file, content, tag or variables."""
    title: str
    kinds: tuple[str, ...]
    """Some of added, deleted, edited, moved, renamed, details; the weightiest first."""
    type: str = "document"
    """Of a page: document, group, link, computed."""
    path: str | None = None
    text: str | None = None
    """What names its new text, so that a mark of having viewed it lasts as long as the text does."""
    details: tuple[str, ...] = ()
    """What happened beside the text, one sentence each."""

    @property
    def has_text(self) -> bool:
        """Whether there is a text to compare, before or after."""
        return self.noun == "page" and self.type in ("document", "computed")


@dataclass(frozen=True)
class Words:
    """How many words were added and removed."""

    added: int
    removed: int


def changed_things(changes: Iterable[SemanticChange]) -> tuple[Changed, ...]:
    """The things that change, each once, in the order in which the service first names them."""
    found: dict[tuple[str, str], Changed] = {}
    for change in changes:
        one = _changed(change)
        if one is None:
            continue
        before = found.get((one.noun, one.id))
        found[one.noun, one.id] = _joined(before, one) if before else one
    return tuple(found.values())


def in_reading_order(things: Sequence[Changed], tree: Iterable[RevisionPage]) -> tuple[Changed, ...]:
    """Pages as the tree of the change request has them, then those that are gone, then what is not a page."""
    place = {page.id: number for number, page in enumerate(_walk(tree))}
    end = len(place)
    return tuple(
        sorted(things, key=lambda one: (one.noun != "page", place.get(one.id, end) if one.noun == "page" else 0))
    )


def weight(thing: Changed, words: Words | None) -> str:
    """What happened, in a column's width: `new +88`, `±12`, `−10`, `moved`."""
    first = thing.kinds[0]
    if first == "added":
        return f"new +{words.added:,}" if words else "new"
    if first in ("deleted", "moved", "renamed", "details"):
        return first
    if words is None:
        return "edited"
    if words.added and words.removed:
        return f"±{words.added + words.removed:,}"
    return f"+{words.added:,}" if words.added else f"−{words.removed:,}" if words.removed else "edited"


def described(thing: Changed) -> str:
    """What happened, in words: `edited, moved`."""
    return ", ".join(thing.kinds)


def counted(things: Iterable[Changed]) -> str:
    """How much happened, in words: `3 pages added, 8 edited, 1 file added`."""
    tally = Counter((one.noun, one.kinds[0]) for one in things)
    parts: list[str] = []
    for noun, (single, several) in _NOUNS.items():
        named = ""
        for kind in _KINDS:
            number = tally[noun, kind]
            if not number:
                continue
            word = "" if named else f"{single if number == 1 else several} "
            named = named or word
            parts.append(f"{number:,} {word}{'changed in details' if kind == 'details' else kind}")
    return ", ".join(parts)


def is_viewed(thing: Changed, viewed: Mapping[str, str], revision: str) -> bool:
    """Whether the mark on a thing is of what it is now."""
    return viewed.get(thing.id) in (thing.text or revision, revision)


def _walk(pages: Iterable[RevisionPage]) -> Iterator[RevisionPage]:
    waiting = list(pages)[::-1]
    while waiting:
        page = waiting.pop()
        yield page
        waiting.extend(page.pages[::-1])


def _changed(change: SemanticChange) -> Changed | None:
    if change.page:
        page = change.page
        one = Changed(page.id, "page", page.title, (), type=page.type, path=page.path)
    elif change.file:
        one = Changed(change.file.id, "file", change.file.name, ())
    elif change.reusable_content:
        one = Changed(change.reusable_content.id, "content", change.reusable_content.title, ())
    elif change.tag:
        one = Changed(change.tag.slug, "tag", change.tag.label or change.tag.slug, ())
    elif change.variables is not None:
        one = Changed("variables", "variables", "Variables", ())
    else:
        return None
    return replace(
        one,
        title=display_text(one.title).strip() or UNTITLED,
        kinds=_kinds(change),
        text=_new_text(change),
        details=tuple(_details(change)),
    )


def _joined(one: Changed, other: Changed) -> Changed:
    kinds = {*one.kinds, *other.kinds}
    return replace(
        other,
        kinds=tuple(kind for kind in _KINDS if kind in kinds),
        text=other.text or one.text,
        details=one.details + other.details,
    )


def _kinds(change: SemanticChange) -> tuple[str, ...]:
    happened = change.type.rpartition("_")[2]
    if happened in ("created", "deleted", "moved"):
        return ("added" if happened == "created" else happened,)
    names = set(change.attributes or ())
    if change.variables is not None or not names:
        return ("edited",)
    kinds = {
        "edited": names & _TEXT,
        "renamed": names & _RENAMING,
        "details": names - _TEXT - _RENAMING,
    }
    return tuple(kind for kind, of_kind in kinds.items() if of_kind)


def _new_text(change: SemanticChange) -> str | None:
    after = (change.attributes or {}).get("document")
    return after.after if after and isinstance(after.after, str) else None


def _details(change: SemanticChange) -> Iterator[str]:
    if change.type == "page_moved" and change.parent:
        yield _moved(change.parent)
    for name, values in {**(change.attributes or {}), **(change.variables or {})}.items():
        if name in _TEXT:
            continue
        shown = display_text(name)
        if _sayable(values.before) and _sayable(values.after):
            yield f"{shown}: {_said(values.before)} → {_said(values.after)}"
        else:
            yield f"{shown} changed"


def _moved(parent: ParentChange) -> str:
    def of(page: object) -> str:
        title = getattr(page, "title", None)
        return display_text(title).strip() or UNTITLED if isinstance(title, str) else "the top"

    if (parent.before and parent.before.id) == (parent.after and parent.after.id):
        return f"moved within {of(parent.after)}"
    return f"moved from {of(parent.before)} to {of(parent.after)}"


def _sayable(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _said(value: object) -> str:
    text = "" if value is None else str(value)
    return f"“{display_text(text)}”" if text else "nothing"
