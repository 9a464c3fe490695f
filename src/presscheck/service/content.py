"""Revisions and the texts of their pages: written once, read in the shape of the wire."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from presscheck.documents.pages.tree import Page, walk
from presscheck.service.content_tables import DocumentRow, RevisionRow
from presscheck.service.document_words import add_words
from presscheck.service.identity import document_id, new_id

MOST_AT_ONCE = 500
"""Ids in one question; databases bound their parameters."""


def add_documents(session: Session, texts: Iterable[str]) -> list[str]:
    """Keep texts; the ids of their documents, in order."""
    wanted = list(texts)
    by_id = {document_id(text): text for text in wanted}
    known = set(document_texts(session, by_id))
    new = [DocumentRow(id=key, markdown=text) for key, text in by_id.items() if key not in known]
    session.add_all(new)
    session.flush()
    add_words(session.connection(), [(row.id, row.markdown) for row in new])
    return [document_id(text) for text in wanted]


def add_document(session: Session, markdown: str) -> str:
    """Keep a text; the id of its document."""
    return add_documents(session, [markdown])[0]


def document_texts(session: Session, ids: Iterable[str]) -> dict[str, str]:
    """The texts of documents, by id."""
    wanted = list(dict.fromkeys(ids))
    found: dict[str, str] = {}
    for start in range(0, len(wanted), MOST_AT_ONCE):
        rows = session.execute(
            select(DocumentRow.id, DocumentRow.markdown).where(DocumentRow.id.in_(wanted[start : start + MOST_AT_ONCE]))
        )
        found.update(dict(rows.all()))
    return found


def add_revision(
    session: Session,
    space_id: str,
    tree: list[Page],
    *,
    created_at: str,
    created_by: str | None,
    parents: Sequence[str] = (),
    kind: str = "edits",
    files: list[dict[str, Any]] | None = None,
    reusable_contents: list[dict[str, Any]] | None = None,
    variables: dict[str, Any] | None = None,
    merged_from: str | None = None,
) -> RevisionRow:
    """Write a revision of a space; nothing points at it yet.

    Args:
        session: the transaction.
        space_id: whose revision; its row may be written later in the same transaction.
        tree: pages as they are stored (see `page_trees.Page`).
        created_at: the moment.
        created_by: the id of who made it.
        parents: the revisions that it follows, the main line first.
        kind: edits, merge, rollback, update or computed.
        files: files as they are stored (id, name, contentType, size, content: the id of the bytes).
        reusable_contents: id, title, document (an id).
        variables: the space's own.
        merged_from: the change request that it merged.
    """
    row = RevisionRow(
        id=new_id(),
        space_id=space_id,
        type=kind,
        parents=list(parents),
        created_at=created_at,
        created_by=created_by,
        tree=tree,
        files=files or [],
        reusable_contents=reusable_contents or [],
        variables=variables,
        merged_from=merged_from,
    )
    session.add(row)
    return row


def new_page(
    title: str,
    *,
    slug: str,
    kind: str = "document",
    document: str | None = None,
    pages: list[Page] | None = None,
    created_at: str | None = None,
    page_id: str | None = None,
    **details: Any,
) -> Page:
    """A page as it is stored: its names on the wire, `documentId` for its text, `pages` for those below, no path.

    Args:
        title: its title.
        slug: its part of the path; empty for a link, and where `with_slugs` shall find one.
        kind: document, group, link or computed.
        document: the id of its document; None for an empty page.
        pages: those below.
        created_at: the moment.
        page_id: its id, when it has one already.
        details: by their names on the wire, without those that are None: emoji, description, hidden, cover, target, …
    """
    page: Page = {"id": page_id or new_id(), "type": kind, "title": title}
    if slug and kind != "link":
        page["slug"] = slug
    if document:
        page["documentId"] = document
    if created_at:
        page |= {"createdAt": created_at, "updatedAt": created_at}
    page |= {name: value for name, value in details.items() if value is not None}
    if kind != "link":
        page["pages"] = pages or []
    return page


def documents_of(tree: list[Page]) -> list[str]:
    """The ids of all documents in a tree."""
    return [place.page["documentId"] for place in walk(tree) if place.page.get("documentId")]
