"""What is special about people: who may not be removed, what they lose, and how several join a team."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from presscheck.api.organizations import ListMembers, Organization, OrganizationMember
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
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.access.levels import changes_in_words, choose_team_role, named
from presscheck.tui.screens.admin.details import Losses
from presscheck.tui.screens.admin.form_checks import ONLY_ADMIN, admins_of
from presscheck.tui.screens.site_writes import send
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.tui.screens.admin.details import DetailsContext

MOST_PEOPLE = 20
"""The most people whose losses are computed one by one."""


async def losses_of_members(screen: DetailsContext, members: Sequence[OrganizationMember]) -> Losses:
    """What people lose with the organization; the last admin cannot be removed."""
    organization = screen.organization
    if organization is None:
        return Losses()
    ids = {member.id for member in members}
    # the rows may still have a role that was just changed
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
            if left := ids & {one.organization.id for one in await whole_listing(screen.engine, listing)}:
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
    screen: DetailsContext, organization: Organization, members: Sequence[OrganizationMember]
) -> list[str]:
    access = await _access(screen, organization)
    places = [*access.collections.values(), *access.spaces]
    sentences: list[str] = []
    for member in members:
        found = [level for place in places if (level := access.level(member, place))]
        best = sorted({one.level for one in found})
        if found:
            who = "" if len(members) == 1 else f"{sanitize(member.user.display_name)}: "
            sentences.append(f"{who}Loses {count(len(found), 'place')} ({', '.join(best)}).")
    return sentences


async def _access(screen: DetailsContext, organization: Organization) -> Access:
    async def read_all(listing: Operation[Any]) -> tuple[Any, ...]:
        return await whole_listing(screen.engine, listing)

    return await read_access(read_all, organization, with_levels_of_service=False)


async def losses_of_teams(screen: DetailsContext, teams: Sequence[Team]) -> Losses:
    """What the members of teams lose with them."""
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
    if len(people) * len(places) <= 200_000:  # more would take seconds
        sentences += changes_in_words(access, after, people, places) if len(people) > 1 else []
    return Losses(tuple(sentences))


async def losses_of_team_members(screen: DetailsContext, members: Sequence[TeamMember]) -> Losses:
    """Whether somebody removes oneself from a team."""
    is_me = any(one.organization.id == screen.engine.me.id for one in members)
    return Losses(("This is you: you lose what only the team allows.",) if is_me else ())


async def add_team_members(screen: DetailsContext, given: Mapping[str, Any]) -> str:
    """Choose people, and add them to a team in one request; returns what was done."""
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
    picker = Picker("Add people to the team (space marks several)", choices, screen.style_for, multiple=True)
    chosen = await screen.ask(picker)
    role = await choose_team_role(screen, "Their role in the team") if chosen else None
    if not chosen or role is None:
        return ""
    owners = {identity: Membership(role="owner") for identity in chosen}
    extra: dict[str, Any] = {"memberships": owners} if role == "owner" else {}
    await send(screen, UpdateTeamMembers(**path, add=chosen, **extra))
    return f"added {count(len(chosen), 'member')} as {role} (z undoes it)"
