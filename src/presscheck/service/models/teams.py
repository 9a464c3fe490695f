"""Tables of teams, their permissions, invites and SAML providers."""

from __future__ import annotations

from sqlalchemy.orm import Mapped, mapped_column

from presscheck.service.models.table import Table, refers


class TeamRow(Table):
    """A team of an organization."""

    __tablename__ = "teams"

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), index=True)
    title: Mapped[str]
    created_at: Mapped[str]


class TeamMemberRow(Table):
    """A member of a team; `role` is owner or member."""

    __tablename__ = "team_members"

    team_id: Mapped[str] = mapped_column(refers("teams.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[str] = mapped_column(refers("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(default="member")


class GrantRow(Table):
    """The role of a team or a user in a collection, a space or a site.

    Ids are unique across all tables, so the kinds of the place and of the holder are not stored. There are no foreign
    keys: code that deletes a place or a holder must delete its grants.
    """

    __tablename__ = "grants"

    place_id: Mapped[str] = mapped_column(primary_key=True)
    holder_id: Mapped[str] = mapped_column(primary_key=True, index=True)
    role: Mapped[str]


class InviteRow(Table):
    """An invite link to the organization, or to one space or collection; a null `role` means guest."""

    __tablename__ = "invites"

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), index=True)
    space_id: Mapped[str | None] = mapped_column(refers("spaces.id", ondelete="CASCADE"))
    collection_id: Mapped[str | None] = mapped_column(refers("collections.id", ondelete="CASCADE"))
    role: Mapped[str | None]
    created_at: Mapped[str]


class SAMLProviderRow(Table):
    """A SAML identity provider."""

    __tablename__ = "saml_providers"

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), index=True)
    label: Mapped[str]
    sso_url: Mapped[str] = mapped_column(default="")
    entity_id: Mapped[str] = mapped_column(default="")
    certificate: Mapped[str] = mapped_column(default="")
    default_team_id: Mapped[str | None] = mapped_column(refers("teams.id", ondelete="SET NULL"))
    default_role: Mapped[str | None]
    created_at: Mapped[str]
