"""Initial schema: databases older than the version counter already have it."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")
JSON = sa.JSON(none_as_null=True)
LATE: dict[str, Any] = {"initially": "DEFERRED", "deferrable": True}


def upgrade() -> None:
    """Create the initial tables and indexes, except those that exist already."""
    op.create_table(
        "documents",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("markdown", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_table(
        "imported",
        sa.Column("path", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("path"),
        if_not_exists=True,
    )
    op.create_table(
        "organizations",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("email_domains", JSON, nullable=False),
        sa.Column("hostname", TEXT, nullable=True),
        sa.Column("default_role", TEXT, nullable=True),
        sa.Column("default_content", JSON, nullable=True),
        sa.Column("logo", TEXT, nullable=True),
        sa.Column("sso", sa.Boolean(), nullable=False),
        sa.Column("ai", sa.Boolean(), nullable=False),
        sa.Column("invite_links", sa.Boolean(), nullable=False),
        sa.Column("merge_rules", JSON, nullable=True),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_table(
        "users",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("display_name", TEXT, nullable=False),
        sa.Column("email", TEXT, nullable=True),
        sa.Column("photo_url", TEXT, nullable=True),
        sa.Column("created_at", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_table(
        "agent_instructions",
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("instructions", JSON, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.Column("updated_by", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("organization_id"),
        if_not_exists=True,
    )
    op.create_table(
        "collections",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("parent_id", TEXT, nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("description", TEXT, nullable=True),
        sa.Column("default_level", TEXT, nullable=True),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["parent_id"], ["collections.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_index(
        op.f("ix_collections_organization_id"), "collections", ["organization_id"], unique=False, if_not_exists=True
    )
    op.create_index(op.f("ix_collections_parent_id"), "collections", ["parent_id"], unique=False, if_not_exists=True)
    op.create_table(
        "members",
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("user_id", TEXT, nullable=False),
        sa.Column("role", TEXT, nullable=True),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.Column("joined_at", TEXT, nullable=False),
        sa.Column("last_seen_at", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("organization_id", "user_id"),
        if_not_exists=True,
    )
    op.create_index(op.f("ix_members_user_id"), "members", ["user_id"], unique=False, if_not_exists=True)
    op.create_table(
        "reactions",
        sa.Column("target_id", TEXT, nullable=False),
        sa.Column("emoji", TEXT, nullable=False),
        sa.Column("user_id", TEXT, nullable=False),
        sa.Column("reacted_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], **LATE),
        sa.PrimaryKeyConstraint("target_id", "emoji", "user_id"),
        if_not_exists=True,
    )
    op.create_table(
        "sites",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("type", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("hostname", TEXT, nullable=True),
        sa.Column("basename", TEXT, nullable=True),
        sa.Column("proxy", JSON, nullable=True),
        sa.Column("visibility", TEXT, nullable=False),
        sa.Column("share_key", TEXT, nullable=True),
        sa.Column("published", sa.Boolean(), nullable=False),
        sa.Column("published_at", TEXT, nullable=True),
        sa.Column("adaptive_content", sa.Boolean(), nullable=False),
        sa.Column("agents_context", TEXT, nullable=False),
        sa.Column("default_site_space_id", TEXT, nullable=True),
        sa.Column("default_section_id", TEXT, nullable=True),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_index(op.f("ix_sites_organization_id"), "sites", ["organization_id"], unique=False, if_not_exists=True)
    op.create_table(
        "teams",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_index(op.f("ix_teams_organization_id"), "teams", ["organization_id"], unique=False, if_not_exists=True)
    op.create_table(
        "tokens",
        sa.Column("sha256", TEXT, nullable=False),
        sa.Column("user_id", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("sha256"),
        if_not_exists=True,
    )
    op.create_table(
        "collection_teams",
        sa.Column("collection_id", TEXT, nullable=False),
        sa.Column("team_id", TEXT, nullable=False),
        sa.Column("role", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collections.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("collection_id", "team_id"),
        if_not_exists=True,
    )
    op.create_index(
        op.f("ix_collection_teams_team_id"), "collection_teams", ["team_id"], unique=False, if_not_exists=True
    )
    op.create_table(
        "redirects",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("site_id", TEXT, nullable=False),
        sa.Column("source", TEXT, nullable=False),
        sa.Column("destination", JSON, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("site_id", "source"),
        if_not_exists=True,
    )
    op.create_index(op.f("ix_redirects_site_id"), "redirects", ["site_id"], unique=False, if_not_exists=True)
    op.create_table(
        "saml_providers",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("label", TEXT, nullable=False),
        sa.Column("sso_url", TEXT, nullable=False),
        sa.Column("entity_id", TEXT, nullable=False),
        sa.Column("certificate", TEXT, nullable=False),
        sa.Column("default_team_id", TEXT, nullable=True),
        sa.Column("default_role", TEXT, nullable=True),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["default_team_id"], ["teams.id"], ondelete="SET NULL", **LATE),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_index(
        op.f("ix_saml_providers_organization_id"),
        "saml_providers",
        ["organization_id"],
        unique=False,
        if_not_exists=True,
    )
    op.create_table(
        "section_groups",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("site_id", TEXT, nullable=False),
        sa.Column("parent_id", TEXT, nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("icon", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["parent_id"], ["section_groups.id"], ondelete="SET NULL", **LATE),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_index(op.f("ix_section_groups_site_id"), "section_groups", ["site_id"], unique=False, if_not_exists=True)
    op.create_table(
        "share_links",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("site_id", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_index(op.f("ix_share_links_site_id"), "share_links", ["site_id"], unique=False, if_not_exists=True)
    op.create_table(
        "site_settings",
        sa.Column("site_id", TEXT, nullable=False),
        sa.Column("looks", JSON, nullable=True),
        sa.Column("visitor_schema", JSON, nullable=True),
        sa.Column("visitor_schema_at", TEXT, nullable=True),
        sa.Column("auth_backend", TEXT, nullable=False),
        sa.Column("auth_key", TEXT, nullable=False),
        sa.Column("auth_fallback", TEXT, nullable=True),
        sa.Column("auth_logout", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("site_id"),
        if_not_exists=True,
    )
    op.create_table(
        "spaces",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("parent_id", TEXT, nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("emoji", TEXT, nullable=True),
        sa.Column("icon", TEXT, nullable=True),
        sa.Column("visibility", TEXT, nullable=False),
        sa.Column("edit_mode", TEXT, nullable=False),
        sa.Column("language", TEXT, nullable=True),
        sa.Column("default_level", TEXT, nullable=True),
        sa.Column("merge_rules", JSON, nullable=True),
        sa.Column("revision_id", TEXT, nullable=False),
        sa.Column("numbered", sa.Integer(), nullable=False),
        sa.Column("created_by", TEXT, nullable=True),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.Column("deleted_at", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], **LATE),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["parent_id"], ["collections.id"], ondelete="SET NULL", **LATE),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_index(op.f("ix_spaces_organization_id"), "spaces", ["organization_id"], unique=False, if_not_exists=True)
    op.create_index(op.f("ix_spaces_parent_id"), "spaces", ["parent_id"], unique=False, if_not_exists=True)
    op.create_table(
        "team_members",
        sa.Column("team_id", TEXT, nullable=False),
        sa.Column("user_id", TEXT, nullable=False),
        sa.Column("role", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("team_id", "user_id"),
        if_not_exists=True,
    )
    op.create_index(op.f("ix_team_members_user_id"), "team_members", ["user_id"], unique=False, if_not_exists=True)
    op.create_table(
        "change_requests",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("space_id", TEXT, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("description", JSON, nullable=True),
        sa.Column("created_by", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.Column("merged_by", TEXT, nullable=True),
        sa.Column("merged_at", TEXT, nullable=True),
        sa.Column("revision", TEXT, nullable=False),
        sa.Column("revision_initial", TEXT, nullable=False),
        sa.Column("revision_merged_ancestor", TEXT, nullable=True),
        sa.Column("revision_merged", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], **LATE),
        sa.ForeignKeyConstraint(["merged_by"], ["users.id"], **LATE),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("space_id", "number"),
        if_not_exists=True,
    )
    op.create_index(
        "change_requests_by_update",
        "change_requests",
        ["space_id", "status", "updated_at", "id"],
        unique=False,
        if_not_exists=True,
    )
    op.create_table(
        "invites",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("organization_id", TEXT, nullable=False),
        sa.Column("space_id", TEXT, nullable=True),
        sa.Column("collection_id", TEXT, nullable=True),
        sa.Column("role", TEXT, nullable=True),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collections.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["organization_id"], ["organizations.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_index(
        op.f("ix_invites_organization_id"), "invites", ["organization_id"], unique=False, if_not_exists=True
    )
    op.create_table(
        "sections",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("site_id", TEXT, nullable=False),
        sa.Column("group_id", TEXT, nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("description", TEXT, nullable=True),
        sa.Column("path", TEXT, nullable=False),
        sa.Column("condition", TEXT, nullable=True),
        sa.Column("icon", TEXT, nullable=True),
        sa.Column("default_site_space_id", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["group_id"], ["section_groups.id"], ondelete="SET NULL", **LATE),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_index(op.f("ix_sections_site_id"), "sections", ["site_id"], unique=False, if_not_exists=True)
    op.create_table(
        "contributors",
        sa.Column("change_request_id", TEXT, nullable=False),
        sa.Column("user_id", TEXT, nullable=False),
        sa.Column("action", TEXT, nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("updated_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["change_request_id"], ["change_requests.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], **LATE),
        sa.PrimaryKeyConstraint("change_request_id", "user_id", "action"),
        if_not_exists=True,
    )
    op.create_index(op.f("ix_contributors_user_id"), "contributors", ["user_id"], unique=False, if_not_exists=True)
    op.create_table(
        "requested_reviewers",
        sa.Column("change_request_id", TEXT, nullable=False),
        sa.Column("user_id", TEXT, nullable=False),
        sa.Column("requested_by", TEXT, nullable=False),
        sa.Column("revision", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["change_request_id"], ["change_requests.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["requested_by"], ["users.id"], **LATE),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], **LATE),
        sa.PrimaryKeyConstraint("change_request_id", "user_id"),
        if_not_exists=True,
    )
    op.create_index(
        op.f("ix_requested_reviewers_user_id"), "requested_reviewers", ["user_id"], unique=False, if_not_exists=True
    )
    op.create_table(
        "reviews",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("change_request_id", TEXT, nullable=False),
        sa.Column("reviewer", TEXT, nullable=False),
        sa.Column("requested_by", TEXT, nullable=True),
        sa.Column("revision", TEXT, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("outdated", sa.Boolean(), nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["change_request_id"], ["change_requests.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["requested_by"], ["users.id"], **LATE),
        sa.ForeignKeyConstraint(["reviewer"], ["users.id"], **LATE),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_index(
        op.f("ix_reviews_change_request_id"), "reviews", ["change_request_id"], unique=False, if_not_exists=True
    )
    op.create_table(
        "revisions",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("space_id", TEXT, nullable=False),
        sa.Column("type", TEXT, nullable=False),
        sa.Column("parents", JSON, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("created_by", TEXT, nullable=True),
        sa.Column("tree", JSON, nullable=False),
        sa.Column("files", JSON, nullable=False),
        sa.Column("reusable_contents", JSON, nullable=False),
        sa.Column("variables", JSON, nullable=True),
        sa.Column("merged_from", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], **LATE),
        sa.ForeignKeyConstraint(["merged_from"], ["change_requests.id"], **LATE),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_index(op.f("ix_revisions_space_id"), "revisions", ["space_id"], unique=False, if_not_exists=True)
    op.create_table(
        "site_spaces",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("site_id", TEXT, nullable=False),
        sa.Column("section_id", TEXT, nullable=True),
        sa.Column("space_id", TEXT, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("path", TEXT, nullable=False),
        sa.Column("condition", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["section_id"], ["sections.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("site_id", "section_id", "path"),
        if_not_exists=True,
    )
    op.create_index(op.f("ix_site_spaces_site_id"), "site_spaces", ["site_id"], unique=False, if_not_exists=True)
    op.create_index("site_spaces_of_space", "site_spaces", ["space_id"], unique=False, if_not_exists=True)
    op.create_table(
        "comments",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("space_id", TEXT, nullable=False),
        sa.Column("change_request_id", TEXT, nullable=True),
        sa.Column("review_id", TEXT, nullable=True),
        sa.Column("revision", TEXT, nullable=False),
        sa.Column("page_id", TEXT, nullable=True),
        sa.Column("node_id", TEXT, nullable=True),
        sa.Column("table_cell", JSON, nullable=True),
        sa.Column("body", JSON, nullable=False),
        sa.Column("posted_by", TEXT, nullable=False),
        sa.Column("posted_at", TEXT, nullable=False),
        sa.Column("edited_at", TEXT, nullable=True),
        sa.Column("resolved_by", TEXT, nullable=True),
        sa.Column("resolved_at", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["change_request_id"], ["change_requests.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["posted_by"], ["users.id"], **LATE),
        sa.ForeignKeyConstraint(["resolved_by"], ["users.id"], **LATE),
        sa.ForeignKeyConstraint(["review_id"], ["reviews.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], ondelete="CASCADE", **LATE),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_index(
        "comments_of_change_request",
        "comments",
        ["change_request_id", "posted_at", "id"],
        unique=False,
        if_not_exists=True,
    )
    op.create_index("comments_of_space", "comments", ["space_id", "posted_at", "id"], unique=False, if_not_exists=True)
    op.create_index(op.f("ix_comments_review_id"), "comments", ["review_id"], unique=False, if_not_exists=True)
    op.create_table(
        "replies",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("comment_id", TEXT, nullable=False),
        sa.Column("body", JSON, nullable=False),
        sa.Column("posted_by", TEXT, nullable=False),
        sa.Column("posted_at", TEXT, nullable=False),
        sa.Column("edited_at", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["comment_id"], ["comments.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["posted_by"], ["users.id"], **LATE),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
    )
    op.create_index(
        "replies_of_comment", "replies", ["comment_id", "posted_at", "id"], unique=False, if_not_exists=True
    )
