"""Invite links: what they invite to, their address, and how one is made and copied."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from presscheck.api.collections import ListCollections
from presscheck.api.invites import CreateInvite, GetInvite, Invite, OrganizationInvite
from presscheck.api.spaces import ListSpaces
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.errors import NotSupported
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.access.levels import GUEST, choose_level
from presscheck.tui.screens.admin.details import Details
from presscheck.tui.screens.admin.facts import Fact
from presscheck.tui.screens.site_writes import send
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.api.organizations import Organization
    from presscheck.engine.engine import Engine
    from presscheck.tui.screens.admin.details import DetailsContext

ORGANIZATION = "organization"
"""The key of the organization among what can be invited to."""
PAGE_OF_ORGANIZATION, PAGE_OF_INVITE = "/o/", "/invite/"
"""The paths of an organization, and of an invite, in the web app of the service."""


def invite_link(organization: Organization, invite: Invite | OrganizationInvite) -> str:
    """The address that an invite is followed at; empty if the service does not tell where its web app is.

    The API has only the id of an invite. In the web app its page is next to that of the organization.
    """
    app, page, rest = (organization.urls.app or "").rpartition(PAGE_OF_ORGANIZATION)
    is_known = bool(page) and rest.partition("/")[0] == organization.id
    return f"{app}{PAGE_OF_INVITE}{organization.id}/{invite.id}" if is_known else ""


async def _details(
    engine: Engine, organization: Organization, invite: OrganizationInvite
) -> AsyncIterator[tuple[Any, Sequence[Fact]]]:
    known = await engine.read(GetInvite(organization_id=organization.id, invite_id=invite.id))
    yield known, (Fact("link", sanitize(invite_link(organization, known)) or "not told by the service: only its id"),)


INVITE_DETAILS = Details(_details)


async def add_invite(screen: DetailsContext, given: Mapping[str, Any]) -> str:
    """Choose what to invite to and as what, make the link, and copy it; returns what was done."""
    organization = screen.organization
    if organization is None:
        return ""
    path: dict[str, Any] = {"organization_id": organization.id}
    choices = [Choice(ORGANIZATION, f"The organization {sanitize(organization.title)}", "with a role")]
    try:
        choices += [
            Choice(f"collection {one.id}", sanitize(one.title) or one.id, "collection")
            for one in await whole_listing(screen.engine, ListCollections(**path))
            if one.permissions.admin
        ]
        choices += [
            Choice(f"space {one.id}", sanitize(one.title) or one.id, "space")
            for one in await whole_listing(screen.engine, ListSpaces(**path))
            if one.permissions.admin
        ]
    except NotSupported:
        screen.notify("this service does not list its spaces: only the organization can be chosen")
    chosen = await screen.ask(Picker("Invite to", choices, screen.style_for, is_menu=False))
    if not chosen:
        return ""
    kind, _, identity = chosen[0].partition(" ")
    what = next(choice.label for choice in choices if choice.key == chosen[0])
    level = await choose_level(screen, f"Invite to {what} as", with_guest=True)
    if level is None:
        return ""
    value = None if level == GUEST else level
    target: dict[str, Any] = {"role": value} if kind == ORGANIZATION else {kind: identity, "level": value}
    invite = await send(screen, CreateInvite(**path, **target))
    if invite is None:
        return ""
    link = invite_link(organization, invite)
    screen.app_context.copy_to_clipboard(sanitize(link or invite.id))
    where = "" if kind == ORGANIZATION else "; the service lists only invites to the organization: z revokes it"
    return f"invite link made and {'copied' if link else 'its id copied'}{where}"
