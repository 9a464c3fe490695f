"""Tables of integrations, their installations and events."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Index
from sqlalchemy.orm import Mapped, mapped_column

from presscheck.service.models.table import Table, refers


class IntegrationRow(Table):
    """A published integration. Its secrets are in a `SettingRow`, so that no query of integrations reads them."""

    __tablename__ = "integrations"

    name: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), index=True)
    version: Mapped[int] = mapped_column(default=1)
    runtime: Mapped[str] = mapped_column(default="v1")
    title: Mapped[str]
    description: Mapped[str]
    summary: Mapped[str | None]
    target: Mapped[str] = mapped_column(default="all")
    visibility: Mapped[str] = mapped_column(default="private")
    scopes: Mapped[list[str]] = mapped_column(default=list)
    categories: Mapped[list[str]] = mapped_column(default=list)
    blocks: Mapped[list[dict[str, Any]] | None]
    content_sources: Mapped[list[dict[str, Any]] | None]
    configurations: Mapped[dict[str, Any] | None]
    external_links: Mapped[list[dict[str, Any]]] = mapped_column(default=list)
    content_security_policy: Mapped[Any] = mapped_column(JSON(none_as_null=True), nullable=True)
    script: Mapped[str]
    icon: Mapped[str | None]
    preview_images: Mapped[list[str]] = mapped_column(default=list)
    tunnel_url: Mapped[str | None]
    tunnel_for_all: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[str]
    updated_at: Mapped[str]


class InstallationRow(Table):
    """An installation of an integration in an organization.

    `scopes` are the scopes of the integration that the organization has agreed to. `spaces` and `sites` hold the
    settings of selected spaces and sites by id: `configuration` and `externalIds`.
    """

    __tablename__ = "installations"
    __table_args__ = (Index("installations_of", "organization_id", "integration"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    integration: Mapped[str] = mapped_column(refers("integrations.name", ondelete="CASCADE"), index=True)
    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"))
    status: Mapped[str] = mapped_column(default="active")
    scopes: Mapped[list[str]] = mapped_column(default=list)
    space_selection: Mapped[str] = mapped_column(default="all")
    site_selection: Mapped[str] = mapped_column(default="all")
    spaces: Mapped[dict[str, Any]] = mapped_column(default=dict)
    sites: Mapped[dict[str, Any]] = mapped_column(default=dict)
    configuration: Mapped[dict[str, Any]] = mapped_column(default=dict)
    external_ids: Mapped[list[str]] = mapped_column(default=list)
    created_at: Mapped[str]
    updated_at: Mapped[str]


class EventRow(Table):
    """An event for an integration; `status` is null until the delivery has succeeded or failed."""

    __tablename__ = "integration_events"
    __table_args__ = (Index("events_of_integration", "integration", "created_at", "id"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    integration: Mapped[str] = mapped_column(refers("integrations.name", ondelete="CASCADE"))
    installation_id: Mapped[str | None]
    payload: Mapped[dict[str, Any]]
    status: Mapped[str | None]
    logs: Mapped[list[dict[str, Any]]] = mapped_column(default=list)
    created_at: Mapped[str]


def granted_scopes(integration: IntegrationRow, installation: InstallationRow) -> frozenset[str]:
    """Return the scopes of an integration that the organization of an installation has agreed to."""
    return frozenset(integration.scopes) & frozenset(installation.scopes)
