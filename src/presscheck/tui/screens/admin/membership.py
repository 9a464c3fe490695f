"""Joining and leaving organizations: those that allow an e-mail domain, and what leaving takes away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from presscheck.api.organizations import (
    GetOrganizationsForEmailDomain,
    JoinOrganization,
    ListOrganizations,
    Organization,
)
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.admin.details import Losses
from presscheck.tui.screens.admin.form_checks import ONLY_ADMIN, admins_of
from presscheck.tui.screens.site_writes import send
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.prompt_dialog import PromptDialog

if TYPE_CHECKING:
    from presscheck.tui.screens.admin.details import DetailsContext


async def join_organization(screen: DetailsContext, given: Mapping[str, Any]) -> str:
    """Ask for an e-mail domain, list its organizations, and join one; returns what was done."""
    own = (screen.engine.me.email or "").rpartition("@")[2]
    dialog = PromptDialog(
        "E-mail domain of the organization to join",
        own,
        screen.style_for,
        max_length=253,
        hint="such as example.com: that of your own e-mail address",
        validate=lambda text: (
            None if "." in text and "/" not in text and " " not in text else "a domain such as example.com"
        ),
    )
    domain = await screen.ask(dialog)
    if domain is None:
        return ""
    domain = domain.strip().rpartition("@")[2]
    found = (await screen.engine.read(GetOrganizationsForEmailDomain(email_domain=domain))).organizations
    if not found:
        screen.notify(f"no organization lets you join with {sanitize(domain)}: ask for an invite link")
        return ""
    mine = {one.id for one in await whole_listing(screen.engine, ListOrganizations())}
    choices = [
        Choice(
            one.id,
            sanitize(one.title) or one.id,
            "you are a member" if one.id in mine else sanitize(one.hostname or ""),
        )
        for one in found
    ]
    chosen = await screen.ask(Picker(f"Organizations of {sanitize(domain)}", choices, screen.style_for, ranked=False))
    if not chosen:
        return ""
    organization = next(one for one in found if one.id == chosen[0])
    title = sanitize(organization.title) or organization.id
    if organization.id in mine:
        screen.notify(f"you are a member of {title} already")
        return ""
    lines: list[Line] = [(Span("You get the role that the organization gives to new members."),)]
    if not await screen.ask(ConfirmDialog(f"Join {title}?", lines, "Join", screen.style_for)):
        return ""
    await send(screen, JoinOrganization(organization_id=organization.id))
    return f"joined {title} (z leaves it again)"


async def losses_of_leaving(screen: DetailsContext, organizations: Sequence[Organization]) -> Losses:
    """What leaving organizations takes away; the last admin cannot leave."""
    sentences: list[str] = []
    for one in organizations:
        if one.permissions.admin and await admins_of(screen, one.id) <= {screen.engine.me.id}:
            return Losses(refusal=f"you are {ONLY_ADMIN}")
        sentences.append(f"You lose everything in {sanitize(one.title)}, and leave its teams.")
    return Losses(tuple(sentences), is_grave=True)
