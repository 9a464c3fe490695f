"""The edits that bring a revision to the content of a folder, as values; computed without the service.

The API adds, edits, moves and deletes pages and adds files. What it cannot do, such as adding a group, becomes a
note.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from presscheck.api.comments import Document
from presscheck.api.content import RevisionPage
from presscheck.api.content_changes import ContentChange, DeletePage, InsertPage, UpdatePage
from presscheck.documents.diff.sequence_matcher import longest_increasing_subsequence
from presscheck.documents.git_format.exported import kind_of
from presscheck.documents.git_format.models import DEFAULT_LAYOUT, SourcePage
from presscheck.documents.git_format.repository import path_slug
from presscheck.documents.pages.page_order import PageOrder
from presscheck.documents.pages.tree import flatten
from presscheck.engine.review.page_edits import CLEARED

NEW = "new:"
"""The start of the key of a page that the revision does not have."""
_SENT = {
    "emoji": "emoji",
    "icon": "icon",
    "description": "description",
    "hidden": "hidden",
    "noIndex": "no_index",
    "noRobotsIndex": "no_robots_index",
    "condition": "condition",
}
"""The details that the API can change, by name in the API."""
_KEPT = {"layout": "layout", "variables": "vars"}
"""Details that the API cannot change, by their name in front matter."""


_NOUNS = {"group": "group", "link": "link", "computed": "place of generated pages"}


@dataclass(frozen=True)
class TreePlan:
    """The edits of the page tree.

    Attributes:
        changes: the edits in order.
        keys: the key of each page by the path of its file: the id of the page, or `NEW` and the path for a new page.
        notes: what cannot be sent, one sentence each.
    """

    changes: tuple[ContentChange, ...]
    keys: Mapping[str, str]
    notes: tuple[str, ...] = ()


@dataclass
class _Wanted:
    """The wanted tree: the keys below each parent, and the new pages."""

    below: dict[str | None, list[str]] = field(default_factory=dict[str | None, list[str]])
    new: dict[str, SourcePage] = field(default_factory=dict[str, SourcePage])
    keys: dict[str, str] = field(default_factory=dict[str, str])
    titles: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])


def plan_tree(
    pages: Sequence[RevisionPage],
    wanted: Sequence[SourcePage],
    ids: Mapping[str, str],
    targets: Mapping[str, str],
    kept: Iterable[str] = (),
) -> TreePlan:
    """Plan the edits of a page tree; texts and details are planned by `page_update`.

    Args:
        pages: the tree of the revision.
        wanted: the tree of the folder.
        ids: page ids by path, of pages that the revision has.
        targets: the targets of links in the folder, by page id.
        kept: the ids of pages that stay although the folder does not have them, such as pages that cannot be read.
    """
    by_id = {page.id: page for page in flatten(pages)}
    tree = _Wanted()
    kept = {*kept}
    _match(tree, wanted, None, ids, _Unnamed(pages, {*ids.values()} - kept, targets))
    order, changes = PageOrder.of(pages), list[ContentChange]()
    listed = PageOrder.of(_as_listed(pages, {page: path for path, page in ids.items()}))
    _arrange(tree, None, listed, order, changes)
    changes += [UpdatePage(page=page, title=title) for page, title in tree.titles.items() if by_id[page].title != title]
    stay = {*tree.keys.values(), *tree.titles, *kept, *(key for keys in tree.below.values() for key in keys)}
    gone = [page for page in order.every() if page in by_id and page not in stay]
    for page in order.outermost(gone):
        inner = [below for below in order.every(page) if below in stay]
        if inner:  # only pages that cannot be read: their parents stay, too
            tree.notes.append(f"{by_id[page].title} stays, because pages below it stay")
        else:
            changes.append(DeletePage(page=page))
    return TreePlan(tuple(changes), tree.keys, tuple(tree.notes))


class _Unnamed:
    """The pages of a revision that have no file, such as groups and links, to be paired with pages of the folder."""

    def __init__(self, pages: Sequence[RevisionPage], named: set[str], targets: Mapping[str, str]) -> None:
        self.targets = targets
        self._left: dict[str, list[RevisionPage]] = {}
        for page in flatten(pages):
            if page.id not in named:
                self._left.setdefault(kind_of(page), []).append(page)

    def take(self, page: SourcePage) -> RevisionPage | None:
        """Pair `page` with an unpaired page of the same kind and title or target. Return that page, or None."""
        left = self._left.get(page.kind, [])
        if page.kind == "computed":
            return next(
                (left.pop(at) for at, other in enumerate(left) if other.computed == page.details["computed"]), None
            )
        same = next((other for other in left if _title(other) in (page.title, page.link_title)), None) or next(
            (other for other in left if page.target and self.targets.get(other.id) == page.target), None
        )
        if same:
            left.remove(same)
        return same

    def take_group(self, page: SourcePage, others: int) -> RevisionPage | None:
        """Return the last unpaired group if `page` is the only new group, because the group was renamed; else None.

        `others` is the number of new groups in the same parent, including `page`.
        """
        left = self._left.get("group", [])
        return left.pop() if page.kind == "group" and len(left) == 1 and others == 1 else None


def _title(page: RevisionPage) -> str:
    return page.link_title or page.title if page.type != "link" else page.title


def _match(
    tree: _Wanted, wanted: Sequence[SourcePage], parent: str | None, ids: Mapping[str, str], unnamed: _Unnamed
) -> None:
    """Add the keys of pages of the folder to the wanted tree: ids of pages of the revision, and keys of new pages.

    A group or a link that the revision does not have becomes a note.
    """
    below = tree.below.setdefault(parent, [])
    unpaired = [page for page in wanted if not page.source and page.kind == "group"]
    paired = {id(page): unnamed.take(page) for page in wanted if not page.source}
    new_groups = [page for page in unpaired if paired[id(page)] is None]
    for page in wanted:
        if page.source:
            key = ids.get(page.source) or NEW + page.source
            tree.keys[page.source] = key
            if key.startswith(NEW):
                tree.new[key] = page
        else:
            same = paired[id(page)] or unnamed.take_group(page, len(new_groups))
            if same is None and page.kind == "document":
                key = f"{NEW}{parent or ''}/{len(below)}"
                tree.new[key] = page
            elif same is None:
                tree.notes.append(
                    f"{page.title}: the API cannot add a {_NOUNS[page.kind]}; add it in the app, and pull"
                    + (". Its pages are added without it" if page.pages else "")
                )
                _match(tree, page.pages, parent, ids, unnamed)
                continue
            else:
                key = same.id
                if page.kind != "computed":
                    tree.titles[key] = page.title
                if page.target != unnamed.targets.get(key, ""):
                    tree.notes.append(f"{page.title}: the API cannot change the target of a link; change it in the app")
        below.append(key)
        _match(tree, page.pages, key, ids, unnamed)


def _as_listed(pages: Sequence[RevisionPage], paths: Mapping[str, str]) -> list[RevisionPage]:
    """Return the pages at the top level in the order in which a table of contents lists them: groups come last, and
    hidden pages that it does not list come after the groups.
    """
    listed, unlisted = list(pages), list[RevisionPage]()
    while listed and listed[-1].hidden and listed[-1].type == "document" and not listed[-1].pages:
        unlisted.insert(0, listed.pop())
    sources = [paths.get(page.id, "") for page in unlisted]
    if sources != sorted(sources):
        listed, unlisted = list(pages), []
    return [*sorted(listed, key=lambda page: page.type == "group"), *unlisted]


def _arrange(
    tree: _Wanted, parent: str | None, listed: PageOrder, order: PageOrder, changes: list[ContentChange]
) -> None:
    """Add and move pages so that each parent has the wanted children in the wanted order, parents first.

    `listed` is the order in the table of contents of the checkout. `order` is the order in the revision, which each
    planned edit updates.
    """
    wanted = tree.below.get(parent, [])
    present = {page: index for index, page in enumerate(listed.below(parent))}
    common = [page for page in wanted if page in present]
    resting = {common[index] for index in longest_increasing_subsequence([present[page] for page in common])}
    before: str | None = None
    for page in wanted:
        if page not in resting:
            siblings = [other for other in order.below(parent) if other != page]
            at = 0 if before is None else siblings.index(before) + 1
            if page in tree.new:
                changes.append(_insertion(tree.new[page], page, parent, at))
            else:
                changes.append(UpdatePage(page=page, into=parent, at=at))
            listed.insert(page, parent, None)
            order.insert(page, parent, at)
        before = page
    for page in wanted:
        _arrange(tree, page, listed, order, changes)


def _insertion(page: SourcePage, key: str, parent: str | None, at: int) -> InsertPage:
    document = Document(markdown=f"# {page.title}\n\n{page.body}")
    details = {field_name: page.details[name] for name, field_name in _SENT.items() if page.details.get(name)}
    slug = page.slug or path_slug(page.title)
    return InsertPage(document=document, title=page.title, slug=slug, into=parent, at=at, ref=key, **details)


def page_update(
    page_id: str, before: SourcePage, after: SourcePage, body: str, slug: str = ""
) -> tuple[UpdatePage | None, list[str]]:
    """Return the edit of a page's text and details (None without changes), and notes on changes that cannot be sent.

    Args:
        page_id: the page.
        before: the page of the revision, with the text from the service.
        after: the page of the folder.
        body: the text of the folder, with links in the form of the service.
        slug: the new slug, if the file was renamed.
    """
    given: dict[str, Any] = {}
    is_edited = _bare(body) != _bare(before.body)
    if is_edited:
        given["document"] = Document(markdown=f"# {after.title}\n\n{body}")
    if is_edited or after.title != before.title:
        given["title"] = after.title
    for name, field_name in _SENT.items():
        old, new = before.details.get(name), after.details.get(name)
        if (old or None) != (new or None):
            given[field_name] = CLEARED.get(field_name, "") if new in (None, "") else new
    if slug and slug != before.slug:
        given["slug"] = slug
    notes = [
        f"{after.source}: the API cannot change `{front}` of a page; change it in the app"
        for name, front in _KEPT.items()
        if (before.details.get(name) or None) != (after.details.get(name) or None)
        and after.details.get(name) != DEFAULT_LAYOUT
    ]
    if after.unknown_keys:
        keys = " and ".join(f"`{key}`" for key in after.unknown_keys)
        notes.append(
            f"{after.source}: a page has no field for {keys}; only this folder keeps this part of front matter"
        )
    if before.cover != after.cover:
        notes.append(f"{after.source}: the API cannot change the cover of a page; change it in the app")
    return (UpdatePage(page=page_id, **given) if given else None), notes


def _bare(text: str) -> str:
    return text.strip("\n")


def link_title_notes(
    pages: Iterable[RevisionPage], wanted: Iterable[SourcePage], keys: Mapping[str, str]
) -> Iterator[str]:
    """Yield a note on each title in the table of contents that differs from the title of its page."""
    by_id = {page.id: page for page in flatten(pages)}
    for page in wanted:
        before = by_id.get(keys.get(page.source, ""))
        # an entry that still has the former title follows the page
        if before and page.link_title not in (before.link_title, before.title):
            yield f"{page.source}: the API cannot change the title in the table of contents; change it in the app"
