"""Stored revisions and documents (the Markdown of pages). Both are written once and never change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import func, insert, select, text
from sqlalchemy.orm import Session

from presscheck.documents.pages.tree import Page, walk
from presscheck.service.db.fulltext_index import add_words
from presscheck.service.db.ids import document_id, new_id
from presscheck.service.db.statements import among, each
from presscheck.service.models.content import DocumentRow, RevisionRow

FORMER_PATHS = "formerPaths"
"""Field of stored pages with their former paths, which redirect to the page, each with an anchor or "".

The API does not have this field. It is part of the page so that it is moved, copied and deleted with the page.
"""
_documents = DocumentRow.__table__.c
_wanted = each("ids")
_TEXTS = select(_documents.id, _documents.markdown).where(_documents.id == _wanted.c.value)
_SIZE = select(func.sum(func.length(_documents.markdown))).where(among(_documents.id, "ids"))
_KNOWN = select(_documents.id).where(_documents.id == _wanted.c.value)
_ADD_DOCUMENT = text("INSERT INTO documents (id, markdown) VALUES (:id, :markdown) ON CONFLICT DO NOTHING")
_ADD_REVISION = insert(RevisionRow)


class NewDocuments:
    """A collection of new texts that are stored together. The id of a document is the hash of its text."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def add(self, markdown: str) -> str:
        """Add a text and return the id of its document; `store` writes it."""
        key = document_id(markdown)
        self.texts[key] = markdown
        return key

    def store(self, session: Session) -> None:
        """Store the texts, except those that the database already has."""
        if not self.texts:
            return
        connection, new = session.connection(), [*self.texts.items()]
        # on PostgreSQL, a single text is sent with the other statements: checking whether it exists costs a round trip
        if len(new) > 1 or connection.dialect.name != "postgresql":
            stored = {key for (key,) in connection.execute(_KNOWN, {"ids": [*self.texts]}).all()}
            new = [row for row in new if row[0] not in stored]
        if new:
            connection.execute(_ADD_DOCUMENT, [{"id": key, "markdown": markdown} for key, markdown in new])
            add_words(connection, new)


def add_documents(session: Session, texts: Iterable[str]) -> list[str]:
    """Store several texts and return the ids of their documents, in order."""
    new = NewDocuments()
    ids = [new.add(text) for text in texts]
    new.store(session)
    return ids


def add_document(session: Session, markdown: str) -> str:
    """Store a text and return the id of its document."""
    return add_documents(session, [markdown])[0]


def document_texts(session: Session, ids: Iterable[str]) -> dict[str, str]:
    """Return the texts of documents by id."""
    unique_ids = [*dict.fromkeys(ids)]
    rows: Any = session.connection().execute(_TEXTS, {"ids": unique_ids}).all() if unique_ids else ()
    return dict(rows)


def text_size(session: Session, ids: Sequence[str]) -> int:
    """Return the total number of characters of documents."""
    return (session.execute(_SIZE, {"ids": ids}).scalar() or 0) if ids else 0


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
    revision_id: str | None = None,
) -> str:
    """Add a revision to a space and return its id. Nothing refers to the revision yet.

    Args:
        session: the transaction.
        space_id: the space; its row may be added later in the same transaction.
        tree: the stored pages (see `documents.pages.tree`).
        created_at: the time.
        created_by: the user id of the author.
        parents: the parent revisions, the main line first.
        kind: edits, merge, rollback, update or computed.
        files: the stored files (id, name, contentType, size, content: the id of the bytes).
        reusable_contents: id, title, document (an id).
        variables: the variables of the space.
        merged_from: the change request that was merged.
        revision_id: the id of the revision, by default a new one.
    """
    revision_id = revision_id or new_id()
    values = {
        "id": revision_id,
        "space_id": space_id,
        "type": kind,
        "parents": list(parents),
        "created_at": created_at,
        "created_by": created_by,
        "tree": tree,
        "files": files or [],
        "reusable_contents": reusable_contents or [],
        "variables": variables,
        "merged_from": merged_from,
    }
    session.connection().execute(_ADD_REVISION, values)
    return revision_id


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
    """Build a stored page: fields named as in the API, `documentId` for its content, `pages` for subpages, no path.

    Args:
        title: the title.
        slug: the last segment of the path; empty for a link, or to let `with_slugs` choose it.
        kind: document, group, link or computed.
        document: the id of its document, or None for an empty page.
        pages: the subpages.
        created_at: the time.
        page_id: the id, by default a new one.
        details: other fields, named as in the API, such as emoji, description or hidden; None values are dropped.
    """
    page: Page = {"id": page_id or new_id(), "type": kind, "title": title}
    if slug and kind != "link":
        page["slug"] = slug
    if document:
        page["documentId"] = document
    if created_at:
        page |= {"createdAt": created_at, "updatedAt": created_at}
    page |= {name: value for name, value in details.items() if value is not None}
    if kind not in ("link", "computed"):
        page["pages"] = pages or []
    return page


def documents_of(tree: list[Page]) -> list[str]:
    """Return the ids of all documents in a page tree."""
    return [place.page["documentId"] for place in walk(tree) if place.page.get("documentId")]
