"""The Markdown of changed pages before and after a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.api.content import GetChangeRequestPage, GetRevisionPage

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.content_changes import SemanticChange
    from presscheck.engine.protocols import Reader


async def page_texts(engine: Reader, request: ChangeRequest, change: SemanticChange) -> tuple[str | None, str | None]:
    """Return the Markdown of a page before and after a change; None on a side without the page or its text."""
    if change.page is None or change.page.type != "document":
        return None, None
    before = after = None
    page, space = change.page.id, request.space
    if not change.type.endswith(("_created", "_listed")):
        revision = request.revision_merged_ancestor or request.revision_initial
        read_revision = GetRevisionPage(space_id=space, revision_id=revision, page_id=page, format="markdown")
        before = (await engine.read(read_revision)).markdown or ""
    if not change.type.endswith("_deleted"):
        read_page = GetChangeRequestPage(space_id=space, change_request_id=request.id, page_id=page, format="markdown")
        after = (await engine.read(read_page)).markdown or ""
    return (after if change.type.endswith("_listed") else before), after
