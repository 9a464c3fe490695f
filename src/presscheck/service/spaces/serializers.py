"""Serialization of spaces and users. All counts and users of a response are loaded together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import String, func, literal_column, select, union_all

from presscheck.api.roles import Location, MergeRules
from presscheck.api.spaces import Space, SpacePermissions, SpaceUrls
from presscheck.api.users import User
from presscheck.documents.visitors.condition_tags import words_without_claims
from presscheck.service.db.statements import among
from presscheck.service.http.operations import Caller, Context
from presscheck.service.models.content import ChangeRequestCountRow, CommentRow
from presscheck.service.models.organizations import UserRow
from presscheck.service.models.sites import SiteRow, SiteSpaceRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import collections_of, level_in_space, reaches
from presscheck.service.sites.urls import published_spaces

_INHERITED = MergeRules(type="inherit")
_comments, _counts = CommentRow.__table__.c, ChangeRequestCountRow.__table__.c
_shown, _sites = SiteSpaceRow.__table__.c, SiteRow.__table__.c
_COMMENTS, _SITES = "comments", "sites"
_NUMBERS = union_all(
    select(_counts.space_id, _counts.status, _counts.number).where(
        among(_counts.space_id, "ids"), _counts.role == "", _counts.user_id == ""
    ),
    select(_comments.space_id, literal_column(f"'{_COMMENTS}'", String), func.count())
    .where(among(_comments.space_id, "ids"))
    .where(_comments.resolved_at.is_(None), _comments.change_request_id.is_(None))
    .group_by(_comments.space_id),
    select(_shown.space_id, literal_column(f"'{_SITES}'", String), func.count())
    .where(among(_shown.space_id, "ids"), _shown.site_id == _sites.id, _sites.published)
    .group_by(_shown.space_id),
)
"""Selects the numbers of change requests by status, of open comments and of published sites, for each space.

This is one statement, because the overhead of a second statement exceeds the cost of counting.
"""
_users = UserRow.__table__.c
_USERS = select(_users.id, _users.display_name, _users.email, _users.photo_url).where(among(_users.id, "ids"))


def as_spaces(context: Context, rows: Sequence[SpaceRow]) -> list[Space]:
    """Serialize spaces."""
    ids = [row.id for row in rows]
    if len(rows) > 1:
        for organization_id in {row.organization_id for row in rows if row.parent_id}:
            collections_of(context, organization_id)  # all collections in one query
    numbers: dict[str, dict[str, int]] = {space: {} for space in ids}
    for space, kind, number in context.rows(_NUMBERS, ids=ids):
        numbers[space][kind] = number
    comments = {space: counts.pop(_COMMENTS, 0) for space, counts in numbers.items()}
    on_sites = [space for space, counts in numbers.items() if counts.pop(_SITES, 0)]
    published = published_spaces(context, on_sites) if on_sites else {}
    return [_as_space(context, row, numbers[row.id], comments[row.id], published.get(row.id)) for row in rows]


def as_shared_space(context: Context, row: SpaceRow) -> Space:
    """Serialize a space for a caller who only has a share key.

    Merge rules, default level, parent and counts are left out. The title has only the parts for visitors without
    claims.
    """
    return as_spaces(context, [row])[0].model_copy(
        update={
            "title": words_without_claims(row.title),
            "merge_rules": _INHERITED,
            "default_level": None,
            "parent": None,
            "comments": 0,
            "change_requests": 0,
            "change_requests_open": 0,
            "change_requests_draft": 0,
        }
    )


def _as_space(context: Context, row: SpaceRow, requests: dict[str, int], comments: int, published: str | None) -> Space:
    return Space(
        id=row.id,
        title=row.title,
        emoji=row.emoji or "",
        visibility=row.visibility,
        created_at=row.created_at,
        updated_at=row.updated_at,
        deleted_at=row.deleted_at,
        edit_mode=row.edit_mode,
        type=row.type,
        merge_rules=MergeRules.model_validate(row.merge_rules) if row.merge_rules else _INHERITED,
        organization=row.organization_id,
        parent=row.parent_id,
        language=row.language,
        revision=row.revision_id,
        default_level=row.default_level,
        comments=comments,
        change_requests=sum(requests.values()),
        change_requests_open=requests.get("open", 0),
        change_requests_draft=requests.get("draft", 0),
        urls=SpaceUrls(
            location=context.location(f"/spaces/{row.id}"),
            app=context.app(f"/s/{row.id}"),
            published=published,
            icon=row.icon,
        ),
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


def people(context: Context, ids: Iterable[str | None]) -> dict[str, User]:
    """Return users by id. Ids without a user are left out. The caller is not loaded again."""
    user_ids = {user_id for user_id in ids if user_id}
    users: dict[str, User] = {}
    if context.user.id in user_ids and isinstance(context.user, Caller):
        user_ids.remove(context.user.id)
        users[context.user.id] = as_user(context, context.user)
    if user_ids:
        users |= {row.id: as_user(context, Caller(*row)) for row in context.rows(_USERS, ids=[*user_ids])}
    return users


def as_user(context: Context, row: UserRow | Caller) -> User:
    """Serialize a user."""
    return User(
        id=row.id,
        display_name=row.display_name,
        email=row.email,
        photoURL=row.photo_url,
        urls=Location(location=context.location(f"/users/{row.id}")),
    )
