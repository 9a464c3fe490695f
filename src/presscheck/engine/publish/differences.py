"""The differences between the published and the current state of a site: pages, structure, customization, redirects."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from presscheck.api.content import RevisionPage
from presscheck.documents.pages.tree import flatten
from presscheck.documents.sites.content import FormerSpace, PublishedItem, SiteContent, SpaceContent
from presscheck.engine.publish.published_state import redirect_targets, structure_items

Kind = Literal["added", "edited", "moved", "removed"]
Subject = Literal["pages", "structure", "customization", "redirects", "visibility"]
KINDS: tuple[Kind, ...] = ("added", "edited", "moved", "removed")
SUBJECTS: tuple[Subject, ...] = ("pages", "structure", "customization", "redirects", "visibility")


@dataclass(frozen=True)
class Difference:
    """A difference; `where` names the page, the item, the setting or the path."""

    subject: Subject
    kind: Kind
    where: str


@dataclass(frozen=True)
class Differences:
    """The differences since a site was published, and the reasons why the differences in some subjects are unknown."""

    found: tuple[Difference, ...] = ()
    unknown: Mapping[Subject, str] | None = None
    """The reasons by subject; None if all differences are unknown because there is no published state."""

    def of(self, subject: Subject) -> tuple[Difference, ...]:
        """Return the differences in a subject."""
        return tuple(difference for difference in self.found if difference.subject == subject)


def differences(content: SiteContent, customization: Mapping[str, str] | str) -> Differences:
    """Compare a site with its last published state. If no published state is recorded, there are no differences.

    Args:
        content: the site, with its published state.
        customization: the current customization, or the reason why it could not be read.
    """
    state = content.published
    if state is None:
        return Differences()
    unknown: dict[Subject, str] = {}
    found: list[Difference] = []
    unread = {part.name: part.reason for part in content.unread}
    if "pages" in unread or "published pages" in unread:
        unknown["pages"] = unread.get("pages") or unread["published pages"]
    else:
        found += _pages(content)
    found += _structure(state.items, structure_items(content.structure))
    if state.customization is None or isinstance(customization, str):
        unknown["customization"] = customization if isinstance(customization, str) else "it was not read then"
    else:
        found += _mapping("customization", state.customization, customization)
    if state.redirects is None or "redirects" in unread:
        unknown["redirects"] = unread.get("redirects", "they were not read then")
    else:
        found += _mapping("redirects", state.redirects, redirect_targets(content.redirects))
    if state.visibility != content.site.visibility:
        found.append(Difference("visibility", "edited", f"{state.visibility} → {content.site.visibility}"))
    return Differences(tuple(found), unknown)


def _pages(content: SiteContent) -> Iterator[Difference]:
    now = {space.item.id: space for space in content.spaces}
    then = {former.space.id: former for former in content.former}
    for space in content.spaces:
        yield from _pages_of_space(space, then.get(space.item.id))
    for former in content.former:
        if former.space.id not in now:
            for page in flatten(former.pages):
                yield Difference("pages", "removed", f"{former.space.title}: {page.title}")


def _pages_of_space(space: SpaceContent, former: FormerSpace | None) -> Iterator[Difference]:
    before = {page.id: page for page in flatten(former.pages)} if former else dict[str, RevisionPage]()
    after = {page.id: page for page in flatten(space.pages)}
    for page in after.values():
        old, where = before.get(page.id), f"{space.title}: {page.title}"
        if old is None:
            yield Difference("pages", "added", where)
        elif _is_edited(old, page):
            yield Difference("pages", "edited", where)
        elif old.path != page.path:
            yield Difference("pages", "moved", where)
    for page in before.values():
        if page.id not in after:
            yield Difference("pages", "removed", f"{space.title}: {page.title}")


def _is_edited(old: RevisionPage, new: RevisionPage) -> bool:
    names = ("document_id", "title", "link_title", "description", "hidden", "no_index", "condition", "emoji", "icon")
    return any((getattr(old, name) or None) != (getattr(new, name) or None) for name in names)


def _structure(before: Mapping[str, PublishedItem], after: Mapping[str, PublishedItem]) -> Iterator[Difference]:
    for key, item in after.items():
        old = before.get(key)
        if old is None:
            yield Difference("structure", "added", item.title)
        elif (old.title, old.path, old.is_default, old.condition) != (
            item.title,
            item.path,
            item.is_default,
            item.condition,
        ):
            yield Difference("structure", "edited", item.title)
        elif old.above != item.above:
            yield Difference("structure", "moved", item.title)
    for key, item in before.items():
        if key not in after:
            yield Difference("structure", "removed", item.title)
    kept = {key for key, item in before.items() if key in after and item.above == after[key].above}
    if _orders(before, kept) != _orders(after, kept):
        yield Difference("structure", "moved", "the order of its items")


def _orders(items: Mapping[str, PublishedItem], keys: Collection[str]) -> dict[str, list[str]]:
    """Group the keys by the key of the parent item, in the order of the items."""
    orders: dict[str, list[str]] = {}
    for key, item in items.items():
        if key in keys:
            orders.setdefault(item.above, []).append(key)
    return orders


def _mapping(subject: Subject, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Difference]:
    for name in dict.fromkeys((*before, *after)):
        if name not in after:
            yield Difference(subject, "removed", name)
        elif name not in before:
            yield Difference(subject, "added", name)
        elif before[name] != after[name]:
            yield Difference(subject, "edited", name)
