"""Checks before a form is sent, from a table or from the list of drafts."""

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
"""The reason why the last admin cannot lose the role."""


async def admins_of(screen: BaseScreen, organization_id: str) -> set[str]:
    """Return the ids of the enabled admins of an organization."""
    listing = ListMembers(organization_id=organization_id, role="admin")
    return {admin.id for admin in await whole_listing(screen.engine, listing) if not admin.disabled}


async def _check_role(screen: BaseScreen, call: UpdateMember) -> None:
    """Reject a change that leaves no admin, and ask users to confirm before they give up their own admin role.

    Raises:
        InvalidArgument: the last admin would lose the role, or the user did not confirm.
        PresscheckError: the member or the admins cannot be read.
    """
    if call.role == "admin":
        return
    # read the member again: the row, or the form of a stored draft, may be outdated
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
    """Run the checks of a call before its form is sent.

    Raises:
        InvalidArgument: the call must not be sent; the error names the field.
        PresscheckError: a check could not read the data that it needs.
    """
    if check_call := _CHECKS.get(type(call)):
        await check_call(screen, call)
