"""Tables of sites: structure, names, share links, redirects, customization, visitor claims and authentication."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from presscheck.service.models.table import Table, refers


class SiteRow(Table):
    """A site."""

    __tablename__ = "sites"

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), index=True)
    type: Mapped[str] = mapped_column(default="basic")
    applied_type: Mapped[str | None]
    title: Mapped[str] = mapped_column(default="")
    hostname: Mapped[str | None]
    basename: Mapped[str | None]
    proxy: Mapped[dict[str, Any] | None]
    visibility: Mapped[str] = mapped_column(default="public")
    share_key: Mapped[str | None]
    published: Mapped[bool] = mapped_column(default=False)
    published_at: Mapped[str | None]
    adaptive_content: Mapped[bool] = mapped_column(default=False)
    agents_context: Mapped[str] = mapped_column(default="included")
    default_site_space_id: Mapped[str | None]
    default_section_id: Mapped[str | None]
    styleguide_id: Mapped[str | None]
    created_at: Mapped[str]


class SectionGroupRow(Table):
    """A group of sections and of other groups, with a title."""

    __tablename__ = "section_groups"

    id: Mapped[str] = mapped_column(primary_key=True)
    site_id: Mapped[str] = mapped_column(refers("sites.id", ondelete="CASCADE"), index=True)
    parent_id: Mapped[str | None] = mapped_column(refers("section_groups.id", ondelete="SET NULL"))
    position: Mapped[int] = mapped_column(default=0)
    title: Mapped[str]
    icon: Mapped[str | None]


class SectionRow(Table):
    """A section of a site, optionally in a group."""

    __tablename__ = "sections"

    id: Mapped[str] = mapped_column(primary_key=True)
    site_id: Mapped[str] = mapped_column(refers("sites.id", ondelete="CASCADE"), index=True)
    group_id: Mapped[str | None] = mapped_column(refers("section_groups.id", ondelete="SET NULL"))
    position: Mapped[int] = mapped_column(default=0)
    title: Mapped[str]
    description: Mapped[str | None]
    path: Mapped[str]
    condition: Mapped[str | None]
    icon: Mapped[str | None]
    default_site_space_id: Mapped[str | None]


class ExternalLinkRow(Table):
    """A link among the sections of a site, optionally in a group; a draft is not on the published site."""

    __tablename__ = "external_links"

    id: Mapped[str] = mapped_column(primary_key=True)
    site_id: Mapped[str] = mapped_column(refers("sites.id", ondelete="CASCADE"), index=True)
    group_id: Mapped[str | None] = mapped_column(refers("section_groups.id", ondelete="SET NULL"))
    position: Mapped[int] = mapped_column(default=0)
    title: Mapped[str]
    url: Mapped[str]
    description: Mapped[str | None]
    icon: Mapped[str | None]
    condition: Mapped[str | None]
    localized_title: Mapped[dict[str, Any] | None]
    localized_description: Mapped[dict[str, Any] | None]
    draft: Mapped[bool] = mapped_column(default=False)


class SiteSpaceRow(Table):
    """A space in a site, optionally in a section; `looks` are the customizations that differ from the site."""

    __tablename__ = "site_spaces"
    __table_args__ = (UniqueConstraint("site_id", "section_id", "path"), Index("site_spaces_of_space", "space_id"))

    id: Mapped[str] = mapped_column(primary_key=True)
    site_id: Mapped[str] = mapped_column(refers("sites.id", ondelete="CASCADE"), index=True)
    section_id: Mapped[str | None] = mapped_column(refers("sections.id", ondelete="CASCADE"))
    space_id: Mapped[str] = mapped_column(refers("spaces.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(default=0)
    path: Mapped[str]
    condition: Mapped[str | None]
    looks: Mapped[dict[str, Any] | None]


class SiteNameRow(Table):
    """A current or former name of a site in its URL; former names redirect."""

    __tablename__ = "site_names"

    name: Mapped[str] = mapped_column(primary_key=True)
    site_id: Mapped[str] = mapped_column(refers("sites.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[str]


class ShareLinkRow(Table):
    """A share link of a site. Its key opens the site while the link is active."""

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
    """Optional settings of a site; null columns are not set."""

    __tablename__ = "site_settings"

    site_id: Mapped[str] = mapped_column(refers("sites.id", ondelete="CASCADE"), primary_key=True)
    looks: Mapped[dict[str, Any] | None]
    visitor_schema: Mapped[dict[str, Any] | None]
    visitor_schema_at: Mapped[str | None]
    auth_backend: Mapped[str] = mapped_column(default="custom")
    auth_key: Mapped[str]
    auth_fallback: Mapped[str | None]
    auth_logout: Mapped[str | None]


class PageFeedbackRow(Table):
    """The feedback of a reader on a page. There is one row per reader, page and day; later feedback replaces it.

    `reader` and `network` are keyed hashes that change every day; `comment` may be empty.
    """

    __tablename__ = "page_feedback"
    __table_args__ = (
        UniqueConstraint("site_id", "page_id", "reader", "day"),
        Index("page_feedback_by_time", "site_id", "created_at", "id"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    site_id: Mapped[str] = mapped_column(refers("sites.id", ondelete="CASCADE"))
    page_id: Mapped[str]
    reader: Mapped[str]
    day: Mapped[str]
    network: Mapped[str]
    url: Mapped[str]
    rating: Mapped[str]
    comment: Mapped[str]
    created_at: Mapped[str]


class FindingStatusRow(Table):
    """The status that a user set for a finding of a site. Findings themselves are not stored."""

    __tablename__ = "site_findings"

    site_id: Mapped[str] = mapped_column(refers("sites.id", ondelete="CASCADE"), primary_key=True)
    finding_id: Mapped[str] = mapped_column(primary_key=True)
    status: Mapped[str]
    updated_at: Mapped[str]


class AgentInstructionsRow(Table):
    """Instructions for the writing agent of an organization."""

    __tablename__ = "agent_instructions"

    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), primary_key=True)
    instructions: Mapped[dict[str, Any]]
    updated_at: Mapped[str]
    updated_by: Mapped[str]
