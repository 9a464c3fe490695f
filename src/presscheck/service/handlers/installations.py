"""Integration installations, their events, and the components that integrations render."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from sqlalchemy import select

from presscheck.api.integrations import (
    EventTrace,
    GetInstallation,
    GetIntegrationEvent,
    Installation,
    InstallIntegration,
    IntegrationEvent,
    ListIntegrationEvents,
    ListIntegrationInstallations,
    ListIntegrationSites,
    ListIntegrationSpaces,
    LogLine,
    RenderIntegration,
    RenderIntegrationWithGet,
    RenderOutput,
    SiteInstallation,
    SpaceInstallation,
    TracedEvent,
    UninstallIntegration,
    UpdateInstallation,
)
from presscheck.api.operation import Page
from presscheck.documents.lz_string import decompressed
from presscheck.service.db.ids import new_id
from presscheck.service.handlers.sites import as_sites
from presscheck.service.http.operations import ApiError, Context, Serialized, handles, not_found, read_call
from presscheck.service.http.pagination import page_of_items, page_of_rows
from presscheck.service.integrations.event_delivery import DeliveryLog, deliver_event
from presscheck.service.integrations.integrations import (
    as_installation,
    component_in,
    content_fields,
    integration_for,
    is_owner,
    queue_event,
    receiver_of,
    record_event,
    sites_of,
    spaces_of,
)
from presscheck.service.models.integrations import EventRow, InstallationRow, IntegrationRow, granted_scopes
from presscheck.service.models.sites import SiteRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import (
    level_in_space,
    organization_for,
    role_in,
    sees_site,
    visible_sites,
    visible_space_ids,
)
from presscheck.service.sites.granted_reads import is_granted
from presscheck.service.spaces.serializers import as_spaces

LONGEST_REQUEST = 16_384
LONGEST_UNPACKED = 1_000_000
"""The maximum length of a component request after decompression."""
LARGEST_RECORDED = 32_768
"""The maximum length of a render event that is stored with all of its fields."""


@handles(ListIntegrationInstallations)
def list_installations(context: Context, call: ListIntegrationInstallations) -> Page[Installation]:
    """List the installations of an integration, for its owners; a script only gets its own installation."""
    installations = [
        as_installation(context, row) for row in _installations(context, call.integration_name, call.external_id)
    ]
    return page_of_items(call, installations)


@handles(InstallIntegration)
def install_integration(context: Context, call: InstallIntegration) -> Installation:
    """Install an integration in an organization and send the integration an event. Requires an admin.

    If the integration is already installed but its newest version has further scopes, agree to these scopes.
    """
    organization = organization_for(context, call.organization, "admin")
    row = integration_for(context, call.integration_name)
    existing = select(InstallationRow).where(
        InstallationRow.integration == row.name, InstallationRow.organization_id == organization.id
    )
    installed, now = context.session.scalar(existing), context.now()
    if installed is not None:
        if granted_scopes(row, installed) == {*row.scopes}:
            raise ApiError(409, f"{row.title} is already installed in this organization.")
        installed.scopes, installed.updated_at = list(row.scopes), now
        queue_event(context, installed, "installation_setup", status=installed.status)
        return as_installation(context, installed)
    installed = InstallationRow(
        id=new_id(),
        integration=row.name,
        organization_id=organization.id,
        status="active",
        scopes=list(row.scopes),
        space_selection="all",
        site_selection="all",
        configuration={},
        external_ids=[],
        created_at=now,
        updated_at=now,
    )
    context.session.add(installed)
    context.session.flush()
    queue_event(context, installed, "installation_setup", status="active")
    return as_installation(context, installed)


@handles(GetInstallation)
def get_installation(context: Context, call: GetInstallation) -> Installation:
    """Return an installation."""
    return as_installation(context, installation_for(context, call.integration_name, call.installation_id))


@handles(UpdateInstallation)
def update_installation(context: Context, call: UpdateInstallation) -> Installation:
    """Update an installation, and queue an event with its former state unless its own script is the caller.

    Only admins of the organization change the selection of spaces and sites, not the owner of the integration.
    """
    row = installation_for(context, call.integration_name, call.installation_id)
    previous = {"status": row.status, "configuration": row.configuration}
    if call.space_selection is not None or call.site_selection is not None:
        # a selection decides which content the integration receives
        organization_for(context, row.organization_id, "admin")
    given = call.given()
    for name in ("configuration", "space_selection", "site_selection"):
        if given.get(name) is not None:
            setattr(row, name, given[name])
    if call.external_ids is not None:
        row.external_ids = list(call.external_ids)
    row.updated_at = context.now()
    if context.installation is None:  # an event would make the script update its installation again
        queue_event(context, row, "installation_setup", status=row.status, previous=previous)
    return as_installation(context, row)


@handles(UninstallIntegration)
def uninstall_integration(context: Context, call: UninstallIntegration) -> None:
    """Remove an installation and send the integration an event. Return normally if the installation does not exist."""
    integration_for(context, call.integration_name)
    row = context.session.get(InstallationRow, call.installation_id)
    if row is not None and row.integration == call.integration_name:
        installation_for(context, call.integration_name, call.installation_id)
        previous = {"configuration": row.configuration}
        queue_event(context, row, "installation_deleted", previous=previous)
        context.session.delete(row)


@handles(ListIntegrationEvents)
def list_events(context: Context, call: ListIntegrationEvents) -> Page[IntegrationEvent]:
    """List the events of an integration, newest first, for its owners."""
    row = integration_for(context, call.integration_name, to_own=True)
    rows = select(EventRow).where(EventRow.integration == row.name, EventRow.status.is_not(None))
    return page_of_rows(
        context,
        call,
        rows,
        lambda page_rows: [_as_event(event) for event in page_rows],
        order=(EventRow.created_at, EventRow.id),
        newest_first=True,
    )


@handles(GetIntegrationEvent)
def get_event(context: Context, call: GetIntegrationEvent) -> TracedEvent:
    """Return an event with the log of its delivery."""
    row = integration_for(context, call.integration_name, to_own=True)
    event = context.session.get(EventRow, call.event_id)
    if event is None or event.integration != row.name or event.status is None:
        raise not_found("event")
    logs = tuple(LogLine.model_validate(log) for log in event.logs)
    return TracedEvent(event=_as_event(event), trace=EventTrace(logs=logs))


@handles(ListIntegrationSpaces)
def list_spaces(context: Context, call: ListIntegrationSpaces) -> Page[SpaceInstallation]:
    """List the spaces of all installations of an integration, for its owners and its script."""
    spaces = [
        installed
        for row in _installations(context, call.integration_name, call.external_id)
        for installed in space_installations(context, row, spaces_of(context, row), extended=call.extended)
    ]
    return page_of_items(call, spaces)


@handles(ListIntegrationSites)
def list_sites(context: Context, call: ListIntegrationSites) -> Page[SiteInstallation]:
    """List the sites of all installations of an integration, for its owners and its script."""
    sites = [
        installed
        for row in _installations(context, call.integration_name, call.external_id)
        for installed in site_installations(context, row, sites_of(context, row), extended=call.extended)
    ]
    return page_of_items(call, sites)


@handles(RenderIntegrationWithGet)
def render_with_get(context: Context, call: RenderIntegrationWithGet) -> RenderOutput | Serialized[RenderOutput]:
    """Render a component from a request that is compressed into the query."""
    try:
        unpacked = _unpacked(call.request).encode("utf-8", "surrogatepass")
        render_call = read_call(RenderIntegration, {"integration_name": call.integration_name}, (), unpacked)
    except (ValueError, ApiError):
        raise ApiError(
            400, "request: must be JSON with componentId, props and context, compressed with LZ-string"
        ) from None
    return render(context, cast("RenderIntegration", render_call))


@handles(RenderIntegration, writes=False)
def render(context: Context, call: RenderIntegration) -> RenderOutput:
    """Render a component with the script of the integration, or through its development tunnel.

    The tunnel is used for owners of the integration, or for all callers if the owner has chosen this.
    """
    row = integration_for(context, call.integration_name)
    outgoing = context.outgoing_requests(row.organization_id)
    place = _place_of(context, call.context)
    if not is_granted(context, {name: value for name, value in place._asdict().items() if value is not None}):
        place = _Place()
    installation = _installation_in(context, row, place.organization_id)
    event = {
        "eventId": new_id(),
        "type": "ui_render",
        "auth": {"userId": context.user.id},
        **({"installationId": installation.id} if installation is not None else {}),
        **({"spaceId": place.space_id} if place.space_id is not None else {}),
        **({"siteId": place.site_id} if place.site_id is not None else {}),
        "componentId": call.component_id,
        "props": call.props,
        "context": call.context,
        **({"state": call.state} if call.state is not None else {}),
        **({"action": call.action} if call.action is not None else {}),
    }
    try:
        text = json.dumps(event, allow_nan=False)
    except ValueError:
        raise ApiError(400, "props, context, state and action: numbers must be finite") from None
    receiver = receiver_of(
        context, row, installation, is_own=is_owner(context, row), space_id=place.space_id, site_id=place.site_id
    )
    log, now = DeliveryLog(context.now), context.now()
    outcome = deliver_event(receiver, event, log, outgoing=outgoing, scripts=context.scripts, read=context.files.read)
    output = None if outcome.error is not None else component_in(outcome.text)
    if output is None and outcome.error is None:
        outcome = replace(outcome, error=f"{row.title} did not respond with a component to render.")
        log.add("error", "The response is not a component: it must have an element, or the type complete.")
    recorded = event
    if len(text) > LARGEST_RECORDED:
        recorded = {name: value for name, value in event.items() if name not in ("state", "action")}
        recorded |= {"props": {}, "context": {}}
        log.add("warn", f"The stored event lacks its properties, state, context and action: {len(text)} characters.")
    name, installation_id = row.name, installation.id if installation is not None else None
    context.afterwards.append(lambda session: record_event(session, name, installation_id, recorded, outcome, log, now))
    if output is None:
        raise ApiError(outcome.problem, outcome.error or "no response")
    return output


class _Place(NamedTuple):
    """The space, site or organization in which a component is rendered; empty if the caller has no access to it."""

    organization_id: str | None = None
    space_id: str | None = None
    site_id: str | None = None


def _place_of(context: Context, component_context: dict[str, Any]) -> _Place:
    """Return the place that the context of a component names; empty if the caller has no access to the place."""
    space_id, site_id, organization_id = (
        component_context.get(name) for name in ("spaceId", "siteId", "organizationId")
    )
    if isinstance(space_id, str):
        space = context.session.get(SpaceRow, space_id)
        if space is not None and space.deleted_at is None and level_in_space(context, space) is not None:
            return _Place(space.organization_id, space_id=space.id)
    elif isinstance(site_id, str):
        site = context.session.get(SiteRow, site_id)
        if site is not None and sees_site(context, site):
            return _Place(site.organization_id, site_id=site.id)
    elif isinstance(organization_id, str) and role_in(context, organization_id) is not None:
        return _Place(organization_id)
    return _Place()


def _installation_in(context: Context, row: IntegrationRow, organization_id: str | None) -> InstallationRow | None:
    query = select(InstallationRow).where(
        InstallationRow.integration == row.name, InstallationRow.organization_id == organization_id
    )
    return context.session.scalar(query) if organization_id is not None else None


def _unpacked(text: str) -> str:
    if len(text) > LONGEST_REQUEST:
        raise ValueError("too long")
    return decompressed(text, LONGEST_UNPACKED)


def _installations(context: Context, name: str, external_id: str | None) -> list[InstallationRow]:
    own = context.installation
    row: IntegrationRow = integration_for(context, name, to_own=own is None)
    query = select(InstallationRow).where(InstallationRow.integration == row.name).order_by(InstallationRow.id)
    query = query.where(InstallationRow.id == own.installation_id) if own is not None else query
    rows = context.session.scalars(query).all()
    return [installation for installation in rows if external_id is None or external_id in installation.external_ids]


def installation_for(context: Context, name: str, installation_id: str) -> InstallationRow:
    """Return an installation, for owners of its integration, admins of its organization, and its script.

    Raises:
        ApiError: 403 or 404 for other callers, 404 if the installation does not exist.
    """
    integration = integration_for(context, name)
    row = context.session.get(InstallationRow, installation_id)
    if row is None or row.integration != name:
        raise not_found("installation")
    if context.installation is None and not is_owner(context, integration):
        organization_for(context, row.organization_id, "admin")
    return row


def space_installations(
    context: Context, row: InstallationRow, rows: Sequence[SpaceRow], *, extended: bool | None
) -> list[SpaceInstallation]:
    """Serialize an installation in spaces. With `extended`, spaces that the caller may see have all their fields."""
    is_whole = extended and _has_scope(context, "space:metadata:read")
    seen = visible_space_ids(context, row.organization_id) if is_whole else frozenset[str]()
    whole = {space.id: space for space in as_spaces(context, [space for space in rows if space.id in seen])}
    return [
        SpaceInstallation(**content_fields(context, row, "space", space.id), space=whole.get(space.id, space.id))
        for space in rows
    ]


def site_installations(
    context: Context, row: InstallationRow, rows: Sequence[SiteRow], *, extended: bool | None
) -> list[SiteInstallation]:
    """Serialize an installation in sites. With `extended`, sites that the caller may see have all their fields."""
    is_whole = extended and _has_scope(context, "site:metadata:read")
    seen = visible_sites(context, row.organization_id, rows) if is_whole else ()
    whole = {site.id: site for site in as_sites(context, seen)}
    return [
        SiteInstallation(**content_fields(context, row, "site", site.id), site=whole.get(site.id, site.id))
        for site in rows
    ]


def _has_scope(context: Context, scope: str) -> bool:
    """Return whether the caller is a user, or the script of an integration with a scope."""
    return context.installation is None or scope in context.installation.scopes


def _as_event(row: EventRow) -> IntegrationEvent:
    return IntegrationEvent(
        id=row.id,
        integration_id=row.integration,
        installation_id=row.installation_id,
        created_at=row.created_at,
        payload=row.payload,
        status=row.status or "",
    )
