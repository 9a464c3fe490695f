"""The texts that a user typed into a write, and their replacement."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.api.operation import Operation
from presscheck.engine.writes.page_merge import page_edit

WORDS_BEFORE = 20
"""Number of characters before a change in a long line, for context."""


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
    """Return a copy of a call with another text in `field`, which `typed_text_in` returned.

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


def first_changed_line(before: str, after: str) -> str:
    """Return the first line that an edit adds, without empty lines. A long line begins shortly before the change.

    Returns the first line that it removes, after a −, if it adds none; an empty string if no line changes.
    """
    old, new = before.splitlines(), after.splitlines()
    start = _same_at_start(old, new)
    old, new = old[start:], new[start:]
    same = _same_at_start(old[::-1], new[::-1])
    added, removed = (
        next((line.strip() for line in lines[: len(lines) - same] if line.strip()), "") for lines in (new, old)
    )
    if not added:
        return f"− {removed}" if removed else ""
    # a paragraph is one line, so the change can be far from its start
    same = _same_at_start(added, removed)
    return f"… {added[added.rfind(' ', 0, same - WORDS_BEFORE) + 1 :]}" if same > 2 * WORDS_BEFORE else added


def _same_at_start(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _added_page(call: Operation[Any] | None) -> InsertPage | None:
    """Return the change of a write that only adds a page with a Markdown text; None for all other writes."""
    changes = call.changes if isinstance(call, EditChangeRequestContent) else ()
    change = changes[0] if len(changes) == 1 else None
    return change if isinstance(change, InsertPage) and change.document.markdown is not None else None
