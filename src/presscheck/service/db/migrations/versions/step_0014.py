"""Sign-ins by browser with their refresh tokens, and the scope of access tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the tables, and add scope and sign-in to access tokens."""
    op.create_table(
        "browser_sign_ins",
        sa.Column("sha256", TEXT, nullable=False),
        sa.Column("user_code", TEXT, nullable=True),
        sa.Column("scope", TEXT, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("user_id", TEXT, nullable=True),
        sa.Column("redirect_uri", TEXT, nullable=True),
        sa.Column("challenge", TEXT, nullable=True),
        sa.Column("interval", sa.Integer(), nullable=False),
        sa.Column("polled_at", TEXT, nullable=True),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("expires_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE", deferrable=True, initially="DEFERRED"),
        sa.PrimaryKeyConstraint("sha256"),
        sa.UniqueConstraint("user_code"),
    )
    op.create_table(
        "refresh_tokens",
        *(
            sa.Column(name, TEXT, nullable=name == "used_at")
            for name in ("sha256", "sign_in", "user_id", "scope", "created_at", "expires_at", "used_at")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE", deferrable=True, initially="DEFERRED"),
        sa.PrimaryKeyConstraint("sha256"),
    )
    op.create_index("ix_refresh_tokens_sign_in", "refresh_tokens", ["sign_in"], unique=False)
    op.add_column("tokens", sa.Column("scope", TEXT, nullable=True))
    op.add_column("tokens", sa.Column("sign_in", TEXT, nullable=True))
    op.create_index("ix_tokens_sign_in", "tokens", ["sign_in"], unique=False)
