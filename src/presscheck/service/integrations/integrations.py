"""Integrations: serialization, access checks, secrets and events.

The owners of an integration are the admins of its organization. On this service, they may also call the operations for
which the platform requires the token of the integration.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from sqlalchemy import bindparam, delete, or_, select
from sqlalchemy.orm import Session

from presscheck.api.integrations import (
    ContentInstallationUrls,
    ExternalLink,
    Installation,
    InstallationTarget,
    InstallationUrls,
    Integration,
    IntegrationPermissions,
    IntegrationUrls,
    RenderOutput,
    SiteInstallation,
    SpaceInstallation,
)
from presscheck.api.operation import Model
from presscheck.service.content.file_urls import file_address
from presscheck.service.db.ids import new_id
from presscheck.service.db.signing import signing_key
from presscheck.service.handlers.organizations import as_organization
from presscheck.service.http.integration_tokens import write_integration_token
from presscheck.service.http.operations import ApiError, Caller, Context, not_found, require_fit, write_answer
from presscheck.service.integrations.event_delivery import DeliveryLog, Outcome, Receiver
from presscheck.service.jobs.queue import enter_job
from presscheck.service.models.integrations import EventRow, InstallationRow, IntegrationRow, granted_scopes
from presscheck.service.models.jobs import SettingRow
from presscheck.service.models.organizations import OrganizationRow
from presscheck.service.models.sites import SiteRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import is_member, role_in

Kind = Literal["space", "site"]
KINDS: tuple[Kind, ...] = ("space", "site")
"""Kinds of places in an organization where an integration is installed."""
KEPT_EVENTS = 1000
"""Number of events that are stored per integration; older events are deleted once they are delivered."""
_SECRETS = "secrets of integration "
"""Prefix of the name of the setting with the secrets of an integration."""
_INSTALLED = (
    select(InstallationRow)
    .join(IntegrationRow, IntegrationRow.name == InstallationRow.integration)
    .where(
        InstallationRow.organization_id == bindparam("organization"),
        or_(IntegrationRow.target == "all", IntegrationRow.target == bindparam("target")),
    )
)


def integration_for(context: Context, name: str, *, to_own: bool = False) -> IntegrationRow:
    """Return an integration that the caller may see. With `to_own`, the caller must own it.

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
    """Return whether the caller may see the integration."""
    is_itself = context.installation is not None and context.installation.integration == row.name
    return row.visibility != "private" or is_itself or is_member(context, row.organization_id)


def is_owner(context: Context, row: IntegrationRow) -> bool:
    """Return whether the caller owns the integration."""
    return role_in(context, row.organization_id) == "admin"


