"""Audit events: every write that changes an organization also adds an event, in the same transaction.

An export to Git adds an event too, although it only changes the repository, before its transaction.

The action of an event is the name that the platform documents, or else the published id of the operation.
Events have ids and settings, but neither texts nor tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin

from pydantic.alias_generators import to_snake
from sqlalchemy import insert

from presscheck.api import agent_instructions, invites, organizations, site_settings, teams
from presscheck.api.git_repositories import ExportToGitRepository
from presscheck.api.operation import Operation
from presscheck.service.db.engine import changes
from presscheck.service.db.ids import new_uuid
from presscheck.service.http.operations import Context
from presscheck.service.models.integrations import InstallationRow, IntegrationRow
from presscheck.service.models.organizations import AuditEventRow
from presscheck.service.models.spaces import CollectionRow, SpaceRow

UNRECORDED = frozenset({organizations.UpdateLastSeen})
"""Writes that are not recorded, because the app sends them without an action of the user."""
ACTIONS: dict[type[Operation[Any]], tuple[str, str]] = {
    agent_instructions.UpdateAgentInstructions: (
        "organization.agent-instructions.updated",
        "Updated organization agent instructions",
    ),
    invites.CreateInvite: ("organization.link-invite.created", "Created organization invite link"),
    invites.DeleteInvite: ("organization.link-invite.deleted", "Deleted organization invite link"),
    invites.UpdateInvite: ("organization.link-invite.updated", "Updated organization invite link"),
    organizations.UpdateOrganization: ("organization.settings.updated", "Updated organization settings"),
    teams.CreateTeam: ("organization.team.created", "Created organization team"),
    teams.DeleteTeam: ("organization.team.deleted", "Deleted organization team"),
    teams.AddTeamMember: ("organization.team.member-added", "Added organization team member"),
    teams.RemoveTeamMember: ("organization.team.member-removed", "Removed organization team member"),
    site_settings.CreateRedirect: ("site.redirect.created", "Created site redirect"),
}
"""Actions and labels that the platform documents, by operation."""
_CHANGES_OUTSIDE = frozenset({ExportToGitRepository})
"""Writes that change something outside of the database."""
_INSERT = insert(AuditEventRow)
_ROWS: dict[str, type[Any]] = {
    "space_id": SpaceRow,
    "collection_id": CollectionRow,
    "installation_id": InstallationRow,
    "integration_name": IntegrationRow,
}
"""Tables of items that belong to an organization, by the path field with their id. The first field in a path counts."""


class _Party(NamedTuple):
    type: str
    id: str


def perform(context: Context, call: Operation[Any], handler: Callable[[Context, Any], Any]) -> Any:
    """Run the handler of a write and return its response. Record an event if the write changed an organization."""
    # after a deletion, the row with the organization may be gone; in other calls, the handler has loaded it
    is_deletion = call.method() == "DELETE"
    organization_id = _organization_of(context, call) if is_deletion else None
    before = changes(context.session)
    answer = handler(context, call)
    context.session.flush()
    is_changed = changes(context.session) > before or type(call) in _CHANGES_OUTSIDE
    if is_changed and type(call) not in UNRECORDED:
        organization_id = organization_id or _organization_of(context, call)
        if organization_id is not None:
            _record(context, call, organization_id, answer)
    return answer


def action_of(operation: type[Operation[Any]]) -> tuple[str, str]:
    """Return the action of a write and its label: by default the operation id and its description."""
    described = (operation.__doc__ or "").partition("\n")[0].rstrip(".")
    return ACTIONS.get(operation, (operation.operation_id, described))


def _record(context: Context, call: Operation[Any], organization_id: str, answer: Any) -> None:
    actor, target = _actor(context), _target(call, answer)
    event = {
        "id": new_uuid(),
        "organization_id": organization_id,
        "occurred_at": context.now(),
        "action": action_of(type(call))[0],
        "actor_type": actor.type,
        "actor_id": actor.id,
        "target_type": target.type,
        "target_id": target.id,
        "payload": _payload(call),
    }
    context.session.connection().execute(_INSERT, event)


def _organization_of(context: Context, call: Operation[Any]) -> str | None:
    """Return the id of the organization that a call belongs to, or None."""
    organization_id = getattr(call, "organization_id", None) or getattr(call, "organization", None)
    if organization_id is not None:
        return organization_id
    field = next((name for name in _ROWS if name in call.path_fields()), None)
    row = context.row(_ROWS[field], getattr(call, field)) if field else None
    return row.organization_id if row else None


def _actor(context: Context) -> _Party:
    script = context.installation
    if script is None:
        return _Party("user", context.user.id)
    return (
        _Party("installation", script.installation_id)
        if script.installation_id
        else _Party("integration", script.integration)
    )


def _target(call: Operation[Any], answer: Any) -> _Party:
    """Return the changed item: the response if it is an item, or else the last item of the path."""
    identity = getattr(answer, "id", None)
    if isinstance(identity, str):
        return _Party(getattr(answer, "object", None) or to_snake(type(answer).__name__).replace("_", "-"), identity)
    field = call.path_fields()[-1]
    return _Party(re.sub(r"_(id|name|slug)$", "", field).replace("_", "-"), str(getattr(call, field)))


def _payload(call: Operation[Any]) -> dict[str, Any]:
    """Return the ids in the path of a call and the settings of the call, named as in the API."""
    fields = type(call).model_fields
    shown = {name for name in call.path_fields() if name.endswith("_id")} | (
        _settings(type(call)) & call.model_fields_set
    )
    return {fields[name].alias or name: getattr(call, name) for name in sorted(shown)}


@cache
def _settings(operation: type[Operation[Any]]) -> frozenset[str]:
    """Return the names of the fields that are settings: booleans and constants of the API, but no free text."""
    return frozenset(name for name, field in operation.model_fields.items() if _is_setting(field.annotation))


def _is_setting(annotation: Any) -> bool:
    if annotation in (bool, NoneType) or get_origin(annotation) is Literal:
        return True
    parts = get_args(annotation)
    return bool(parts) and all(map(_is_setting, parts))
