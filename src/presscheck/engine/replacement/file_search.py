"""Search for the places in a space that show a file, to replace the file by a new file, which is uploaded first.

Pages refer to a file by path, address or id. Covers of pages and reusable content also show files, but the API has no
operation to edit them. They are therefore only listed with the hits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content import GetDocument, ListChangeRequestFiles, Revision, RevisionFile, RevisionPage
from presscheck.api.content_changes import EditChangeRequestContent, InsertFiles, NewFile
from presscheck.api.operation import ALL
from presscheck.documents.markdown.links import LinkResolver, find_links, source_path
from presscheck.documents.nodes.to_markdown import nodes_to_markdown
from presscheck.documents.nodes.validation import InvalidNode
from presscheck.documents.pages.file_urls import address_in_page, unsigned_url
from presscheck.documents.pages.replacement import Hit, PageText, hits_of_targets
from presscheck.documents.pages.tree import flatten
from presscheck.engine.protocols import Reader
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.engine.review.page_edits import Writer
from presscheck.errors import PresscheckError


@dataclass(frozen=True)
class FileQuery:
    """A file in a space and the new file that replaces it; the space has no other file with the new name."""

    file: RevisionFile
    new: NewFile

    @property
    def address(self) -> str:
        """The expected address of the new file in pages; the final address is known only after the upload."""
        return address_in_page(RevisionFile(id="", name=self.new.name))


@dataclass(frozen=True)
class KeptPlace:
    """A place that still shows the old file, and the reason."""

    id: str
    title: str
    reason: str


class FilePlaces:
    """A search for the places that show a file in a revision of a space.

    Args:
        query: the old and the new file.
        revision: the revision, with its pages, files and reusable content.
    """

    def __init__(self, query: FileQuery, revision: Revision) -> None:
        self._query, self._revision = query, revision
        self._resolver = LinkResolver.of(revision.pages, revision.files, revision.reusable_contents)
        self._sources = {page.id: source_path(page) for page in flatten(revision.pages)}

    @property
    def pages(self) -> tuple[RevisionPage, ...]:
        """The tree of pages."""
        return self._revision.pages

    async def hits(self, page: RevisionPage, text: PageText) -> tuple[Hit, ...]:
        """Return the link and image targets on a page that refer to the file."""
        source = self._sources.get(page.id, "")
        return await asyncio.to_thread(
            hits_of_targets, text, lambda target: self._leads_here(target, source), self._query.address
        )

    def _leads_here(self, target: str, source: str) -> bool:
        file = self._query.file
        if not target or target == f"/~/files/{file.id}":
            return bool(target)
        to = self._resolver.resolve(target, source)
        is_its_address = bool(to.url) and unsigned_url(to.url) == unsigned_url(file.download_url)
        return is_its_address or (to.kind, to.id) == ("file", file.id)

    async def kept(self, reader: Reader, space_id: str) -> tuple[KeptPlace, ...]:
        """Return the covers and reusable contents that show the file, and reusable contents that could not be read."""
        places = [
            KeptPlace(page.id, page.title, "its cover: change it in the app")
            for page in flatten(self._revision.pages)
            if page.cover and self._query.file.id in {ref.file for ref in (page.cover.ref, page.cover.ref_dark) if ref}
        ]
        for piece in self._revision.reusable_contents:
            if piece.document is None:
                continue
            try:
                document = await reader.read(
                    GetDocument(space_id=space_id, document_id=piece.document), priority=REQUESTED
                )
                text = await asyncio.to_thread(_markdown_of, {"data": document.data, "nodes": [*document.nodes]})
            except (PresscheckError, InvalidNode):
                reason = "reusable content that could not be read"
            else:
                source, reason = piece.git.path if piece.git else "", ""
                if any(self._leads_here(link.target, source) for link in find_links(text)):
                    reason = "reusable content: edit it in the app"
            places += [KeptPlace(piece.id, piece.title, reason)] if reason else []
        return tuple(places)


def _markdown_of(document: dict[str, Any]) -> str:
    return nodes_to_markdown({"object": "document", **document})


def free_name(name: str, files: Iterable[RevisionFile]) -> str:
    """Return a unique name for a new file, with a number if the space already has a file with its name."""
    taken = {used for file in files for used in (file.name, file.git.path if file.git else "")}
    stem, dot, ending = name.rpartition(".")
    stem, ending = (stem, f"{dot}{ending}") if stem else (name, "")
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{stem}-{number}{ending}"
    return free


async def upload(engine: Writer, request: ChangeRequest, query: FileQuery) -> RevisionFile:
    """Upload the new file to a change request, unless an earlier attempt has uploaded it.

    Raises:
        PresscheckError: the service refused the file, or does not list it after the upload.
    """
    path = {"space_id": request.space, "change_request_id": request.id}
    if uploaded := await _uploaded(engine, path, query):
        return uploaded
    call = EditChangeRequestContent(**path, changes=(InsertFiles(files=(query.new,)),), compat=False)
    answer = await engine.write(call).landed()
    inserted = answer.inserted_files if answer else None
    uploaded = inserted[0] if inserted else await _uploaded(engine, path, query)
    if uploaded is None:
        raise PresscheckError(f"{query.new.name} was uploaded, but the service does not list it: no page was changed")
    return uploaded


async def _uploaded(reader: Reader, path: dict[str, Any], query: FileQuery) -> RevisionFile | None:
    files = (await reader.read(ListChangeRequestFiles(**path, limit=ALL), priority=REQUESTED)).items
    return next((file for file in files if file.name == query.new.name), None)


def hits_with_address(hits: Sequence[Hit], file: RevisionFile) -> tuple[Hit, ...]:
    """Return the hits with the final address of the uploaded file as their replacement."""
    return tuple(hit._replace(new=address_in_page(file)) for hit in hits)
