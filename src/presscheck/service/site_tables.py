"""The rows of a site's settings: secret and old addresses, looks, what it knows of visitors, how they sign in."""

from __future__ import annotations

from typing import Any

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from presscheck.service.tables import Table, refers


class ShareLinkRow(Table):
    """A secret address of a site, by its key."""

    __tablename__ = "share_links"

    id: Mapped[str] = mapped_column(primary_key=True)
    site_id: Mapped[str] = mapped_column(refers("sites.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    key: Mapped[str]
    active: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[str]


class RedirectRow(Table):
    """An old address of a site, and where it leads, as on the wire."""

    __tablename__ = "redirects"
    __table_args__ = (UniqueConstraint("site_id", "source"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    site_id: Mapped[str] = mapped_column(refers("sites.id", ondelete="CASCADE"), index=True)
    source: Mapped[str]
    destination: Mapped[dict[str, Any]]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class SiteSettingsRow(Table):
    """What else was chosen for a site; a column is null where nothing was."""

    __tablename__ = "site_settings"

    site_id: Mapped[str] = mapped_column(refers("sites.id", ondelete="CASCADE"), primary_key=True)
    looks: Mapped[dict[str, Any] | None]
    visitor_schema: Mapped[dict[str, Any] | None]
    visitor_schema_at: Mapped[str | None]
    auth_backend: Mapped[str] = mapped_column(default="custom")
    auth_key: Mapped[str]
    auth_fallback: Mapped[str | None]
    auth_logout: Mapped[str | None]


class AgentInstructionsRow(Table):
    """What an organization tells its writing agent."""

    __tablename__ = "agent_instructions"

    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), primary_key=True)
    instructions: Mapped[dict[str, Any]]
    updated_at: Mapped[str]
    updated_by: Mapped[str]
