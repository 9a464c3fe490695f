"""Integrations (third-party extensions), their installations, and the UI that they render."""

from typing import Annotated, Any, Literal

from pydantic import Field

from presscheck.api.operation import Model, Operation, Page, Paged
from presscheck.api.organizations import Organization
from presscheck.api.sites import Site
from presscheck.api.spaces import Space

IntegrationName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$", description="letters, digits, dots and dashes")]
Category = Literal["analytics", "collaboration", "content", "gitsync", "marketing", "visitor-auth", "other"]
Target = Literal["all", "site", "space", "organization"]
Selection = Literal["all", "selected"]
Scope = Literal[
    "space:content:read",
    "space:content:write",
    "space:metadata:read",
    "space:metadata:write",
    "space:git:sync",
    "page:feedback:read",
    "site:metadata:read",
    "site:views:read",
    "site:script:inject",
    "site:script:cookies",
    "site:visitor:auth",
    "site:visitor:claims",
    "site:adaptive:read",
    "site:adaptive:write",
    "openapi:read",
    "openapi:write",
    "conversations:ingest",
]
LONGEST_RENDER_REQUEST = 8_000
"""Maximum number of characters of a request in a URL; longer requests use POST."""


class IntegrationUrls(Model):
    """The URLs of an integration."""

    location: str | None = None
    icon: str | None = None
    app: str | None = None
    assets: str | None = None
    public_endpoint: str | None = None
    public_content_endpoint: str | None = None


class IntegrationPermissions(Model):
    """The caller's permissions for an integration."""

    admin: bool = False


class ExternalLink(Model):
    """A link that an integration shows."""

    url: str
    label: str = ""


class Integration(Model):
    """An extension; blocks, content sources and configurations are not parsed."""

    object: str = "integration"
    name: str
    version: int = 0
    title: str = ""
    description: str | None = None
    summary: str | None = None
    preview_images: tuple[str, ...] = ()
    target: str = "all"
    verified: bool = False
    visibility: str = "private"
    scopes: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    blocks: tuple[dict[str, Any], ...] | None = None
    content_sources: tuple[dict[str, Any], ...] | None = None
    configurations: dict[str, Any] | None = None
    external_links: tuple[ExternalLink, ...] = ()
    owner: Organization | None = None
    content_security_policy: Any = None
    urls: IntegrationUrls = Field(default_factory=IntegrationUrls)
    permissions: IntegrationPermissions = Field(default_factory=IntegrationPermissions)


class InstallationUrls(Model):
    """The URLs of an installation."""

    location: str | None = None
    app: str | None = None
    public_endpoint: str | None = None
    public_content_endpoint: str | None = None


class InstallationTarget(Model):
    """The organization in which an integration is installed."""

    organization: str


class Installation(Model):
    """An installation of an integration in an organization; `status` is active, pending or paused."""

    id: str
    status: str = "pending"
    space_selection: str | None = Field(default=None, alias="space_selection")
    site_selection: str | None = Field(default=None, alias="site_selection")
    spaces: int = 0
    configuration: dict[str, Any] | None = None
    created_at: str | None = None
    updated_at: str | None = None
    external_ids: tuple[str, ...] = ()
    target: InstallationTarget | None = None
    urls: InstallationUrls = Field(default_factory=InstallationUrls)


class ContentInstallationUrls(Model):
    """The URLs of the installation in one space or site."""

    location: str | None = None
    public_endpoint: str | None = None
    public_content_endpoint: str | None = None


class SpaceInstallation(Model):
    """An installation of an integration in a space; `space` is its id or the whole space."""

    integration: str
    installation: str
    status: str = "pending"
    configuration: dict[str, Any] | None = None
    external_ids: tuple[str, ...] = ()
    space: str | Space
    urls: ContentInstallationUrls = Field(default_factory=ContentInstallationUrls)


class SiteInstallation(Model):
    """An installation of an integration in a site; `site` is the id of a site or the whole site."""

    integration: str
    installation: str
    status: str = "pending"
    configuration: dict[str, Any] | None = None
    external_ids: tuple[str, ...] = ()
    site: str | Site
    urls: ContentInstallationUrls = Field(default_factory=ContentInstallationUrls)


