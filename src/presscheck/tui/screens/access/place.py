"""The permissions of a collection, space or site: people with the reason for their level, and teams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from typing_extensions import override

from presscheck.api.collections import Collection, GetCollection, UpdateCollection
from presscheck.api.organizations import OrganizationMember
from presscheck.api.permissions import (
    ListSpaceTeamPermissions,
    RemoveCollectionTeamPermission,
    UpdateCollectionTeamPermission,
)
from presscheck.api.sites import GetSite
from presscheck.api.spaces import GetSpace, Space, UpdateSpace
from presscheck.api.teams import ListTeams, Team
from presscheck.engine.access import ELSEWHERE, Access, Container, Reason, rank, read_access
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.errors import Forbidden, NotSupported
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.access.levels import DEFAULT_LEVELS, changes_in_words, choose_level, kind_of
from presscheck.tui.screens.access.session import AccessSession, quiet, strong
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.ask import choose, confirm
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.organizations import Organization
    from presscheck.engine.writes.descriptions import Place
    from presscheck.tui.ui.tabs import TabScreen


class PersonLevel(NamedTuple):
    """A person with a level in the place."""

    member: OrganizationMember
    reason: Reason


class TeamLevel(NamedTuple):
    """A team with a level in the place.

    Attributes:
        team: the team.
        level: the level.
        place: the place or outer collection where the team got the level; None if the service does not report it.
        people: the ids of the members of the team.
    """

    team: Team
    level: str
    place: Container | None = None
    people: frozenset[str] = frozenset()


class PlaceAccess(AccessSession):
    """The people and teams of a place.

    Args:
        screen: the screen.
        organization: the organization.
        place: the place.

    Attributes:
        people: the people with a level, highest level first; None until they are loaded.
        teams: the teams with a level; None until they are loaded.
    """

    def __init__(self, screen: TabScreen, organization: Organization, place: Container) -> None:
        super().__init__(screen, organization)
        self.place = place
        self.people: Sequence[PersonLevel] | None = None
        self.teams: Sequence[TeamLevel] | None = None

    @override
    @property
    def title(self) -> str:
        names = self.access.names(self.place) if self.access else [self.place.title]
        return sanitize(" › ".join(names))

    @property
    def name(self) -> str:
        """The title of the place, without the collections around it, as display text."""
        return sanitize(self.place.title)

    @property
    def outer(self) -> Collection | None:
        """The collection around the place; None for a top-level place, and until the permissions are loaded."""
        around = self.access.around(self.place) if self.access else []
        return around[1] if len(around) > 1 and isinstance(around[1], Collection) else None

    @override
    async def read(self) -> None:
        engine = self.screen.engine
        place = self.place = await self._read_place()

        async def read_all(listing: Operation[Any]) -> tuple[Any, ...]:
            return await whole_listing(engine, listing)

        access = await read_access(read_all, self.organization, place=place)
        people = [PersonLevel(member, reason) for member in access.members if (reason := access.level(member, place))]
        people.sort(key=lambda person: (-rank(person.reason.level), _name_of(person.member).casefold()))
        given = [
            TeamLevel(grant.team, grant.level, item, grant.people)
            for item in access.around(place)
            for grant in access.grants.get(item.id, ())
        ]
        explained = {level.team.id for level in given}
        reported = [level for level in await self._reported_teams() if level.team.id not in explained]
        self.access, self.people, self.teams = access, people, (*given, *reported)

    async def _read_place(self) -> Container:
        read, place = self.screen.engine.read, self.place
        if isinstance(place, Collection):
            return await read(GetCollection(collection_id=place.id))
        if isinstance(place, Space):
            return await read(GetSpace(space_id=place.id))
        return await read(GetSite(organization_id=self.organization.id, site_id=place.id))

    async def _reported_teams(self) -> list[TeamLevel]:
        """Return the teams that the service lists for a space, including teams with a level on an outer collection.

        The list is empty if the place is not a space, or the service does not list its teams.
        """
        if not isinstance(self.place, Space):
            return []
        try:
            listed = await whole_listing(self.screen.engine, ListSpaceTeamPermissions(space_id=self.place.id))
        except (Forbidden, NotSupported):
            return []
        return [TeamLevel(permission.team, permission.permission) for permission in listed]

    @override
    def summary(self) -> Line:
        if self.access is None:
            return ()
        people = f"{len(self.people or ()):,} of {count(len(self.access.members), 'member')} have access"
        return (Span(f"{people}   ", "quiet"), *quiet(self._default_in_words(self.access)))

    def _default_in_words(self, access: Access) -> str:
        given = access.default_from(self.place)
        if given is None:
            return "default level: role in the organization"
        where = "" if given.id == self.place.id else f", inherited from {given.title or given.id}"
        return f"default level: {given.default_level or 'no access'}{where}"

    @override
    def is_here(self, place: Place) -> bool:
        return self.place.id in (place.collection, place.space, place.site)

    def team_reason(self, write: type[Operation[Any]]) -> str | None:
        """Return why team levels cannot be changed: the place is no collection, or the user lacks the level admin."""
        if self.access is None:
            return "not loaded yet"
        if not isinstance(self.place, Collection):
            kind = kind_of(self.place)
            return f"teams get a level on a collection, not on a {kind}: {key_for('open')} on a team opens it"
        return self._change_reason(write)

    def _change_reason(self, write: type[Operation[Any]] | None) -> str | None:
        if reason := self.screen.engine.write_reason(write, at_once=True):
            return reason
        allowed = isinstance(self.place, Collection | Space) and self.place.permissions.admin
        return None if allowed else f"you need the level admin in this {kind_of(self.place)}"

    def reason_add(self) -> str | None:
        """Return why no team can be given a level: the place is no collection, or the user lacks the level admin.

        For a space in a collection there is no reason: the command opens the collection.
        """
        if self.access and isinstance(self.place, Space):
            return None if self.outer else "teams get a level on a collection, and this space is in none"
        return self.team_reason(UpdateCollectionTeamPermission)

    async def command_add(self) -> None:
        """Give teams a level on the collection; on a space, go to the collection around it."""
        if isinstance(self.place, Space) and self.outer:
            self.open(self.outer)
            self.screen.app_context.notify(f"teams get their level on this collection: {key_for('add')} gives one")
            return
        if self.access is None:
            return
        present = {grant.team.id for grant in self.access.grants.get(self.place.id, ())}
        listed = await whole_listing(self.screen.engine, ListTeams(organization_id=self.organization.id))
        teams = [team for team in listed if team.id not in present]
        if not teams:
            none_left, none_yet = "every team has a level here already", "there are no teams yet"
            self.screen.notify(none_left if present else f"{none_yet}: {key_for('go_admin')} adds one")
            return
        chosen = await self.choose_teams(f"Teams that get a level on {self.name}", teams)
        level = await choose_level(self.screen, f"Level on {self.name}") if chosen else None
        if level is not None:
            await self.send_for_teams([self.update(team_id, level) for team_id in chosen], level)

    def update(self, team_id: str, level: str) -> UpdateCollectionTeamPermission:
        """Return the call that gives a team a level on the collection."""
        call: dict[str, Any] = {"collection_id": self.place.id, "team_id": team_id, "role": level}
        return UpdateCollectionTeamPermission(**call)

    def reason_settings(self) -> str | None:
        """Return why the default level cannot be changed: the place is a site, or the user lacks the level admin."""
        if self.access is None:
            return "not loaded yet"
        if not isinstance(self.place, Collection | Space):
            return "a site has no default level that can be changed"
        return self._change_reason(None)

    async def command_settings(self) -> None:
        """Change the default level of the collection or the space."""
        present = self.place.default_level or "none"
        choices = [Choice(level, level, words) for level, words in DEFAULT_LEVELS.items()]
        chosen = await choose(self.screen, f"Default level of {self.name}", choices, current=present)
        if chosen is None or chosen == present:
            return
        level: Any = None if chosen == "none" else chosen
        call = (
            UpdateSpace(space_id=self.place.id, default_level=level)
            if isinstance(self.place, Space)
            else UpdateCollection(collection_id=self.place.id, default_level=level)
        )
        await self.send(call, f"default level: {chosen}")


class PeopleList(List[PersonLevel]):
    """The people with a level in the place.

    Args:
        session: the permissions of the place.
    """

    name, nouns, place = "People", "people", " with access"
    footer = ("open", "next_pane", "settings", "find_here", "unsend", "close")

    def __init__(self, session: PlaceAccess) -> None:
        self._session = session
        super().__init__(
            (
                Column("name", lambda person: strong(_name_of(person.member)), gap=2),
                Column("level", lambda person: quiet(person.reason.level), 10, gap=2),
                Column("from", lambda person: quiet(person.reason.source), gap=2),
                Column("e-mail", lambda person: quiet(person.member.user.email or ""), gap=2, from_width=67),
            )
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[PersonLevel]]:
        return Loaded(self._session.people, self._session.error)

    @override
    def key_of(self, item: PersonLevel) -> str:
        return item.member.id

    @override
    def summary(self) -> Line:
        return self._session.summary()

    @override
    def empty(self) -> Message:
        return Message("No member of the organization has access.")

    def reason_open(self) -> str | None:
        """Return why no levels can be shown: there is no person."""
        return None if self.current else "no people here"

    def command_open(self) -> None:
        """Show all levels of the person in the place with their reasons; the highest level applies."""
        access, place, person = self._session.access, self._session.place, self.current
        if access is None or person is None:
            return
        held = person.reason
        lines: list[Line] = [(), (Span(f" Level here: {sanitize(held.level)}", "strong"),), ()]
        reasons = sorted(access.reasons(person.member, place), key=lambda reason: -rank(reason.level))
        for at, reason in enumerate(reasons):
            holds = at == 0 and held.path == reason.path
            sign = Span(" ✓ ", "added") if holds else Span("   ")
            lines.append((sign, Span(f"{sanitize(reason.level):8} "), *quiet(reason.path)))
        if held.path == ELSEWHERE:
            lines.append((Span(" ✓ ", "added"), Span(f"{sanitize(held.level):8} "), Span(ELSEWHERE, "waiting")))
        lines += [(), (Span(" The highest level holds.", "quiet"),)]
        title = f"{sanitize(_name_of(person.member))} in {self._session.title}"
        self._session.screen.app_context.push_screen(TextScreen(title, lines))

    def reason_rename(self) -> str | None:
        """Return why levels of people cannot be changed here: they result from roles, default levels and teams."""
        return f"{key_for('open')} shows how levels follow from roles, defaults and teams (2)"

    reason_delete = reason_rename


class TeamList(List[TeamLevel]):
    """The teams with a level on the place or a collection around it.

    Args:
        session: the permissions of the place.
    """

    name, nouns, place = "Teams", "teams", " with access"
    footer = ("open", "add", "rename", "delete", "settings", "find_here", "close")

    def __init__(self, session: PlaceAccess) -> None:
        self._session = session
        super().__init__(
            (
                Column("team", lambda item: strong(_title_of(item.team)), gap=2),
                Column("level", lambda item: quiet(item.level), 10, gap=2),
                Column("members", _members, 10, gap=2),
                Column("given on", self._given_on, gap=2, from_width=59),
            )
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[TeamLevel]]:
        return Loaded(self._session.teams, self._session.error)

    @override
    def key_of(self, item: TeamLevel) -> tuple[str, str]:
        return (item.place.id if item.place else "", item.team.id)

    @override
    def summary(self) -> Line:
        return self._session.summary()

    @override
    def empty(self) -> Message:
        if isinstance(self._session.place, Collection):
            return Message(
                "No team has a level here.",
                f"{key_for('add')} gives one: its members then have it in everything inside.",
            )
        if isinstance(self._session.place, Space):
            hint = f"{key_for('add')} opens the collection around this space: teams get their level there."
            title = "No team has a level on a collection around this space."
            return Message(title, hint if self._session.outer else "")
        return Message(
            "Teams have no level on a site.", "Roles in the organization decide: create edits it, admin publishes it."
        )

    def _given_on(self, item: TeamLevel) -> Line:
        if item.place is None:
            return quiet("–")
        return quiet("this collection" if self._is_given_here(item) else item.place.title or item.place.id)

    def _is_given_here(self, item: TeamLevel) -> bool:
        return item.place is not None and item.place.id == self._session.place.id

    def reason_open(self) -> str | None:
        """Return why no team can be opened: there is none."""
        return None if self.current else "no teams here"

    def command_open(self) -> None:
        """List the members of the team; for an inherited level, open the collection that gives it."""
        access, item = self._session.access, self.current
        if access is None or item is None:
            return
        if item.place is None:
            self._session.screen.notify("the service does not tell where this team got its level")
        elif not self._is_given_here(item):
            self._session.open(item.place)
        else:
            names = [member.user.display_name for member in access.members if member.id in item.people]
            lines: list[Line] = [(Span(f" {sanitize(name)}"),) for name in sorted(names, key=str.casefold)]
            screen = TextScreen(f"Members of {_title_of(item.team)}", lines or [quiet(" No members yet.")])
            self._session.screen.app_context.push_screen(screen)

    def _row_reason(self, write: type[Operation[Any]]) -> str | None:
        if reason := self._session.team_reason(write):
            return reason
        if self.current is None:
            return f"no team here: {key_for('add')} gives one a level"
        is_here = self._is_given_here(self.current)
        return None if is_here else f"this level is inherited: {key_for('open')} opens the collection where it is given"

    def reason_rename(self) -> str | None:
        """Return why the level of the team cannot be changed: it is inherited, or the user lacks the level admin."""
        return self._row_reason(UpdateCollectionTeamPermission)

    async def command_rename(self) -> None:
        """Change the level of the team."""
        item, session = self.current, self._session
        if item is None:
            return
        team = sanitize(item.team.title)
        level = await choose_level(session.screen, f"Level of {team} on {session.name}", item.level)
        if level is not None and level != item.level:
            await session.send(session.update(item.team.id, level), f"{team}: {level}")

    def reason_delete(self) -> str | None:
        """Return why the level of the team cannot be removed: it is inherited, or the user lacks the level admin."""
        return self._row_reason(RemoveCollectionTeamPermission)

    async def command_delete(self) -> None:
        """Remove the level of the team, after a confirmation that shows the lost levels."""
        access, item, session = self._session.access, self.current, self._session
        if access is None or item is None:
            return
        place, team = session.place, sanitize(item.team.title)
        members = [member for member in access.members if member.id in item.people]
        lost = changes_in_words(access, access.without(item.team.id, place.id), members, [place])
        lines: list[Line] = [(Span("Its members keep what roles, default levels and other teams allow."),)]
        lines += [(Span(sentence, "waiting"),) for sentence in lost]
        if await confirm(session.screen, f"Remove {team} from {session.name}?", lines, "Remove"):
            call = RemoveCollectionTeamPermission(collection_id=place.id, team_id=item.team.id)
            await session.send(call, f"removed {team}")


def _name_of(member: OrganizationMember) -> str:
    return member.user.display_name or member.id


def _title_of(team: Team) -> str:
    return team.title or team.id


def _members(item: TeamLevel) -> Line:
    return quiet(f"{len(item.people) if item.place else item.team.members:,}")
