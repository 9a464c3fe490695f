"""The permissions of a person: the level in each place with its reason, and the teams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from typing_extensions import override

from presscheck.api.organizations import GetMember
from presscheck.api.sites import ListSites, Site
from presscheck.api.teams import AddTeamMember, ListTeamMembers, ListTeams, RemoveTeamMember, Team
from presscheck.engine.access import Container, Reason, read_access
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.errors import Forbidden, NotSupported
from presscheck.text.phrases import now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for, tab_label
from presscheck.tui.screens.access.levels import changes_in_words, choose_team_role, kind_of
from presscheck.tui.screens.access.session import AccessSession, quiet, strong
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.ask import confirm
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.organizations import Organization, OrganizationMember
    from presscheck.api.teams import TeamMember
    from presscheck.engine.writes.descriptions import Place
    from presscheck.tui.ui.tabs import TabScreen


class PlaceLevel(NamedTuple):
    """A place with the level of the person; `names` are the titles from the outermost collection to the place."""

    place: Container
    names: Sequence[str]
    reason: Reason


class TeamRole(NamedTuple):
    """A team of the person, with the role and the number of members."""

    team: Team
    role: str
    members: int


class PersonAccess(AccessSession):
    """The places and teams of a person.

    Args:
        screen: the screen.
        organization: the organization.
        member: the person.

    Attributes:
        places: the places where the person has a level; None until they are loaded.
        teams: the teams of the person; None until they are loaded.
    """

    def __init__(self, screen: TabScreen, organization: Organization, member: OrganizationMember) -> None:
        super().__init__(screen, organization)
        self.member = member
        self.places: Sequence[PlaceLevel] | None = None
        self.teams: Sequence[TeamRole] | None = None
        self._all_teams: Sequence[Team] = ()

    @override
    @property
    def title(self) -> str:
        return sanitize(self.member.user.display_name or self.member.id)

    @override
    async def read(self) -> None:
        engine = self.screen.engine
        path: dict[str, Any] = {"organization_id": self.organization.id}
        self.member = member = await engine.read(GetMember(**path, user_id=self.member.id))

        async def read_all(listing: Operation[Any]) -> tuple[Any, ...]:
            return await whole_listing(engine, listing)

        self._all_teams = await whole_listing(engine, ListTeams(**path))
        teams: list[TeamRole] = []
        for team in self._all_teams if member.teams else ():
            people: Sequence[TeamMember] = await read_all(ListTeamMembers(**path, team_id=team.id))
            roles = (person.team.role for person in people if person.organization.id == member.id)
            teams += [TeamRole(team, role, len(people)) for role in roles]
        self.teams = teams
        # levels are computed here, because asking the service takes a request for each space
        self.access = access = await read_access(read_all, self.organization, with_levels_of_service=False)
        places: list[Container] = [*access.collections.values(), *access.spaces, *await self._sites()]
        self.places = [
            PlaceLevel(place, access.names(place), reason)
            for place in places
            if (reason := access.level(member, place))
        ]

    async def _sites(self) -> Sequence[Site]:
        try:
            return await whole_listing(self.screen.engine, ListSites(organization_id=self.organization.id))
        except (Forbidden, NotSupported):
            return ()

    @override
    def summary(self) -> Line:
        member = self.member
        facts = [member.role or "guest", member.user.email or ""]
        facts += [f"joined {since(member.joined_at, now())}"] if member.joined_at else []
        facts += [f"last seen {since(member.last_seen_at, now())}"] if member.last_seen_at else []
        facts += ["signs in by SSO"] if member.sso else []
        disabled = (Span("   disabled: has no access", "waiting"),) if member.disabled else ()
        return (*quiet(" · ".join(filter(None, facts))), *disabled)

    @override
    def is_here(self, place: Place) -> bool:
        return place.organization == self.organization.id and place.site is None

    def path(self, team: str) -> dict[str, Any]:
        """Return the path parameters that identify the person in a team."""
        return {"organization_id": self.organization.id, "team_id": team, "user_id": self.member.id}

    def may_change(self, team: Team) -> bool:
        """Return whether the user may add and remove members of a team."""
        return team.permissions.admin or self.organization.permissions.admin

    def change_reason(self) -> str | None:
        """Return why changes are disabled now; None if they are allowed."""
        return "not loaded yet" if self.access is None else self.screen.engine.write_reason()

    def reason_add(self) -> str | None:
        """Return why the person cannot be added to a team: changes are disabled, or the user manages no team."""
        if reason := self.change_reason():
            return reason
        can_add = self.organization.permissions.admin or any(map(self.may_change, self._all_teams))
        return None if can_add else "only admins and owners of a team add members"

    async def command_add(self) -> None:
        """Add the person to teams."""
        present = {role.team.id for role in self.teams or ()}
        teams = [team for team in self._all_teams if team.id not in present and self.may_change(team)]
        if not teams:
            self.screen.notify(f"there is no other team: {key_for('go_admin')}, Teams creates one")
            return
        chosen = await self.choose_teams(f"Add {self.title} to teams", teams)
        role: Any = await choose_team_role(self.screen, f"Role of {self.title} in the team") if chosen else None
        if role is not None:
            await self.send_for_teams([AddTeamMember(**self.path(team_id), role=role) for team_id in chosen], role)


class PlaceList(List[PlaceLevel]):
    """The places where the person has a level.

    Args:
        session: the permissions of the person.
    """

    name, nouns, place = "Places", "places", " of this person"
    footer = ("open", "next_pane", "find_here", "unsend", "close")

    def __init__(self, session: PersonAccess) -> None:
        self._session = session
        super().__init__(
            (
                Column("place", lambda item: strong(" › ".join(item.names)), gap=2),
                Column("level", lambda item: quiet(item.reason.level), 10, gap=2),
                Column("from", lambda item: quiet(item.reason.source), gap=2),
                Column("kind", lambda item: quiet(kind_of(item.place)), 12, gap=2, from_width=61),
            )
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[PlaceLevel]]:
        return Loaded(self._session.places, self._session.error)

    @override
    def key_of(self, item: PlaceLevel) -> str:
        return item.place.id

    @override
    def summary(self) -> Line:
        return self._session.summary()

    @override
    def empty(self) -> Message:
        return Message(
            "This person has access to no place.", f"{tab_label(2)} shows the teams: {key_for('add')} adds to teams."
        )

    def reason_open(self) -> str | None:
        """Return why no place can be opened: there is none."""
        return None if self.current else "no places here"

    def command_open(self) -> None:
        """Show the permissions of the place."""
        if self.current:
            self._session.open(self.current.place)

    def reason_rename(self) -> str | None:
        """Return why levels cannot be changed here: they result from the role, default levels and teams."""
        return f"levels follow from the role, default levels and teams: {tab_label(2)} shows the teams"

    reason_delete = reason_rename


class TeamRoleList(List[TeamRole]):
    """The teams of the person.

    Args:
        session: the permissions of the person.
    """

    name, nouns, place = "Teams", "teams", " of this person"
    footer = ("open", "add", "rename", "delete", "find_here", "close")

    def __init__(self, session: PersonAccess) -> None:
        self._session = session
        super().__init__(
            (
                Column("team", lambda item: strong(item.team.title or item.team.id), gap=2),
                Column("in the team", lambda item: quiet(item.role), 14, gap=2),
                Column("members", lambda item: quiet(f"{item.members:,}"), 10, gap=2),
            )
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[TeamRole]]:
        return Loaded(self._session.teams, self._session.error)

    @override
    def key_of(self, item: TeamRole) -> str:
        return item.team.id

    @override
    def summary(self) -> Line:
        return self._session.summary()

    @override
    def empty(self) -> Message:
        return Message("In no team.", f"{key_for('add')} adds to teams.")

    def reason_open(self) -> str | None:
        """Return why no members can be listed: there is no team."""
        return None if self.current else "no teams here"

    async def command_open(self) -> None:
        """List the members of the team."""
        item, screen = self.current, self._session.screen
        if item is None:
            return
        listing = ListTeamMembers(organization_id=self._session.organization.id, team_id=item.team.id)
        lines: list[Line] = [
            (Span(f" {sanitize(member.organization.user.display_name)}  "), *quiet(member.team.role))
            for member in await whole_listing(screen.engine, listing)
        ]
        screen.app_context.push_screen(TextScreen(f"Members of {item.team.title or item.team.id}", lines))

    def reason_rename(self) -> str | None:
        """Return why the role in the team cannot be changed or removed.

        Changes are disabled, the person is in no team, or the user does not manage the team.
        """
        if reason := self._session.change_reason():
            return reason
        if self.current is None:
            return f"in no team: {key_for('add')} adds to teams"
        may_change = self._session.may_change(self.current.team)
        return None if may_change else "only admins and owners of the team change its members"

    async def command_rename(self) -> None:
        """Change the role of the person in the team."""
        item, session = self.current, self._session
        if item is None:
            return
        team = sanitize(item.team.title)
        role: Any = await choose_team_role(session.screen, f"Role of {session.title} in {team}", item.role)
        if role is not None and role != item.role:
            await session.send(AddTeamMember(**session.path(item.team.id), role=role), f"{team}: {role}")

    reason_delete = reason_rename

    async def command_delete(self) -> None:
        """Remove the person from the team, after a confirmation that shows the lost levels."""
        access, item, session = self._session.access, self.current, self._session
        if access is None or item is None:
            return
        team = sanitize(item.team.title)
        places: list[Container] = [*access.collections.values(), *access.spaces]
        lost = changes_in_words(access, access.without(item.team.id), [session.member], places)
        lines: list[Line] = [(Span("They keep what the role, default levels and other teams allow."),)]
        lines += [(Span(sentence, "waiting"),) for sentence in lost]
        if session.member.id == session.screen.engine.me.id:
            lines.append((Span("This is you.", "waiting"),))
        if await confirm(session.screen, f"Remove {session.title} from {team}?", lines, "Remove"):
            await session.send(RemoveTeamMember(**session.path(item.team.id)), f"removed from {team}")
