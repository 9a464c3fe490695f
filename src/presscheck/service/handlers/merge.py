"""Merges of change requests into the live content, and updates of change requests from it, each in one transaction.

If both sides changed the same text, the merge still succeeds: the merged page contains both versions with conflict
markers, and the result is ``conflicts``. Markers left from an earlier update also count as conflicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Any

from sqlalchemy import outerjoin, select

from presscheck.api.change_requests import MergeChangeRequest, MergeResult, PullChangeRequest
from presscheck.documents.merge.conflict_blocks import (
    OUR_NAME,
    START_SIGNS,
    THEIR_NAME,
    revision_name,
    unresolved_conflicts,
)
from presscheck.documents.merge.revisions import MergedTree, documents_to_merge, merge_pages
from presscheck.documents.pages.tree import Tree, flatten
from presscheck.service.content.revision_content import known_content
from presscheck.service.content.revisions import NewDocuments, add_revision, document_texts
from presscheck.service.content.serializers import require_size
from presscheck.service.db.statements import among
from presscheck.service.http.operations import ApiError, Context, handles
from presscheck.service.integrations.integrations import queue_content_events
from presscheck.service.models.content import ChangeRequestRow, DocumentRow, RevisionRow
from presscheck.service.models.organizations import UserRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import require_unlocked
from presscheck.service.review.change_requests import ancestor, change_request_for, note_work, require_unfinished
from presscheck.service.review.merge_rules import keep_approvals, unmet_rules

_documents = DocumentRow.__table__.c
_WITH_CONFLICTS = select(_documents.id, _documents.markdown).where(
    among(_documents.id, "ids"), _documents.markdown.contains(START_SIGNS)
)

_revisions, _users = RevisionRow.__table__.c, UserRow.__table__.c
_AUTHORS = (
    select(_revisions.id, _users.display_name, _revisions.created_at)
    .select_from(outerjoin(RevisionRow, UserRow, _revisions.created_by == _users.id))
    .where(among(_revisions.id, "ids"))
)


@handles(MergeChangeRequest)
def merge_change_request(context: Context, call: MergeChangeRequest) -> MergeResult:
    """Merge a change request into the live content if the merge rules of the space allow it."""
    space, row = change_request_for(context, call.space_id, call.change_request_id, "edit")
    require_unlocked(space)
    require_unfinished(row)
    unmet = unmet_rules(context, space, row)
    if unmet:
        raise ApiError(409, " ".join(unmet))
    merged, has_conflicts = _merged(context, space, row)
    revision = _write(context, row, merged, "merge", [space.revision_id, row.revision])
    now = context.now()
    space.revision_id, space.updated_at = revision, now
    user = context.user.id
    note_work(context, row, status="merged", revision_merged=revision, merged_at=now, merged_by=user)
    queue_content_events(context, space)
    return MergeResult(revision=revision, result="conflicts" if has_conflicts else "merge")


@handles(PullChangeRequest)
def pull_change_request(context: Context, call: PullChangeRequest) -> MergeResult:
    """Update a change request from the live content, unless it is up to date already.

    If there are no conflicts, approvals of the newest revision remain valid.
    """
    space, row = change_request_for(context, call.space_id, call.change_request_id, "edit")
    require_unfinished(row)
    if ancestor(row) == space.revision_id:
        return MergeResult(revision=row.revision, result="update")
    merged, has_conflicts = _merged(context, space, row)
    revision = _write(context, row, merged, "update", [row.revision, space.revision_id])
    if not has_conflicts:
        keep_approvals(context, row, revision)
    note_work(context, row, revision=revision, revision_merged_ancestor=space.revision_id)
    return MergeResult(revision=row.revision, result="conflicts" if has_conflicts else "update")


def _merged(context: Context, space: SpaceRow, row: ChangeRequestRow) -> tuple[MergedTree, bool]:
    """Merge the change request and the live content and store the merged texts.

    Returns:
        The merged tree, and whether there are conflicts, from this merge or an earlier update.

    Raises:
        ApiError: 413, a page is too large to be merged.
    """
    base, ours, theirs = (_side(context, revision) for revision in (ancestor(row), row.revision, space.revision_id))
    texts = document_texts(context.session, documents_to_merge(base, ours, theirs))
    for text in texts.values():
        require_size("page to merge", text)  # older versions accepted larger pages
    new = NewDocuments()

    def add(text: str) -> str:
        require_size("merged page", text)
        return new.add(text)

    names = _names(context, space, row) if texts else (OUR_NAME, THEIR_NAME)
    merged = merge_pages(base, ours, theirs, texts.__getitem__, add, names)
    new.store(context.session)
    return merged, bool(merged.conflicts) or _has_unresolved(context, theirs["pages"], merged, new.texts | texts)


def _names(context: Context, space: SpaceRow, row: ChangeRequestRow) -> tuple[str, str]:
    """Return the names of the change request and of the live content in conflict markers, with authors and times."""
    sides = {row.revision: f"#{row.number}", space.revision_id: "main"}
    authors = {key: (name, at) for key, name, at in context.rows(_AUTHORS, ids=[*sides])}
    ours, theirs = (revision_name(place, authors[key][0] or "", authors[key][1], UTC) for key, place in sides.items())
    return ours, theirs


def _has_unresolved(context: Context, live_tree: Tree, merged: MergedTree, texts: Mapping[str, str]) -> bool:
    """Return whether a page that differs from the live content has unresolved conflict markers.

    Args:
        context: the transaction.
        live_tree: the pages of the live content.
        merged: the result of the merge.
        texts: texts that were already loaded, by document id; other texts are only loaded if they contain a marker.
    """
    live = {page["id"]: page.get("documentId") for page in flatten(live_tree)}
    changed = {
        page["documentId"]: live.get(page["id"])
        for page in flatten(merged.pages)
        if page.get("documentId") and page["documentId"] != live.get(page["id"])
    }
    texts_with_markers = {key: texts[key] for key in changed if START_SIGNS in texts.get(key, "")}
    not_loaded = [key for key in changed if key not in texts]
    texts_with_markers |= dict(context.rows(_WITH_CONFLICTS, ids=not_loaded)) if not_loaded else {}
    before = document_texts(context.session, filter(None, (changed[key] for key in texts_with_markers)))
    return any(
        unresolved_conflicts(text, before.get(changed[key] or "", "")) for key, text in texts_with_markers.items()
    )


def _side(context: Context, revision_id: str) -> dict[str, Any]:
    revision = known_content(context, revision_id)
    return {
        "pages": revision.tree,
        "files": revision.files,
        "reusableContents": revision.reusable_contents,
        "variables": revision.variables,
    }


def _write(context: Context, row: ChangeRequestRow, merged: MergedTree, kind: str, parents: list[str]) -> str:
    return add_revision(
        context.session,
        row.space_id,
        merged.pages,
        created_at=context.now(),
        created_by=context.user.id,
        parents=parents,
        kind=kind,
        files=merged.files,
        reusable_contents=merged.reusable_contents,
        variables=merged.variables,
        merged_from=row.id if kind == "merge" else None,
    )
