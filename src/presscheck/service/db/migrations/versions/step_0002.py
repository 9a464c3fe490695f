"""Background jobs, imports and other external content, token names, and the full-text index."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from presscheck.service.db.fulltext_index import add_words, make_words

revision = "0002"
down_revision = "0001"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")
JSON = sa.JSON(none_as_null=True)
LATE: dict[str, Any] = {"initially": "DEFERRED", "deferrable": True}


def upgrade() -> None:
    """Create the tables of jobs, integrations and external content, the full-text index, and columns of tokens."""
    op.create_table(
        "settings",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("value", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "clusters",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("label", TEXT, nullable=False),
        sa.Column("summary", TEXT, nullable=False),
        sa.Column("words", JSON, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_clusters_organization_id"), "clusters", ["organization_id"], unique=False)
    op.create_table(
        "conversations",
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=True),
        sa.Column("source", TEXT, nullable=False),
        sa.Column("url", TEXT, nullable=True),
        sa.Column("attributes", JSON, nullable=False),
        sa.Column("parts", JSON, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("ingested_at", TEXT, nullable=False),
        sa.Column("processed_at", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("organization_id", "id"),
    )
    op.create_index("conversations_by_time", "conversations", ["organization_id", "created_at", "id"], unique=False)
    op.create_table(
        "integrations",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("runtime", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("description", TEXT, nullable=False),
        sa.Column("summary", TEXT, nullable=True),
        sa.Column("target", TEXT, nullable=False),
        sa.Column("visibility", TEXT, nullable=False),
        sa.Column("scopes", JSON, nullable=False),
        sa.Column("categories", JSON, nullable=False),
        sa.Column("blocks", JSON, nullable=True),
        sa.Column("content_sources", JSON, nullable=True),
        sa.Column("configurations", JSON, nullable=True),
        sa.Column("external_links", JSON, nullable=False),
        sa.Column("content_security_policy", JSON, nullable=True),
        sa.Column("script", TEXT, nullable=False),
        sa.Column("icon", TEXT, nullable=True),
        sa.Column("preview_images", JSON, nullable=False),
        sa.Column("tunnel_url", TEXT, nullable=True),
        sa.Column("tunnel_for_all", sa.Boolean(), nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index(op.f("ix_integrations_organization_id"), "integrations", ["organization_id"], unique=False)
    op.create_table(
        "jobs",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("organization_id", TEXT, nullable=True),
        sa.Column("about", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("run_at", TEXT, nullable=False),
        sa.Column("lease", TEXT, nullable=True),
        sa.Column("leased_until", TEXT, nullable=True),
        sa.Column("progress", JSON, nullable=False),
        sa.Column("reason", TEXT, nullable=True),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("finished_at", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("jobs_about", "jobs", ["about"], unique=False)
    op.create_index("jobs_by_time", "jobs", ["state", "run_at"], unique=False)
    op.create_table(
        "specs",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("source_url", TEXT, nullable=True),
        sa.Column("source_text", TEXT, nullable=True),
        sa.Column("processing_state", TEXT, nullable=False),
        sa.Column("visibility", TEXT, nullable=False),
        sa.Column("last_version", TEXT, nullable=True),
        sa.Column("last_processed_at", TEXT, nullable=True),
        sa.Column("error_code", TEXT, nullable=True),
        sa.Column("errors", JSON, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("organization_id", "slug"),
    )
    op.create_table(
        "installations",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("integration", TEXT, nullable=False),
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("space_selection", TEXT, nullable=False),
        sa.Column("site_selection", TEXT, nullable=False),
        sa.Column("configuration", JSON, nullable=False),
        sa.Column("external_ids", JSON, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["integration"], ["integrations.name"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("installations_of", "installations", ["organization_id", "integration"], unique=False)
    op.create_index(op.f("ix_installations_integration"), "installations", ["integration"], unique=False)
    op.create_table(
        "integration_events",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("integration", TEXT, nullable=False),
        sa.Column("installation_id", TEXT, nullable=True),
        sa.Column("payload", JSON, nullable=False),
        sa.Column("status", TEXT, nullable=True),
        sa.Column("logs", JSON, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["integration"], ["integrations.name"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("events_of_integration", "integration_events", ["integration", "created_at", "id"], unique=False)
    op.create_table(
        "reader_issues",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("conversation_id", TEXT, nullable=False),
        sa.Column("cluster_id", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("summary", TEXT, nullable=False),
        sa.Column("words", JSON, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("ingested_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["cluster_id"], ["clusters.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_reader_issues_cluster_id"), "reader_issues", ["cluster_id"], unique=False)
    op.create_index(op.f("ix_reader_issues_conversation_id"), "reader_issues", ["conversation_id"], unique=False)
    op.create_index(op.f("ix_reader_issues_organization_id"), "reader_issues", ["organization_id"], unique=False)
    op.create_table(
        "spec_versions",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("spec_id", TEXT, nullable=False),
        sa.Column("content", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["spec_id"], ["specs.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_spec_versions_spec_id"), "spec_versions", ["spec_id"], unique=False)
    op.create_table(
        "translations",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("source_space", TEXT, nullable=False),
        sa.Column("source_language", TEXT, nullable=False),
        sa.Column("language", TEXT, nullable=False),
        sa.Column("instructions", JSON, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("result_space", TEXT, nullable=True),
        sa.Column("result_revision", TEXT, nullable=True),
        sa.Column("stats", JSON, nullable=False),
        sa.Column("created_by", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], **LATE),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["result_space"], ["spaces.id"], ondelete="SET NULL", **LATE),
        sa.ForeignKeyConstraint(["source_space"], ["spaces.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_translations_organization_id"), "translations", ["organization_id"], unique=False)
    op.create_index(op.f("ix_translations_source_space"), "translations", ["source_space"], unique=False)
    op.create_table(
        "imports",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("space_id", TEXT, nullable=False),
        sa.Column("change_request_id", TEXT, nullable=True),
        sa.Column("page_id", TEXT, nullable=True),
        sa.Column("source", JSON, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("reason", TEXT, nullable=True),
        sa.Column("pages", JSON, nullable=False),
        sa.Column("created_by", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("started_at", TEXT, nullable=True),
        sa.Column("completed_at", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["change_request_id"], ["change_requests.id"], ondelete="SET NULL", **LATE),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], **LATE),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_imports_organization_id"), "imports", ["organization_id"], unique=False)
    op.create_index(op.f("ix_imports_space_id"), "imports", ["space_id"], unique=False)
    op.add_column("tokens", sa.Column("name", TEXT, nullable=True))
    op.add_column("tokens", sa.Column("expires_at", TEXT, nullable=True))
    connection = op.get_bind()
    make_words(connection)
    documents = connection.execute(sa.text("SELECT id, markdown FROM documents"))
    for some in documents.partitions(500):
        add_words(connection, [(row.id, row.markdown) for row in some])
