"""Edits to the pages of a change request, in order, on a copy of its tree: nothing is written until all of them fit."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from presscheck.api.changes import (
    ContentChange,
    DeletePage,
    InsertFiles,
    InsertPage,
    NewFile,
    PageDetails,
    PageRef,
    PageWritten,
    RevertPage,
    UpdatePage,
)
from presscheck.api.comments import Document
from presscheck.api.levels import Location
from presscheck.service.blobs import store_blob
from presscheck.service.branches import ancestor
from presscheck.service.content import add_document, new_page
from presscheck.service.content_tables import ChangeRequestRow, RevisionRow
from presscheck.service.handling import Context, Problem
from presscheck.service.identity import new_id
from presscheck.service.page_lookup import Page, Place, children, find_page, free_slug, walk
from presscheck.service.page_texts import slug_of, take_apart

LARGEST_FILE = 1_000_000
"""Bytes of a file that comes in a request."""
CLEARED_BY_EMPTY = frozenset(("emoji", "icon", "condition", "description"))


class ContentEdit:
    """The content of a change request while it is edited: `tree` and `files` are copies, `written` says what became.

    Raises:
        Problem: an edit does not fit; the copies are worthless then.
    """

    def __init__(self, context: Context, row: ChangeRequestRow, revision: RevisionRow) -> None:
        self.context = context
        self.row = row
        self.tree: list[Page] = deepcopy(revision.tree)
        self.files: list[dict[str, Any]] = deepcopy(revision.files)
        self.written: list[PageWritten] = []
        self.inserted: list[dict[str, Any]] = []
        self._refs: dict[str, str] = {}

    def apply(self, changes: Sequence[ContentChange]) -> None:
        """Make the changes, one after another."""
        for change in changes:
            if isinstance(change, InsertPage):
                self._insert(change)
            elif isinstance(change, UpdatePage):
                self._update(change)
            elif isinstance(change, DeletePage):
                self._delete(change)
            elif isinstance(change, RevertPage):
                self._revert(change)
            else:
                self._insert_files(change)

    def _insert(self, change: InsertPage) -> None:
        title, details, document = self._text(change.document)
        details = _given(change) | details
        title = details.pop("title", None) or title
        if not title:
            raise Problem(400, "title: a new page needs one")
        siblings = self._below(change.into)
        slug = free_slug(_slug(details) or slug_of(title), siblings)
        page = new_page(title, slug=slug, document=document, created_at=self.context.now())
        _describe(page, details)
        siblings.insert(len(siblings) if change.at is None else change.at, page)
        if change.ref:
            self._refs[change.ref] = page["id"]
        self._note("created_page", page, change.ref)

    def _update(self, change: UpdatePage) -> None:
        place = self._place(change.page)
        page = place.page
        details = _given(change)
        if change.document is not None:
            if page["type"] != "document":
                raise Problem(400, f"document: a {page['type']} has no text")
            title, said, document = self._text(change.document)
            details = ({"title": title} if title else {}) | details | said
            page.pop("documentId", None)
            page |= {"documentId": document} if document else {}
        page |= {"updatedAt": self.context.now()}
        slug = _slug(details)
        if slug and page["type"] != "link":
            page["slug"] = slug
        _describe(page, details)
        self._move(place, change)
        if page.get("slug"):
            page["slug"] = free_slug(page["slug"], self._place(page["id"]).siblings, page["id"])
        self._note("updated_page", page)

    def _move(self, place: Place, change: UpdatePage) -> None:
        if not change.model_fields_set & {"into", "at"}:
            return
        page, siblings = place.page, place.siblings
        if "into" in change.model_fields_set:
            siblings = self._below(change.into)
            if page["type"] == "group" and siblings is not self.tree:
                raise Problem(400, "into: a group stands at the top")
            if self._refs.get(change.into or "", change.into) in {inner.page["id"] for inner in walk([page])}:
                raise Problem(400, "into: a page cannot be below itself")
        place.siblings.remove(page)
        siblings.insert(len(siblings) if change.at is None else change.at, page)

    def _delete(self, change: DeletePage) -> None:
        place = self._place(change.page)
        place.siblings.remove(place.page)
        self.written.append(PageWritten(object="deleted_page", page=place.page["id"]))

    def _revert(self, change: RevertPage) -> None:
        if change.block:
            raise Problem(400, "block: this service reverts whole pages only")
        page_id = self._refs.get(change.page, change.page)
        before = find_page(self._revision(change.revision).tree, page_id)
        now = find_page(self.tree, page_id)
        if before is None and now is None:
            raise Problem(400, f"page: there is no page {change.page} to revert")
        if before is None:
            self._delete(DeletePage(page=page_id))
        elif now is None:
            self._restore(before)
        else:
            kept = {"pages": now.page["pages"]} if "pages" in now.page else {}
            now.page.clear()
            now.page.update(deepcopy(before.page) | kept)
            if now.page.get("slug"):
                now.page["slug"] = free_slug(now.page["slug"], now.siblings, page_id)
            self._note("updated_page", now.page)

    def _restore(self, before: Place) -> None:
        present = {place.page["id"] for place in walk(self.tree)}
        page = _without(deepcopy(before.page), present)
        above = find_page(self.tree, before.above["id"]) if before.above else None
        siblings = above.page.setdefault("pages", []) if above else self.tree
        if page.get("slug"):
            page["slug"] = free_slug(page["slug"], siblings)
        siblings.insert(before.siblings.index(before.page), page)
        self._note("created_page", page)

    def _insert_files(self, change: InsertFiles) -> None:
        for file in change.files:
            content = _bytes(file)
            stored = {
                "id": new_id(),
                "name": file.name,
                "contentType": file.content_type or "application/octet-stream",
                "size": len(content),
                "content": store_blob(self.context.data, content),
            }
            self.files.append(stored)
            self.inserted.append(stored)

    def _text(self, document: Document) -> tuple[str | None, dict[str, Any], str | None]:
        if document.document is not None:
            raise Problem(400, "document: this service takes Markdown")
        text = take_apart(document.markdown or "")
        kept = add_document(self.context.session, text.body) if text.body else None
        return text.title, text.details, kept

    def _place(self, page_id: str) -> Place:
        found = find_page(self.tree, self._refs.get(page_id, page_id))
        if found is None:
            raise Problem(400, f"page: there is no page {page_id} in this change request")
        return found

    def _below(self, page_id: str | None) -> list[Page]:
        if page_id is None:
            return self.tree
        page = self._place(page_id).page
        if page["type"] == "link":
            raise Problem(400, "into: there are no pages below a link")
        return page.setdefault("pages", [])

    def _revision(self, revision_id: str | None) -> RevisionRow:
        found = self.context.session.get(RevisionRow, revision_id or ancestor(self.row))
        if found is None or found.space_id != self.row.space_id:
            raise Problem(400, f"revision: this space has no revision {revision_id}")
        return found

    def _note(self, what: str, page: Page, ref: str | None = None) -> None:
        app = self.context.app(f"/spaces/{self.row.space_id}/pages/{page['id']}")
        self.written.append(PageWritten(object=what, ref=ref, page=PageRef(id=page["id"], urls=Location(app=app))))


def _given(change: PageDetails) -> dict[str, Any]:
    wanted = change.model_fields_set & set(PageDetails.model_fields)
    return change.model_dump(by_alias=True, include=wanted)


def _slug(details: dict[str, Any]) -> str | None:
    slug = details.pop("slug", None)
    if slug and not re.fullmatch(r"[^\s/?#%]+", slug):
        raise Problem(400, "slug: a part of an address, without blanks and / ? # %")
    return slug


def _describe(page: Page, details: dict[str, Any]) -> None:
    for name, value in details.items():
        if value is None or (value == "" and name in CLEARED_BY_EMPTY):
            page.pop(name, None)
        else:
            page[name] = value


def _without(page: Page, ids: set[str]) -> Page:
    if "pages" in page:
        page["pages"] = [_without(one, ids) for one in children(page) if one["id"] not in ids]
    return page


def _bytes(file: NewFile) -> bytes:
    if file.base64 is None:
        raise Problem(400, "url: this service fetches nothing; send the file in base64")
    try:
        content = base64.b64decode(file.base64, validate=True)
    except binascii.Error:
        raise Problem(400, "base64: it is not base64") from None
    if len(content) > LARGEST_FILE:
        raise Problem(413, f"{file.name}: a file may have {LARGEST_FILE} bytes")
    return content
