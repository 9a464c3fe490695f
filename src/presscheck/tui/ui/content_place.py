"""The place of a screen in the content: its space, and the change request in which the space is shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest


class ContentPlace(NamedTuple):
    """A space, on main or in a change request.

    `choose_request` asks for another change request and returns its id; `show_request` shows the space in a change
    request that was created elsewhere. Both are None in a review, which never leaves its change request.
    """

    space_id: str
    change_request_id: str | None = None
    choose_request: Callable[[], Awaitable[str | None]] | None = None
    show_request: Callable[[ChangeRequest], None] | None = None
