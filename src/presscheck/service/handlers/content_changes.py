"""Content changes: lists the changes in a change request or revision, and edits change requests.

An edit applies all its changes or none, as one new revision. Files that it refers to by URL are
downloaded before anything is written, with the limits of `outbound_http`.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from presscheck.api.content_changes import (
    ContentChange,
    ContentUpdate,
    EditChangeRequestContent,
    GetChangeRequestChanges,
    GetRevisionChanges,
    InsertFiles,
    NewFile,
    SemanticChange,
    SemanticChanges,
)
from presscheck.documents.pages.tree import semantic_changes
from presscheck.service.content.editor import LARGEST_FILE, ContentEdit
from presscheck.service.content.revision_content import (
    RevisionContent,
    known_content,
    remember_content,
    revision_content,
)
from presscheck.service.content.revisions import add_revision
from presscheck.service.content.serializers import as_files, serialize_file
from presscheck.service.db.ids import new_id
from presscheck.service.handlers.content import revision_in
from presscheck.service.http.operations import ApiError, Context, Reading, handles
from presscheck.service.integrations.outbound_http import DEADLINE, Outgoing, OutgoingError
from presscheck.service.models.content import ChangeRequestRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import require_unlocked
from presscheck.service.review.change_requests import (
    ancestor,
    as_change_request,
    change_request_for,
    note_work,
    require_unfinished,
)

USUAL_LIMIT = 10
"""The default maximum number of changes in a response."""


@handles(GetChangeRequestChanges)
def get_change_request_changes(context: Context, call: GetChangeRequestChanges) -> SemanticChanges:
    """List the changes of a change request since the live revision that it was created or last updated from."""
    _, row = change_request_for(context, call.space_id, call.change_request_id)
    before, after = revision_content(context, ancestor(row)), revision_content(context, row.revision)
    return _compare(context, before, after, call.limit)


@handles(GetRevisionChanges)
def get_revision_changes(context: Context, call: GetRevisionChanges) -> SemanticChanges:
    """List the changes of a revision since its first parent. Without a parent, everything is new."""
    after = revision_in(context, call.space_id, call.revision_id)
    before = revision_content(context, after.parents[0]) if after.parents else None
    changes = _compare(context, before, after, call.limit)
    merged = context.session.get(ChangeRequestRow, after.merged_from) if after.merged_from else None
    return changes.model_copy(update={"merged_from": as_change_request(context, merged)}) if merged else changes


def _compare(
    context: Context, before: RevisionContent | None, after: RevisionContent | None, limit: int | None
) -> SemanticChanges:
    changes = semantic_changes(_content_to_compare(context, before), _content_to_compare(context, after))
    maximum = USUAL_LIMIT if limit is None else limit
    return SemanticChanges(
        changes=tuple(SemanticChange.model_validate(change) for change in changes[:maximum]),
        more=max(0, len(changes) - maximum) or None,
    )


def _content_to_compare(context: Context, revision: RevisionContent | None) -> dict[str, Any]:
    if revision is None:
        return {}
    return {
        "pages": revision.tree,
        "files": [serialize_file(context, file) for file in revision.files],
        "reusableContents": revision.reusable_contents,
        "variables": revision.variables,
    }


def fetched(outgoing: Outgoing, changes: Sequence[ContentChange]) -> tuple[ContentChange, ...]:
    """Download files that changes refer to by URL, and return the changes with the bytes.

    Args:
        outgoing: the HTTP client for outgoing requests.
        changes: the changes of one request, with at most 20 files each.

    Raises:
        ApiError: 400 if a file cannot be downloaded or its address is not allowed, 413 if it is too large.
    """
    deadline = time.monotonic() + DEADLINE
    return tuple(
        change.model_copy(update={"files": tuple(_with_bytes(outgoing, file, deadline) for file in change.files)})
        if isinstance(change, InsertFiles)
        else change
        for change in changes
    )


def _with_bytes(outgoing: Outgoing, file: NewFile, deadline: float) -> NewFile:
    if file.url is None:
        return file
    if time.monotonic() > deadline:
        raise ApiError(
            400, f"url: downloading the files before {file.name} took over {DEADLINE:.0f} s; send fewer files at once"
        )
    try:
        response = outgoing.get(file.url)
    except OutgoingError as error:
        raise ApiError(400, f"url: {error}") from None
    if response.status != 200:
        raise ApiError(400, f"url: {file.url} responded with {response.status}")
    if len(response.body) > LARGEST_FILE:
        raise ApiError(413, f"{file.name}: too large; the limit is {LARGEST_FILE} bytes")
    kind = file.content_type or response.content_type or None
    return NewFile(name=file.name, base64=base64.b64encode(response.body).decode(), content_type=kind, ref=file.ref)


def with_files(reading: Reading, call: EditChangeRequestContent) -> EditChangeRequestContent:
    """Download the files that a call refers to by URL, after checking that the caller may edit."""
    files = [file for change in call.changes if isinstance(change, InsertFiles) for file in change.files]
    if any((file.url is None) == (file.base64 is None) for file in files):
        raise ApiError(400, "files: each file needs either url or base64")
    if all(file.url is None for file in files):
        return call
    with reading() as context:
        space, row = change_request_for(context, call.space_id, call.change_request_id, "edit")
        require_unlocked(space)
        require_unfinished(row)
        outgoing = context.outgoing_requests(space.organization_id)
        return call.model_copy(update={"changes": fetched(outgoing, call.changes)})


@handles(EditChangeRequestContent, beforehand=with_files)
def edit_change_request_content(context: Context, call: EditChangeRequestContent) -> ContentUpdate:
    """Apply changes in order. Return the change request; if `compat` is false, also the result of each change."""
    space, row = change_request_for(context, call.space_id, call.change_request_id, "edit")
    require_unlocked(space)
    require_unfinished(row)
    edit = ContentEdit(context, row, known_content(context, row.revision))
    edit.apply(call.changes)
    write_edit(context, space, row, edit)
    change_request = as_change_request(context, row)
    if call.compat is not False:
        return cast("ContentUpdate", change_request)  # the client accepts both models
    inserted = as_files(context, edit.inserted) if edit.inserted else None
    return ContentUpdate(change_request=change_request, changes=tuple(edit.written), inserted_files=inserted)


def write_edit(context: Context, space: SpaceRow, row: ChangeRequestRow, edit: ContentEdit) -> None:
    """Store the edited content as the newest revision of the change request."""
    require_unlocked(space)
    require_unfinished(row)
    before = edit.revision
    content = replace(
        before,
        id=new_id(),
        space_id=row.space_id,
        type="edits",
        parents=[before.id],
        created_at=context.now(),
        tree=edit.tree,
        files=edit.files,
        merged_from=None,
    )
    add_revision(
        context.session,
        content.space_id,
        content.tree,
        created_at=content.created_at,
        created_by=context.user.id,
        parents=content.parents,
        files=content.files,
        reusable_contents=content.reusable_contents,
        variables=content.variables,
        revision_id=content.id,
    )
    remember_content(context, content)
    note_work(context, row, "edit", revision=content.id)
