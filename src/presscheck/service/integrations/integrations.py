"""Serializes integrations, checks access to them, and sends them events.

The owners of an integration are the admins of its organization. They may use operations that require the token of the
integration on other services.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, delete, or_, select
from sqlalchemy.orm import Session

from presscheck.api.integrations import (
    ExternalLink,
    Installation,
    InstallationTarget,
    InstallationUrls,
    Integration,
    IntegrationPermissions,
    IntegrationUrls,
)
from presscheck.service.content.file_urls import file_address
from presscheck.service.db.ids import new_id
from presscheck.service.handlers.organizations import as_organization
from presscheck.service.http.operations import ApiError, Context, not_found
from presscheck.service.integrations.event_delivery import DeliveryLog, Outcome, Receiver
from presscheck.service.jobs.queue import enter_job
from presscheck.service.models.integrations import EventRow, InstallationRow, IntegrationRow
from presscheck.service.models.organizations import OrganizationRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import is_member, role_in

KEPT_EVENTS = 1000
"""Number of events that are kept per integration; older delivered events are deleted."""
_INSTALLED = (
    select(InstallationRow)
    .join(IntegrationRow, IntegrationRow.name == InstallationRow.integration)
    .where(
        InstallationRow.organization_id == bindparam("organization"),
        InstallationRow.space_selection == "all",
        or_(IntegrationRow.target == "all", IntegrationRow.target == "space"),
    )
)


def integration_for(context: Context, name: str, *, to_own: bool = False) -> IntegrationRow:
    """Returns the integration if the caller may see it, or with `to_own` if the caller owns it.

    Raises:
        ApiError: 404 if the caller may not see it, 403 if the caller does not own it.
    """
    row = context.session.get(IntegrationRow, name)
    if row is None or not may_see(context, row):
        raise not_found("integration")
    if to_own and not is_owner(context, row):
        raise ApiError(403, "Only admins of the organization that owns the integration can do this.")
    return row


def may_see(context: Context, row: IntegrationRow) -> bool:
    """Returns whether the caller may see the integration."""
    return row.visibility != "private" or is_member(context, row.organization_id)


def is_owner(context: Context, row: IntegrationRow) -> bool:
    """Returns whether the caller owns the integration."""
    return role_in(context, row.organization_id) == "admin"


def as_integrations(context: Context, rows: Sequence[IntegrationRow]) -> list[Integration]:
    """Serializes integrations."""
    return [_as_integration(context, row) for row in rows]


def _as_integration(context: Context, row: IntegrationRow) -> Integration:
    api_url = f"{context.origin}/integrations/{row.name}"
    owner = context.session.get_one(OrganizationRow, row.organization_id)
    return Integration(
        name=row.name,
        version=row.version,
        title=row.title,
        description=row.description,
        summary=row.summary,
        preview_images=tuple(file_address(context, image, "preview.png") for image in row.preview_images),
        target=row.target,
        verified=False,
        visibility=row.visibility,
        scopes=tuple(row.scopes),
        categories=tuple(row.categories),
        blocks=tuple(row.blocks) if row.blocks is not None else None,
        content_sources=tuple(row.content_sources) if row.content_sources is not None else None,
        configurations=row.configurations,
        external_links=tuple(ExternalLink.model_validate(link) for link in row.external_links if "url" in link),
        owner=as_organization(context, owner),
        content_security_policy=row.content_security_policy,
        urls=IntegrationUrls(
            location=context.location(f"/integrations/{row.name}"),
            icon=file_address(context, row.icon, "icon.png") if row.icon else None,
            app=context.app(f"/integrations/{row.name}"),
            assets=f"{api_url}/assets",
            public_endpoint=api_url,
            public_content_endpoint=api_url,
        ),
        permissions=IntegrationPermissions(admin=is_owner(context, row)),
    )


def as_installation(context: Context, row: InstallationRow) -> Installation:
    """Serializes an installation."""
    spaces = spaces_of(context, row)
    return Installation(
        id=row.id,
        status=row.status,
        space_selection=row.space_selection,
        site_selection=row.site_selection,
        spaces=len(spaces),
        configuration=row.configuration,
        created_at=row.created_at,
        updated_at=row.updated_at,
        external_ids=tuple(row.external_ids),
        target=InstallationTarget(organization=row.organization_id),
        urls=InstallationUrls(
            location=context.location(f"/integrations/{row.integration}/installations/{row.id}"),
            app=context.app(f"/integrations/{row.integration}/installations/{row.id}"),
            public_endpoint=f"{context.origin}/integrations/{row.integration}/installations/{row.id}",
            public_content_endpoint=f"{context.origin}/integrations/{row.integration}/installations/{row.id}",
        ),
    )


def spaces_of(context: Context, row: InstallationRow) -> Sequence[SpaceRow]:
    """Returns the spaces of an installation: all spaces of its organization, or none."""
    if row.space_selection != "all":
        return ()
    query = select(SpaceRow).where(SpaceRow.organization_id == row.organization_id, SpaceRow.deleted_at.is_(None))
    return context.session.scalars(query.order_by(SpaceRow.id)).all()


def receiver_of(
    row: IntegrationRow,
    installation: InstallationRow | None,
    *,
    is_own: bool,
    space_id: str | None = None,
    site_id: str | None = None,
) -> Receiver:
    """Returns the destination of an event: the development tunnel if it applies, else the script.

    Args:
        row: the integration.
        installation: the installation in the environment of the script, or None.
        is_own: whether the event comes from the organization of the integration, whose events always go to the tunnel.
        space_id: the space that the event is about.
        site_id: the site that the event is about.
    """
    environment: dict[str, Any] = {
        "integration": {"name": row.name, "version": row.version, "target": row.target, "scopes": row.scopes},
        "apiEndpoint": "",
        "apiTokens": {"integration": ""},
        "secrets": {},
        "signingSecrets": {"integration": ""},
    }
    if installation is not None:
        environment["installation"] = {
            "id": installation.id,
            "status": installation.status,
            "space_selection": installation.space_selection,
            "site_selection": installation.site_selection,
            "configuration": installation.configuration,
            "externalIds": installation.external_ids,
            "createdAt": installation.created_at,
            "updatedAt": installation.updated_at,
            "target": {"organization": installation.organization_id},
        }
        content = {"integration": row.name, "installation": installation.id, "status": installation.status}
        content |= {"configuration": {}, "externalIds": installation.external_ids}
        if space_id is not None and installation.space_selection == "all":
            environment["spaceInstallation"] = {**content, "space": space_id}
        if site_id is not None and installation.site_selection == "all":
            environment["siteInstallation"] = {**content, "site": site_id}
    tunnel = row.tunnel_url if row.tunnel_for_all or is_own else None
    return Receiver(row.title, row.version, tunnel, row.script, environment)


def tell(session: Session, row: InstallationRow, kind: str, now: str, **said: Any) -> None:
    """Queues an event for an integration; a job delivers it."""
    event_id = new_id()
    session.add(
        EventRow(
            id=event_id,
            integration=row.integration,
            installation_id=row.id,
            payload={"eventId": event_id, "type": kind, "installationId": row.id, **said},
            logs=[],
            created_at=now,
        )
    )
    session.flush()
    owner = session.get_one(IntegrationRow, row.integration).organization_id
    installer = {"installer": row.organization_id}
    enter_job(session, "delivery", event_id, now=now, organization_id=owner, progress=installer)
    delete_old_events(session, row.integration)


def record_event(
    session: Session,
    integration: str,
    installation_id: str | None,
    payload: dict[str, Any],
    outcome: Outcome,
    log: DeliveryLog,
    now: str,
) -> None:
    """Records an event that was delivered synchronously."""
    if session.get(IntegrationRow, integration) is None:  # the integration was deleted meanwhile
        return
    session.add(
        EventRow(
            id=payload["eventId"],
            integration=integration,
            installation_id=installation_id,
            payload=payload,
            status="success" if outcome.is_success else "failed",
            logs=log.rows,
            created_at=now,
        )
    )
    session.flush()
    delete_old_events(session, integration)


def delete_old_events(session: Session, integration: str) -> None:
    """Deletes the delivered events of an integration beyond the newest `KEPT_EVENTS`."""
    newest_first = (EventRow.created_at.desc(), EventRow.id.desc())
    of_integration = select(EventRow.id).where(EventRow.integration == integration).order_by(*newest_first)
    old = session.scalars(of_integration.offset(KEPT_EVENTS)).all()
    if old:
        session.execute(delete(EventRow).where(EventRow.id.in_(old), EventRow.status.is_not(None)))


def tell_of_content(context: Context, space: SpaceRow) -> None:
    """Queues an event for each integration in a space after its live content changed."""
    for row in context.rows(_INSTALLED, organization=space.organization_id):
        payload = {"spaceId": space.id, "revisionId": space.revision_id}
        tell(context.session, row, "space_content_updated", context.now(), **payload)
