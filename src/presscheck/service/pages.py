"""Stored trees, files and revisions as on the wire: paths and addresses are computed, bodies come when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from presscheck.api.content import (
    ReusableContent,
    Revision,
    RevisionFile,
    RevisionPage,
    RevisionUrls,
)
from presscheck.documents.pages.tree import Page, PagePosition, children
from presscheck.service.branches import as_change_request
from presscheck.service.content import document_texts
from presscheck.service.content_tables import ChangeRequestRow, RevisionRow
from presscheck.service.handling import Context

KINDS = {"document": "sheet", "group": "group", "link": "link"}
"""The older name of a type, which is still demanded."""
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
"""How a page is laid out that says nothing else."""


def as_revision(context: Context, row: RevisionRow) -> Revision:
    """A revision with its pages, without their bodies."""
    merged = context.session.get(ChangeRequestRow, row.merged_from) if row.merged_from else None
    return Revision(
        id=row.id,
        type=row.type,
        parents=tuple(row.parents),
        pages=as_pages(context, row.space_id, row.tree),
        files=as_files(context, row.files),
        reusable_contents=tuple(ReusableContent.model_validate(one) for one in row.reusable_contents),
        variables=row.variables,
        created_at=row.created_at,
        merged_from=as_change_request(context, merged) if merged else None,
        urls=RevisionUrls(app=context.app(f"/spaces/{row.space_id}/revisions/{row.id}")),
    )


def as_pages(context: Context, space_id: str, tree: Sequence[Page], prefix: str = "") -> tuple[RevisionPage, ...]:
    """The pages of a tree, without their bodies."""
    return tuple(RevisionPage.model_validate(_wired(context, space_id, page, prefix)) for page in tree)


def wired_place(context: Context, space_id: str, place: PagePosition) -> dict[str, Any]:
    """One page with those below it by its names on the wire, without its body."""
    prefix = (place.path or "").removesuffix(place.page.get("slug") or "")
    return _wired(context, space_id, place.page, prefix)


def body_of(context: Context, page: Page) -> str:
    """The stored text of a page."""
    document = page.get("documentId")
    return document_texts(context.session, [document]).get(document, "") if document else ""


def as_files(context: Context, files: Sequence[dict[str, Any]]) -> tuple[RevisionFile, ...]:
    """Files as on the wire, with their addresses."""
    return tuple(RevisionFile.model_validate(wired_file(context, file)) for file in files)


def wired_file(context: Context, file: dict[str, Any]) -> dict[str, Any]:
    """A stored file by its names on the wire, with its address."""
    content = file.get("content")
    name = quote(file["name"].replace("/", "_"), safe="")
    address = f"{context.origin}/files/{content}/{name}" if content else ""
    return {"downloadURL": address} | {name: value for name, value in file.items() if name != "content"}


def _wired(context: Context, space_id: str, page: Page, prefix: str) -> dict[str, Any]:
    kind = page["type"]
    found = {"kind": KINDS.get(kind, kind)} | page
    if kind == "link":
        return found
    path = prefix + page.get("slug", "")
    found["path"] = path
    below = f"{path}/" if page.get("slug") else prefix
    found["pages"] = [_wired(context, space_id, one, below) for one in children(page)]
    if kind == "document":
        found["layout"] = LAYOUT | page.get("layout", {})
        found["urls"] = {"app": context.app(f"/spaces/{space_id}/pages/{page['id']}")}
    return found
