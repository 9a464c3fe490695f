"""The signed-in user, stored beside the outbox between sessions."""

from __future__ import annotations

from presscheck.api.users import GetCurrentUser, User
from presscheck.engine.protocols import Reader
from presscheck.errors import NotSupported
from presscheck.store.outbox import Outbox

ME = "me"
"""The key under which the user is stored."""


class SignedInUser:
    """Caches the stored user in memory until `remember` or `forget` is called.

    Args:
        outbox: the file that stores the user.
    """

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._user: User | None = None

    @property
    def user(self) -> User:
        """The user; a placeholder with the id `me` if not known yet."""
        if self._user is None:
            text = self._outbox.recall(ME)
            self._user = User.model_validate_json(text) if text else User(id="me", display_name="you")
        return self._user

    def remember(self, user: User) -> None:
        """Store the user that the service returned."""
        self._outbox.remember(ME, user.model_dump_json(by_alias=True, exclude_unset=True))
        self._user = user

    def forget(self) -> None:
        """Read the user from disk at the next use, because another instance may have changed it."""
        self._user = None


async def user_id(reader: Reader) -> str:
    """The id of the signed-in user; empty if the service does not tell, and the settings do not either.

    Raises:
        PresscheckError: the user cannot be read for another reason.
    """
    try:
        return (await reader.read(GetCurrentUser())).id
    except NotSupported:
        return ""
