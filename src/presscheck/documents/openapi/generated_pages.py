"""Pages that the platform generates from a specification, where the tree of pages has a place for them.

A place is a page of type `computed`. In a repository, it is an item of the table of contents with YAML:

    * ```yaml
      type: builtin:openapi
      props: {models: true, grouping: by-tag}
      dependencies: {spec: {ref: {kind: openapi, spec: SLUG}}}
      ```
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from presscheck.documents.markdown.anchors import heading_anchor
from presscheck.documents.openapi.specification import Entry, Specification, mapping, sequence, text
from presscheck.documents.pages.tree import Page, Tree, children

TYPE = "builtin:openapi"
TEXT = "generatedText"
"""The Markdown of a generated page; stored pages have a document instead."""
MODELS = "generatedModels"
"""The slug of the specification whose models a generated page describes."""
MOST_PAGES = 1_000
"""Maximum number of pages that are generated for a place."""
_OTHER = "Other"


def specification_slug(source: Any) -> str:
    """Return the slug of the specification from which computed content is generated.

    Return an empty string if `source`, the source of the content, is not a specification of the organization.
    """
    if mapping(source).get("type") != TYPE:
        return ""
    reference = mapping(mapping(mapping(mapping(source).get("dependencies")).get("spec")).get("ref"))
    return text(reference.get("spec")) if reference.get("kind") == "openapi" else ""


def generated_slugs(tree: Iterable[Page]) -> list[str]:
    """Return the slugs of the specifications for which a page tree has places, without duplicates."""
    slugs: list[str] = []
    for page in tree:
        slugs += [specification_slug(page.get("computed"))] if page["type"] == "computed" else []
        slugs += generated_slugs(children(page))
    return [slug for slug in dict.fromkeys(slugs) if slug]


def with_generated_pages(tree: Tree, specification: Callable[[str], Specification | None]) -> Tree:
    """Return a page tree in which generated pages replace their places.

    A place stays if its specification is unknown.

    Args:
        tree: the pages; the tree is not modified.
        specification: returns a specification by its slug, or None.
    """
    pages: list[Page] = []
    for page in tree:
        slug = specification_slug(page.get("computed")) if page["type"] == "computed" else ""
        content = specification(slug) if slug else None
        if content:
            pages += _Generator(page, slug, content).pages()
        else:
            below = children(page)
            pages.append(page | {"pages": with_generated_pages([*below], specification)} if below else page)
    return pages


class _Generator:
    """Generates the pages for one place in the page tree."""

    def __init__(self, place: Page, slug: str, specification: Specification) -> None:
        self._place, self._slug, self._specification = place, slug, specification
        self._props = mapping(mapping(place.get("computed")).get("props"))
        self._tags = {text(tag.get("name")): tag for tag in map(mapping, sequence(specification.head.get("tags")))}
        self._slugs: set[str] = set()
        self._count = 0

    def pages(self) -> list[Page]:
        """Return a page for each tag that has operations, and a page for all models if the place asks for it.

        If the place groups by operation, the page of a tag has a subpage for each operation. Tags may contain other
        tags.
        """
        groups: dict[str, list[Entry]] = {name: [] for name in self._tags}
        for entry in self._specification.entries:
            groups.setdefault(next(iter(entry.tags), _OTHER), []).append(entry)
        parents = {name: text(tag.get("parent")) or text(tag.get("x-parent")) for name, tag in self._tags.items()}
        tops = [name for name in groups if parents.get(name, "") not in groups or self._is_circular(name, parents)]
        pages = [*filter(None, (self._tag(name, groups, parents, tops) for name in tops))]
        if self._props.get("models") is True and self._specification.schemas:
            names = ",".join(name for name in self._specification.schemas if _is_quotable(name))
            pages.append(self._page("Models", f'{{% openapi-schemas spec="{self._slug}" schemas="{names}" %}}\n'))
            pages[-1][MODELS] = self._slug
        return pages

    @staticmethod
    def _is_circular(name: str, parents: Mapping[str, str]) -> bool:
        seen: set[str] = set()
        while name in parents and name not in seen:
            seen.add(name)
            name = parents[name]
        return name in seen

    def _tag(
        self, name: str, groups: Mapping[str, list[Entry]], parents: Mapping[str, str], tops: Sequence[str]
    ) -> Page | None:
        tag = mapping(self._tags.get(name))
        entries = groups[name]
        below = [child for child in groups if parents.get(child) == name and child not in tops]
        pages = [*filter(None, (self._tag(child, groups, parents, tops) for child in below))]
        if not entries and not pages:
            return None
        title = text(tag.get("x-page-title")) or text(tag.get("x-displayName")) or text(tag.get("summary")) or name
        about = text(tag.get("description")).strip()
        blocks = [*self._blocks(entries)]
        if self._props.get("grouping") == "by-operation":
            operations = [
                self._page(entry.title, block)
                for entry, block in zip(entries, blocks, strict=False)
                if self._count < MOST_PAGES
            ]
            pages, blocks = [*operations, *pages], []
        page = self._page(title, "\n\n".join(filter(None, (about, *blocks))))
        page["pages"] = pages
        for key, own in (("x-page-description", "description"), ("x-page-icon", "icon")):
            page |= {own: text(tag.get(key))} if text(tag.get(key)) else {}
        return page

    def _blocks(self, entries: Iterable[Entry]) -> Iterator[str]:
        for entry in entries:
            if _is_quotable(entry.name):
                kind, key = ("webhook", "name") if entry.kind == "webhook" else ("operation", "path")
                yield f'{{% openapi-{kind} spec="{self._slug}" {key}="{entry.name}" method="{entry.method}" %}}\n'

    def _page(self, title: str, markdown: str) -> Page:
        self._count += 1
        title = " ".join(title.split())[:200] or "Untitled"
        base = slug = heading_anchor(title)
        number = 1
        while slug in self._slugs:
            slug = f"{base}-{number}"
            number += 1
        self._slugs.add(slug)
        times = {name: self._place[name] for name in ("createdAt", "updatedAt") if name in self._place}
        return {
            "id": f"{self._place['id']}-{self._count}",
            "type": "document",
            "title": title,
            "slug": slug,
            "layout": {"width": "wide"},
            "pages": [],
            TEXT: markdown,
            **times,
        }


def _is_quotable(name: str) -> bool:
    """Return whether a path or name fits into an attribute of a block, which separates names by commas."""
    return bool(name) and not any(part in name for part in ('"', "%}", "{%", "\n", "<", ","))
