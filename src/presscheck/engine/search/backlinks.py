"""Links and backlinks from cached pages, for services without operations for them and while offline.

The links are found by `documents.markdown.link_report`, which the local service also uses. Pages that are not cached
are counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from pydantic_core import from_json

from presscheck.api.content import (
    GetChangeRequestRevision,
    GetCurrentRevision,
    ListChangeRequestFiles,
    ListChangeRequestPages,
    ListFiles,
    ListPages,
    Revision,
    RevisionFile,
    RevisionPage,
)
from presscheck.api.links import (
    ContentLocation,
    Link,
    ListChangeRequestPageBacklinks,
    ListPageBacklinks,
    ListSpaceLinks,
)
from presscheck.api.operation import ALL, Operation
from presscheck.api.organizations import Organization
from presscheck.api.spaces import Space
from presscheck.documents.markdown.anchors import PageAnchors
from presscheck.documents.markdown.link_report import LinkReport, RevisionContent, linked_anchors
from presscheck.documents.markdown.spec_references import find_specs
from presscheck.documents.pages.file_urls import unsigned_url
from presscheck.documents.pages.tree import flatten
from presscheck.engine.protocols import Reader
from presscheck.engine.reads.listing_guard import ListingGuard
from presscheck.engine.search.index_entries import pages_of
from presscheck.engine.shared_calls import changed_page, live_page, live_page_keys
from presscheck.errors import IncompleteList, NetworkError, NotSupported
from presscheck.store.cache import Cache
from presscheck.store.search_index import SearchIndex, Stored

T = TypeVar("T")


@dataclass(frozen=True)
class LocalLinks:
    """The links in cached pages.

    Attributes:
        unread: the ids of the pages whose text is not cached.
    """

    links: LinkReport
    unread: tuple[str, ...]


@dataclass(frozen=True)
class Linked(Generic[T]):
    """Links, or the locations that link to a page.

    Attributes:
        is_from_service: whether the service listed the items; otherwise they were found in cached pages.
        unread: the number of pages whose text is not cached; their links are missing.
        problem: why the service's list is incomplete; None if it is complete.
    """

    items: tuple[T, ...]
    is_from_service: bool = True
    unread: int = 0
    problem: IncompleteList | None = None


@dataclass(frozen=True)
class OtherUses:
    """The cached uses of a file, page or specification in the spaces of its organization.

    Attributes:
        pages: the pages that refer to it, each with its space.
        unread: the number of pages in the searched spaces whose text is not cached.
        not_searched: the spaces whose page tree is not cached.
    """

    pages: tuple[tuple[Space, RevisionPage], ...] = ()
    unread: int = 0
    not_searched: tuple[Space, ...] = ()


class LinkReader(Reader, Protocol):
    """A reader of links from the service and from cached pages."""

    async def local_links(self, space: str, change_request: str | None = None) -> LocalLinks | None:
        """Return the links in the cached pages, or None if the page tree is not cached."""
        ...


async def backlinks(
    engine: LinkReader, space: str, page: str, change_request: str | None = None
) -> Linked[ContentLocation]:
    """Return the pages that link to a page.

    Raises:
        PresscheckError: the service cannot list the backlinks, and the page tree is not cached.
    """
    path: dict[str, Any] = {"space_id": space, "page_id": page, "limit": ALL}
    call: Operation[Any] = (
        ListChangeRequestPageBacklinks(**path, change_request_id=change_request)
        if change_request
        else ListPageBacklinks(**path)
    )
    try:
        return Linked((await engine.read(call)).items)
    except (NotSupported, NetworkError):
        local = await engine.local_links(space, change_request)
        if local is None:
            raise
        return Linked(tuple(local.links.to("page", page)), is_from_service=False, unread=len(local.unread))


async def links_of_space(engine: LinkReader, space: str) -> Linked[Link]:
    """Return all links in the live content of a space.

    Raises:
        PresscheckError: the service cannot list the links, and the page tree is not cached.
    """
    call, found = ListSpaceLinks(space_id=space, limit=ALL), list[Link]()
    guard = ListingGuard(call)
    try:
        while True:
            answer = await engine.read(call)
            found += guard.new_items(answer.items)
            problem = guard.problem(answer.next.page) if answer.next else None
            if answer.next is None or problem:
                return Linked(tuple(found), problem=problem)
            call = call.model_copy(update={"page": answer.next.page})
    except (NotSupported, NetworkError):
        local = await engine.local_links(space)
        if local is None:
            raise
        return Linked(tuple(local.links.as_links(local.links.usages)), is_from_service=False, unread=len(local.unread))


def links_in(cache: Cache, space: str, change_request: str | None) -> LocalLinks | None:
    """Return the links of the live content or of a change request, or None if the page tree is not cached.

    Runs in the cache's writer thread.
    """
    index = cache.search
    content = _tree(index, space, change_request)
    if content is None:
        return None
    pages, files, reusable = content.pages, content.files, content.reusable_contents
    links = dict(index.links(pages_of(space, change_request or "")))
    documents = {page.id: page.document_id for page in flatten(pages) if page.type == "document"}
    if change_request:
        links = _unchanged(index, space, documents) | links
    links |= {page: () for page, document in documents.items() if document is None}
    text = index.thing("space", space)
    space_details = Space.model_validate_json(text) if text else None
    organization = (
        index.thing("organization", space_details.organization)
        if space_details and space_details.organization
        else None
    )
    anchors: dict[str, PageAnchors] = {}
    found = RevisionContent(
        pages=pages,
        links=links,
        anchors=anchors,
        files=files,
        reusable=reusable,
        organization=Organization.model_validate_json(organization) if organization else None,
        space=space_details,
        app=_app_url(space_details.urls.app or "", space) if space_details else "",
    )
    report = LinkReport(found)
    anchored = {page: document for page, document in documents.items() if document and page in report.anchored}
    texts = _texts(cache, space, change_request, anchored)
    anchors |= {page: _anchors_in(text) for page, text in texts.items()}
    return LocalLinks(report, tuple(page for page in documents if page not in links))


_anchors_in = lru_cache(maxsize=1024)(linked_anchors)


def _texts(cache: Cache, space: str, change_request: str | None, documents: Mapping[str, str]) -> dict[str, str]:
    """Return the cached texts of pages by page id. `documents` has the document id of each page.

    Runs in the cache's writer thread.
    """
    keys = {key: page for page, key in live_page_keys(space, documents).items()}
    if change_request:
        keys |= {changed_page(space, change_request, page).key(): page for page in documents}
    texts: dict[str, str] = {}
    for key, stored in cache.for_writing(keys).items():
        page = from_json(stored.json, cache_strings="keys")
        if page.get("documentId") == documents[keys[key]] and isinstance(page.get("markdown"), str):
            # the service puts the title before the text
            texts[keys[key]] = page["markdown"].removeprefix(f"# {page.get('title')}\n")
    return texts


def pages_including(index: SearchIndex, space: str, document: str) -> list[RevisionPage]:
    """Return the live pages that include a document as reusable content.

    Pages are missing if their text or the page tree is not cached. Runs in the cache's writer thread.
    """
    content = _tree(index, space, None)
    snippets = [snippet.id for snippet in content.reusable_contents if snippet.document == document] if content else []
    if content is None or not snippets:
        return []
    links = index.links(pages_of(space))
    included = {page: [target for target in targets if _may_include(target)] for page, targets in links.items()}
    details = index.thing("space", space)
    report = LinkReport(
        RevisionContent(
            pages=content.pages,
            links=included,
            reusable=content.reusable_contents,
            space=Space.model_validate_json(details) if details else None,
        )
    )
    locations = [location for snippet in snippets for location in report.to("snippet", snippet)]
    return [location.page for location in locations if location.page]


def _may_include(target: str) -> bool:
    """Return whether a link target may be reusable content. Resolving all links of a space instead would take long."""
    return (target.endswith(".md") and "includes/" in target) or "/reusable/" in target


def uses_elsewhere(cache: Cache, space: str, addresses: frozenset[str]) -> OtherUses:
    """Return the live pages that link to any of the addresses, in other spaces of the same organization.

    Runs in the cache's writer thread.

    Args:
        cache: the cache, with the links of its pages.
        space: the space that owns the addresses; its own pages are left out.
        addresses: the URLs as pages of other spaces write them; file URLs without a signature.
    """

    def named(other: str, _: list[RevisionPage]) -> dict[str, bool]:
        links = cache.search.links(pages_of(other))
        return {page: any(unsigned_url(link) in addresses for link in targets) for page, targets in links.items()}

    own = cache.search.thing("space", space)
    organization = Space.model_validate_json(own).organization if own else ""
    return _uses(cache.search, organization or "", named, without=space)


def specification_uses(cache: Cache, organization: str, names: frozenset[str]) -> OtherUses:
    """Return the live pages of an organization whose OpenAPI blocks name a specification.

    Runs in the cache's writer thread.

    Args:
        cache: the cache, with the texts of pages.
        organization: the id of the organization.
        names: the slug of the specification, and the URL of its source.
    """

    def named(space: str, pages: list[RevisionPage]) -> dict[str, bool]:
        keys = {live_page(space, page.id).key(): page.id for page in pages}
        return {keys[key]: shows(stored.json) for key, stored in cache.for_writing(keys).items()}

    def shows(answer: str) -> bool:
        if "openapi" not in answer:  # most pages end here: parsing their JSON would delay other writes
            return False
        return any(found.name in names for found in find_specs(json.loads(answer).get("markdown") or ""))

    return _uses(cache.search, organization, named)


def _uses(
    index: SearchIndex,
    organization: str,
    named: Callable[[str, list[RevisionPage]], Mapping[str, bool]],
    *,
    without: str = "",
) -> OtherUses:
    """Return the uses in the spaces of an organization, except the space `without`.

    `named` takes a space and its pages. It returns whether each page with a cached text is a use, by page id.
    """
    found, unread, not_searched = list[tuple[Space, RevisionPage]](), 0, list[Space]()
    for space in index.spaces_of(organization):
        text = index.thing("space", space) if space != without else None
        if text is None:
            continue
        details, content = Space.model_validate_json(text), _tree(index, space, None)
        if content is None:
            not_searched.append(details)
            continue
        pages = list(flatten(content.pages))
        known = named(space, pages)
        unread += sum(page.id not in known and page.document_id is not None for page in pages)
        found += [(details, page) for page in pages if known.get(page.id)]
    return OtherUses(tuple(found), unread, tuple(not_searched))


def _tree(index: SearchIndex, space: str, change_request: str | None) -> Revision | None:
    """Return the newest cached page tree with the newest files and reusable contents, or None if no tree is cached."""
    path: dict[str, Any] = {"space_id": space} | ({"change_request_id": change_request} if change_request else {})
    whole, pages, files = (
        (GetChangeRequestRevision, ListChangeRequestPages, ListChangeRequestFiles)
        if change_request
        else (GetCurrentRevision, ListPages, ListFiles)
    )
    revision, tree = (_newest(index, call(**path)) for call in (whole, pages))
    if revision is None and tree is None:
        return None
    found = Revision.model_validate_json(revision.json) if revision else Revision(id="")
    if tree and (revision is None or tree.at > revision.at):
        found = found.model_copy(update={"pages": pages(**path).read_answer(tree.json.encode()).pages})
    listed = _newest(index, files(**path), files(**path, limit=ALL))
    if listed and (revision is None or listed.at > revision.at):
        items = cast("list[Any]", json.loads(listed.json)["items"])
        found = found.model_copy(update={"files": tuple(map(RevisionFile.model_validate, items))})
    return found


def _newest(index: SearchIndex, *calls: Operation[Any]) -> Stored | None:
    stored = [found for call in calls if (found := index.answer(call.key()))]
    return max(stored, key=lambda response: response.at, default=None)


def _unchanged(index: SearchIndex, space: str, documents: Mapping[str, str | None]) -> dict[str, tuple[str, ...]]:
    """Return the links of the live pages that a change request leaves unchanged."""
    live = _tree(index, space, None)
    if live is None:
        return {}
    same = {page.id for page in flatten(live.pages) if page.document_id and documents.get(page.id) == page.document_id}
    return {page: tuple(links) for page, links in index.links(pages_of(space)).items() if page in same}


def _app_url(address: str, space: str) -> str:
    """Return the base URL of the service's own app, taken from the app URL of a space."""
    before, found, _ = address.partition(f"spaces/{space}")
    if found:
        return before
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}/" if parts.netloc else ""
