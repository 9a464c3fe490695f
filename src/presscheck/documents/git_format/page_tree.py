"""Builds the page tree of a repository, from its table of contents or from its folders.

Every text of the repository becomes a page once; if the table of contents lists it again, that entry becomes a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal
from urllib.parse import unquote

from presscheck.documents.git_format.config import RepositoryConfig, normalize_path
from presscheck.documents.git_format.files import RepositoryFiles
from presscheck.documents.git_format.models import Problem, SourcePage
from presscheck.documents.git_format.page import PageText
from presscheck.documents.git_format.summary import Item, path_slug, read_summary

MAX_LINK_TITLE = 100

_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")


class PageTreeBuilder:
    """Puts pages in their places.

    Building sets `title` to that of the table of contents and fills `problems` and `files_linked`.
    """

    def __init__(self, files: RepositoryFiles, settings: RepositoryConfig, texts: Mapping[str, PageText]) -> None:
        self.files = files
        self.summary = settings.summary
        self.readme = settings.readme
        self.texts = texts
        self.title: str | None = None
        self.problems: list[Problem] = []
        self.files_linked: set[str] = set()
        self._listed: set[str] = set()
        self._placed: set[str] = set()

    def pages(self) -> tuple[SourcePage, ...]:
        """Returns the whole tree; pages that are not listed come last."""
        if self.summary in self.files:
            text = self.files.text(self.summary)
            self.problems += text.problems
            summary = read_summary(text.text)
            self.title = summary.title
            targets = [item.target for item in _every(summary.items) if item.target]
            self._listed = {self._source(target) for target in targets if "#" not in target}
            pages = self._from_items(summary.items)
        else:
            self._report(self.summary, 1, "is missing: pages are ordered by folder", "information")
            pages = self._from_folder("")
        return _with_own_slugs([*pages, *self._unlisted()])

    def _from_items(self, items: Iterable[Item]) -> list[SourcePage]:
        pages: list[SourcePage] = []
        for item in items:
            page = self._from_item(item)
            below = self._from_items(item.items)
            if page.kind == "link":
                if below:
                    self._report(
                        self.summary, item.line, "is a link: its subpages are placed next to it", "information"
                    )
                pages += [page, *below]
            else:
                pages.append(replace(page, pages=_with_own_slugs(below)))
        return pages

    def _from_item(self, item: Item) -> SourcePage:
        if item.is_group:
            return SourcePage("group", item.title, item.slug or path_slug(item.title))
        if not item.target:
            return SourcePage("document", item.title, path_slug(item.title))
        if _ADDRESS.match(item.target):
            return SourcePage("link", item.title, target=item.target)
        source, anchor = self._source(item.target), item.target.partition("#")[2]
        if source in self.texts:
            if source not in self._placed and (not anchor or source not in self._listed):
                return self._document(source, item)
            if not anchor:
                self._report(self.summary, item.line, f"{source} is listed again: imported as a link", "information")
            return SourcePage("link", item.title, target=f"{source}#{anchor}" if anchor else source)
        if source in self.files:
            self.files_linked.add(source)
            return SourcePage("link", item.title, target=source)
        self._report(self.summary, item.line, f"{item.target} does not exist: the page is empty")
        return SourcePage("document", item.title, self._slug(source) if source else path_slug(item.title))

    def _document(self, source: str, item: Item | None = None) -> SourcePage:
        """Returns the page of a text with its own title; the title in the table of contents is its link title."""
        self._placed.add(source)
        text = self.texts[source]
        title = text.title or (item.title if item else None) or self._slug(source)
        called = (item.link_title or item.title) if item else title
        return SourcePage(
            "document",
            title,
            self._slug(source),
            source=source,
            oid=text.oid,
            body=text.body,
            link_title=called[:MAX_LINK_TITLE] if called != title else None,
            details=text.details,
            cover=text.cover,
        )

    def _from_folder(self, folder: str) -> list[SourcePage]:
        """Returns the pages of a folder, without its README except at the root."""
        prefix = f"{folder}/" if folder else ""
        inner = [text[len(prefix) :] for text in self.texts if text.startswith(prefix)]
        own = self._readme(folder)
        pages = [self._document(own)] if own and not folder else []
        for name in sorted({one.partition("/")[0] for one in inner if prefix + one != own}):
            path = prefix + name
            if path in self.texts:
                pages.append(self._document(path))
                continue
            readme = self._readme(path)
            page = self._document(readme) if readme else SourcePage("document", name, path_slug(name))
            pages.append(replace(page, pages=_with_own_slugs(self._from_folder(path))))
        return pages

    def _unlisted(self) -> Iterator[SourcePage]:
        for source in self.texts:
            if source not in self._placed:
                page = self._document(source)
                self._report(source, 1, f"is not listed in {self.summary}: imported as a hidden page", "information")
                yield replace(page, details={**page.details, "hidden": True})

    def _source(self, target: str) -> str:
        """Returns the source path of an entry; empty if it points out of the repository."""
        path = unquote(target.partition("#")[0])
        if _ADDRESS.match(target):
            return ""
        folder = "" if path.startswith("/") else self.summary.rpartition("/")[0]
        for candidate in (normalize_path(f"{folder}/{path}"), normalize_path(path)):
            if candidate is not None:
                for source in (candidate, self._readme(candidate), f"{candidate}.md"):
                    if source and source in self.files:
                        return source
        return normalize_path(path) or ""

    def _readme(self, folder: str) -> str | None:
        return self.readme if not folder and self.readme in self.texts else self.files.readme(folder)

    def _slug(self, source: str) -> str:
        folder, _, name = source.rpartition("/")
        stem = name[:-3] if name.casefold().endswith(".md") else name
        is_readme = stem.casefold() == "readme"
        return path_slug(folder.rpartition("/")[2] if is_readme and folder else stem)

    def _report(self, file: str, line: int, text: str, weight: Literal["error", "information"] = "error") -> None:
        self.problems.append(Problem(file, line, text, weight))


def _every(items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        yield item
        yield from _every(item.items)


def _with_own_slugs(pages: Iterable[SourcePage]) -> tuple[SourcePage, ...]:
    """Returns siblings with unique slugs; a taken slug gets a number."""
    taken: set[str] = set()
    found: list[SourcePage] = []
    for page in pages:
        slug, number = page.slug, 1
        while slug and slug in taken:
            slug = f"{page.slug}-{number}"
            number += 1
        taken.add(slug)
        found.append(page if slug == page.slug else replace(page, slug=slug))
    return tuple(found)
