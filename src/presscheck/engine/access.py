"""Access levels of people in collections, spaces and sites, and the path by which each level is inherited."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from presscheck.api.collections import Collection, ListCollections
from presscheck.api.operation import Operation, Page
from presscheck.api.organizations import ListMembers, Organization, OrganizationMember
from presscheck.api.permissions import ListCollectionTeamPermissions, ListSpaceUserPermissions
from presscheck.api.sites import Site
from presscheck.api.spaces import ListSpaces, Space
from presscheck.api.teams import ListTeamMembers, Team
from presscheck.errors import Forbidden, NotSupported

Container = Collection | Space | Site
"""A place with access levels: a collection, a space or a site."""
ReadAll = Callable[[Operation[Page[Any]]], Awaitable[Sequence[Any]]]
"""A function that returns all items of a listing."""
LEVELS = ("read", "comment", "review", "edit", "create", "admin")
"""The levels, lowest first."""
ELSEWHERE = "not told by the API: perhaps invited to it"
"""The `Reason.path` of a reported level that roles, default levels and teams do not explain."""


class Reason(NamedTuple):
    """A level and its origin.

    Attributes:
        level: the level.
        path: the origin and the titles from there down to the place, such as `default level: Guides › API`.
        source: a short name of the origin, such as `team Writers on Guides`.
    """

    level: str
    path: str
    source: str = ""


@dataclass(frozen=True)
class Grant:
    """A team that has a level on a collection, and the ids of the team's members."""

    team: Team
    level: str
    people: frozenset[str]


@dataclass(frozen=True)
class Access:
    """The settings that determine the levels in an organization.

    Attributes:
        organization: the organization.
        members: the members of the organization.
        collections: the collections by id.
        spaces: the spaces that were read.
        grants: the teams with a level on a collection, by collection id.
        reported: the levels that the service reports, by space id and user id.
    """

    organization: Organization
    members: Sequence[OrganizationMember] = ()
    collections: Mapping[str, Collection] = field(default_factory=dict[str, Collection])
    spaces: Sequence[Space] = ()
    grants: Mapping[str, Sequence[Grant]] = field(default_factory=dict[str, Sequence[Grant]])
    reported: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    def around(self, place: Container) -> list[Container]:
        """Return a place and the collections around it, innermost first."""
        places: list[Container] = [place]
        while not isinstance(places[-1], Site) and (outer := self.collections.get(places[-1].parent or "")):
            if outer in places:
                break
            places.append(outer)
        return places

    def names(self, place: Container) -> list[str]:
        """Return the titles of a place and the collections around it, outermost first."""
        return [item.title or item.id for item in reversed(self.around(place))]

    def default_from(self, place: Container) -> Container | None:
        """Return the place whose default level applies: the place itself or a collection around it.

        Returns None if no default level is set.
        """
        return next((item for item in self.around(place) if _own_default(item) != "inherit"), None)

    def reasons(self, member: OrganizationMember, place: Container) -> Iterator[Reason]:
        """Yield every level that a person has in a place, each with its origin."""
        around, names = self.around(place), self.names(place)
        if member.role:
            given = self.default_from(place)
            if member.role == "admin" or given is None:
                path = " › ".join([self.organization.title, *names])
                yield Reason(member.role, f"role in the organization: {path}", f"role in {self.organization.title}")
            elif level := _own_default(given):
                path = " › ".join(names[len(names) - 1 - around.index(given) :])
                yield Reason(level, f"default level: {path}", f"default level of {given.title or given.id}")
        for at, item in enumerate(around):
            for grant in self.grants.get(item.id, ()):
                if member.id in grant.people:
                    path = " › ".join(names[len(names) - 1 - at :])
                    team = grant.team.title or grant.team.id
                    yield Reason(grant.level, f"team {team}: {path}", f"team {team} on {item.title or item.id}")

    def level(self, member: OrganizationMember, place: Container) -> Reason | None:
        """Return the level of a person in a place, or None if the person has no access.

        The level is the highest of `reasons`, unless the service reports another level.
        """
        if member.disabled:
            return None
        highest = max(self.reasons(member, place), key=lambda reason: rank(reason.level), default=Reason("", ""))
        if place.id in self.reported and self.reported[place.id].get(member.id, "") != highest.level:
            highest = Reason(self.reported[place.id].get(member.id, ""), ELSEWHERE, ELSEWHERE)
        return highest if highest.level else None

    def without(self, team_id: str, collection_id: str = "") -> Access:
        """Return the access without a team's level on a collection, or on all collections if `collection_id` is empty.

        Reported levels are dropped, because they may come from this team.
        """
        grants = {
            identity: [grant for grant in granted if grant.team.id != team_id or collection_id not in ("", identity)]
            for identity, granted in self.grants.items()
        }
        return replace(self, grants=grants, reported={})


