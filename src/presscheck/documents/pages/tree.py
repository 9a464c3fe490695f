"""Page trees as API objects (`pages` inside pages): walking, editing, slugs, and changes between two trees.

A page is a plain object with API names; its `path` is derived from slugs and never stored. No function modifies its
arguments.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeVar, cast

from presscheck.documents.diff.sequence_matcher import longest_increasing_subsequence
from presscheck.documents.pages.file_urls import unsigned_url
from presscheck.documents.visitors.condition_tags import words_without_claims

Page = dict[str, Any]
Tree = list[Page]
Change = dict[str, Any]
"""One change, as an API object."""


class HasPages(Protocol):
    """A page with subpages."""

    @property
    def pages(self) -> Iterable[Self]: ...  # noqa: D102


P = TypeVar("P", bound=Page | HasPages)


class PagePosition(NamedTuple):
    """A page with its parent (None at the root), its index among its siblings, and its path."""

    page: Page
    above: Page | None
    position: int
    path: str | None


class PageAndParent(NamedTuple):
    """A page with its parent (None at the root)."""

    page: Page
    above: Page | None


class PageNotInTree(LookupError):
    """A page is not in the tree."""


def flatten(pages: Iterable[P]) -> Iterator[P]:
    """Yield every page of a tree, each before its subpages; pages are objects with `pages`, or plain dicts."""
    stack = [*pages][::-1]
    while stack:
        page = stack.pop()
        yield page
        # an isinstance check for Mapping, an abstract class, would take as long as everything else
        below = page.get("pages") if isinstance(page, dict) else page.pages
        if below:
            stack += cast("list[P]", [*below][::-1])


def children(page: Page | None, tree: Sequence[Page] = ()) -> Sequence[Page]:
    """Return the pages below a page, or the root pages for None."""
    return tree if page is None else page.get("pages") or ()


def walk(tree: Sequence[Page]) -> Iterator[PagePosition]:
    """Yield the position of every page, each before its subpages; links have no path."""
    waiting = _below(tree, None, "")
    while waiting:
        place, prefix = waiting.pop()
        yield place
        waiting += _below(children(place.page), place.page, f"{place.path}/" if place.path else prefix)


def with_parents(tree: Sequence[Page]) -> Iterator[PageAndParent]:
    """Yield every page with its parent, in the order of `walk`. Without paths, this takes a third of the time."""
    waiting = [PageAndParent(page, None) for page in reversed(tree)]
    while waiting:
        place = waiting.pop()
        yield place
        page = place.page
        below = page.get("pages")
        if below:
            waiting += [PageAndParent(kid, page) for kid in reversed(cast("Tree", below))]


def find(tree: Sequence[Page], page_id: str) -> PagePosition | None:
    """Return the position of a page, or None."""
    return next((place for place in walk(tree) if place.page["id"] == page_id), None)


def insert(tree: Sequence[Page], page: Page, into: str | None = None, at: int | None = None) -> Tree:
    """Return the tree with a page inserted below the page `into` (None for the root), at index `at` or at the end.

    Raises:
        PageNotInTree: the parent is not in the tree.
    """
    if into is None:
        index = len(tree) if at is None else at
        return [*tree[:index], page, *tree[index:]]
    if find(tree, into) is None:
        raise PageNotInTree(into)

    def below(parent_page: Page) -> Page:
        inner = list(children(parent_page))
        return parent_page | {
            "pages": insert(inner, page, None, at) if parent_page["id"] == into else [below(kid) for kid in inner]
        }

    return [below(page) if find([page], into) else page for page in tree]


def remove(tree: Sequence[Page], page_id: str) -> Tree:
    """Return the tree without a page and its subpages."""
    return [
        page | {"pages": remove(page["pages"], page_id)} if page.get("pages") else page
        for page in tree
        if page["id"] != page_id
    ]


def move(tree: Sequence[Page], page_id: str, into: str | None = None, at: int | None = None) -> Tree:
    """Return the tree with a page and its subpages moved; `at` is an index among the other siblings.

    Raises:
        PageNotInTree: the page or its new parent is not in the tree, or the parent is below the page.
    """
    place = find(tree, page_id)
    if place is None:
        raise PageNotInTree(page_id)
    return insert(remove(tree, page_id), place.page, into, at)


def slugify(title: str) -> str:
    """Return a slug for a title."""
    words = re.sub(r"[^\w]+", "-", title.casefold()).strip("-_")
    return words[:100].strip("-_") or "page"


def title_slug(title: str) -> str:
    """Return a slug for a title, without words that conditions in the title hide from visitors without claims."""
    return slugify(words_without_claims(title))


def unique_slug(wanted: str, taken: Container[str]) -> str:
    """Return the slug, with a number appended if it is taken."""
    slug, number = wanted, 1
    while slug in taken:
        slug = f"{wanted}-{number}"
        number += 1
    return slug


def with_slugs(tree: Sequence[Page], settled: Iterable[str] = ()) -> Tree:
    """Return the tree with unique slugs among siblings; in a conflict, the `settled` pages keep their slugs."""
    return _with_slugs(tree, set(settled))


def _with_slugs(pages: Sequence[Page], first: Container[str]) -> Tree:
    slugs = _slugs(pages, first)
    pages_with_slugs: Tree = []
    for page in pages:
        slug = slugs.get(page["id"])
        if slug is not None and slug != page.get("slug"):
            page = page | {"slug": slug}
        if page.get("pages"):
            page = page | {"pages": _with_slugs(children(page), first)}
        pages_with_slugs.append(page)
    return pages_with_slugs


def _slugs(pages: Sequence[Page], first: Container[str]) -> dict[str, str]:
    """Return unique slugs of siblings by id, preserving those of pages in `first` if possible.

    Return an empty dict if all slugs are unique already.
    """
    pages_with_slug = [page for page in pages if _has_slug(page)]
    current_slugs = [page.get("slug") for page in pages_with_slug]
    if len({*current_slugs}) == len(current_slugs) and all(current_slugs):
        return {}
    slugs: dict[str, str] = {}
    taken_slugs: set[str] = set()
    for page in sorted(pages_with_slug, key=lambda sibling: sibling["id"] not in first):
        slugs[page["id"]] = unique_slug(page.get("slug") or title_slug(page.get("title", "")), taken_slugs)
        taken_slugs.add(slugs[page["id"]])
    return slugs


def semantic_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return the changes between two revisions: pages in tree order, deleted pages, then files and the rest.

    Args:
        before: an API object with `pages`, and optionally `files`, `reusableContents` and `variables`.
        after: the later revision, in the same form.
    """
    return [
        *_page_changes(before.get("pages") or [], after.get("pages") or []),
        *_record_changes("file", before.get("files") or [], after.get("files") or []),
        *_record_changes("reusableContent", before.get("reusableContents") or [], after.get("reusableContents") or []),
        *_variable_changes(before.get("variables") or {}, after.get("variables") or {}),
    ]


