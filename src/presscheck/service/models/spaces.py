"""Tables of collections and spaces."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from presscheck.service.models.table import LEVEL, Table, refers


class CollectionRow(Table):
    """A collection. `position` is its place among the collections and spaces with the same parent."""

    __tablename__ = "collections"

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), index=True)
    parent_id: Mapped[str | None] = mapped_column(refers("collections.id", ondelete="CASCADE"), index=True)
    position: Mapped[int] = mapped_column(default=0)
    title: Mapped[str] = mapped_column(default="")
    description: Mapped[str | None]
    default_level: Mapped[str | None] = mapped_column(LEVEL, default="inherit")
    created_at: Mapped[str]


class SpaceRow(Table):
    """A space. `revision_id` is the live revision, and `numbered` is the last number given to a change request.

    `repository_url` is the URL of the files in the repository on the web, if the last import had it.
    """

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
    default_level: Mapped[str | None] = mapped_column(LEVEL, default="inherit")
    merge_rules: Mapped[dict[str, Any] | None]
    revision_id: Mapped[str]
    numbered: Mapped[int] = mapped_column(default=0)
    created_by: Mapped[str | None] = mapped_column(refers("users.id"))
    created_at: Mapped[str]
    updated_at: Mapped[str]
    deleted_at: Mapped[str | None]
    repository_url: Mapped[str | None]
    type: Mapped[str | None]


class ImportedRow(Table):
    """A record that a repository was imported, or the job of the sample queued, so that this is not done again."""

    __tablename__ = "imported"

    path: Mapped[str] = mapped_column(primary_key=True)
    created_at: Mapped[str]
