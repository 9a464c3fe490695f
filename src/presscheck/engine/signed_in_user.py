"""The signed-in user, as the outbox remembers them between runs."""

from __future__ import annotations

from presscheck.api.users import User
from presscheck.store.outbox import Outbox

ME = "me"
"""Under this name the signed-in user is remembered."""


class SignedInUser:
    """Reads the remembered user once, and again only after `remember` or `forget`.

    Args:
        outbox: where the user is remembered.
    """

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._user: User | None = None

    @property
    def user(self) -> User:
        """The user, as far as known."""
        if self._user is None:
            text = self._outbox.recall(ME)
            self._user = User.model_validate_json(text) if text else User(id="me", display_name="you")
        return self._user

    def remember(self, user: User) -> None:
        """Keep the user that the service named."""
        self._outbox.remember(ME, user.model_dump_json(by_alias=True, exclude_unset=True))
        self._user = user

    def forget(self) -> None:
        """Read the user again at the next use: another window may have signed in as somebody else."""
        self._user = None
