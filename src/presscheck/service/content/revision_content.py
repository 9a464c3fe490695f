"""The content of revisions as plain values, cached in memory: revisions never change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from sqlalchemy import String, bindparam, cast, or_, select

from presscheck.documents.pages.tree import Page, PagePosition, walk
from presscheck.documents.visitors.visible_pages import visible_pages
from presscheck.service.content.revisions import document_texts, text_size
from presscheck.service.db.bounded_cache import BoundedCache, PendingCache
from presscheck.service.db.engine import IMMUTABLE
from presscheck.service.http.operations import ApiError, Context
from presscheck.service.models.content import RevisionRow

Value = TypeVar("Value")

VISITOR = "visitor"
"""Key in `Context.known` of a function that returns whether the visitor meets a condition; without it, all pages are
visible.
"""
MOST_CHARACTERS = 30_000_000
"""Maximum number of characters of all texts that one call reads; finding their links takes two seconds."""
_AT_ONCE = 50
"""Number of texts held in memory at a time."""
EACH = 4_000
"""Approximate size of a page, file or snippet in memory in bytes, measured with `sys.getsizeof` on the manual."""
_r = RevisionRow.__table__.c
_REVISION = select(
    _r.id,
    _r.space_id,
    _r.type,
    _r.parents,
    _r.created_at,
    _r.tree,
    _r.files,
    _r.reusable_contents,
    _r.variables,
    _r.merged_from,
).where(_r.id == bindparam("id"))


@dataclass(frozen=True)
class RevisionContent:
    """A stored revision, see `RevisionRow`. Threads share the object, so its values must not be changed."""

    id: str
    space_id: str
    type: str
    parents: list[str]
    created_at: str
    tree: list[Page]
    files: list[dict[str, Any]]
    reusable_contents: list[dict[str, Any]]
    variables: dict[str, Any] | None
    merged_from: str | None

    @cached_property
    def pages(self) -> dict[str, PagePosition]:
        """Pages with their positions, by id."""
        return {place.page["id"]: place for place in reversed([*walk(self.tree)])}

    @cached_property
    def paths(self) -> dict[str, PagePosition]:
        """Pages with their positions, by path. If several pages have the same path, the first page counts."""
        return {place.path: place for place in reversed([*walk(self.tree)]) if place.path}

    def weight(self) -> int:
        """Estimate the size in memory in bytes."""
        return EACH * (1 + len(self.pages) + len(self.files) + len(self.reusable_contents))


def revision_content(context: Context, revision_id: str) -> RevisionContent | None:
    """Return the content of a revision, or None if it does not exist. The caller's access is not checked.

    If the context has a visitor of a site, pages that the visitor may not see are left out.
    """
    cache = context.session.info.get(IMMUTABLE)
    content: RevisionContent | None = cache.get(("revision", revision_id)) if cache else None
    if content is None:
        rows = context.rows(_REVISION, id=revision_id)
        content = RevisionContent(*rows[0]) if rows else None
        if content and cache:
            cache.put(("revision", revision_id), content, content.weight())
    visitor = context.known.get(VISITOR)
    return replace(content, tree=visible_pages(content.tree, visitor)) if content and visitor else content


def known_content(context: Context, revision_id: str) -> RevisionContent:
    """Return the content of a revision that must exist because something refers to it.

    Raises:
        LookupError: the revision does not exist.
    """
    content = revision_content(context, revision_id)
    if content is None:
        raise LookupError(f"no revision {revision_id}")
    return content


def revision_with(context: Context, space_id: str, document_id: str) -> str | None:
    """Return the id of the newest revision of a space that uses a document as a page or as reusable content."""
    quoted_id = f'"{document_id}"'
    newest = context.session.scalars(
        select(RevisionRow.id)
        .where(
            RevisionRow.space_id == space_id,
            or_(
                cast(RevisionRow.reusable_contents, String).contains(quoted_id, autoescape=True),
                cast(RevisionRow.tree, String).contains(quoted_id, autoescape=True),
            ),
        )
        .order_by(RevisionRow.created_at.desc(), RevisionRow.id.desc())
        .limit(1)
    )
    return newest.first()


def cached(
    context: Context, key: tuple[str, ...], make: Callable[[], Value], weight: Callable[[Value], int | None]
) -> Value:
    """Return the cached value of a key, computing it if it is missing. The value must depend only on the key.

    Args:
        context: the transaction.
        key: the kind of value, the id of a revision, and everything else that the value depends on.
        make: computes the value.
        weight: estimates the size of the value in memory in bytes. Returns None if the value must not be cached because
            it depends on more than the key.
    """
    cache = _cache(context)
    value: Value | None = cache.get(key) if cache else None
    if value is None:
        value = make()
        size = weight(value) if cache else None
        if cache and size is not None:
            cache.put(key, value, size)
    return value


def cached_by_document(
    context: Context,
    kind: str,
    documents: Iterable[str],
    make: Callable[[str], Value],
    weight: Callable[[Value], int],
) -> dict[str, Value]:
    """Return a cached value for each document, by id, computing missing values from the texts.

    Unknown documents are left out. Texts are loaded in small groups to limit memory.

    Args:
        context: the transaction.
        kind: the kind of value, which is part of the cache key.
        documents: the ids of the documents.
        make: computes the value from a text.
        weight: estimates its size in memory in bytes.

    Raises:
        ApiError: 413, the texts that are not cached are too large in total.
    """
    cache = _cache(context)
    values: dict[str, Value | None] = {
        document: cache.get((kind, document)) if cache else None for document in documents
    }
    missing = [document for document, value in values.items() if value is None]
    size = text_size(context.session, missing)
    if size > MOST_CHARACTERS:
        raise ApiError(413, f"pages: too large: {size:,} characters, at most {MOST_CHARACTERS:,} are read at once")
    for start in range(0, len(missing), _AT_ONCE):
        for document, text in document_texts(context.session, missing[start : start + _AT_ONCE]).items():
            value = values[document] = make(text)
            if cache:
                cache.put((kind, document), value, weight(value))
    return {document: value for document, value in values.items() if value is not None}


def remember_content(context: Context, content: RevisionContent) -> None:
    """Cache the content of a revision that this transaction has added.

    The content must consist of plain values, as if it had been read from the database.
    """
    cache = _cache(context)
    if cache:
        cache.put(("revision", content.id), content, content.weight())


def _cache(context: Context) -> BoundedCache | PendingCache | None:
    """Return the cache, or None if the content is limited to the pages that a visitor may see."""
    return None if VISITOR in context.known else context.session.info.get(IMMUTABLE)