class IntegrationEvent(Model):
    """An event that was sent to an integration; `status` is success or failed."""

    id: str
    integration_id: str = ""
    installation_id: str | None = None
    created_at: str | None = None
    payload: dict[str, Any] | None = None
    status: str = ""


class LogLine(Model):
    """A line that an integration logged while it handled an event."""

    message: str | None = None
    timestamp: str | None = None
    level: str | None = None


class EventTrace(Model):
    """The log of an integration for one event."""

    logs: tuple[LogLine, ...] = ()


class TracedEvent(Model):
    """An event with its log."""

    event: IntegrationEvent
    trace: EventTrace | None = None


class RenderOutput(Model):
    """The response of a component: an element with its state and properties, or the type ``complete``."""

    type: str | None = None
    element: dict[str, Any] | None = None
    state: dict[str, Any] | None = None
    props: dict[str, Any] | None = None
    return_value: Any = None


class ListIntegrations(Paged, Operation[Page[Integration]]):
    """List integrations.

    The domain of a block has at most 100 characters.
    """

    operation_id = "listIntegrations"
    route = "GET /integrations"

    search: str | None = None
    category: Category | None = None
    block_domain: str | None = Field(
        default=None, max_length=100, pattern=r"^[a-zA-Z0-9-_.]+$", description="a name such as example.org"
    )
    blocks: bool | None = None
    content_sources: bool | None = None
    owner: str | None = None
    scope: Scope | None = None
    target: Target | None = None


class GetIntegration(Operation[Integration]):
    """Get an integration."""

    operation_id = "getIntegrationByName"
    route = "GET /integrations/{integration_name}"

    integration_name: IntegrationName


class PublishIntegration(Operation[Integration]):
    """Publish or update an integration.

    The title has 2 to 30 characters, the description at most 100, the summary 2048. `icon` and `preview_images` are
    base64.
    """

    operation_id = "publishIntegration"
    route = "POST /integrations/{integration_name}"

    integration_name: IntegrationName
    runtime: Literal["v1", "v2"] | None = None
    icon: str | None = None
    title: str = Field(min_length=2, max_length=30)
    description: str = Field(max_length=100)
    summary: str | None = Field(default=None, max_length=2048)
    preview_images: tuple[str, ...] | None = Field(default=None, max_length=3)
    visibility: Literal["public", "private", "unlisted"] | None = None
    target: Target | None = None
    scopes: tuple[Scope, ...]
    categories: tuple[Category, ...] | None = None
    blocks: tuple[dict[str, Any], ...] | None = None
    content_sources: tuple[dict[str, Any], ...] | None = None
    external_links: tuple[ExternalLink, ...] | None = Field(default=None, max_length=5)
    configurations: dict[str, Any] | None = None
    script: str
    organization: str
    secrets: dict[str, str] | None = Field(default=None, repr=False)
    content_security_policy: str | dict[str, str] | None = None


class UnpublishIntegration(Operation[None]):
    """Delete an integration.

    Succeeds even if it does not exist.
    """

    operation_id = "unpublishIntegration"
    route = "DELETE /integrations/{integration_name}"
    success = 204

    integration_name: IntegrationName


class ListIntegrationInstallations(Paged, Operation[Page[Installation]]):
    """List the installations of an integration.

    Requires the integration's own token.
    """

    operation_id = "listIntegrationInstallations"
    route = "GET /integrations/{integration_name}/installations"

    integration_name: IntegrationName
    external_id: str | None = None


class InstallIntegration(Operation[Installation]):
    """Install an integration in an organization.

    On the local service, this also agrees to the permissions that a new version of an installed integration asks for.
    """

    operation_id = "installIntegration"
    route = "POST /integrations/{integration_name}/installations"
    success = 201

    integration_name: IntegrationName
    organization: str


