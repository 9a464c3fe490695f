"""The permissions of a person: their level in each place with its path, and their teams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.organizations import GetMember
from presscheck.api.sites import ListSites
from presscheck.api.teams import AddTeamMember, ListTeamMembers, ListTeams, RemoveTeamMember, Team
from presscheck.engine.access import Access, read_access
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.errors import Forbidden, NotSupported, PresscheckError
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.access.levels import changes_in_words, choose_team_role, kind_of
from presscheck.tui.screens.access.rows import AccessRow, AccessTab
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from presscheck.api.operation import Operation
    from presscheck.api.organizations import OrganizationMember
    from presscheck.api.sites import Site
    from presscheck.api.teams import TeamMember
    from presscheck.engine.access import Container
    from presscheck.engine.writes.descriptions import Place
    from presscheck.tui.screens.access.context import AccessContext

FOOTER = ("open", "add", "rename", "delete", "find_here", "close")


class PersonAccess:
    """The places and teams of a person, and the commands on their teams.

    Args:
        screen: the screen.
        member: the person.
    """

    def __init__(self, screen: AccessContext, member: OrganizationMember) -> None:
        self._screen, self._member = screen, member
        self._access: Access | None = None
        self._all_teams: tuple[Team, ...] = ()
        places = (("place", 0), ("level", 8), ("from", 0), ("kind", 10))
        teams = (("team", 0), ("in the team", 12), ("members", 8))
        self._places = AccessTab(
            "Places", "places", places, ("open", "next_pane", "find_here", "unsend", "close"), self.summary, _no_places
        )
        self._teams = AccessTab("Teams", "teams", teams, FOOTER, self.summary, _no_teams)
        self.tabs = (self._places, self._teams)

    @property
    def title(self) -> str:
        """The name."""
        return sanitize(self._member.user.display_name or self._member.id)

    async def load(self) -> None:
        """Read the person, their teams, and the levels in all places."""
        engine = self._screen.engine
        path: dict[str, Any] = {"organization_id": self._screen.organization.id}
        self._member = member = await engine.read(GetMember(**path, user_id=self._member.id))

        async def read_all(listing: Operation[Any]) -> tuple[Any, ...]:
            return await whole_listing(engine, listing)

        self._all_teams = await whole_listing(engine, ListTeams(**path))
        teams: list[AccessRow] = []
        for team in self._all_teams if member.teams else ():
            people = await read_all(ListTeamMembers(**path, team_id=team.id))
            own: TeamMember | None = next((one for one in people if one.organization.id == member.id), None)
            if own:
                cells = (sanitize(team.title or team.id), sanitize(own.team.role), f"{len(people):,}")
                teams.append(AccessRow(team.id, cells, (team, own.team.role)))
        self._teams.show(teams)
        # the service tells the levels of a space for all people: a request for each space would be too many
        access = await read_access(read_all, self._screen.organization, with_levels_of_service=False)
        self._access = access
        places: list[Container] = [*access.collections.values(), *access.spaces, *await self._sites()]
        rows: list[AccessRow] = []
        for place in places:
            if found := access.level(member, place):
                name = sanitize(" › ".join(access.names(place)))
                rows.append(
                    AccessRow(place.id, (name, sanitize(found.level), sanitize(found.source), kind_of(place)), place)
                )
        self._places.show(rows)

    async def _sites(self) -> tuple[Site, ...]:
        try:
            return await whole_listing(self._screen.engine, ListSites(organization_id=self._screen.organization.id))
        except (Forbidden, NotSupported):
            return ()

    def summary(self) -> Line:
        """Role, e-mail, and when they joined and were seen."""
        member = self._member
        facts = [sanitize(member.role or "guest"), sanitize(member.user.email or "")]
        facts += [f"joined {since(member.joined_at, now())}"] if member.joined_at else []
        facts += [f"last seen {since(member.last_seen_at, now())}"] if member.last_seen_at else []
        facts += ["signs in by SSO"] if member.sso else []
        disabled = (Span("   disabled: has no access", "waiting"),) if member.disabled else ()
        return (Span(" · ".join(filter(None, facts)), "quiet"), *disabled)

    def is_here(self, place: Place) -> bool:
        """Whether a sent change belongs to the teams of this organization."""
        return place.organization == self._screen.organization.id and place.site is None

    # commands

    def reason(self, command: str) -> str | None:
        """Why a command cannot run now; None if it can."""
        if self._access is None:
            return "not loaded yet"
        row = self._screen.tab.at(self._screen.cursor)
        if command == "open":
            return None if row else f"no {self._screen.tab.noun} here"
        if command == "settings":
            return "only collections and spaces have a default level"
        if command != "add" and self._screen.tab is not self._teams:
            return "levels follow from the role, default levels and teams: 2 shows the teams"
        if reason := self._screen.engine.write_reason():
            return reason
        if command == "add":
            can = any(team.permissions.admin for team in self._all_teams) or self._screen.organization.permissions.admin
            return None if can else "only admins and owners of a team add members"
        if row is None:
            return "in no team: a adds to teams"
        team: Team = row.thing[0]
        can = team.permissions.admin or self._screen.organization.permissions.admin
        return None if can else "only admins and owners of the team change its members"

    def run(self, command: str) -> Awaitable[None] | None:
        """Run a command."""
        row = self._screen.tab.at(self._screen.cursor)
        if command == "add":
            return self._add()
        if row is None or self._access is None:
            return None
        if command == "open":
            return self._open(row)
        team, role = row.thing
        return self._change(team, role) if command == "rename" else self._remove(team, self._access)

    async def _open(self, row: AccessRow) -> None:
        """Show the permissions of a place, or who is in a team."""
        if self._screen.tab is self._places:
            self._screen.open_access(row.thing)
            return
        path: dict[str, Any] = {"organization_id": self._screen.organization.id, "team_id": row.key}
        people = await whole_listing(self._screen.engine, ListTeamMembers(**path))
        lines: list[Line] = [
            (Span(f" {sanitize(one.organization.user.display_name)}  "), Span(sanitize(one.team.role), "quiet"))
            for one in people
        ]
        self._screen.app_context.push_screen(TextScreen(f"Members of {row.cells[0]}", lines))

    async def _add(self) -> None:
        """Add the person to several teams."""
        self_in = {key for at in range(self._teams.count) if (key := self._teams.key(at))}
        admin = self._screen.organization.permissions.admin
        teams = [one for one in self._all_teams if one.id not in self_in and (admin or one.permissions.admin)]
        if not teams:
            self._screen.notify("there is no other team: g a, Teams creates one")
            return
        choices = [Choice(one.id, sanitize(one.title) or one.id, count(one.members, "member")) for one in teams]
        picker = Picker(f"Add {self.title} to teams", choices, multiple=True)
        chosen = await self._screen.ask(picker)
        role = await choose_team_role(self._screen, f"Role of {self.title} in the team") if chosen else None
        if not chosen or role is None:
            return
        failed: list[str] = []
        for team_id in chosen:
            try:
                await self._put(team_id, role)
            except PresscheckError as error:
                failed.append(error.message)
        done = f"added to {count(len(chosen) - len(failed), 'team')} as {role} (z undoes the last)"
        self._screen.notify(f"{done}; {len(failed)} failed: {sanitize(failed[0])}" if failed else done)
        self._screen.reload()

    async def _put(self, team_id: str, role: Any) -> None:
        path = {"organization_id": self._screen.organization.id, "team_id": team_id, "user_id": self._member.id}
        await send(self._screen, AddTeamMember(**path, role=role))

    async def _change(self, team: Team, present: str) -> None:
        """Change the role of the person in a team."""
        role = await choose_team_role(self._screen, f"Role of {self.title} in {sanitize(team.title)}", present)
        if role is None or role == present:
            return
        await self._put(team.id, role)
        self._screen.notify(f"{sanitize(team.title)}: {role} (z undoes it)")
        self._screen.reload()

    async def _remove(self, team: Team, access: Access) -> None:
        """Remove the person from a team, after a question with what they lose."""
        places: list[Container] = [*access.collections.values(), *access.spaces]
        lost = changes_in_words(access, access.without(team.id), [self._member], places)
        lines: list[Line] = [(Span("They keep what the role, default levels and other teams allow."),)]
        lines += [(Span(sentence, "waiting"),) for sentence in lost]
        if self._member.id == self._screen.engine.me.id:
            lines.append((Span("This is you.", "waiting"),))
        title = f"Remove {self.title} from {sanitize(team.title)}?"
        if not await self._screen.ask(ConfirmDialog(title, lines, "Remove")):
            return
        path = {"organization_id": self._screen.organization.id, "team_id": team.id, "user_id": self._member.id}
        await send(self._screen, RemoveTeamMember(**path))
        self._screen.notify(f"removed from {sanitize(team.title)} (z undoes it)")
        self._screen.reload()


def _no_places() -> tuple[str, str]:
    return "This person has access to no place.", "2 shows the teams: a adds to teams."


def _no_teams() -> tuple[str, str]:
    return "In no team.", "a adds to teams."
