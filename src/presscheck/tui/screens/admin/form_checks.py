"""What is checked before a form is sent, wherever it is filled in: in its table, or from the list of drafts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from presscheck.api.organizations import GetMember, ListMembers, UpdateMember
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.errors import InvalidArgument
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.ui.ask import confirm

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.tui.ui.screen import BaseScreen

ONLY_ADMIN = "the only admin: make somebody else admin first"
"""Why the last admin stays."""


async def admins_of(screen: BaseScreen, organization_id: str) -> set[str]:
    """The ids of the people who administer an organization."""
    listing = ListMembers(organization_id=organization_id, role="admin")
    return {one.id for one in await whole_listing(screen.engine, listing) if not one.disabled}


async def _check_role(screen: BaseScreen, call: UpdateMember) -> None:
    """Refuse to take the role of the last admin, and ask again before one takes one's own.

    Raises:
        InvalidArgument: the role stays.
        PresscheckError: the person cannot be read.
    """
    if call.role == "admin":
        return
    # as the service knows the person now: a row, or a form that was kept as a draft, may be older
    member = await screen.engine.read(GetMember(organization_id=call.organization_id, user_id=call.user_id))
    if member.role != "admin":
        return
    name = sanitize(member.user.display_name)
    if await admins_of(screen, call.organization_id) <= {member.id}:
        raise InvalidArgument("role", f"{name} is {ONLY_ADMIN}")
    if member.id != screen.engine.me.id:
        return
    lines: list[Line] = [
        (Span(f"This is you: you become {call.role or 'guest'}."),),
        (Span("Only another admin can make you admin again.", "waiting"),),
    ]
    if not await confirm(screen, "Give up your admin role?", lines, "Change", type_to_confirm=name):
        raise InvalidArgument("role", "not changed: you stay admin")


_CHECKS: Mapping[type[Operation[Any]], Callable[[BaseScreen, Any], Awaitable[None]]] = {UpdateMember: _check_role}


async def check(screen: BaseScreen, call: Operation[Any]) -> None:
    """Look at what a form is about to send.

    Raises:
        InvalidArgument: it is not sent; names the field.
        PresscheckError: what decides it cannot be read.
    """
    if found := _CHECKS.get(type(call)):
        await found(screen, call)
