"""A revision of a space as the files that a checkout writes for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol, TypeVar

from presscheck.api.change_requests import GetChangeRequest
from presscheck.api.content import (
    GetChangeRequestRevision,
    GetCurrentRevision,
    GetDocument,
    GetRevision,
    ReusableContent,
    Revision,
    RevisionPage,
)
from presscheck.api.operation import Operation
from presscheck.client.responses import read_answer
from presscheck.documents.git_format.config import CONFIG_FILE, RepositoryConfig
from presscheck.documents.git_format.exported import ExportedRevision, Key
from presscheck.documents.git_format.models import SourcePage
from presscheck.documents.git_format.repository import read_summary
from presscheck.documents.git_format.writer import (
    entries,
    write_config,
    write_page,
    write_snippet,
    write_table_of_contents,
)
from presscheck.documents.markdown.headings import leading_title
from presscheck.documents.nodes.to_markdown import nodes_to_markdown
from presscheck.documents.pages.tree import flatten
from presscheck.engine.checkout.state import CheckoutState
from presscheck.engine.protocols import Reader
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.engine.review.page_edits import content_of
from presscheck.engine.shared_calls import page_in

T = TypeVar("T")
AT_ONCE = 8
"""Maximum number of files that are read concurrently."""
FEW_AT_ONCE = 2
"""Maximum number of files that are read concurrently from a near service, such as one on the same machine. There,
handling the responses takes longer than waiting for them, and more connections only cost time: with eight, a checkout
of 1,000 pages took a third longer than with two."""
SUMMARY = RepositoryConfig().summary
LARGE_TEXT = 32 << 10
"""Texts from this size, in characters, are written in a thread: a few milliseconds. For shorter ones, the switch to a
thread took a tenth of the processor time of a checkout."""
LARGEST_FILE = 100 << 20
"""Maximum size of a downloaded file, in bytes."""


class Downloader(Reader, Protocol):
    """A reader from the service that also reads without the cache, and downloads files."""

    async def fetch(self, call: Operation[Any]) -> bytes:
        """Return the unparsed response of the service, never a cached one. It is not stored in the cache."""
        ...

    async def download(self, call: Operation[Any], url: str, limit: int | None = None) -> bytes:
        """Return the bytes of a file whose URL is in the response to `call`."""
        ...


async def newest_revision(engine: Downloader, state: CheckoutState) -> Revision:
    """Return the newest revision of the change request or of main, whichever a checkout follows.

    If the change request was merged, the checkout follows main from now on.

    Raises:
        NetworkError: the service cannot be reached. A cached revision may not be the newest.
        PresscheckError: the service returned an error.
    """
    if state.request:
        path = {"space_id": state.space, "change_request_id": state.request}
        request = await fetched(engine, GetChangeRequest(**path))
        if request.status != "merged":
            return await fetched(engine, GetChangeRequestRevision(**path))
        state.request = state.number = None
    return await fetched(engine, GetCurrentRevision(space_id=state.space))


async def fetched(engine: Downloader, call: Operation[T]) -> T:
    """Send a read to the service, without the cache, and return its response.

    Raises:
        PresscheckError: the request failed.
    """
    return read_answer(call, await engine.fetch(call))


async def revision_by_id(reader: Reader, state: CheckoutState) -> Revision:
    """Return the revision of the last checkout, pull or push."""
    call = GetRevision(space_id=state.space, revision_id=state.revision)
    return await reader.read(call, priority=REQUESTED)


@dataclass
class SpaceFiles:
    """The files of a revision.

    Attributes:
        space: the id of the space.
        revision: the revision.
        exported: the items of the revision with their paths in the folder.
        pages: the pages of the revision by id.
    """

    space: str
    revision: Revision
    exported: ExportedRevision
    pages: dict[str, RevisionPage] = field(init=False)
    _snippets: dict[str, ReusableContent] = field(init=False)

    def __post_init__(self) -> None:
        self.pages = {page.id: page for page in flatten(self.revision.pages)}
        self._snippets = {snippet.id: snippet for snippet in self.revision.reusable_contents}

    @classmethod
    def of(cls, space: str, revision: Revision, names: Mapping[Key, str]) -> SpaceFiles:
        """Create the files of a revision. `names` has the paths of the items that are in the folder already."""
        fallback = (revision.urls.app or "").partition("/revisions/")[0] or f"/spaces/{space}"
        exported = ExportedRevision(
            revision.pages, revision.files, revision.reusable_contents, names=names, fallback=fallback
        )
        return cls(space, revision, exported)

    def summary(self) -> str:
        """Return the table of contents."""
        return write_table_of_contents(self.exported.repository({}), SUMMARY)

    def general_files(self) -> dict[str, bytes]:
        """Return the files that belong to no item: the configuration and the table of contents."""
        return {CONFIG_FILE: write_config(RepositoryConfig(), {}).encode(), SUMMARY: self.summary().encode()}

    def fingerprint(self, key: Key) -> object:
        """Return a value that changes with the content of an item, or None if the revision does not have the item."""
        kind, identity = key
        if kind == "page":
            page = self.pages.get(identity)
            return page and content_of(page)
        if kind == "file":
            file = self.exported.files.get(identity)
            return file and (file.name, file.size, file.git)
        snippet = self._snippets.get(identity)
        return snippet and (snippet.title, snippet.document)

    async def text(self, engine: Downloader, page_id: str) -> str:
        """Return the Markdown of a page from the service, without the title; empty for a page without a document."""
        page = self.pages[page_id]
        if page.document_id is None or page.type != "document":
            return ""
        call = page_in(self.space, self.revision.id, page_id)
        # not cached: storing each page took a seventh of the processor time of a checkout, and the folder has the text
        text = read_answer(call, await engine.fetch(call)).markdown or ""
        heading = leading_title(text)
        return text[heading.end :] if heading else text

    def source_page(self, page_id: str, text: str = "") -> SourcePage:
        """Return a page as its file is written, without subpages. `text` is the Markdown from the service."""
        return self.exported.lone_page(self.pages[page_id], text)

    def _page_file(self, page_id: str, text: str) -> bytes:
        return write_page(self.source_page(page_id, text)).encode()

    async def content(self, engine: Downloader, key: Key) -> bytes:
        """Return the content of the file of an item.

        Raises:
            PresscheckError: the content cannot be read.
        """
        kind, identity = key
        if kind == "page":
            text = await self.text(engine, identity)
            if len(text) > LARGE_TEXT:
                return await asyncio.to_thread(self._page_file, identity, text)
            return self._page_file(identity, text)
        if kind == "file":
            file = self.exported.files[identity]
            call = GetRevision(space_id=self.space, revision_id=self.revision.id)
            return await engine.download(call, file.download_url, LARGEST_FILE)
        snippet = self._snippets[identity]
        text = ""
        if snippet.document:
            call = GetDocument(space_id=self.space, document_id=snippet.document)
            document = await engine.read(call, priority=REQUESTED)
            nodes = {"object": "document", "data": document.data, "nodes": [*document.nodes]}
            text = await asyncio.to_thread(nodes_to_markdown, nodes)
        return write_snippet(self.exported.snippet(snippet, text)).encode()


def same_entries(one: bytes, other: bytes, *, with_titles: bool = True) -> bool:
    """Return whether two tables of contents have the same entries.

    Without `with_titles`, the titles may differ.
    """
    first, second = (entries(read_summary(text.decode("utf-8", "replace")).items, SUMMARY) for text in (one, other))
    return first == second if with_titles else _targets(first) == _targets(second)


def _targets(listed: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [(*entry[1:-1], _targets(entry[-1])) for entry in listed]


async def each(keys: Iterable[Key], work: Callable[[Key], Awaitable[None]]) -> None:
    """Call `work` for each item, with at most `AT_ONCE` calls at the same time, and wait for all of them.

    Raises:
        PresscheckError: a call failed. All other calls were cancelled.
    """
    waiting = iter(keys)

    async def worker() -> None:
        for key in waiting:
            await work(key)

    shares = list[float]()
    for key in islice(waiting, 3):  # one after the other, to see how far the service is
        began, worked = time.monotonic(), time.process_time()
        await work(key)
        shares.append((time.process_time() - worked) / max(time.monotonic() - began, 1e-6))
    # near: this process worked for most of the time, instead of waiting
    is_near = max(shares[1:], default=0) > 0.5  # the first imports modules
    at_once = FEW_AT_ONCE if is_near else AT_ONCE
    tasks = [asyncio.ensure_future(worker()) for _ in range(at_once)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
