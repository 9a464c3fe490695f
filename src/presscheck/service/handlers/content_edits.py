"""Edits the content of a change request: applies all changes or none, as one new revision."""

from __future__ import annotations

from typing import cast

from presscheck.api.content_changes import ContentUpdate, EditChangeRequestContent, InsertFiles
from presscheck.service.content.editor import ContentEdit
from presscheck.service.content.remote_files import fetched
from presscheck.service.content.revision_content import known_content
from presscheck.service.content.revisions import add_revision
from presscheck.service.content.serializers import as_files
from presscheck.service.http.operations import ApiError, Context, handles
from presscheck.service.models.content import ChangeRequestRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import require_unlocked
from presscheck.service.review.change_requests import (
    as_change_request,
    change_request_for,
    note_work,
    require_unfinished,
)


def with_files(context: Context, call: EditChangeRequestContent) -> EditChangeRequestContent:
    """Downloads the files that the call refers to by URL, if the caller may edit."""
    files = [file for change in call.changes if isinstance(change, InsertFiles) for file in change.files]
    if any((file.url is None) == (file.base64 is None) for file in files):
        raise ApiError(400, "files: each file needs either url or base64")
    if all(file.url is None for file in files):
        return call
    space, row = change_request_for(context, call.space_id, call.change_request_id, "edit")
    require_unlocked(space)
    require_unfinished(row)
    return call.model_copy(update={"changes": fetched(context.outgoing_requests(space.organization_id), call.changes)})


@handles(EditChangeRequestContent, beforehand=with_files)
def edit_change_request_content(context: Context, call: EditChangeRequestContent) -> ContentUpdate:
    """Applies the changes in order; with `compat` false returns their results, else only the change request."""
    space, row = change_request_for(context, call.space_id, call.change_request_id, "edit")
    require_unlocked(space)
    require_unfinished(row)
    edit = ContentEdit(context, row, known_content(context, row.revision))
    edit.apply(call.changes)
    write_edit(context, space, row, edit)
    shown = as_change_request(context, row)
    if call.compat is not False:
        return cast("ContentUpdate", shown)  # the client accepts both models
    inserted = as_files(context, edit.inserted) if edit.inserted else None
    return ContentUpdate(change_request=shown, changes=tuple(edit.written), inserted_files=inserted)


def write_edit(context: Context, space: SpaceRow, row: ChangeRequestRow, edit: ContentEdit) -> None:
    """Makes the edited content the head revision of the change request."""
    require_unlocked(space)
    require_unfinished(row)
    before = edit.revision
    row.revision = add_revision(
        context.session,
        row.space_id,
        edit.tree,
        created_at=context.now(),
        created_by=context.user.id,
        parents=[before.id],
        files=edit.files,
        reusable_contents=before.reusable_contents,
        variables=before.variables,
    )
    note_work(context, row, "edit")
    context.session.flush()
