"""Actions on people: what they lose when they are removed, team members, joining and leaving, and invite links."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from presscheck.api.collections import ListCollections
from presscheck.api.invites import CreateInvite, GetInvite, Invite, OrganizationInvite
from presscheck.api.organizations import (
    GetOrganizationsForEmailDomain,
    JoinOrganization,
    ListMembers,
    ListOrganizations,
    Organization,
    OrganizationMember,
)
from presscheck.api.spaces import ListSpaces
from presscheck.api.teams import (
    GetTeam,
    ListTeamMembers,
    ListTeams,
    Membership,
    Team,
    TeamMember,
    UpdateTeamMembers,
)
from presscheck.engine.access import Access, read_access
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.errors import NotSupported
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.access.levels import GUEST, changes_in_words, choose_level, choose_team_role, named
from presscheck.tui.screens.admin.details import Details, Losses
from presscheck.tui.screens.admin.facts import Fact
from presscheck.tui.screens.admin.form_checks import ONLY_ADMIN, admins_of
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.ui.ask import choose, choose_several, confirm, prompt
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.engine import Engine
    from presscheck.tui.screens.admin.family import OrganizationScreen

MOST_PEOPLE = 20
"""Maximum number of removed people whose lost places are computed."""
ORGANIZATION = "organization"
"""The key of the organization among the targets of an invite."""
PAGE_OF_ORGANIZATION, PAGE_OF_INVITE = "/o/", "/invite/"
"""Parts of web app URLs before the id of an organization, and before an invite."""


async def losses_of_members(screen: OrganizationScreen, members: Sequence[OrganizationMember]) -> Losses:
    """Return the losses of removing members. The removal is refused if no admin would remain."""
    organization = screen.organization
    if organization is None:
        return Losses()
    ids = {member.id for member in members}
    # the rows may be older than a role change
    listed = await whole_listing(screen.engine, ListMembers(organization_id=organization.id))
    members = [member for member in listed if member.id in ids]
    if (await admins_of(screen, organization.id)) <= ids:
        name = named([member.user.display_name for member in members if member.role == "admin"])
        return Losses(refusal=f"{name} is {ONLY_ADMIN}")
    sentences: list[str] = []
    teams: dict[str, list[str]] = {}
    if any(member.teams for member in members):
        for team in await whole_listing(screen.engine, ListTeams(organization_id=organization.id)):
            listing = ListTeamMembers(organization_id=organization.id, team_id=team.id)
            if left := ids & {person.organization.id for person in await whole_listing(screen.engine, listing)}:
                teams[team.title or team.id] = sorted(left)
    if teams:
        sentences.append(f"Leaves {count(len(teams), 'team')}: {named(list(teams))}.")
    if len(members) <= MOST_PEOPLE:
        sentences += await _lost_places(screen, organization, members)
    is_me = screen.engine.me.id in ids
    if is_me:
        sentences.append("This is you: you lose your own access.")
    return Losses(tuple(sentences), is_grave=is_me or any(member.role == "admin" for member in members))


async def _lost_places(
    screen: OrganizationScreen, organization: Organization, members: Sequence[OrganizationMember]
) -> list[str]:
    access = await _access(screen, organization)
    places = [*access.collections.values(), *access.spaces]
    sentences: list[str] = []
    for member in members:
        reasons = [reason for place in places if (reason := access.level(member, place))]
        levels = sorted({reason.level for reason in reasons})
        if reasons:
            who = "" if len(members) == 1 else f"{sanitize(member.user.display_name)}: "
            sentences.append(f"{who}Loses {count(len(reasons), 'place')} ({', '.join(levels)}).")
    return sentences


async def _access(screen: OrganizationScreen, organization: Organization) -> Access:
    async def read_all(listing: Operation[Any]) -> tuple[Any, ...]:
        return await whole_listing(screen.engine, listing)

    return await read_access(read_all, organization, with_levels_of_service=False)


async def losses_of_teams(screen: OrganizationScreen, teams: Sequence[Team]) -> Losses:
    """Return the losses of deleting teams: the number of members, and the levels that people lose."""
    organization = screen.organization
    if organization is None:
        return Losses()
    access = after = await _access(screen, organization)
    sentences: list[str] = []
    for team in teams:
        now = await screen.engine.read(GetTeam(organization_id=organization.id, team_id=team.id))
        given = [
            item
            for item in access.collections.values()
            if any(one.team.id == team.id for one in access.grants.get(item.id, ()))
        ]
        where = f", with a level on {named([item.title for item in given])}" if given else ""
        sentences.append(f"{sanitize(team.title)}: {count(now.members, 'member')}{where}.")
        after = after.without(team.id)
    places = [*access.collections.values(), *access.spaces]
    people = [one for one in access.members if one.role != "admin"]
    if len(people) * len(places) <= 200_000:  # a larger comparison takes seconds
        sentences += changes_in_words(access, after, people, places) if len(people) > 1 else []
    return Losses(tuple(sentences))


async def losses_of_team_members(screen: OrganizationScreen, members: Sequence[TeamMember]) -> Losses:
    """Return the losses of removing members of a team: a warning if the user is one of them."""
    is_me = any(one.organization.id == screen.engine.me.id for one in members)
    return Losses(("This is you: you lose what only the team allows.",) if is_me else ())


async def add_team_members(screen: OrganizationScreen, given: Mapping[str, Any]) -> str:
    """Choose people, and add them to a team in a single request. Returns a message; empty if the user canceled."""
    organization, team_id = screen.organization, given["team_id"]
    if organization is None:
        return ""
    path: dict[str, Any] = {"organization_id": organization.id, "team_id": team_id}
    inside = {one.organization.id for one in await whole_listing(screen.engine, ListTeamMembers(**path))}
    listed = await whole_listing(screen.engine, ListMembers(organization_id=organization.id))
    people = sorted((one for one in listed if one.id not in inside), key=lambda one: one.user.display_name.casefold())
    if not people:
        screen.notify("every member of the organization is in this team already")
        return ""
    choices = [
        Choice(one.id, sanitize(one.user.display_name) or one.id, sanitize(one.user.email or "")) for one in people
    ]
    title = f"Add people to the team ({key_for('mark')} marks several)"
    chosen = await choose_several(screen, title, choices)
    role = await choose_team_role(screen, "Their role in the team") if chosen else None
    if not chosen or role is None:
        return ""
    owners = {identity: Membership(role="owner") for identity in chosen}
    extra: dict[str, Any] = {"memberships": owners} if role == "owner" else {}
    await send(screen, UpdateTeamMembers(**path, add=chosen, **extra))
    return f"added {count(len(chosen), 'member')} as {role} ({key_for('unsend')} undoes it)"


async def join_organization(screen: OrganizationScreen, given: Mapping[str, Any]) -> str:
    """Ask for an e-mail domain, and join one of its organizations. Returns a message; empty if nothing was done."""
    own = (screen.engine.me.email or "").rpartition("@")[2]
    domain = await prompt(
        screen,
        "E-mail domain of the organization to join",
        own,
        max_length=253,
        hint="such as example.com: that of your own e-mail address",
        validate=lambda text: (
            None if "." in text and "/" not in text and " " not in text else "a domain such as example.com"
        ),
    )
    if domain is None:
        return ""
    domain = domain.strip().rpartition("@")[2]
    organizations = (await screen.engine.read(GetOrganizationsForEmailDomain(email_domain=domain))).organizations
    if not organizations:
        screen.notify(f"no organization lets you join with {sanitize(domain)}: ask for an invite link")
        return ""
    mine = {organization.id for organization in await whole_listing(screen.engine, ListOrganizations())}
    choices = [
        Choice(
            organization.id,
            sanitize(organization.title) or organization.id,
            "you are a member" if organization.id in mine else sanitize(organization.hostname or ""),
        )
        for organization in organizations
    ]
    chosen = await choose(screen, f"Organizations of {sanitize(domain)}", choices)
    if not chosen:
        return ""
    organization = next(organization for organization in organizations if organization.id == chosen)
    title = sanitize(organization.title) or organization.id
    if organization.id in mine:
        screen.notify(f"you are a member of {title} already")
        return ""
    lines: list[Line] = [(Span("You get the role that the organization gives to new members."),)]
    if not await confirm(screen, f"Join {title}?", lines, "Join"):
        return ""
    await send(screen, JoinOrganization(organization_id=organization.id))
    return f"joined {title} ({key_for('unsend')} leaves it again)"


async def losses_of_leaving(screen: OrganizationScreen, organizations: Sequence[Organization]) -> Losses:
    """Return the losses of leaving organizations. Leaving is refused if the user is the only admin there."""
    sentences: list[str] = []
    for organization in organizations:
        if organization.permissions.admin and await admins_of(screen, organization.id) <= {screen.engine.me.id}:
            return Losses(refusal=f"you are {ONLY_ADMIN}")
        sentences.append(f"You lose everything in {sanitize(organization.title)}, and leave its teams.")
    return Losses(tuple(sentences), is_grave=True)


def invite_link(organization: Organization, invite: Invite | OrganizationInvite) -> str:
    """Return the URL of an invite; empty if the URL of the web app is unknown.

    The API only returns the id of an invite. Its page in the web app is next to the page of the organization.
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


async def add_invite(screen: OrganizationScreen, given: Mapping[str, Any]) -> str:
    """Create and copy an invite link for a chosen target and role. Returns a message; empty if nothing was done."""
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
    chosen = await choose(screen, "Invite to", choices, ranked=True)
    if not chosen:
        return ""
    kind, _, target_id = chosen.partition(" ")
    what = next(choice.label for choice in choices if choice.key == chosen)
    level = await choose_level(screen, f"Invite to {what} as", with_guest=True)
    if level is None:
        return ""
    value = None if level == GUEST else level
    target: dict[str, Any] = {"role": value} if kind == ORGANIZATION else {kind: target_id, "level": value}
    invite = await send(screen, CreateInvite(**path, **target))
    if invite is None:
        return ""
    link = invite_link(organization, invite)
    screen.app_context.copy_to_clipboard(sanitize(link or invite.id))
    where = "" if kind == ORGANIZATION else f"; {key_for('unsend')} revokes it: it is in no list"
    return f"invite link made and {'copied' if link else 'its id copied'}{where}"