def as_integrations(context: Context, rows: Sequence[IntegrationRow]) -> list[Integration]:
    """Serialize integrations."""
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
    """Serialize an installation."""
    spaces = spaces_of(context, row)
    return Installation(
        id=row.id,
        status=status_of(context, row),
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


def status_of(context: Context, row: InstallationRow) -> str:
    """Return the status of an installation: pending while an admin has not agreed to all scopes of the integration."""
    integration = context.session.get_one(IntegrationRow, row.integration)
    return row.status if granted_scopes(integration, row) == {*integration.scopes} else "pending"


def spaces_of(context: Context, row: InstallationRow) -> Sequence[SpaceRow]:
    """Return the spaces of an installation: all spaces of its organization, or the selected spaces."""
    query = select(SpaceRow).where(SpaceRow.organization_id == row.organization_id, SpaceRow.deleted_at.is_(None))
    rows = context.session.scalars(query.order_by(SpaceRow.id))
    return [space for space in rows if is_installed_in(row, "space", space.id)]


def sites_of(context: Context, row: InstallationRow) -> Sequence[SiteRow]:
    """Return the sites of an installation: all sites of its organization, or the selected sites."""
    query = select(SiteRow).where(SiteRow.organization_id == row.organization_id)
    rows = context.session.scalars(query.order_by(SiteRow.id))
    return [site for site in rows if is_installed_in(row, "site", site.id)]


def is_installed_in(row: InstallationRow, kind: Kind, identity: str) -> bool:
    """Return whether an installation includes a space or a site of its organization."""
    selection = row.space_selection if kind == "space" else row.site_selection
    return selection == "all" or identity in settings_of(row, kind)


def settings_of(row: InstallationRow, kind: Kind) -> dict[str, Any]:
    """Return the settings of an installation in spaces or in sites, by the id of the space or site."""
    return row.spaces if kind == "space" else row.sites


def settings_in(row: InstallationRow, kind: Kind, identity: str) -> dict[str, Any]:
    """Return the configuration and the external ids of an installation in a space or a site."""
    initial = {"configuration": {}, "externalIds": row.external_ids}
    return initial | settings_of(row, kind).get(identity, {})


def is_installed(context: Context, row: InstallationRow, kind: Kind, identity: str) -> bool:
    """Return whether an installation includes a space or a site.

    Return False if the space or site is missing, deleted or in another organization.
    """
    place = context.session.get(SpaceRow if kind == "space" else SiteRow, identity)
    is_deleted = isinstance(place, SpaceRow) and place.deleted_at is not None
    is_here = place is not None and not is_deleted and place.organization_id == row.organization_id
    return is_here and is_installed_in(row, kind, identity)


def receiver_of(
    context: Context,
    row: IntegrationRow,
    installation: InstallationRow | None,
    *,
    is_own: bool | None,
    space_id: str | None = None,
    site_id: str | None = None,
) -> Receiver:
    """Return the destination of an event: the development tunnel if it applies, else the script.

    Args:
        context: the transaction. The data for the script does not depend on its caller.
        row: the integration.
        installation: the installation in the environment of the script, or None.
        is_own: whether the event comes from the organization that owns the integration. Events from other organizations
            are only sent through the tunnel if the owner allows it. None if the tunnel must not be used.
        space_id: the space that the event is about.
        site_id: the site that the event is about.
    """
    tunnel = row.tunnel_url if is_own is not None and (row.tunnel_for_all or is_own) else None
    if tunnel is not None:
        return Receiver(row.title, row.version, tunnel, row.script, {})
    context = replace(context, user=Caller("", "", None, None), known={})
    token = write_integration_token(
        context.session, row.name, installation.id if installation else None, context.clock()
    )
    environment: dict[str, Any] = {
        "integration": _as_json(_as_integration(context, row)),
        "apiEndpoint": context.origin,
        "apiTokens": {"integration": token},
        "secrets": secrets_of(context.session, row.name),
        "signingSecrets": {
            "integration": _signing_secret(context.session, f"integration {row.organization_id} {row.name}")
        },
    }
    if installation is not None:
        environment["apiTokens"]["installation"] = token
        environment["signingSecrets"]["installation"] = _signing_secret(
            context.session, f"installation {installation.id}"
        )
        environment["installation"] = _as_json(as_installation(context, installation))
        if space_id is not None and is_installed(context, installation, "space", space_id):
            installed = SpaceInstallation(**content_fields(context, installation, "space", space_id), space=space_id)
            environment["spaceInstallation"] = _as_json(installed)
        if site_id is not None and is_installed(context, installation, "site", site_id):
            in_site = SiteInstallation(**content_fields(context, installation, "site", site_id), site=site_id)
            environment["siteInstallation"] = _as_json(in_site)
    return Receiver(row.title, row.version, None, row.script, environment)


def content_fields(context: Context, row: InstallationRow, kind: Kind, identity: str) -> dict[str, Any]:
    """Return the fields that responses for installations in spaces and in sites have in common."""
    settings = settings_in(row, kind, identity)
    path = f"/integrations/{row.integration}/installations/{row.id}/{kind}s/{identity}"
    return {
        "integration": row.integration,
        "installation": row.id,
        "status": status_of(context, row),
        "configuration": settings["configuration"],
        "external_ids": tuple(settings["externalIds"]),
        "urls": ContentInstallationUrls(
            location=context.location(path),
            public_endpoint=f"{context.origin}{path}",
            public_content_endpoint=f"{context.origin}{path}",
        ),
    }


def _as_json(value: Model) -> dict[str, Any]:
    return json.loads(write_answer(value))


def _signing_secret(session: Session, subject: str) -> str:
    """Return the key with which an integration signs its own data, such as the state of a sign-in.

    `subject` starts with its kind, because a publisher could name an integration like the id of an installation.
    """
    return hmac.digest(signing_key(session), f"integration secret {subject}".encode(), hashlib.sha256).hex()


def secrets_of(session: Session, name: str) -> dict[str, str]:
    """Return the secrets of an integration, which only its script receives."""
    row = session.get(SettingRow, f"{_SECRETS}{name}")
    return json.loads(row.value) if row else {}


def store_secrets(session: Session, name: str, secrets: dict[str, str] | None) -> None:
    """Store the secrets of an integration; None deletes them."""
    row = session.get(SettingRow, f"{_SECRETS}{name}")
    if secrets is None:
        if row is not None:
            session.delete(row)
    elif row is not None:
        row.value = json.dumps(secrets)
    else:
        session.add(SettingRow(name=f"{_SECRETS}{name}", value=json.dumps(secrets)))


def component_in(text: str) -> RenderOutput | None:
    """Parse the response of an integration. Return None if it is not a component."""
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)
        require_fit("response", value)
        output = RenderOutput.model_validate(value)
    except (ValueError, RecursionError, ApiError):
        return None
    return output if output.element is not None or output.type == "complete" else None


