"""Tables of users, organizations, collections, spaces and sites.

Times are ISO 8601 text in UTC of fixed width, so that they sort as text; ids sort by creation time.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

_TEXT = String().with_variant(String(collation="C"), "postgresql")
_LEVEL = _TEXT.evaluates_none()  # None means no access: without this, SQLAlchemy would insert the default instead


class Table(DeclarativeBase):
    """Base of all tables: text with binary collation, JSON for objects and arrays, SQL NULL for null."""

    type_annotation_map = {  # noqa: RUF012  # SQLAlchemy reads it as a class attribute
        str: _TEXT,
        dict[str, Any]: JSON(none_as_null=True),
        list[dict[str, Any]]: JSON(none_as_null=True),
        list[str]: JSON(none_as_null=True),
    }


def refers(column: str, ondelete: str | None = None) -> ForeignKey:
    """A deferred foreign key, checked on commit, so that rows can be added in any order."""
    return ForeignKey(column, ondelete=ondelete, deferrable=True, initially="DEFERRED")


class UserRow(Table):
    """A user."""

    __tablename__ = "users"

    id: Mapped[str] = mapped_column(primary_key=True)
    display_name: Mapped[str]
    email: Mapped[str | None]
    photo_url: Mapped[str | None]
    created_at: Mapped[str]


class TokenRow(Table):
    """An access token of a user, stored as a hash."""

    __tablename__ = "tokens"

    sha256: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(refers("users.id", ondelete="CASCADE"))
    created_at: Mapped[str]
    name: Mapped[str | None]
    expires_at: Mapped[str | None]


class OrganizationRow(Table):
    """An organization; `default_role` null means guest."""

    __tablename__ = "organizations"

    id: Mapped[str] = mapped_column(primary_key=True)
    title: Mapped[str]
    created_at: Mapped[str]
    email_domains: Mapped[list[str]] = mapped_column(default=list)
    hostname: Mapped[str | None]
    default_role: Mapped[str | None]
    default_content: Mapped[dict[str, Any] | None]
    logo: Mapped[str | None]
    sso: Mapped[bool] = mapped_column(default=False)
    ai: Mapped[bool] = mapped_column(default=False)
    invite_links: Mapped[bool] = mapped_column(default=False)
    merge_rules: Mapped[dict[str, Any] | None]


class MemberRow(Table):
    """A member of an organization; `role` null means guest."""

    __tablename__ = "members"

    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[str] = mapped_column(refers("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[str | None]
    disabled: Mapped[bool] = mapped_column(default=False)
    joined_at: Mapped[str]
    last_seen_at: Mapped[str | None]


class CollectionRow(Table):
    """A collection; `position` is its order among its siblings, including spaces."""

    __tablename__ = "collections"

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), index=True)
    parent_id: Mapped[str | None] = mapped_column(refers("collections.id", ondelete="CASCADE"), index=True)
    position: Mapped[int] = mapped_column(default=0)
    title: Mapped[str] = mapped_column(default="")
    description: Mapped[str | None]
    default_level: Mapped[str | None] = mapped_column(_LEVEL, default="inherit")
    created_at: Mapped[str]


class SpaceRow(Table):
    """A space; `revision_id` is the live revision, `numbered` the last number of a change request."""

    __tablename__ = "spaces"

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), index=True)
    parent_id: Mapped[str | None] = mapped_column(refers("collections.id", ondelete="SET NULL"), index=True)
    position: Mapped[int] = mapped_column(default=0)
    title: Mapped[str] = mapped_column(default="")
    emoji: Mapped[str | None]
    icon: Mapped[str | None]
    visibility: Mapped[str] = mapped_column(default="private")
    edit_mode: Mapped[str] = mapped_column(default="live")
    language: Mapped[str | None]
    default_level: Mapped[str | None] = mapped_column(_LEVEL, default="inherit")
    merge_rules: Mapped[dict[str, Any] | None]
    revision_id: Mapped[str]
    numbered: Mapped[int] = mapped_column(default=0)
    created_by: Mapped[str | None] = mapped_column(refers("users.id"))
    created_at: Mapped[str]
    updated_at: Mapped[str]
    deleted_at: Mapped[str | None]


class ImportedRow(Table):
    """A documentation repository that was imported, so that it is imported only once."""

    __tablename__ = "imported"

    path: Mapped[str] = mapped_column(primary_key=True)
    created_at: Mapped[str]


class SiteRow(Table):
    """A docs site; `structure` says whether its top level has sections or site spaces."""

    __tablename__ = "sites"

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), index=True)
    type: Mapped[str] = mapped_column(default="basic")
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
    created_at: Mapped[str]


class SectionGroupRow(Table):
    """A group of sections and groups with a title."""

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


class SiteSpaceRow(Table):
    """A space in a site, optionally in a section."""

    __tablename__ = "site_spaces"
    __table_args__ = (UniqueConstraint("site_id", "section_id", "path"), Index("site_spaces_of_space", "space_id"))

    id: Mapped[str] = mapped_column(primary_key=True)
    site_id: Mapped[str] = mapped_column(refers("sites.id", ondelete="CASCADE"), index=True)
    section_id: Mapped[str | None] = mapped_column(refers("sections.id", ondelete="CASCADE"))
    space_id: Mapped[str] = mapped_column(refers("spaces.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(default=0)
    path: Mapped[str]
    condition: Mapped[str | None]
