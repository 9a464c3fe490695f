"""Integrations in spaces, sites and organizations: lists, settings, installation and removal.

Installing in a space or a site requires an admin of its organization, because the integration then receives events
about the content there.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from presscheck.api.content_installations import (
    GetOrganizationIntegrationStatus,
    GetSiteInstallation,
    GetSpaceInstallation,
    InstallationStatus,
    InstalledIntegration,
    InstalledTarget,
    InstallInSite,
    InstallInSpace,
    IntegrationBlocks,
    ListInstallationSites,
    ListInstallationSpaces,
    ListOrganizationInstallations,
    ListOrganizationIntegrations,
    ListOrganizationIntegrationsStatus,
    ListSiteIntegrations,
    ListSiteIntegrationScripts,
    ListSpaceIntegrationBlocks,
    ListSpaceIntegrations,
    OrganizationInstallation,
    UninstallFromSite,
    UninstallFromSpace,
    UpdateSiteInstallation,
    UpdateSpaceInstallation,
)
from presscheck.api.integrations import Integration, SiteInstallation, SpaceInstallation
from presscheck.api.operation import Page
from presscheck.api.published_sites import SiteScript
from presscheck.service.handlers.installations import installation_for, site_installations, space_installations
from presscheck.service.handlers.integrations import is_wanted
from presscheck.service.handlers.sites import site_for, site_scripts
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.http.pagination import page_of_items
from presscheck.service.integrations.integrations import (
    Kind,
    as_installation,
    as_integrations,
    is_installed_in,
    may_see,
    queue_event,
    settings_in,
    settings_of,
    sites_of,
    spaces_of,
    status_of,
)
from presscheck.service.models.integrations import InstallationRow, IntegrationRow
from presscheck.service.models.sites import SiteRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import organization_for, space_for


@handles(ListInstallationSpaces)
def list_installation_spaces(context: Context, call: ListInstallationSpaces) -> Page[SpaceInstallation]:
    """List the spaces of an installation."""
    row = installation_for(context, call.integration_name, call.installation_id)
    return page_of_items(call, space_installations(context, row, spaces_of(context, row), extended=call.extended))


@handles(ListInstallationSites)
def list_installation_sites(context: Context, call: ListInstallationSites) -> Page[SiteInstallation]:
    """List the sites of an installation."""
    row = installation_for(context, call.integration_name, call.installation_id)
    return page_of_items(call, site_installations(context, row, sites_of(context, row), extended=call.extended))


@handles(InstallInSpace)
def install_in_space(context: Context, call: InstallInSpace) -> SpaceInstallation:
    """Install an integration in a space and send the integration an event. Requires an admin."""
    row = installation_for(context, call.integration_name, call.installation_id)
    organization_for(context, row.organization_id, "admin")
    space = _space_of(context, row, call.space)
    _install(context, row, "space", space.id)
    return space_installations(context, row, [space], extended=call.extended)[0]


@handles(InstallInSite)
def install_in_site(context: Context, call: InstallInSite) -> SiteInstallation:
    """Install an integration in a site and send the integration an event. Requires an admin."""
    row = installation_for(context, call.integration_name, call.installation_id)
    organization_for(context, row.organization_id, "admin")
    site = _site_of(context, row, call.site_id)
    _install(context, row, "site", site.id)
    return site_installations(context, row, [site], extended=call.extended)[0]


@handles(GetSpaceInstallation)
def get_space_installation(context: Context, call: GetSpaceInstallation) -> SpaceInstallation:
    """Return an installation in a space."""
    row = installation_for(context, call.integration_name, call.installation_id)
    space = _space_of(context, row, call.space_id, is_installed=True)
    return space_installations(context, row, [space], extended=call.extended)[0]


@handles(GetSiteInstallation)
def get_site_installation(context: Context, call: GetSiteInstallation) -> SiteInstallation:
    """Return an installation in a site."""
    row = installation_for(context, call.integration_name, call.installation_id)
    site = _site_of(context, row, call.site_id, is_installed=True)
    return site_installations(context, row, [site], extended=call.extended)[0]


@handles(UpdateSpaceInstallation)
def update_space_installation(context: Context, call: UpdateSpaceInstallation) -> SpaceInstallation:
    """Update the settings of an integration in a space, and send it an event unless its own script made the call."""
    row = installation_for(context, call.integration_name, call.installation_id)
    space = _space_of(context, row, call.space_id, is_installed=True)
    _update(context, row, "space", space.id, call)
    return space_installations(context, row, [space], extended=call.extended)[0]


@handles(UpdateSiteInstallation)
def update_site_installation(context: Context, call: UpdateSiteInstallation) -> SiteInstallation:
    """Update the settings of an integration in a site, and send it an event unless its own script made the call."""
    row = installation_for(context, call.integration_name, call.installation_id)
    site = _site_of(context, row, call.site_id, is_installed=True)
    _update(context, row, "site", site.id, call)
    return site_installations(context, row, [site], extended=call.extended)[0]


@handles(UninstallFromSpace)
def uninstall_from_space(context: Context, call: UninstallFromSpace) -> None:
    """Remove an integration from a space. Return normally if it is not installed there."""
    row = installation_for(context, call.integration_name, call.installation_id)
    _uninstall(context, row, "space", call.space_id)


@handles(UninstallFromSite)
def uninstall_from_site(context: Context, call: UninstallFromSite) -> None:
    """Remove an integration from a site. Return normally if it is not installed there."""
    row = installation_for(context, call.integration_name, call.installation_id)
    _uninstall(context, row, "site", call.site_id)


@handles(ListOrganizationInstallations)
def list_organization_installations(
    context: Context, call: ListOrganizationInstallations
) -> Page[OrganizationInstallation]:
    """List the installations in an organization with their settings. Requires an admin."""
    organization = organization_for(context, call.organization_id, "admin")
    pairs = [
        (installation, integration)
        for installation, integration in _installed(context, organization.id)
        if _matches(integration, call.search)
    ]
    integrations = as_integrations(context, [integration for _, integration in pairs])
    return page_of_items(
        call,
        [
            OrganizationInstallation(integration=integration, installation=as_installation(context, row))
            for integration, (row, _) in zip(integrations, pairs, strict=True)
        ],
    )


@handles(ListOrganizationIntegrations)
def list_organization_integrations(context: Context, call: ListOrganizationIntegrations) -> Page[Integration]:
    """List the public integrations and the integrations of an organization, by name."""
    organization = organization_for(context, call.organization_id)
    rows = context.session.scalars(select(IntegrationRow).order_by(IntegrationRow.name))
    offered = [row for row in rows if row.visibility == "public" or row.organization_id == organization.id]
    return page_of_items(call, as_integrations(context, [row for row in offered if is_wanted(row, call)]))


@handles(ListOrganizationIntegrationsStatus)
def list_organization_integrations_status(
    context: Context, call: ListOrganizationIntegrationsStatus
) -> Page[InstalledIntegration]:
    """List the status of installations in an organization, or in one of its spaces or sites."""
    organization = organization_for(context, call.organization_id)
    target = InstalledTarget(type="organization", organization_id=organization.id)
    installed = _installed(context, organization.id)
    if call.target == "space":
        if call.space is None:
            raise ApiError(400, "space: is required with the target space")
        space = space_for(context, call.space)
        if space.organization_id != organization.id:
            raise not_found("space")
        target = InstalledTarget(type="space", space_id=space.id)
        installed = [pair for pair in installed if _is_in(*pair, "space", space.id)]
    if call.target == "site":
        if call.site is None:
            raise ApiError(400, "site: is required with the target site")
        site = site_for(context, organization.id, call.site)
        target = InstalledTarget(type="site", site_id=site.id)
        installed = [pair for pair in installed if _is_in(*pair, "site", site.id)]
    integrations = as_integrations(context, [integration for _, integration in installed])
    return page_of_items(
        call,
        [
            InstalledIntegration(status=status_of(context, row), integration=integration, target=target)
            for integration, (row, _) in zip(integrations, installed, strict=True)
        ],
    )


@handles(GetOrganizationIntegrationStatus)
def get_organization_integration_status(context: Context, call: GetOrganizationIntegrationStatus) -> InstallationStatus:
    """Return the status of an installation in an organization."""
    organization = organization_for(context, call.organization_id)
    for installation, integration in _installed(context, organization.id):
        if integration.name == call.integration_name:
            return InstallationStatus(status=status_of(context, installation))
    raise not_found("installation")


@handles(ListSpaceIntegrations)
def list_space_integrations(context: Context, call: ListSpaceIntegrations) -> Page[Integration]:
    """List the integrations in a space."""
    rows = _integrations_in_space(context, space_for(context, call.space_id))
    return Page(items=tuple(as_integrations(context, [row for row in rows if _matches(row, call.search)])))


@handles(ListSpaceIntegrationBlocks)
def list_space_integration_blocks(context: Context, call: ListSpaceIntegrationBlocks) -> tuple[IntegrationBlocks, ...]:
    """List the blocks of the integrations in a space."""
    rows = _integrations_in_space(context, space_for(context, call.space_id))
    return tuple(IntegrationBlocks(name=row.name, blocks=tuple(row.blocks)) for row in rows if row.blocks)


@handles(ListSiteIntegrations)
def list_site_integrations(context: Context, call: ListSiteIntegrations) -> Page[Integration]:
    """List the integrations in a site."""
    site = site_for(context, call.organization_id, call.site_id)
    installed = _installed(context, site.organization_id)
    rows = [
        integration
        for row, integration in installed
        if _is_in(row, integration, "site", site.id) and _matches(integration, call.search)
    ]
    return Page(items=tuple(as_integrations(context, rows)))


@handles(ListSiteIntegrationScripts)
def list_site_integration_scripts(context: Context, call: ListSiteIntegrationScripts) -> tuple[SiteScript, ...]:
    """List the scripts that integrations add to the pages of a site."""
    return site_scripts(context, site_for(context, call.organization_id, call.site_id))


def _installed(context: Context, organization_id: str) -> list[tuple[InstallationRow, IntegrationRow]]:
    """Return the installations in an organization, each with its integration, by the name of the integration.

    Integrations that the caller may not see are left out.
    """
    query = (
        select(InstallationRow, IntegrationRow)
        .join(IntegrationRow, IntegrationRow.name == InstallationRow.integration)
        .where(InstallationRow.organization_id == organization_id)
        .order_by(IntegrationRow.name)
    )
    return [
        (installation, integration)
        for installation, integration in context.session.execute(query)
        if may_see(context, integration)
    ]


def _integrations_in_space(context: Context, space: SpaceRow) -> list[IntegrationRow]:
    installed = _installed(context, space.organization_id)
    return [integration for row, integration in installed if _is_in(row, integration, "space", space.id)]


def _is_in(row: InstallationRow, integration: IntegrationRow, kind: Kind, identity: str) -> bool:
    return integration.target in ("all", kind) and is_installed_in(row, kind, identity)


def _matches(row: IntegrationRow, search: str | None) -> bool:
    return not search or search.casefold() in f"{row.name} {row.title}".casefold()


def _space_of(context: Context, row: InstallationRow, space_id: str, *, is_installed: bool = False) -> SpaceRow:
    """Return a space of the organization of an installation.

    Raises:
        ApiError: 404, the space does not exist there, or with `is_installed`, the installation does not include it.
    """
    space = context.row(SpaceRow, space_id)
    if space is None or space.organization_id != row.organization_id or space.deleted_at is not None:
        raise not_found("space")
    if is_installed and not is_installed_in(row, "space", space.id):
        raise not_found("installation in this space")
    return space


def _site_of(context: Context, row: InstallationRow, site_id: str, *, is_installed: bool = False) -> SiteRow:
    """Return a site of the organization of an installation.

    Raises:
        ApiError: 404, the site does not exist there, or with `is_installed`, the installation does not include it.
    """
    site = context.row(SiteRow, site_id)
    if site is None or site.organization_id != row.organization_id:
        raise not_found("site")
    if is_installed and not is_installed_in(row, "site", site.id):
        raise not_found("installation in this site")
    return site


def _install(context: Context, row: InstallationRow, kind: Kind, identity: str) -> None:
    if identity in settings_of(row, kind):
        raise ApiError(409, f"The integration is already installed in this {kind}.")
    _store(context, row, kind, identity, settings_in(row, kind, identity))
    _queue_event(context, row, kind, identity, "setup", status=row.status)


def _update(
    context: Context,
    row: InstallationRow,
    kind: Kind,
    identity: str,
    call: UpdateSpaceInstallation | UpdateSiteInstallation,
) -> None:
    settings = settings_in(row, kind, identity)
    previous = {"status": row.status, "configuration": settings["configuration"]}
    if call.configuration is not None:
        settings["configuration"] = call.configuration
    if call.external_ids is not None:
        settings["externalIds"] = list(call.external_ids)
    _store(context, row, kind, identity, settings)
    if context.installation is None:  # an event would make the script update its settings again
        _queue_event(context, row, kind, identity, "setup", status=row.status, previous=previous)


def _uninstall(context: Context, row: InstallationRow, kind: Kind, identity: str) -> None:
    selection = row.space_selection if kind == "space" else row.site_selection
    if selection == "all":
        raise ApiError(409, f"The integration is installed in all {kind}s. Select {kind}s before you remove one.")
    if identity not in settings_of(row, kind):
        return
    previous = {"configuration": settings_in(row, kind, identity)["configuration"]}
    _store(context, row, kind, identity, None)
    _queue_event(context, row, kind, identity, "deleted", previous=previous)


def _store(context: Context, row: InstallationRow, kind: Kind, identity: str, settings: dict[str, Any] | None) -> None:
    """Store the settings of an installation in a space or a site; None removes the space or site."""
    others = {key: value for key, value in settings_of(row, kind).items() if key != identity}
    present = others if settings is None else {**others, identity: settings}
    if kind == "space":
        row.spaces = present
    else:
        row.sites = present
    row.updated_at = context.now()


def _queue_event(context: Context, row: InstallationRow, kind: Kind, identity: str, name: str, **fields: Any) -> None:
    """Queue an event such as `space_installation_setup` for the integration."""
    queue_event(context, row, f"{kind}_installation_{name}", **{f"{kind}Id": identity}, **fields)
