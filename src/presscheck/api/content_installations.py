"""Installations of integrations in organizations, spaces and sites, with their settings."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from presscheck.api.integrations import (
    Installation,
    Integration,
    IntegrationName,
    Scope,
    SiteInstallation,
    SpaceInstallation,
    Target,
)
from presscheck.api.operation import InOrganization, InSite, InSpace, Model, Operation, Page, Paged
from presscheck.api.published_sites import SiteScript

FEATURE = "installations in spaces and sites"
NEWEST = "0.202.0"
InstallableCategory = Literal["analytics", "collaboration", "content", "marketing", "visitor-auth", "other"]


class OrganizationInstallation(Model):
    """An installation in an organization, with its integration."""

    integration: Integration
    installation: Installation


class InstalledTarget(Model):
    """The target of an installation; `type` is organization, space or site."""

    type: str
    organization_id: str | None = None
    space_id: str | None = None
    site_id: str | None = None


class InstalledIntegration(Model):
    """An integration with the status of its installation."""

    status: str = "pending"
    integration: Integration
    target: InstalledTarget


class InstallationStatus(Model):
    """The status of an installation: active, pending or paused."""

    status: str = "pending"


class IntegrationBlocks(Model):
    """The blocks of an integration."""

    name: str = ""
    blocks: tuple[dict[str, Any], ...] = ()


class InInstallation(BaseModel):
    """Mixin of calls on an installation of an integration, whose ids are in the path."""

    integration_name: IntegrationName
    installation_id: str


class ListInstallationSpaces(InInstallation, Paged, Operation[Page[SpaceInstallation]]):
    """List the spaces of an installation.

    `extended` returns complete spaces.
    """

    operation_id = "listIntegrationInstallationSpaces"
    route = "GET /integrations/{integration_name}/installations/{installation_id}/spaces"
    feature = FEATURE
    release = NEWEST

    extended: bool | None = None


class InstallInSpace(InInstallation, Operation[SpaceInstallation]):
    """Install an integration in a space.

    The integration must be installed in the organization, for selected spaces.
    """

    operation_id = "installIntegrationOnSpace"
    route = "POST /integrations/{integration_name}/installations/{installation_id}/spaces"
    success = 201
    in_query = frozenset({"extended"})
    feature = FEATURE
    release = NEWEST

    space: str
    extended: bool | None = None


class GetSpaceInstallation(InInstallation, InSpace, Operation[SpaceInstallation]):
    """Get the installation of an integration in a space."""

    operation_id = "getIntegrationSpaceInstallation"
    route = "GET /integrations/{integration_name}/installations/{installation_id}/spaces/{space_id}"
    feature = FEATURE
    release = NEWEST

    extended: bool | None = None


class UpdateSpaceInstallation(InInstallation, InSpace, Operation[SpaceInstallation]):
    """Update the settings of an integration in a space."""

    operation_id = "updateIntegrationSpaceInstallation"
    route = "PATCH /integrations/{integration_name}/installations/{installation_id}/spaces/{space_id}"
    in_query = frozenset({"extended"})
    feature = FEATURE
    release = NEWEST

    external_ids: tuple[str, ...] | None = Field(default=None, max_length=5)
    configuration: dict[str, Any] | None = None
    extended: bool | None = None


class UninstallFromSpace(InInstallation, InSpace, Operation[None]):
    """Uninstall an integration from a space.

    Succeeds if it is not installed there.
    """

    operation_id = "uninstallIntegrationFromSpace"
    route = "DELETE /integrations/{integration_name}/installations/{installation_id}/spaces/{space_id}"
    success = 204
    feature = FEATURE
    release = NEWEST


class ListInstallationSites(InInstallation, Paged, Operation[Page[SiteInstallation]]):
    """List the sites of an installation.

    `extended` returns complete sites.
    """

    operation_id = "listIntegrationInstallationSites"
    route = "GET /integrations/{integration_name}/installations/{installation_id}/sites"
    feature = FEATURE
    release = NEWEST

    extended: bool | None = None


class InstallInSite(InInstallation, Operation[SiteInstallation]):
    """Install an integration in a site.

    The integration must be installed in the organization, for selected sites.
    """

    operation_id = "installIntegrationOnSite"
    route = "POST /integrations/{integration_name}/installations/{installation_id}/sites"
    success = 201
    in_query = frozenset({"extended"})
    feature = FEATURE
    release = NEWEST

    site_id: str
    extended: bool | None = None


class GetSiteInstallation(InInstallation, Operation[SiteInstallation]):
    """Get the installation of an integration in a site."""

    operation_id = "getIntegrationSiteInstallation"
    route = "GET /integrations/{integration_name}/installations/{installation_id}/sites/{site_id}"
    feature = FEATURE
    release = NEWEST

    site_id: str
    extended: bool | None = None


class UpdateSiteInstallation(InInstallation, Operation[SiteInstallation]):
    """Update the settings of an integration in a site."""

    operation_id = "updateIntegrationSiteInstallation"
    route = "PATCH /integrations/{integration_name}/installations/{installation_id}/sites/{site_id}"
    in_query = frozenset({"extended"})
    feature = FEATURE
    release = NEWEST

    site_id: str
    external_ids: tuple[str, ...] | None = Field(default=None, max_length=5)
    configuration: dict[str, Any] | None = None
    extended: bool | None = None


class UninstallFromSite(InInstallation, Operation[None]):
    """Uninstall an integration from a site.

    Succeeds if it is not installed there.
    """

    operation_id = "uninstallIntegrationFromSite"
    route = "DELETE /integrations/{integration_name}/installations/{installation_id}/sites/{site_id}"
    success = 204
    feature = FEATURE
    release = NEWEST

    site_id: str


class ListOrganizationInstallations(InOrganization, Paged, Operation[Page[OrganizationInstallation]]):
    """List the integrations that are installed in an organization."""

    operation_id = "listOrganizationInstallations"
    route = "GET /orgs/{organization_id}/installations"
    feature = FEATURE
    release = NEWEST

    search: str | None = None


class ListOrganizationIntegrations(InOrganization, Paged, Operation[Page[Integration]]):
    """List the integrations that an organization can install.

    The domain of a block has at most 100 characters.
    """

    operation_id = "listOrganizationIntegrations"
    route = "GET /orgs/{organization_id}/integrations"
    feature = FEATURE
    release = NEWEST

    search: str | None = None
    category: InstallableCategory | None = None
    block_domain: str | None = Field(
        default=None, max_length=100, pattern=r"^[a-zA-Z0-9-_.]+$", description="a name such as example.org"
    )
    blocks: bool | None = None
    content_sources: bool | None = None
    owner: str | None = None
    scope: Scope | None = None
    target: Target | None = None


class ListOrganizationIntegrationsStatus(InOrganization, Paged, Operation[Page[InstalledIntegration]]):
    """List the status of installed integrations.

    Lists the integrations that are installed in the organization itself, or, with the target space or site, in the
    space or site with the given id.
    """

    operation_id = "listOrganizationIntegrationsStatus"
    route = "GET /orgs/{organization_id}/integrations/installations-status"
    feature = FEATURE
    release = NEWEST

    target: Literal["organization", "space", "site"] | None = None
    site: str | None = None
    space: str | None = None


class GetOrganizationIntegrationStatus(InOrganization, Operation[InstallationStatus]):
    """Get the status of an integration in an organization."""

    operation_id = "getOrganizationIntegrationStatus"
    route = "GET /orgs/{organization_id}/integrations/{integration_name}/installation_status"
    feature = FEATURE
    release = NEWEST
    may_be_absent = True

    integration_name: IntegrationName


class ListSpaceIntegrations(InSpace, Operation[Page[Integration]]):
    """List the integrations that are installed in a space."""

    operation_id = "listSpaceIntegrations"
    route = "GET /spaces/{space_id}/integrations"
    feature = FEATURE
    release = NEWEST

    search: str | None = None


class ListSpaceIntegrationBlocks(InSpace, Operation[tuple[IntegrationBlocks, ...]]):
    """List the blocks of integrations in a space."""

    operation_id = "listSpaceIntegrationsBlocks"
    route = "GET /spaces/{space_id}/integration-blocks"
    feature = FEATURE
    release = NEWEST


class ListSiteIntegrations(InSite, Operation[Page[Integration]]):
    """List the integrations that are installed in a site."""

    operation_id = "listSiteIntegrations"
    route = "GET /orgs/{organization_id}/sites/{site_id}/integrations"
    feature = FEATURE
    release = NEWEST

    search: str | None = None


class ListSiteIntegrationScripts(InSite, Operation[tuple[SiteScript, ...]]):
    """List the scripts of integrations in a site."""

    operation_id = "listSiteIntegrationScripts"
    route = "GET /orgs/{organization_id}/sites/{site_id}/integration-scripts"
    feature = FEATURE
    release = NEWEST
