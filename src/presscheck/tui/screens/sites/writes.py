"""Writes to a site through the outbox: sending, undo, permissions and marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from presscheck.engine.writes.descriptions import describe
from presscheck.errors import NotNow
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for
from presscheck.tui.screens.undo import undo_last_sent

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.sites import Site
    from presscheck.engine.writes.pending_writes import PendingWrite
    from presscheck.tui.ui.screen import BaseScreen

T = TypeVar("T")


async def send(screen: BaseScreen, call: Operation[T]) -> T | None:
    """Send a write, and return the answer. If the write stays in the outbox, notify the user and return None.

    Raises:
        PresscheckError: the service rejected the write, or the write cannot be queued.
    """
    ticket = screen.engine.write(call)
    if ticket.id and not screen.engine.status.online:
        screen.notify(f"{_words(screen, ticket)}: pending, sent once you are online")
        return None
    try:
        return await ticket.landed()
    except NotNow:
        screen.notify(f"{_words(screen, ticket)}: pending behind a failed change, see the outbox")
        return None


def _words(screen: BaseScreen, ticket: PendingWrite[Any]) -> str:
    """Describe a queued write, as display text."""
    target = next((entry.target for entry in screen.engine.waiting() if entry.id == ticket.id), "")
    return sanitize(describe(ticket.call, target))


async def undo_here(screen: BaseScreen, site_id: str) -> None:
    """Discard the last unsent change of a site. If there is none, offer to undo the last sent change."""
    unsent = [entry for entry in screen.engine.waiting() if getattr(entry.call, "site_id", None) == site_id]
    for entry in reversed(unsent):
        if screen.engine.unsend(entry.id) is not None:
            screen.notify(f"not sent: {sanitize(describe(entry.call, entry.target)) if entry.call else 'the change'}")
            return
    await undo_last_sent(screen, lambda place: place.site == site_id)


def write_reason(screen: BaseScreen, operation: type[Operation[Any]], site: Site | None, role: str) -> str | None:
    """Return why a change of a site is not allowed now, or None. Offline, changes that can be queued are allowed.

    Args:
        screen: the screen.
        operation: the change.
        site: the site.
        role: the required role.
    """
    if site is None:
        return f"there is no site: {key_for('add')} creates one"
    return screen.engine.write_reason(operation) or lacks_role(site, role)


def lacks_role(site: Site, role: str) -> str | None:
    """Return the role that the user lacks, as a message; None if the user has it, or the service does not report it."""
    permissions = site.permissions or {}
    return f"you need the role {role} in the organization" if permissions.get(role) is False else None


def mark_of(item: Any) -> tuple[str, str]:
    """Return the sign and the style of an item with an unsent or rejected write; empty for other items."""
    extra: dict[str, Any] = item.model_extra or {}
    if extra.get("refused"):
        return "✗ ", "removed"
    return ("◷ ", "waiting") if extra.get("waiting") else ("", "")
