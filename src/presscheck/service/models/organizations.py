"""Tables of users, their tokens, organizations and members."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from presscheck.service.models.table import Table, refers


class UserRow(Table):
    """A user."""

    __tablename__ = "users"

    id: Mapped[str] = mapped_column(primary_key=True)
    display_name: Mapped[str]
    email: Mapped[str | None]
    photo_url: Mapped[str | None]
    created_at: Mapped[str]


class TokenRow(Table):
    """An access token of a user, stored as a hash.

    A token from a sign-in by browser is limited to `scope`, and `sign_in` is the key of its `BrowserSignInRow`. Both
    are null for a personal token, which permits everything that its user may do.
    """

    __tablename__ = "tokens"

    sha256: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(refers("users.id", ondelete="CASCADE"))
    created_at: Mapped[str]
    name: Mapped[str | None]
    expires_at: Mapped[str | None]
    scope: Mapped[str | None]
    sign_in: Mapped[str | None] = mapped_column(index=True)


class OrganizationRow(Table):
    """An organization; a null `default_role` means guest."""

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
    """A member of an organization; a null `role` means guest."""

    __tablename__ = "members"

    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[str] = mapped_column(refers("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[str | None]
    disabled: Mapped[bool] = mapped_column(default=False)
    joined_at: Mapped[str]
    last_seen_at: Mapped[str | None]


class AuditEventRow(Table):
    """A change in an organization.

    There are no foreign keys, because events outlive their actors and targets, and because on PostgreSQL a reference to
    the organization would lock the row of the organization in every write.
    """

    __tablename__ = "audit_events"
    __table_args__ = (Index("audit_events_by_time", "organization_id", "occurred_at", "id"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str]
    occurred_at: Mapped[str]
    action: Mapped[str]
    actor_type: Mapped[str]
    actor_id: Mapped[str]
    target_type: Mapped[str]
    target_id: Mapped[str]
    payload: Mapped[dict[str, Any]]
