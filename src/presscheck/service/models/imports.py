"""Tables of external content: imports, OpenAPI specifications, translations, and conversations with readers."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from presscheck.service.models.table import Table, refers


class ImportRow(Table):
    """A content import; `pages` are the imported pages, as in the API."""

    __tablename__ = "imports"

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), index=True)
    space_id: Mapped[str] = mapped_column(refers("spaces.id", ondelete="CASCADE"), index=True)
    change_request_id: Mapped[str | None] = mapped_column(refers("change_requests.id", ondelete="SET NULL"))
    page_id: Mapped[str | None]
    source: Mapped[dict[str, Any]]
    status: Mapped[str] = mapped_column(default="pending")
    reason: Mapped[str | None]
    pages: Mapped[list[dict[str, Any]]] = mapped_column(default=list)
    created_by: Mapped[str] = mapped_column(refers("users.id"))
    created_at: Mapped[str]
    started_at: Mapped[str | None]
    completed_at: Mapped[str | None]


class SpecRow(Table):
    """An OpenAPI specification. Without `source_url`, its source is the stored file with the id `source_text`."""

    __tablename__ = "specs"
    __table_args__ = (UniqueConstraint("organization_id", "slug"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"))
    slug: Mapped[str]
    source_url: Mapped[str | None]
    source_text: Mapped[str | None]
    processing_state: Mapped[str] = mapped_column(default="pending")
    visibility: Mapped[str] = mapped_column(default="private")
    last_version: Mapped[str | None]
    last_processed_at: Mapped[str | None]
    error_code: Mapped[str | None]
    errors: Mapped[list[dict[str, Any]]] = mapped_column(default=list)
    created_at: Mapped[str]
    updated_at: Mapped[str]


class SpecVersionRow(Table):
    """A version of a specification. `content` is the id of a stored JSON file."""

    __tablename__ = "spec_versions"

    id: Mapped[str] = mapped_column(primary_key=True)
    spec_id: Mapped[str] = mapped_column(refers("specs.id", ondelete="CASCADE"), index=True)
    content: Mapped[str]
    created_at: Mapped[str]


class TranslationRow(Table):
    """A translation of a space into another language."""

    __tablename__ = "translations"

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), index=True)
    source_space: Mapped[str] = mapped_column(refers("spaces.id", ondelete="CASCADE"), index=True)
    source_language: Mapped[str]
    language: Mapped[str]
    instructions: Mapped[dict[str, Any]]
    status: Mapped[str] = mapped_column(default="pending")
    result_space: Mapped[str | None] = mapped_column(refers("spaces.id", ondelete="SET NULL"))
    result_revision: Mapped[str | None]
    stats: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_by: Mapped[str] = mapped_column(refers("users.id"))
    created_at: Mapped[str]
    updated_at: Mapped[str]


class ConversationRow(Table):
    """A conversation with a reader. Its id comes from the source of the conversation, and `parts` are as in the API."""

    __tablename__ = "conversations"
    __table_args__ = (Index("conversations_by_time", "organization_id", "created_at", "id"),)

    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str | None]
    source: Mapped[str]
    url: Mapped[str | None]
    attributes: Mapped[dict[str, Any]] = mapped_column(default=dict)
    parts: Mapped[list[dict[str, Any]]] = mapped_column(default=list)
    created_at: Mapped[str]
    ingested_at: Mapped[str]
    processed_at: Mapped[str | None]


class ReaderIssueRow(Table):
    """An issue found in a conversation; `words` are its keywords."""

    __tablename__ = "reader_issues"

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), index=True)
    conversation_id: Mapped[str] = mapped_column(index=True)
    cluster_id: Mapped[str] = mapped_column(refers("clusters.id", ondelete="CASCADE"), index=True)
    title: Mapped[str]
    summary: Mapped[str]
    words: Mapped[list[str]]
    created_at: Mapped[str]
    ingested_at: Mapped[str]


class ClusterRow(Table):
    """A cluster of similar issues; `words` are the keywords of the first issue."""

    __tablename__ = "clusters"

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str] = mapped_column(refers("organizations.id", ondelete="CASCADE"), index=True)
    label: Mapped[str]
    summary: Mapped[str]
    words: Mapped[list[str]]
    created_at: Mapped[str]
    updated_at: Mapped[str]
