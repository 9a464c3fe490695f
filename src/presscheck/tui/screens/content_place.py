"""The place of a screen in the content: its space, and the change request in which the space is shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

MAY_NOT_COMMENT = "you are not permitted to comment in this space"
"""Why no comment can be written, if the service does not permit it."""


class ContentPlace(NamedTuple):
    """A space, on main or in a change request; `choose_request` asks for another one and returns its id."""

    space_id: str
    change_request_id: str | None = None
    choose_request: Callable[[], Awaitable[str | None]] | None = None
