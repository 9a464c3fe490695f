"""The texts that a user typed into a write, and their replacement."""

from __future__ import annotations

from typing import Any

from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.api.operation import Operation
from presscheck.engine.writes.page_merge import page_edit


def typed_text_in(call: Operation[Any] | None) -> tuple[str, str] | None:
    """Return the name of the field of a call that contains typed text, and the text; None without typed text."""
    if edit := page_edit(call):
        return "changes", (edit.document.markdown or "") if edit.document else ""
    if page := _added_page(call):
        return "changes", page.document.markdown or ""
    for field in ("body", "comment", "subject", "description"):
        typed_text: Any = getattr(call, field, None)
        text = typed_text.markdown if isinstance(typed_text, Document) else typed_text
        if isinstance(text, str) and text:
            return field, text
    return None


def with_text(call: Operation[Any], field: str, text: str) -> Operation[Any]:
    """Return the same call with another text.

    Raises:
        InvalidArgument: the text exceeds a limit.
    """
    given: dict[str, Any] = {name: getattr(call, name) for name in call.model_fields_set}
    if edit := page_edit(call):
        given["changes"] = (edit.model_copy(update={"document": Document(markdown=text)}),)
        return type(call)(**given)
    if page := _added_page(call):
        given["changes"] = (page.model_copy(update={"document": Document(markdown=text)}),)
        return type(call)(**given)
    given[field] = Document(markdown=text) if isinstance(given[field], Document) else text
    return type(call)(**given)


def _added_page(call: Operation[Any] | None) -> InsertPage | None:
    """Return the change of a write that only adds a page with a Markdown text; None for all other writes."""
    changes = call.changes if isinstance(call, EditChangeRequestContent) else ()
    change = changes[0] if len(changes) == 1 else None
    return change if isinstance(change, InsertPage) and change.document.markdown is not None else None