_SEEN = ("icon", "hidden", "noIndex", "noRobotsIndex", "condition", "linkTitle")
"""Attributes that the API description lacks, but reviewers must see. Clients accept unknown names."""
_ATTRIBUTES = {
    "document": ("title", "description", "slug", "document", "cover", "emoji", "layout", "variables", *_SEEN),
    "group": ("title", "emoji", "slug", *_SEEN),
    "link": ("title", "emoji", "target", *_SEEN),
    "computed": ("title", "emoji", "computed", *_SEEN),
    "file": ("name", "downloadURL", "size", "contentType", "dimensions"),
    "reusableContent": ("title", "document"),
}
"""The attributes that a change may have, by the type of the object."""
_SHOWN = {"file": ("id", "name", "contentType", "downloadURL"), "reusableContent": ("id", "title", "document")}
_STORED = {"document": "documentId"}
"""Attributes with another name in a revision."""


def _below(pages: Sequence[Page], above: Page | None, prefix: str) -> list[tuple[PagePosition, str]]:
    """Return the positions of siblings, last first, each with `prefix`, which a page without a path passes on."""
    return [
        (PagePosition(page, above, index, prefix + page["slug"] if page.get("slug") else None), prefix)
        for index, page in reversed([*enumerate(pages)])
    ]


def _has_slug(page: Page) -> bool:
    return bool(page.get("slug")) or page.get("type", "document") in ("document", "group")