def queue_event(context: Context, row: InstallationRow, kind: str, **fields: Any) -> None:
    """Queue an event for an integration; a job delivers it."""
    session, now, event_id = context.session, context.now(), new_id()
    session.add(
        EventRow(
            id=event_id,
            integration=row.integration,
            installation_id=row.id,
            payload={"eventId": event_id, "type": kind, "installationId": row.id, **fields},
            logs=[],
            created_at=now,
        )
    )
    session.flush()
    owner = session.get_one(IntegrationRow, row.integration).organization_id
    about = {"installer": row.organization_id, "origin": context.origin}
    enter_job(session, "delivery", event_id, now=now, organization_id=owner, progress=about)
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
    """Record an event that was delivered without a job, unless the integration has been deleted in the meantime."""
    if session.get(IntegrationRow, integration) is None:
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
    """Delete the events of an integration that are delivered and not among the newest `KEPT_EVENTS`."""
    newest_first = (EventRow.created_at.desc(), EventRow.id.desc())
    of_integration = select(EventRow.id).where(EventRow.integration == integration).order_by(*newest_first)
    old = session.scalars(of_integration.offset(KEPT_EVENTS)).all()
    if old:
        session.execute(delete(EventRow).where(EventRow.id.in_(old), EventRow.status.is_not(None)))


def queue_content_events(context: Context, space: SpaceRow) -> None:
    """Queue an event for each integration in a space after a change of its live content."""
    for row in context.rows(_INSTALLED, organization=space.organization_id, target="space"):
        if is_installed_in(row, "space", space.id):
            payload = {"spaceId": space.id, "revisionId": space.revision_id}
            queue_event(context, row, "space_content_updated", **payload)


def queue_feedback_events(context: Context, site: SiteRow, payload: dict[str, Any]) -> None:
    """Queue an event for each integration in a site after a reader gave feedback on a page."""
    for row in context.rows(_INSTALLED, organization=site.organization_id, target="site"):
        if is_installed_in(row, "site", site.id):
            queue_event(context, row, "page_feedback", siteId=site.id, **payload)
