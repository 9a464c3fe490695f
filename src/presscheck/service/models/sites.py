"""Tables of site settings: names, share links, redirects, customization, visitor claims and visitor authentication."""

from __future__ import annotations

from typing import Any

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from presscheck.service.models.organizations import Table, refers


class SiteNameRow(Table):
    """A present or former name of a site in its URL; former names redirect."""

    __tablename__ = "site_names"

    name: Mapped[str] = mapped_column(primary_key=True)
    site_id: Mapped[str] = mapped_column(refers("sites.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[str]


class ShareLinkRow(Table):
    """A share link of a site, by its key."""

    __tablename__ = "share_links"

    id: Mapped[str] = mapped_column(primary_key=True)
    site_id: Mapped[str] = mapped_column(refers("sites.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    key: Mapped[str]
    active: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[str]


class RedirectRow(Table):
    """A redirect of a site and its destination, as in the API."""

    __tablename__ = "redirects"
    __table_args__ = (UniqueConstraint("site_id", "source"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    site_id: Mapped[str] = mapped_column(refers("sites.id", ondelete="CASCADE"), index=True)
    source: Mapped[str]
    destination: Mapped[dict[str, Any]]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class SiteSettingsRow(Table):
    """Optional settings of a site; a column is null if it was not set."""

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
    """Instructions for the writing agent of an organization."""

    __tablename__ = "agent_instructions"

    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), primary_key=True)
    instructions: Mapped[dict[str, Any]]
    updated_at: Mapped[str]
    updated_by: Mapped[str]
