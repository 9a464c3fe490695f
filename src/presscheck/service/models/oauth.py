"""Tables of sign-ins by browser. Codes and tokens are stored as hashes."""

from __future__ import annotations

from sqlalchemy import delete
from sqlalchemy.orm import Mapped, Session, mapped_column

from presscheck.service.models.organizations import TokenRow
from presscheck.service.models.table import Table, refers


class BrowserSignInRow(Table):
    """A sign-in by browser, with a device code or an authorization code.

    For a device code, `user_code` is the hash of the code that the user enters. `status` is pending, approved, denied,
    or used after tokens were issued. A used row stays until it expires, so that a second use is detected.
    """

    __tablename__ = "browser_sign_ins"

    sha256: Mapped[str] = mapped_column(primary_key=True)
    user_code: Mapped[str | None] = mapped_column(unique=True)
    scope: Mapped[str]
    status: Mapped[str]
    user_id: Mapped[str | None] = mapped_column(refers("users.id", ondelete="CASCADE"))
    redirect_uri: Mapped[str | None]
    challenge: Mapped[str | None]
    interval: Mapped[int]
    polled_at: Mapped[str | None]
    created_at: Mapped[str]
    expires_at: Mapped[str]


class RefreshTokenRow(Table):
    """A refresh token for a single use. A used row stays until it expires, so that a second use is detected.

    `sign_in` is the key of the `BrowserSignInRow`. All tokens of a sign-in are revoked together.
    """

    __tablename__ = "refresh_tokens"

    sha256: Mapped[str] = mapped_column(primary_key=True)
    sign_in: Mapped[str] = mapped_column(index=True)
    user_id: Mapped[str] = mapped_column(refers("users.id", ondelete="CASCADE"))
    scope: Mapped[str]
    created_at: Mapped[str]
    expires_at: Mapped[str]
    used_at: Mapped[str | None]


def revoke_sign_in(session: Session, sign_in: str) -> None:
    """Delete all tokens of a sign-in."""
    session.flush()
    session.execute(delete(TokenRow).where(TokenRow.sign_in == sign_in))
    session.execute(delete(RefreshTokenRow).where(RefreshTokenRow.sign_in == sign_in))
