"""What points at what in the pages that the cache holds, for services without such calls, and without a connection.

The answers are those of `documents.markdown.link_report`, as the local service's are; what is not known is counted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from presscheck.api.content import (
    GetChangeRequestRevision,
    GetCurrentRevision,
    ListChangeRequestFiles,
    ListChangeRequestPages,
    ListFiles,
    ListPages,
    Revision,
    RevisionFile,
)
from presscheck.api.links import (
    ContentLocation,
    Link,
    ListChangeRequestPageBacklinks,
    ListPageBacklinks,
    ListSpaceLinks,
)
from presscheck.api.operation import Operation
from presscheck.api.organizations import Organization
from presscheck.api.spaces import Space
from presscheck.documents.markdown.link_report import LinkReport, RevisionContent
from presscheck.documents.pages.tree import flatten
from presscheck.engine.protocols import Reader
from presscheck.engine.search.index_entries import pages_of
from presscheck.engine.shared_calls import ALL
from presscheck.errors import NetworkError, NotSupported
from presscheck.store.cache import Cache
from presscheck.store.cache_reader import Stored
from presscheck.store.search_index import SearchIndex

T = TypeVar("T")


@dataclass(frozen=True)
class LinksHere:
    """What the cache knows; `unread` are the ids of pages whose text it does not have."""

    links: LinkReport
    unread: tuple[str, ...]


@dataclass(frozen=True)
class Linked(Generic[T]):
    """Links, or places that point somewhere.

    Attributes:
        is_told: whether the service said so; else it is what the pages say that are known here.
        unread: how many pages nobody could look into.
    """

    items: tuple[T, ...]
    is_told: bool = True
    unread: int = 0


class LinkReader(Reader, Protocol):
    """Reads links from the service, and from the stored pages."""

    async def links_here(self, space: str, change_request: str | None = None) -> LinksHere | None:
        """The links in the stored pages; None where the store does not know the tree of pages."""
        ...


async def backlinks(
    engine: LinkReader, space: str, page: str, change_request: str | None = None
) -> Linked[ContentLocation]:
    """The pages that point at a page.

    Raises:
        PresscheckError: the service did not say, and the tree of the pages is not known here.
    """
    given: dict[str, Any] = {"space_id": space, "page_id": page, "limit": ALL}
    call: Operation[Any] = (
        ListChangeRequestPageBacklinks(**given, change_request_id=change_request)
        if change_request
        else ListPageBacklinks(**given)
    )
    try:
        return Linked((await engine.read(call)).items)
    except (NotSupported, NetworkError):
        here = await engine.links_here(space, change_request)
        if here is None:
            raise
        return Linked(tuple(here.links.to("page", page)), is_told=False, unread=len(here.unread))


async def links_of_space(engine: LinkReader, space: str) -> Linked[Link]:
    """Every link in the live content of a space.

    Raises:
        PresscheckError: the service did not say, and the tree of the pages is not known here.
    """
    call, found = ListSpaceLinks(space_id=space, limit=ALL), list[Link]()
    try:
        while True:
            answer = await engine.read(call)
            found += answer.items
            if answer.next is None:
                return Linked(tuple(found))
            call = call.model_copy(update={"page": answer.next.page})
    except (NotSupported, NetworkError):
        here = await engine.links_here(space)
        if here is None:
            raise
        return Linked(tuple(here.links.as_links(here.links.usages)), is_told=False, unread=len(here.unread))


def links_in(cache: Cache, space: str, change_request: str | None) -> LinksHere | None:
    """The links of the live content or of a change request; None where its tree is not known.

    For the thread that writes the cache.
    """
    index = cache.search
    content = _tree(index, space, change_request)
    if content is None:
        return None
    pages, files, reusable = content.pages, content.files, content.reusable_contents
    links = dict(index.links(pages_of(space, change_request or "")))
    written = {page.id: page.document_id for page in flatten(pages) if page.type == "document"}
    if change_request:
        links = _unchanged(index, space, written) | links
    links |= {page: () for page, document in written.items() if document is None}
    text = index.thing("space", space)
    known = Space.model_validate_json(text) if text else None
    owner = index.thing("organization", known.organization) if known and known.organization else None
    found = RevisionContent(
        pages=pages,
        links=links,
        files=files,
        reusable=reusable,
        organization=Organization.model_validate_json(owner) if owner else None,
        space=known,
        app=_app(known.urls.app or "", space) if known else "",
    )
    return LinksHere(LinkReport(found), tuple(page for page in written if page not in links))


def _tree(index: SearchIndex, space: str, change_request: str | None) -> Revision | None:
    """The newest tree that is known, with the newest files and reusable contents."""
    given: dict[str, Any] = {"space_id": space} | ({"change_request_id": change_request} if change_request else {})
    whole, pages, files = (
        (GetChangeRequestRevision, ListChangeRequestPages, ListChangeRequestFiles)
        if change_request
        else (GetCurrentRevision, ListPages, ListFiles)
    )
    revision, tree = (_newest(index, call(**given)) for call in (whole, pages))
    if revision is None and tree is None:
        return None
    found = Revision.model_validate_json(revision.json) if revision else Revision(id="")
    if tree and (revision is None or tree.at > revision.at):
        found = found.model_copy(update={"pages": pages(**given).read_answer(tree.json.encode()).pages})
    listed = _newest(index, files(**given), files(**given, limit=ALL))
    if listed and (revision is None or listed.at > revision.at):
        items = cast("list[Any]", json.loads(listed.json)["items"])
        found = found.model_copy(update={"files": tuple(RevisionFile.model_validate(one) for one in items)})
    return found


def _newest(index: SearchIndex, *calls: Operation[Any]) -> Stored | None:
    stored = [found for call in calls if (found := index.answer(call.key()))]
    return max(stored, key=lambda one: one.at, default=None)


def _unchanged(index: SearchIndex, space: str, written: Mapping[str, str | None]) -> dict[str, tuple[str, ...]]:
    """The links of the live pages that a change request has with the same text."""
    live = _tree(index, space, None)
    if live is None:
        return {}
    same = {page.id for page in flatten(live.pages) if page.document_id and written.get(page.id) == page.document_id}
    return {page: tuple(links) for page, links in index.links(pages_of(space)).items() if page in same}


def _app(address: str, space: str) -> str:
    """What the addresses of the service's own app begin with, from that of a space in it."""
    before, found, _ = address.partition(f"spaces/{space}")
    if found:
        return before
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}/" if parts.netloc else ""
