"""Serializes stored page trees, files and revisions: computes paths and URLs; bodies are added on request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presscheck.api.content import (
    ReusableContent,
    Revision,
    RevisionFile,
    RevisionPage,
    RevisionUrls,
)
from presscheck.documents.pages.tree import Page, PagePosition, children
from presscheck.service.content.file_urls import file_address
from presscheck.service.content.revisions import document_texts
from presscheck.service.http.operation_registry import Context
from presscheck.service.models.content import ChangeRequestRow, RevisionRow
from presscheck.service.review.change_requests import as_change_request

KINDS = {"document": "sheet", "group": "group", "link": "link"}
"""The old name of a page type, which is still a required field."""
LAYOUT: dict[str, Any] = {
    "width": "default",
    "cover": True,
    "coverSize": "full",
    "title": True,
    "description": True,
    "tableOfContents": True,
    "outline": True,
    "pagination": True,
    "metadata": True,
}
"""Default page layout."""


def as_revision(context: Context, row: RevisionRow) -> Revision:
    """Serializes a revision with its pages, without their bodies."""
    merged = context.session.get(ChangeRequestRow, row.merged_from) if row.merged_from else None
    return Revision(
        id=row.id,
        type=row.type,
        parents=tuple(row.parents),
        pages=as_pages(context, row.space_id, row.tree),
        files=as_files(context, row.files),
        reusable_contents=tuple(ReusableContent.model_validate(snippet) for snippet in row.reusable_contents),
        variables=row.variables,
        created_at=row.created_at,
        merged_from=as_change_request(context, merged) if merged else None,
        urls=RevisionUrls(app=context.app(f"/spaces/{row.space_id}/revisions/{row.id}")),
    )


def as_pages(context: Context, space_id: str, tree: Sequence[Page], prefix: str = "") -> tuple[RevisionPage, ...]:
    """Serializes the pages of a tree, without their bodies."""
    return tuple(RevisionPage.model_validate(_wired(context, space_id, page, prefix)) for page in tree)


def serialize_location(context: Context, space_id: str, place: PagePosition) -> dict[str, Any]:
    """Serializes one page with its subpages, without its body."""
    prefix = (place.path or "").removesuffix(place.page.get("slug") or "")
    return _wired(context, space_id, place.page, prefix)


def body_of(context: Context, page: Page) -> str:
    """The stored Markdown of a page."""
    document = page.get("documentId")
    return document_texts(context.session, [document]).get(document, "") if document else ""


def as_files(context: Context, files: Sequence[dict[str, Any]]) -> tuple[RevisionFile, ...]:
    """Serializes files, with their URLs."""
    return tuple(RevisionFile.model_validate(serialize_file(context, file)) for file in files)


def serialize_file(context: Context, file: dict[str, Any]) -> dict[str, Any]:
    """Serializes one stored file, with its URL."""
    content = file.get("content")
    address = file_address(context, content, file["name"].replace("/", "_")) if content else ""
    return {"downloadURL": address} | {name: value for name, value in file.items() if name != "content"}


def _wired(context: Context, space_id: str, page: Page, prefix: str) -> dict[str, Any]:
    kind = page["type"]
    wire = {"kind": KINDS.get(kind, kind)} | page
    if kind == "link":
        return wire
    path = prefix + page.get("slug", "")
    wire["path"] = path
    below = f"{path}/" if page.get("slug") else prefix
    wire["pages"] = [_wired(context, space_id, child, below) for child in children(page)]
    if kind == "document":
        wire["layout"] = LAYOUT | page.get("layout", {})
        wire["urls"] = {"app": context.app(f"/spaces/{space_id}/pages/{page['id']}")}
    return wire
