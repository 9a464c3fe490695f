"""Edits of the pages of a change request, in a new page tree. The revision is stored only after all edits succeed."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any

from presscheck.api.comments import Document
from presscheck.api.content_changes import (
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
from presscheck.api.roles import Location
from presscheck.documents.git_format.files import image_dimensions, media_type
from presscheck.documents.pages.tree import (
    Page,
    PagePosition,
    Tree,
    children,
    find,
    insert,
    move,
    remove,
    title_slug,
    walk,
    with_slugs,
)
from presscheck.service.content.revision_content import RevisionContent, revision_content
from presscheck.service.content.revisions import NewDocuments, new_page
from presscheck.service.content.serializers import Content, PageRefs, PageText, parse_page, require_size, text_of
from presscheck.service.db.ids import new_id
from presscheck.service.http.operations import ApiError, Context
from presscheck.service.models.content import ChangeRequestRow
from presscheck.service.review.change_requests import ancestor

LARGEST_FILE = 1_000_000
"""Maximum size of an uploaded file, in bytes."""
CLEARED_BY_EMPTY = frozenset(("emoji", "icon", "condition", "description"))


class ContentEdit:
    """An edit of the content of a change request.

    `tree` and `files` are the new content, `written` has the result of each change of a page.

    Args:
        context: the transaction.
        row: the change request.
        revision: the content of its newest revision, which is edited.
    """

    def __init__(self, context: Context, row: ChangeRequestRow, revision: RevisionContent) -> None:
        self.context = context
        self.row = row
        self.revision = revision
        self.tree: Tree = revision.tree
        self.files: list[dict[str, Any]] = [*revision.files]
        self.written: list[PageWritten] = []
        self.inserted: list[dict[str, Any]] = []
        self._reusable = revision.reusable_contents
        self._refs: dict[str, str] = {}
        self._documents = NewDocuments()

    def apply(self, changes: Sequence[ContentChange]) -> None:
        """Apply changes in order. If two pages have the same slug, the page whose slug is new gets another one.

        Raises:
            ApiError: a change is invalid; this object must be discarded.
        """
        old_slugs = {place.page["id"]: place.page.get("slug") for place in walk(self.tree)}
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
        unchanged = [at.page["id"] for at in walk(self.tree) if old_slugs.get(at.page["id"]) == at.page.get("slug")]
        self.tree = with_slugs(self.tree, unchanged)
        self._documents.store(self.context.session)

    def _insert(self, change: InsertPage) -> None:
        above = self._above(change.into)
        title, details, document = self._text(change.document, source=self._source(change, above))
        details = _given_details(change) | details
        title = details.pop("title", None) or title
        if not title:
            raise ApiError(400, "title: required for a new page")
        page = new_page(title, slug=_slug(details), document=document, created_at=self.context.now())
        page = _with_details(page, details)
        self.tree = insert(self.tree, page, above, change.at)
        if change.ref:
            self._refs[change.ref] = page["id"]
        self._record("created_page", page, change.ref)

    def _update(self, change: UpdatePage) -> None:
        place = self._place(change.page)
        page = place.page | {"updatedAt": self.context.now()}
        details = _given_details(change)
        if change.document is not None:
            if page["type"] != "document":
                raise ApiError(400, f"document: a {page['type']} cannot have content")
            title, front_matter, document = self._text(change.document, page["id"])
            details = ({"title": title} if title else {}) | details | front_matter | {"documentId": document}
        slug = _slug(details)
        if slug and page["type"] != "link":
            page["slug"] = slug
        page = _with_details(page, details)
        self.tree = _replaced(self.tree, page)
        if change.model_fields_set & {"into", "at"}:
            self._move(place, change)
        self._record("updated_page", page)

    def _move(self, place: PagePosition, change: UpdatePage) -> None:
        into = place.above["id"] if place.above else None
        if "into" in change.model_fields_set:
            into = self._above(change.into)
            if into and place.page["type"] == "group":
                raise ApiError(400, "into: a group must be at the top level")
            if into and find([place.page], into):
                raise ApiError(400, "into: a page cannot be moved into itself")
        self.tree = move(self.tree, place.page["id"], into, change.at)

    def _delete(self, change: DeletePage) -> None:
        page_id = self._place(change.page).page["id"]
        self.tree = remove(self.tree, page_id)
        self.written.append(PageWritten(object="deleted_page", page=page_id))

    def _revert(self, change: RevertPage) -> None:
        if change.block:
            raise ApiError(400, "block: not supported; this service reverts whole pages only")
        page_id = self._refs.get(change.page, change.page)
        old_tree = self._revision(change.revision).tree
        before = find(old_tree, page_id)
        now = find(self.tree, page_id)
        if before is None and now is None:
            raise ApiError(400, f"page: no page {change.page} to revert")
        if before is None:
            self._delete(DeletePage(page=page_id))
        elif now is None:
            self._restore(before, old_tree)
        else:
            page = before.page | ({"pages": now.page["pages"]} if "pages" in now.page else {})
            self.tree = _replaced(self.tree, page)
            self._record("updated_page", page)

    def _restore(self, before: PagePosition, old: Tree) -> None:
        page = _without(before.page, {place.page["id"] for place in walk(self.tree)})
        above = before.above["id"] if before.above and find(self.tree, before.above["id"]) else None
        at = [child["id"] for child in children(before.above, old)].index(page["id"])
        self.tree = insert(self.tree, page, above, at)
        self._record("created_page", page)

    def _insert_files(self, change: InsertFiles) -> None:
        for file in change.files:
            content = _bytes(file)
            content_type = file.content_type or media_type(file.name)
            stored: dict[str, Any] = {
                "id": new_id(),
                "name": file.name,
                "contentType": content_type,
                "size": len(content),
                "content": self.context.files.put(content),
            }
            size = image_dimensions(content_type, content)
            if size:
                stored["dimensions"] = {"width": size[0], "height": size[1]}
            self.files.append(stored)
            self.inserted.append(stored)

    def _text(
        self, document: Document, page_id: str = "", *, source: str = ""
    ) -> tuple[str | None, dict[str, Any], str | None]:
        if document.document is None:
            text = parse_page(document.markdown or "")
        else:
            content = Content(self.row.space_id, self.tree, self.files, self._reusable)
            links = PageRefs(self.context, content, page_id, source=source)
            text = PageText(None, {}, text_of(document.document, links))
        require_size("document", text.body)
        document_id = self._documents.add(text.body) if text.body else None
        return text.title, text.details, document_id

    def _source(self, change: InsertPage, above: str | None) -> str:
        """Return the Git path of a new page, which relative links start from."""
        place = find(self.tree, above) if above else None
        folder = f"{place.path}/" if place and place.path else ""
        return f"{folder}{change.slug or title_slug(change.title or '')}.md"

    def _place(self, page_id: str) -> PagePosition:
        place = find(self.tree, self._refs.get(page_id, page_id))
        if place is None:
            raise ApiError(400, f"page: this change request has no page {page_id}")
        return place

    def _above(self, page_id: str | None) -> str | None:
        if page_id is None:
            return None
        page = self._place(page_id).page
        if page["type"] == "link":
            raise ApiError(400, "into: a link cannot have subpages")
        return page["id"]

    def _revision(self, revision_id: str | None) -> RevisionContent:
        revision = revision_content(self.context, revision_id or ancestor(self.row))
        if revision is None or revision.space_id != self.row.space_id:
            raise ApiError(400, f"revision: this space has no revision {revision_id}")
        return revision

    def _record(self, kind: str, page: Page, ref: str | None = None) -> None:
        app = self.context.app(f"/spaces/{self.row.space_id}/pages/{page['id']}")
        self.written.append(PageWritten(object=kind, ref=ref, page=PageRef(id=page["id"], urls=Location(app=app))))


def _given_details(change: PageDetails) -> dict[str, Any]:
    details = change.model_fields_set & set(PageDetails.model_fields)
    return change.model_dump(mode="json", by_alias=True, include=details)


def _slug(details: dict[str, Any]) -> str:
    slug = details.pop("slug", None) or ""
    if not re.fullmatch(r"[^\s/?#%]*", slug):
        raise ApiError(400, "slug: must not contain spaces, /, ?, # or %")
    return slug


def _with_details(page: Page, details: dict[str, Any]) -> Page:
    cleared = {name for name, value in details.items() if value is None or (not value and name in CLEARED_BY_EMPTY)}
    return {name: value for name, value in (page | details).items() if name not in cleared}


def _replaced(tree: Sequence[Page], page: Page) -> Tree:
    return [
        page
        if other["id"] == page["id"]
        else other | {"pages": _replaced(other["pages"], page)}
        if other.get("pages")
        else other
        for other in tree
    ]


def _without(page: Page, ids: set[str]) -> Page:
    if "pages" not in page:
        return page
    return page | {"pages": [_without(child, ids) for child in page["pages"] if child["id"] not in ids]}


def _bytes(file: NewFile) -> bytes:
    try:
        content = base64.b64decode(file.base64 or "", validate=True)
    except ValueError:  # invalid characters or wrong padding
        raise ApiError(400, "base64: invalid base64") from None
    if len(content) > LARGEST_FILE:
        raise ApiError(413, f"{file.name}: too large; the limit is {LARGEST_FILE} bytes")
    return content