def _page_changes(before: Sequence[Page], after: Sequence[Page]) -> Iterator[Change]:
    old = {place.page["id"]: place for place in walk(before)}
    new = {place.page["id"]: place for place in walk(after)}
    reordered = _reordered(old, new)
    for page_id, place in new.items():
        was = old.get(page_id)
        if was is None or was.page.get("type") != place.page.get("type"):
            yield {"type": "page_created", "page": _page_fields(place)}
            continue
        attributes = _attributes(was.page, place.page, place.page.get("type", "document"))
        if attributes:
            yield {"type": "page_edited", "page": _page_fields(place), "attributes": attributes}
        if page_id in reordered or _id(was.above) != _id(place.above):
            sides = (("before", old, was.above), ("after", new, place.above))
            parent = {side: _page_fields(places[above["id"]]) for side, places, above in sides if above}
            yield {"type": "page_moved", "page": _page_fields(place), "parent": parent}
    for page_id, place in old.items():
        if page_id not in new or new[page_id].page.get("type") != place.page.get("type"):
            yield {"type": "page_deleted", "page": _page_fields(place)}


def _reordered(old: Mapping[str, PagePosition], new: Mapping[str, PagePosition]) -> set[str]:
    """Return the smallest set of pages whose moves among their siblings explain the new order."""
    unmoved: dict[str | None, list[tuple[str, int]]] = {}
    for page_id, place in new.items():
        was = old.get(page_id)
        if was and _id(was.above) == _id(place.above):
            unmoved.setdefault(_id(place.above), []).append((page_id, was.position))
    return {page_id for siblings in unmoved.values() for page_id in _out_of_order(siblings)}


def _out_of_order(siblings: Sequence[tuple[str, int]]) -> set[str]:
    """Return the pages outside of one longest increasing subsequence."""
    in_order = set(longest_increasing_subsequence([position for _, position in siblings]))
    return {page_id for number, (page_id, _) in enumerate(siblings) if number not in in_order}


def _attributes(before: Mapping[str, Any], after: Mapping[str, Any], kind: str) -> dict[str, Any]:
    is_page = kind not in _SHOWN
    changes: dict[str, Any] = {}
    for name in _ATTRIBUTES.get(kind, ("title",)):
        stored = _STORED.get(name, name) if is_page else name
        was, now = _significant(before.get(stored)), _significant(after.get(stored))
        if name == "downloadURL" and was and now and unsigned_url(was) == unsigned_url(now):
            continue
        change = _change(was, now)
        if change:
            changes[name] = change
    return changes


def _significant(value: Any) -> Any:
    """Return a value, or None if the value is equivalent to a missing value."""
    return None if value is False or value == "" else value


def _change(before: Any, after: Any) -> dict[str, Any]:
    """Return both sides of a change, or an empty dict if they are equal."""
    if before == after and type(before) is type(after):
        return {}
    return {side: value for side, value in (("before", before), ("after", after)) if value is not None}


def _record_changes(kind: str, before: Sequence[Page], after: Sequence[Page]) -> Iterator[Change]:
    old = {item["id"]: item for item in before}
    new = {item["id"]: item for item in after}
    noun = "reusable_content" if kind == "reusableContent" else kind

    def shown(page: Page) -> Page:
        return {name: page[name] for name in _SHOWN[kind] if page.get(name) is not None}

    for key, item in new.items():
        if key not in old:
            yield {"type": f"{noun}_created", kind: shown(item)}
        elif attributes := _attributes(old[key], item, kind):
            yield {"type": f"{noun}_edited", kind: shown(item), "attributes": attributes}
    for key, item in old.items():
        if key not in new:
            yield {"type": f"{noun}_deleted", kind: shown(item)}


def _variable_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    changed = {name: _change(before.get(name), after.get(name)) for name in {**after, **before}}
    variables = {name: change for name, change in changed.items() if change}
    if variables:
        yield {"type": "variables_edited", "variables": variables}


def _page_fields(place: PagePosition) -> Page:
    page = place.page
    fields = {"id": page["id"], "type": page.get("type", "document"), "title": page.get("title", "")}
    return fields | {"path": place.path} if place.path else fields


def _id(page: Page | None) -> str | None:
    return page["id"] if page else None
