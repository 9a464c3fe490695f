"""Lines that describe revisions: kind, time and changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from presscheck.engine.review.changes import moved_text
from presscheck.engine.review.revision_history import author_of
from presscheck.text.phrases import since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span

if TYPE_CHECKING:
    from presscheck.api.change_requests import Contributor
    from presscheck.api.content import Revision
    from presscheck.api.content_changes import SemanticChange

_SIGNS = {"created": ("+", "added"), "edited": ("~", "waiting"), "deleted": ("−", "removed"), "moved": ("→", "link")}
REVISION_KINDS = {"edits": "edited", "merge": "merged", "update": "updated from main", "rollback": "rolled back"}
"""The words for each type of revision."""


def revision_head(revision: Revision, now: datetime, contributors: Sequence[Contributor] = ()) -> Line:
    """Return a line with the kind and the time of a revision and, if known, its author and merged change request."""
    when = since(revision.created_at, now) if revision.created_at else ""
    head = (Span(f" {REVISION_KINDS.get(revision.type, sanitize(revision.type))} ", "strong"), Span(when, "quiet"))
    if author := author_of(revision, contributors):
        head = (*head, Span(f" by {sanitize(author.display_name)}", "quiet"))
    merged = revision.merged_from
    return (*head, Span(f"  #{merged.number} {sanitize(merged.subject)}")) if merged else head


def change_lines(changes: Iterable[SemanticChange]) -> list[Line]:
    """Return a line for each change: sign, name, and changed attributes."""
    lines: list[Line] = []
    for change in changes:
        verb = change.type.rpartition("_")[2]
        sign, style = _SIGNS.get(verb, ("~", "waiting"))
        attributes = ", ".join(_label(name) for name in change.attributes or {}) if verb == "edited" else ""
        if verb == "moved" and change.parent:
            attributes = moved_text(change.parent)
        lines.append((Span(f"   {sign} ", style), Span(change_name(change)), Span(f"  {attributes}", "quiet")))
    return lines


def change_name(change: SemanticChange) -> str:
    """Return the name of the changed page, file or reusable content as display text; without a name, its kind."""
    name = change.reusable_content.title if change.reusable_content else ""
    if change.page:
        name = change.page.title
    elif change.file:
        name = change.file.name
    return sanitize(name) or _label(change.type.rpartition("_")[0])


def _label(attribute: str) -> str:
    return {"document": "text", "variables": "variables"}.get(attribute, sanitize(attribute.replace("_", " ")))