def rank(level: str) -> int:
    """Return the rank of a level, from 0 for the lowest. Returns -1 for no level."""
    return LEVELS.index(level) if level in LEVELS else -1


async def read_access(
    read_all: ReadAll,
    organization: Organization,
    *,
    place: Container | None = None,
    with_levels_of_service: bool = True,
) -> Access:
    """Read the settings that determine the levels in an organization.

    Args:
        read_all: reads a listing.
        organization: the organization.
        place: read only the settings that determine the levels in this place, and no other spaces.
        with_levels_of_service: also read the levels that the service reports; this takes a request for each space.

    Raises:
        PresscheckError: the service has no list of members, teams or spaces, or the caller may not read it.
    """
    path: dict[str, Any] = {"organization_id": organization.id}
    members, listed = await _both(read_all(ListMembers(**path)), read_all(ListCollections(**path)))
    collections: dict[str, Collection] = {one.id: one for one in listed}
    spaces: Sequence[Space] = await read_all(ListSpaces(**path)) if place is None else ()
    access = Access(organization, members, collections, spaces)
    within = list(collections) if place is None else [one.id for one in access.around(place) if one.id in collections]
    if isinstance(place, Collection) and place.id not in within:
        within.insert(0, place.id)
    granted = await _each([ListCollectionTeamPermissions(collection_id=identity) for identity in within], read_all)
    teams = {grant.team.id: grant.team for grants in granted for grant in grants}
    people = await people_of_teams(read_all, organization.id, teams)
    grants = {
        identity: [Grant(grant.team, grant.permission, people[grant.team.id]) for grant in found]
        for identity, found in zip(within, granted, strict=True)
        if found
    }
    checked = [place] if isinstance(place, Space) else spaces
    reported = await _reported(read_all, checked) if with_levels_of_service else {}
    return replace(access, grants=grants, reported=reported)


async def people_of_teams(read_all: ReadAll, organization_id: str, teams: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the ids of the members of teams, by team id."""
    ids = list(teams)
    listings = [ListTeamMembers(organization_id=organization_id, team_id=identity) for identity in ids]
    found = await _each(listings, read_all)
    return {
        identity: frozenset(one.organization.id for one in people) for identity, people in zip(ids, found, strict=True)
    }


async def _reported(read_all: ReadAll, spaces: Sequence[Space]) -> dict[str, dict[str, str]]:
    """Return the levels that the service reports, by space id and user id.

    Spaces whose levels cannot be read are left out.
    """
    reported: dict[str, dict[str, str]] = {}
    for space in spaces:
        try:
            users = await read_all(ListSpaceUserPermissions(space_id=space.id))
        except (Forbidden, NotSupported):
            continue  # the levels then follow from roles, default levels and teams
        reported[space.id] = {one.user.id: one.permission for one in users}
    return reported


async def _both(first: Awaitable[Sequence[Any]], second: Awaitable[Sequence[Any]]) -> tuple[Any, Any]:
    found = await asyncio.gather(first, second)
    return found[0], found[1]


async def _each(listings: Sequence[Operation[Page[Any]]], read_all: ReadAll) -> list[Sequence[Any]]:
    return list(await asyncio.gather(*(read_all(listing) for listing in listings)))


def _own_default(item: Container) -> str | None:
    """Return the default level of the place itself: a level, `inherit`, or None for no access.

    A site without a default level inherits, because some services have no default levels for sites.
    """
    return (item.default_level or "inherit") if isinstance(item, Site) else item.default_level
