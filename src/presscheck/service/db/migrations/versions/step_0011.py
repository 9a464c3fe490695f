"""Granted scopes of installations, external links of sites, and the customization of site spaces."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")
OBJECT = sa.JSON(none_as_null=True)
LATE: dict[str, Any] = {"initially": "DEFERRED", "deferrable": True}


def upgrade() -> None:
    """Give each installation the scopes of its integration, and create the table of links and the new columns."""
    op.add_column("installations", sa.Column("scopes", OBJECT, server_default="[]", nullable=False))
    op.execute(
        "UPDATE installations SET scopes ="
        " (SELECT scopes FROM integrations WHERE integrations.name = installations.integration)"
    )
    op.add_column("site_spaces", sa.Column("looks", OBJECT, nullable=True))
    op.create_table(
        "external_links",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("site_id", TEXT, nullable=False),
        sa.Column("group_id", TEXT, nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        *(sa.Column(name, TEXT, nullable=False) for name in ("title", "url")),
        *(sa.Column(name, TEXT, nullable=True) for name in ("description", "icon", "condition")),
        *(sa.Column(name, OBJECT, nullable=True) for name in ("localized_title", "localized_description")),
        sa.Column("draft", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], ondelete="CASCADE", **LATE),
        sa.ForeignKeyConstraint(["group_id"], ["section_groups.id"], ondelete="SET NULL", **LATE),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_external_links_site_id"), "external_links", ["site_id"], unique=False)
