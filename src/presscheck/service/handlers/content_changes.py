"""Lists the changes of a change request or a revision by page, without line diffs."""

from __future__ import annotations

from typing import Any

from presscheck.api.content_changes import GetChangeRequestChanges, GetRevisionChanges, SemanticChange, SemanticChanges
from presscheck.documents.pages.tree import semantic_changes
from presscheck.service.content.revision_content import RevisionContent, revision_content
from presscheck.service.content.serializers import serialize_file
from presscheck.service.handlers.content import revision_in
from presscheck.service.http.operations import Context, handles
from presscheck.service.models.content import ChangeRequestRow
from presscheck.service.review.change_requests import ancestor, as_change_request, change_request_for

USUAL_LIMIT = 10
"""Default number of changes."""


@handles(GetChangeRequestChanges)
def get_change_request_changes(context: Context, call: GetChangeRequestChanges) -> SemanticChanges:
    """Compares a change request with the newest live revision that it contains."""
    _, row = change_request_for(context, call.space_id, call.change_request_id)
    before, after = revision_content(context, ancestor(row)), revision_content(context, row.revision)
    return _told(context, before, after, call.limit)


@handles(GetRevisionChanges)
def get_revision_changes(context: Context, call: GetRevisionChanges) -> SemanticChanges:
    """Compares a revision with its first parent; without a parent, everything is new."""
    after = revision_in(context, call.space_id, call.revision_id)
    before = revision_content(context, after.parents[0]) if after.parents else None
    told = _told(context, before, after, call.limit)
    merged = context.session.get(ChangeRequestRow, after.merged_from) if after.merged_from else None
    return told.model_copy(update={"merged_from": as_change_request(context, merged)}) if merged else told


def _told(
    context: Context, before: RevisionContent | None, after: RevisionContent | None, limit: int | None
) -> SemanticChanges:
    changes = semantic_changes(_shown(context, before), _shown(context, after))
    most = USUAL_LIMIT if limit is None else limit
    return SemanticChanges(
        changes=tuple(SemanticChange.model_validate(change) for change in changes[:most]),
        more=max(0, len(changes) - most) or None,
    )


def _shown(context: Context, revision: RevisionContent | None) -> dict[str, Any]:
    if revision is None:
        return {}
    return {
        "pages": revision.tree,
        "files": [serialize_file(context, file) for file in revision.files],
        "reusableContents": revision.reusable_contents,
        "variables": revision.variables,
    }
