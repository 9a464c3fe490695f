"""The pages of a site that prose checks examine before a publish, and the conversion of findings in them.

These are the pages that changed since the site was last published. Without a record of the last publish, they are all
pages whose texts are in the cache, because reading thousands of pages would take minutes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from presscheck.documents.pages.tree import flatten
from presscheck.documents.sites.checks import Finding
from presscheck.documents.sites.content import FormerSpace, SiteContent, SpaceContent, space_path
from presscheck.engine.protocols import Reader, StoreWorker
from presscheck.engine.publish.site_content import AT_ONCE, BATCH, cached_texts
from presscheck.engine.shared_calls import live_page, page_in
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count

if TYPE_CHECKING:
    from presscheck.documents.git_format.findings import Finding as TextFinding


class ProseReading(Reader, StoreWorker, Protocol):
    """The parts of the engine that this module needs."""


@dataclass(frozen=True)
class ProsePage:
    """A page of a site whose text can be checked.

    Attributes:
        space: the id of the space.
        page: the id of the page.
        where: the titles of the space and the page.
        path: the path within the site.
        document: the id of the text.
        former: the revision with the published text; empty if there is none, or if it is not known.
    """

    space: str
    page: str
    where: str
    path: str
    document: str
    former: str = ""


@dataclass(frozen=True)
class ProseTexts:
    """The published and the current texts of pages, by source path.

    Attributes:
        pages: the pages by source path, in the order of the site.
        before: the published texts.
        after: the current texts.
        missing: the number of pages whose texts could not be read, or are not in the cache.
    """

    pages: dict[str, ProsePage]
    before: dict[str, str]
    after: dict[str, str]
    missing: int

    def site_findings(self, findings: Iterable[TextFinding]) -> list[Finding]:
        """Return findings of prose checks as findings of a site, in the order of pages and lines."""
        order = {source: number for number, source in enumerate(self.pages)}
        ordered = sorted(findings, key=lambda finding: (order[finding.path], finding.place))
        return [_site_finding(self.pages[finding.path], finding) for finding in ordered]


def _site_finding(page: ProsePage, finding: TextFinding) -> Finding:
    message = f"line {finding.line}: {finding.message}"
    return Finding(finding.rule, finding.severity, page.where, message, page.space, page.page, finding.line)


def has_published_pages(content: SiteContent) -> bool:
    """Return whether the pages of the last publish are known."""
    return content.published is not None and all(part.name != "published pages" for part in content.unread)


def unread_spaces(content: SiteContent) -> str:
    """Return in words how many spaces could not be read; empty if none."""
    number = sum(part.name == "pages" for part in content.unread)
    return f"{count(number, 'space')} not read" if number else ""


def prose_pages(content: SiteContent) -> tuple[ProsePage, ...]:
    """Return the pages that changed since the site was published; all pages if the published pages are not known."""
    former = {then.space.space: then for then in content.former} if has_published_pages(content) else {}
    pages: dict[tuple[str, str], ProsePage] = {}  # a site may have the same space twice
    for space in content.spaces:
        for page in _changed_pages(space, former.get(space.space.id)):
            pages.setdefault((page.space, page.page), page)
    return tuple(pages.values())


def _changed_pages(space: SpaceContent, former: FormerSpace | None) -> Iterator[ProsePage]:
    documents = {page.id: page.document_id for page in flatten(former.pages)} if former else dict[str, str | None]()
    for page in flatten(space.pages):
        old = documents.get(page.id)
        if page.type == "document" and page.document_id and page.document_id != old:
            path = f"{space_path(space.item, space.section)}/{page.path or page.id}".lstrip("/")
            revision = former.space.revision if former and old else ""
            where = f"{space.title}: {page.title}"
            yield ProsePage(space.space.id, page.id, where, path, page.document_id, revision)


async def read_prose_texts(engine: ProseReading, content: SiteContent, pages: Sequence[ProsePage]) -> ProseTexts:
    """Read the texts of pages: from the cache, and the rest from the service if the published pages are known.

    Args:
        engine: reads the texts.
        content: the site.
        pages: some or all of its `prose_pages`.
    """
    from presscheck.engine.prose_checks.programs import page_sources  # 7 ms, only for prose checks

    texts = await _cached(engine, content, pages)
    limit = asyncio.Semaphore(AT_ONCE)
    former: dict[ProsePage, str] = {}

    async def read(page: ProsePage) -> None:
        async with limit:
            try:
                if page.former:
                    published = await engine.read(page_in(page.space, page.former, page.page))
                    former[page] = published.markdown or ""
                if page not in texts:
                    texts[page] = (await engine.read(live_page(page.space, page.page))).markdown or ""
            except PresscheckError:
                texts.pop(page, None)  # counted below; without its published text, old findings would look new

    if has_published_pages(content):
        await asyncio.gather(*map(read, pages))
    keys = {page: f"{page.space} {page.page}" for page in pages}
    sources = await asyncio.to_thread(page_sources, {keys[page]: page.path for page in pages})
    located = {sources[keys[page]]: page for page in pages if page in texts}
    return ProseTexts(
        pages=located,
        before={source: former[page] for source, page in located.items() if page in former},
        after={source: texts[page] for source, page in located.items()},
        missing=len(pages) - len(located),
    )


async def _cached(engine: ProseReading, content: SiteContent, pages: Iterable[ProsePage]) -> dict[ProsePage, str]:
    """Return the current texts in the cache. They are read in batches, between which screens can write."""
    trees = {space.space.id: space.by_id for space in content.spaces}
    by_space: dict[str, list[ProsePage]] = {}
    for page in pages:
        by_space.setdefault(page.space, []).append(page)
    texts: dict[ProsePage, str] = {}
    for space, own in by_space.items():
        remaining = iter(own)
        while batch := list(islice(remaining, BATCH)):
            rows = [trees[space][page.page] for page in batch]
            stored = await engine.in_store(partial(cached_texts, space=space, pages=rows))
            texts |= {page: stored[page.page] for page in batch if page.page in stored}
    return texts
