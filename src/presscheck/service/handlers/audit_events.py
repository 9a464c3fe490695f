"""Audit events of an organization, for its admins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import select

from presscheck.api.audit_events import (
    AuditEvent,
    AuditEventAction,
    AuditEventActions,
    AuditEventDetails,
    AuditEventParty,
    GetAuditEvent,
    ListAuditEventActions,
    ListAuditEvents,
)
from presscheck.api.operation import Page, every_operation
from presscheck.api.roles import Location
from presscheck.service.audit import UNRECORDED, action_of
from presscheck.service.http.operations import HANDLERS, READ_ONLY_OPERATIONS, Context, handles, moment_of, not_found
from presscheck.service.http.pagination import page_of_rows
from presscheck.service.models.organizations import AuditEventRow
from presscheck.service.permissions import organization_for
from presscheck.service.spaces.serializers import people


@handles(ListAuditEventActions)
def list_audit_event_actions(context: Context, call: ListAuditEventActions) -> AuditEventActions:
    """List the actions that events can have: one for each write that the service records."""
    organization_for(context, call.organization_id, "admin")
    return AuditEventActions(
        items=tuple(
            AuditEventAction(id=action_of(operation)[0], label=action_of(operation)[1])
            for operation in every_operation()
            if operation in HANDLERS and not operation.is_read() and operation not in READ_ONLY_OPERATIONS | UNRECORDED
        )
    )


@handles(ListAuditEvents)
def list_audit_events(context: Context, call: ListAuditEvents) -> Page[AuditEvent]:
    """List the events of an organization, newest first."""
    organization_for(context, call.organization_id, "admin")
    rows = select(AuditEventRow).where(AuditEventRow.organization_id == call.organization_id)
    for column, value in (
        (AuditEventRow.action, call.action),
        (AuditEventRow.actor_id, call.actor),
        (AuditEventRow.target_id, call.target),
    ):
        rows = rows if value is None else rows.where(column == value)
    if call.since is not None:
        rows = rows.where(AuditEventRow.occurred_at >= moment_of("from", call.since))
    if call.until is not None:
        rows = rows.where(AuditEventRow.occurred_at <= moment_of("to", call.until))

    def build(page: Sequence[AuditEventRow]) -> Iterator[AuditEvent]:
        return (AuditEvent(**event) for event in _as_events(context, page))

    order = (AuditEventRow.occurred_at, AuditEventRow.id)
    return page_of_rows(context, call, rows, build, order=order, newest_first=True)


@handles(GetAuditEvent)
def get_audit_event(context: Context, call: GetAuditEvent) -> AuditEventDetails:
    """Return an event with its payload."""
    organization_for(context, call.organization_id, "admin")
    row = context.session.get(AuditEventRow, call.audit_event_id)
    if row is None or row.organization_id != call.organization_id:
        raise not_found("audit event")
    [event] = _as_events(context, [row])
    return AuditEventDetails(**event, payload=row.payload)


def _as_events(context: Context, rows: Sequence[AuditEventRow]) -> Iterator[dict[str, Any]]:
    users = people(context, (row.actor_id for row in rows if row.actor_type == "user"))
    for row in rows:
        user = users.get(row.actor_id)
        yield {
            "id": row.id,
            "occurred_at": row.occurred_at,
            "action": row.action,
            "actor": AuditEventParty(type=row.actor_type, id=row.actor_id, label=user.display_name if user else None),
            "source": "api" if row.actor_type == "user" else "integration",
            "target": AuditEventParty(type=row.target_type, id=row.target_id),
            "urls": Location(location=context.location(f"/orgs/{row.organization_id}/audit-events/{row.id}")),
        }
