"""The content of a revision as plain values, kept in memory between reads: a revision never changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from sqlalchemy import String, bindparam, cast, or_, select

from presscheck.documents.pages.tree import Page, PagePosition, walk
from presscheck.service.content.revisions import document_texts, text_size
from presscheck.service.db.bounded_cache import BoundedCache, PendingCache
from presscheck.service.db.engine import IMMUTABLE
from presscheck.service.http.operations import ApiError, Context
from presscheck.service.models.content import RevisionRow

Value = TypeVar("Value")

MOST_CHARACTERS = 30_000_000
"""Most characters of all texts that one call reads: two seconds for their links."""
_AT_ONCE = 50
"""Texts in memory at once."""
EACH = 4_000
"""Bytes that a page, a file or a snippet takes in memory, by `sys.getsizeof` of pages of the manual and their parts."""
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
    """A revision as it is stored, see `RevisionRow`. Shared by threads: what is in it is never changed."""

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
        """The place of each page by id."""
        return {place.page["id"]: place for place in reversed([*walk(self.tree)])}

    @cached_property
    def paths(self) -> dict[str, PagePosition]:
        """The place of each page by path; the first, if several have the same."""
        return {place.path: place for place in reversed([*walk(self.tree)]) if place.path}

    def weight(self) -> int:
        """About how many bytes it takes in memory."""
        return EACH * (1 + len(self.pages) + len(self.files) + len(self.reusable_contents))


def revision_content(context: Context, revision_id: str) -> RevisionContent | None:
    """The content of a revision; None if it does not exist. Whether the caller may see it is not checked."""
    cache = _cache(context)
    known: RevisionContent | None = cache.get(("revision", revision_id)) if cache else None
    if known is None:
        rows = context.rows(_REVISION, id=revision_id)
        known = RevisionContent(*rows[0]) if rows else None
        if known and cache:
            cache.put(("revision", revision_id), known, known.weight())
    return known


def known_content(context: Context, revision_id: str) -> RevisionContent:
    """The content of a revision that something refers to, so it exists.

    Raises:
        LookupError: it does not.
    """
    content = revision_content(context, revision_id)
    if content is None:
        raise LookupError(f"no revision {revision_id}")
    return content


def revision_with(context: Context, space_id: str, document_id: str) -> str | None:
    """The id of the newest revision of a space with a document, as the body of a page or of reusable content."""
    named = f'"{document_id}"'
    found = context.session.scalars(
        select(RevisionRow.id)
        .where(
            RevisionRow.space_id == space_id,
            or_(
                cast(RevisionRow.reusable_contents, String).contains(named, autoescape=True),
                cast(RevisionRow.tree, String).contains(named, autoescape=True),
            ),
        )
        .order_by(RevisionRow.created_at.desc(), RevisionRow.id.desc())
        .limit(1)
    )
    return found.first()


def kept(context: Context, key: tuple[str, ...], make: Callable[[], Value], weight: Callable[[Value], int]) -> Value:
    """A value that follows from one revision and what else its key names, made once while it is kept.

    Args:
        context: the transaction.
        key: what it is, the id of the revision, and what else it depends on.
        make: makes it.
        weight: about how many bytes it takes in memory.
    """
    cache = _cache(context)
    value: Value | None = cache.get(key) if cache else None
    if value is None:
        value = make()
        if cache:
            cache.put(key, value, weight(value))
    return value


def kept_of_documents(
    context: Context,
    kind: str,
    documents: Iterable[str],
    make: Callable[[str], Value],
    weight: Callable[[Value], int],
) -> dict[str, Value]:
    """What follows from the text of each document alone, by its id, made once while it is kept.

    Few texts are in memory at once.

    Args:
        context: the transaction.
        kind: what it is.
        documents: the ids of the documents.
        make: makes it from a text.
        weight: about how many bytes it takes in memory.

    Raises:
        ApiError: 413, the texts from which it has to be made are too large together.
    """
    cache = _cache(context)
    found: dict[str, Value | None] = {
        document: cache.get((kind, document)) if cache else None for document in documents
    }
    missing = [document for document, value in found.items() if value is None]
    size = text_size(context.session, missing)
    if size > MOST_CHARACTERS:
        raise ApiError(413, f"pages: too large: {size:,} characters, at most {MOST_CHARACTERS:,} are read at once")
    for start in range(0, len(missing), _AT_ONCE):
        for document, text in document_texts(context.session, missing[start : start + _AT_ONCE]).items():
            value = found[document] = make(text)
            if cache:
                cache.put((kind, document), value, weight(value))
    return {document: value for document, value in found.items() if value is not None}


def remember_content(context: Context, content: RevisionContent) -> None:
    """Keeps the content of a revision that this transaction has added, so that it need not be read.

    It consists of plain values, as it would if it had been read.
    """
    cache = _cache(context)
    if cache:
        cache.put(("revision", content.id), content, content.weight())


def _cache(context: Context) -> BoundedCache | PendingCache | None:
    return context.session.info.get(IMMUTABLE)
