"""A sign-in by browser, stored like a token: an access token that expires, and the refresh token that renews it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from presscheck.config.tokens import Token, lock_token, store_token, stored_token
from presscheck.errors import ConfigurationError

if TYPE_CHECKING:
    from filelock import AcquireReturnProxy, BaseFileLock


@dataclass(frozen=True)
class BrowserSession:
    """The tokens of a sign-in by browser."""

    id: str
    """Identifies the sign-in on this machine; a renewal of the tokens keeps it."""
    access: str = field(repr=False)
    refresh: str = field(repr=False)
    """The refresh token; empty if the service issued none."""
    expires_at: float
    """When the access token expires, in seconds since 1970 by the clock of this machine."""
    scope: str
    token_url: str
    revocation_url: str

    def text(self) -> str:
        """Return the sign-in as JSON, to be stored like a token."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the sign-in of a stored text, or None if the text is not a sign-in."""
        try:
            session = cls(**json.loads(text))
        except (ValueError, TypeError, RecursionError):
            return None
        fields = asdict(session)
        is_valid = isinstance(fields.pop("expires_at"), int | float) and all(
            isinstance(value, str) and value.isascii() for value in fields.values()
        )
        return session if is_valid else None


@dataclass(frozen=True)
class StoredSession:
    """Where the sign-in of a profile is stored.

    Attributes:
        directory: the configuration directory.
        profile: the name of the profile.
        base_url: the URL of the service.
        session: the sign-in when the profile was loaded.
    """

    directory: Path
    profile: str
    base_url: str
    session: BrowserSession

    def lock(self) -> AcquireReturnProxy[BaseFileLock]:
        """Lock the stored sign-in; see `lock_token`."""
        return lock_token(self.directory, self.profile, self.base_url)

    def read(self) -> BrowserSession | None:
        """Return the current sign-in, or None after a sign-out. Blocks while it accesses the keyring and the disk."""
        text = stored_token(self.directory, self.profile, self.base_url).text
        return BrowserSession.parse(text) if text else None

    def write(self, session: BrowserSession) -> str:
        """Store new tokens. Return the location in words. Blocks while it accesses the keyring and the disk."""
        return store_token(self.directory, self.profile, self.base_url, session.text())


def stored_session(directory: Path, profile: str, base_url: str, token: Token) -> StoredSession:
    """Return the sign-in that is stored as a token.

    Raises:
        ConfigurationError: the token is not a sign-in.
    """
    session = BrowserSession.parse(token.text or "")
    if session is None:
        raise ConfigurationError(f"{token.origin} has no valid sign-in: run `presscheck login --web` again")
    return StoredSession(directory, profile, base_url, session)
