"""Spaces: listed, fetched, made, changed, deleted and restored; their counters are counted from the rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select

from presscheck.api.levels import MergeRules
from presscheck.api.operation import Page
from presscheck.api.spaces import (
    CreateSpace,
    DeleteSpace,
    GetSpace,
    ListSpaces,
    RestoreSpace,
    Space,
    SpacePermissions,
    SpaceUrls,
    UpdateSpace,
)
from presscheck.service.access import level_in_space, organization_for, reaches, space_for, visible_spaces
from presscheck.service.content import add_revision
from presscheck.service.content_tables import ChangeRequestRow, CommentRow
from presscheck.service.handling import Context, Problem, answers, not_found
from presscheck.service.identity import moment_text, new_id
from presscheck.service.listing import page_of_rows
from presscheck.service.tables import SpaceRow

KEPT = timedelta(days=7)
"""How long a deleted space can be restored."""


@answers(ListSpaces)
def list_spaces(context: Context, call: ListSpaces) -> Page[Space]:
    """All that the caller may see, across collections."""
    organization = organization_for(context, call.organization_id, "guest")
    return page_of_rows(
        context,
        call,
        select(SpaceRow).where(SpaceRow.id.in_(visible_spaces(context, organization.id))),
        lambda rows: as_spaces(context, rows),
        order=(SpaceRow.position, SpaceRow.id),
    )


@answers(GetSpace)
def get_space(context: Context, call: GetSpace) -> Space:
    """One of them."""
    return as_spaces(context, [space_for(context, call.space_id)])[0]


@answers(CreateSpace)
def create_space(context: Context, call: CreateSpace) -> Space:
    """Make an empty space; that takes the role create."""
    organization = organization_for(context, call.organization_id, "create")
    now = context.now()
    last = context.session.scalar(
        select(func.max(SpaceRow.position)).where(SpaceRow.organization_id == organization.id)
    )
    row = SpaceRow(
        id=new_id(),
        organization_id=organization.id,
        parent_id=call.parent,
        position=(last or 0) + 1,
        title=call.title or "Untitled",
        emoji=call.emoji,
        language=call.language,
        edit_mode=call.edit_mode or "live",
        created_by=context.user.id,
        created_at=now,
        updated_at=now,
        revision_id="",
    )
    row.revision_id = add_revision(context.session, row.id, [], created_at=now, created_by=context.user.id).id
    context.session.add(row)
    context.session.flush()
    return as_spaces(context, [row])[0]


@answers(UpdateSpace)
def update_space(context: Context, call: UpdateSpace) -> Space:
    """Change it; that takes an admin of it."""
    row = space_for(context, call.space_id, "admin", to_write=True)
    if call.emoji is not None and call.icon is not None:
        raise Problem(400, "emoji, icon: give one of them, not both")
    for name, value in call.given().items():
        if name != "space_id":
            setattr(row, name, value)
    row.updated_at = context.now()
    return as_spaces(context, [row])[0]


@answers(DeleteSpace)
def delete_space(context: Context, call: DeleteSpace) -> None:
    """Delete it for seven days, then for good; one that is not there is no error."""
    row = context.session.get(SpaceRow, call.space_id)
    if row is None or row.deleted_at is not None or level_in_space(context, row) is None:
        return
    space_for(context, call.space_id, "admin", to_write=True).deleted_at = context.now()


@answers(RestoreSpace)
def restore_space(context: Context, call: RestoreSpace) -> Space:
    """Bring it back within seven days."""
    row = context.session.get(SpaceRow, call.space_id)
    if row is None or not reaches(level_in_space(context, row), "admin"):
        raise not_found("space")
    if row.deleted_at is not None and row.deleted_at < moment_text(context.clock() - KEPT):
        raise Problem(409, "This space was deleted more than seven days ago, and cannot be restored.")
    row.deleted_at = None
    return as_spaces(context, [row])[0]


def as_spaces(context: Context, rows: Sequence[SpaceRow]) -> list[Space]:
    """Spaces as on the wire, all counted at once."""
    ids = [row.id for row in rows]
    requests = _request_counts(context, ids)
    counted = select(CommentRow.space_id, func.count()).where(
        CommentRow.space_id.in_(ids), CommentRow.resolved_at.is_(None), CommentRow.change_request_id.is_(None)
    )
    comments: dict[str, int] = dict(context.session.execute(counted.group_by(CommentRow.space_id)).all())
    return [_as_space(context, row, requests.get(row.id, {}), comments.get(row.id, 0)) for row in rows]


def _request_counts(context: Context, ids: list[str]) -> dict[str, dict[str, int]]:
    counted = (
        select(ChangeRequestRow.space_id, ChangeRequestRow.status, func.count())
        .where(ChangeRequestRow.space_id.in_(ids))
        .group_by(ChangeRequestRow.space_id, ChangeRequestRow.status)
    )
    found: dict[str, dict[str, int]] = {}
    for space, status, number in context.session.execute(counted):
        found.setdefault(space, {})[status] = number
    return found


def _as_space(context: Context, row: SpaceRow, requests: dict[str, int], comments: int) -> Space:
    return Space(
        id=row.id,
        title=row.title,
        emoji=row.emoji or "",
        visibility=row.visibility,
        created_at=row.created_at,
        updated_at=row.updated_at,
        deleted_at=row.deleted_at,
        edit_mode=row.edit_mode,
        merge_rules=MergeRules.model_validate(row.merge_rules or {"type": "inherit"}),
        organization=row.organization_id,
        parent=row.parent_id,
        language=row.language,
        revision=row.revision_id,
        default_level=row.default_level,
        comments=comments,
        change_requests=sum(requests.values()),
        change_requests_open=requests.get("open", 0),
        change_requests_draft=requests.get("draft", 0),
        urls=SpaceUrls(location=context.location(f"/spaces/{row.id}"), app=context.app(f"/s/{row.id}"), icon=row.icon),
        permissions=SpacePermissions(**_permissions(level_in_space(context, row), row)),
    )


def _permissions(level: str | None, row: SpaceRow) -> dict[str, Any]:
    may_edit = reaches(level, "edit") and row.edit_mode != "locked"
    return {
        "view": reaches(level, "read"),
        "access": reaches(level, "read"),
        "admin": reaches(level, "admin"),
        "view_invite_links": reaches(level, "admin"),
        "edit": may_edit,
        "comment": reaches(level, "comment"),
        "merge": may_edit,
        "review": reaches(level, "review"),
    }