class GetInstallation(Operation[Installation]):
    """Get an installation of an integration."""

    operation_id = "getIntegrationInstallationById"
    route = "GET /integrations/{integration_name}/installations/{installation_id}"
    feature = "installation settings"

    integration_name: IntegrationName
    installation_id: str


class UpdateInstallation(Operation[Installation]):
    """Update an installation of an integration.

    `space_selection` and `site_selection` choose between all and selected spaces and sites.
    """

    operation_id = "updateIntegrationInstallation"
    route = "PATCH /integrations/{integration_name}/installations/{installation_id}"
    feature = "installation settings"

    integration_name: IntegrationName
    installation_id: str
    external_ids: tuple[str, ...] | None = Field(default=None, max_length=5)
    configuration: dict[str, Any] | None = None
    space_selection: Selection | None = Field(default=None, alias="space_selection")
    site_selection: Selection | None = Field(default=None, alias="site_selection")


class UninstallIntegration(Operation[None]):
    """Uninstall an integration.

    Succeeds if the installation does not exist.
    """

    operation_id = "uninstallIntegration"
    route = "DELETE /integrations/{integration_name}/installations/{installation_id}"
    feature = "installation settings"
    success = 204

    integration_name: IntegrationName
    installation_id: str


class ListIntegrationEvents(Paged, Operation[Page[IntegrationEvent]]):
    """List the events sent to an integration."""

    operation_id = "listIntegrationEvents"
    route = "GET /integrations/{integration_name}/events"

    integration_name: IntegrationName


class GetIntegrationEvent(Operation[TracedEvent]):
    """Get an event of an integration, with its log."""

    operation_id = "getIntegrationEvent"
    route = "GET /integrations/{integration_name}/events/{event_id}"

    integration_name: IntegrationName
    event_id: str


class ListIntegrationSpaces(Paged, Operation[Page[SpaceInstallation]]):
    """List the spaces that an integration is installed in.

    `extended` returns complete spaces. Requires the integration's own token.
    """

    operation_id = "listIntegrationSpaceInstallations"
    route = "GET /integrations/{integration_name}/spaces"

    integration_name: IntegrationName
    external_id: str | None = None
    extended: bool | None = None


class ListIntegrationSites(Paged, Operation[Page[SiteInstallation]]):
    """List the sites that an integration is installed in.

    `extended` returns complete sites. Requires the integration's own token.
    """

    operation_id = "listIntegrationSiteInstallations"
    route = "GET /integrations/{integration_name}/sites"

    integration_name: IntegrationName
    external_id: str | None = None
    extended: bool | None = None


class SetDevelopmentMode(Operation[None]):
    """Send an integration's events to a tunnel.

    The tunnel URL has 1 to 256 characters. With `all`, the events of all installations are sent there.
    """

    operation_id = "setIntegrationDevelopmentMode"
    route = "PUT /integrations/{integration_name}/dev"
    success = 204

    integration_name: IntegrationName
    tunnel_url: str = Field(min_length=1, max_length=256)
    all: bool | None = None


class DisableDevelopmentMode(Operation[None]):
    """Stop sending an integration's events to a tunnel."""

    operation_id = "disableIntegrationDevelopmentMode"
    route = "DELETE /integrations/{integration_name}/dev"
    success = 204

    integration_name: IntegrationName


class RenderIntegrationWithGet(Operation[RenderOutput]):
    """Render a component of an integration by GET.

    `request` is JSON, compressed by LZ-string.
    """

    operation_id = "renderIntegrationUIWithGet"
    route = "GET /integrations/{integration_name}/render"

    integration_name: IntegrationName
    request: str


class RenderIntegration(Operation[RenderOutput]):
    """Render a component of an integration.

    Takes the properties, state and context of the component, and optionally an action.
    """

    operation_id = "renderIntegrationUIWithPost"
    route = "POST /integrations/{integration_name}/render"

    integration_name: IntegrationName
    component_id: str
    props: dict[str, Any]
    state: dict[str, Any] | None = None
    context: dict[str, Any]
    action: dict[str, Any] | None = None
