"""Audit events: who changed what in an organization."""

from typing import Any

from pydantic import Field

from presscheck.api.operation import InOrganization, Model, Operation, Page, Paged
from presscheck.api.roles import Location

NEWEST = "0.202.0"
FEATURE = "audit events"


class AuditEventAction(Model):
    """A kind of change; `label` describes it."""

    object: str = "audit-event-action"
    id: str
    label: str = ""


class AuditEventActions(Model):
    """All actions that events may have."""

    items: tuple[AuditEventAction, ...] = ()


class AuditEventParty(Model):
    """The actor or the target of an event."""

    type: str
    id: str
    label: str | None = None


class AuditEvent(Model):
    """A change in an organization."""

    object: str = "audit-event"
    id: str
    occurred_at: str
    action: str
    actor: AuditEventParty
    source: str
    target: AuditEventParty
    urls: Location = Field(default_factory=Location)


class AuditEventDetails(AuditEvent):
    """An audit event with the ids and settings of the change."""

    schema_version: int = 1
    payload: dict[str, Any] = Field(default_factory=dict)


class ListAuditEventActions(InOrganization, Operation[AuditEventActions]):
    """List the possible actions of audit events."""

    operation_id = "listOrganizationAuditEventActions"
    route = "GET /orgs/{organization_id}/audit-event-actions"
    feature = FEATURE
    release = NEWEST


class ListAuditEvents(InOrganization, Paged, Operation[Page[AuditEvent]]):
    """List who changed what in an organization, newest first."""

    operation_id = "listOrganizationAuditEvents"
    route = "GET /orgs/{organization_id}/audit-events"
    feature = FEATURE
    release = NEWEST

    limit: int | None = Field(default=None, ge=1, le=100)
    since: str | None = Field(default=None, alias="from")
    until: str | None = Field(default=None, alias="to")
    action: str | None = None
    actor: str | None = None
    target: str | None = None


class GetAuditEvent(InOrganization, Operation[AuditEventDetails]):
    """Get an audit event of an organization."""

    operation_id = "getOrganizationAuditEvent"
    route = "GET /orgs/{organization_id}/audit-events/{audit_event_id}"
    feature = FEATURE
    release = NEWEST

    audit_event_id: str
