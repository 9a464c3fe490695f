"""The permissions of a collection, a space or a site: people with the path of their level, and teams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.collections import Collection, GetCollection, UpdateCollection
from presscheck.api.permissions import (
    ListSpaceTeamPermissions,
    RemoveCollectionTeamPermission,
    UpdateCollectionTeamPermission,
)
from presscheck.api.sites import GetSite
from presscheck.api.spaces import GetSpace, Space, UpdateSpace
from presscheck.api.teams import ListTeams
from presscheck.engine.access import ELSEWHERE, Access, Grant, rank, read_access
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.errors import Forbidden, NotSupported, PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.access.levels import DEFAULT_LEVELS, changes_in_words, choose_level, kind_of
from presscheck.tui.screens.access.rows import AccessRow, AccessTab
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from presscheck.api.operation import Operation
    from presscheck.api.organizations import OrganizationMember
    from presscheck.engine.access import Container
    from presscheck.engine.writes.descriptions import Place
    from presscheck.tui.screens.access.context import AccessContext

ON_PEOPLE = ("open", "next_pane", "settings", "find_here", "unsend", "close")
"""What the footer shows on people: their levels are not changed here."""
FOOTER = ("open", "add", "rename", "delete", "settings", "find_here", "close")


class PlaceAccess:
    """The people and teams of a place, and the commands on them.

    Args:
        screen: the screen.
        place: the place.
    """

    def __init__(self, screen: AccessContext, place: Container) -> None:
        self._screen, self._place = screen, place
        self._access: Access | None = None
        people = (("name", 0), ("level", 8), ("from", 0), ("e-mail", 0))
        teams = (("team", 0), ("level", 8), ("members", 8), ("given on", 0))
        self._people = AccessTab("People", "people", people, ON_PEOPLE, self.summary, self._no_people)
        self._teams = AccessTab("Teams", "teams", teams, FOOTER, self.summary, self._no_teams)
        self.tabs = (self._people, self._teams)

    @property
    def title(self) -> str:
        """The titles of the collections around it, and its own."""
        names = self._access.names(self._place) if self._access else [self._place.title]
        return sanitize(" › ".join(names))

    async def load(self) -> None:
        """Read the place, its people and its teams."""
        engine = self._screen.engine
        place = self._place = await self._read_place()

        async def read_all(listing: Operation[Any]) -> tuple[Any, ...]:
            return await whole_listing(engine, listing)

        self._access = access = await read_access(read_all, self._screen.organization, place=place)
        rows: list[tuple[int, AccessRow]] = []
        for member in access.members:
            if found := access.level(member, place):
                name = member.user.display_name or member.id
                cells = (name, found.level, found.source, member.user.email or "")
                rows.append((rank(found.level), _row(member.id, cells, member)))
        rows.sort(key=lambda one: (-one[0], one[1].cells[0].casefold()))
        self._people.show([row for _, row in rows])
        self._teams.show([*self._grants(access), *await self._reported_teams(access)])

    async def _read_place(self) -> Container:
        read, place = self._screen.engine.read, self._place
        if isinstance(place, Collection):
            return await read(GetCollection(collection_id=place.id))
        if isinstance(place, Space):
            return await read(GetSpace(space_id=place.id))
        return await read(GetSite(organization_id=self._screen.organization.id, site_id=place.id))

    def _grants(self, access: Access) -> list[AccessRow]:
        """The teams with a level on the place itself, or on a collection around it."""
        rows: list[AccessRow] = []
        for item in access.around(self._place):
            where = "this collection" if item.id == self._place.id else item.title or item.id
            for grant in access.grants.get(item.id, ()):
                cells = (grant.team.title or grant.team.id, grant.level, f"{len(grant.people):,}", where)
                rows.append(_row(f"{item.id} {grant.team.id}", cells, (item, grant)))
        return rows

    async def _reported_teams(self, access: Access) -> list[AccessRow]:
        """The teams that the service lists for the space, and that no collection around it explains."""
        if not isinstance(self._place, Space):
            return []
        try:
            listed = await whole_listing(self._screen.engine, ListSpaceTeamPermissions(space_id=self._place.id))
        except (Forbidden, NotSupported):
            return []
        known = {grant.team.id for item in access.around(self._place) for grant in access.grants.get(item.id, ())}
        return [
            _row(f" {one.team.id}", (one.team.title or one.team.id, one.permission, f"{one.team.members:,}", "–"), None)
            for one in listed
            if one.team.id not in known
        ]

    def summary(self) -> Line:
        """The default level, and where it is set."""
        if self._access is None:
            return ()
        people = f"{self._people.total:,} of {count(len(self._access.members), 'member')} have access"
        return (Span(f"{people}   ", "quiet"), Span(sanitize(self._default_in_words(self._access)), "quiet"))

    def _default_in_words(self, access: Access) -> str:
        given = access.default_from(self._place)
        if given is None:
            return "default level: role in the organization"
        level = given.default_level or "no access"
        where = "" if given.id == self._place.id else f", inherited from {given.title or given.id}"
        return f"default level: {level}{where}"

    def _no_people(self) -> tuple[str, str]:
        return "No member of the organization has access.", ""

    def _no_teams(self) -> tuple[str, str]:
        if isinstance(self._place, Collection):
            return "No team has a level here.", "a gives one: its members then have it in everything inside."
        if isinstance(self._place, Space):
            hint = "a opens the collection around this space: teams get their level there." if self._outer else ""
            return "No team has a level on a collection around this space.", hint
        return (
            "Teams have no level on a site.",
            "Roles in the organization decide: create edits it, admin publishes it.",
        )

    @property
    def _outer(self) -> Collection | None:
        """The collection around the place; None if there is none."""
        around = self._access.around(self._place) if self._access else []
        return around[1] if len(around) > 1 and isinstance(around[1], Collection) else None

    def is_here(self, place: Place) -> bool:
        """Whether a sent change belongs to the place."""
        return self._place.id in (place.collection, place.space, place.site)

    # commands

    def reason(self, command: str) -> str | None:
        """Why a command cannot run now; None if it can."""
        if self._access is None:
            return "not loaded yet"
        row = self._screen.tab.at(self._screen.cursor)
        if command == "open":
            return None if row else f"no {self._screen.tab.noun} here"
        if command == "add" and isinstance(self._place, Space):
            return None if self._outer else "teams get a level on a collection, and this space is in none"
        if command == "settings" and not isinstance(self._place, Collection | Space):
            return "a site has no default level that can be changed"
        if command in ("add", "rename", "delete") and not isinstance(self._place, Collection):
            return f"teams get a level on a collection, not on a {kind_of(self._place)}: enter on a team opens it"
        if reason := self._change_reason(command):
            return reason
        if command in ("rename", "delete"):
            return self._own_reason(row)
        return None

    def _change_reason(self, command: str) -> str | None:
        operation = RemoveCollectionTeamPermission if command == "delete" else UpdateCollectionTeamPermission
        write = None if command == "settings" else operation
        if reason := self._screen.engine.write_reason(write, at_once=True):
            return reason
        allowed = isinstance(self._place, Collection | Space) and self._place.permissions.admin
        return None if allowed else f"this needs the admin level in this {kind_of(self._place)}"

    def _own_reason(self, row: AccessRow | None) -> str | None:
        if self._screen.tab is self._people:
            return "levels of people follow from roles, default levels and teams: enter shows how, 2 the teams"
        if row is None:
            return "no team here: a gives one a level"
        if row.thing is None or row.thing[0].id != self._place.id:
            return "this level is inherited: enter opens the collection where it is given"
        return None

    def run(self, command: str) -> Awaitable[None] | None:
        """Run a command."""
        row = self._screen.tab.at(self._screen.cursor)
        if command == "add":
            return self._add()
        if command == "settings":
            return self._change_default()
        if row is None or self._access is None:
            return None
        if command == "open":
            self._open(row, self._access)
            return None
        grant: Grant = row.thing[1]
        return self._change(grant) if command == "rename" else self._remove(grant, self._access)

    def _open(self, row: AccessRow, access: Access) -> None:
        """Show all paths of a person's level; open the collection of an inherited level, or list who is in the team."""
        if self._screen.tab is self._people:
            self._show_reasons(row.thing, access)
        elif row.thing and row.thing[0].id != self._place.id:
            self._screen.open_access(row.thing[0])
        elif row.thing:
            members = [one.user.display_name for one in access.members if one.id in row.thing[1].people]
            lines: list[Line] = [(Span(f" {sanitize(name)}"),) for name in sorted(members, key=str.casefold)]
            empty: list[Line] = [(Span(" No members yet.", "quiet"),)]
            self._screen.app_context.push_screen(TextScreen(f"Members of {row.cells[0]}", lines or empty))
        else:
            self._screen.notify("the service does not tell where this team got its level")

    def _show_reasons(self, member: OrganizationMember, access: Access) -> None:
        """Every level of a person here with its path; the highest holds."""
        held = access.level(member, self._place)
        reasons = sorted(access.reasons(member, self._place), key=lambda one: -rank(one.level))
        name = sanitize(member.user.display_name or member.id)
        lines: list[Line] = [(), (Span(f" Level here: {held.level if held else 'none'}", "strong"),), ()]
        for at, reason in enumerate(reasons):
            holds = at == 0 and held is not None and held.path == reason.path
            sign = Span(" ✓ ", "added") if holds else Span("   ")
            lines.append((sign, Span(f"{sanitize(reason.level):8} "), Span(sanitize(reason.path), "quiet")))
        if held and held.path == ELSEWHERE:
            lines.append((Span(" ✓ ", "added"), Span(f"{sanitize(held.level):8} "), Span(ELSEWHERE, "waiting")))
        lines += [(), (Span(" The highest level holds.", "quiet"),)]
        self._screen.app_context.push_screen(TextScreen(f"{name} in {self.title}", lines))

    async def _add(self) -> None:
        """Give teams a level on the collection; on a space, go to the collection around it."""
        if isinstance(self._place, Space) and self._outer:
            self._screen.open_access(self._outer)
            self._screen.app_context.notify("teams get their level on this collection: a gives one")
            return
        access, listing = self._access, ListTeams(organization_id=self._screen.organization.id)
        if access is None:
            return
        known = {grant.team.id for grant in access.grants.get(self._place.id, ())}
        teams = [team for team in await whole_listing(self._screen.engine, listing) if team.id not in known]
        if not teams:
            self._screen.notify(
                "every team has a level here already" if known else "there are no teams yet: g a adds one"
            )
            return
        choices = [Choice(one.id, sanitize(one.title) or one.id, count(one.members, "member")) for one in teams]
        title = f"Teams that get a level on {sanitize(self._place.title)}"
        chosen = await self._screen.ask(Picker(title, choices, multiple=True))
        level = await choose_level(self._screen, f"Level on {sanitize(self._place.title)}") if chosen else None
        if not chosen or level is None:
            return
        failed: list[str] = []
        for team_id in chosen:
            call: dict[str, Any] = {"collection_id": self._place.id, "team_id": team_id, "role": level}
            try:
                await send(self._screen, UpdateCollectionTeamPermission(**call))
            except PresscheckError as error:
                failed.append(error.message)
        done = f"{count(len(chosen) - len(failed), 'team')}: {level} (z undoes the last)"
        self._screen.notify(f"{done}; {len(failed)} failed: {sanitize(failed[0])}" if failed else done)
        self._screen.reload()

    async def _change(self, grant: Grant) -> None:
        """Change the level of a team."""
        title = f"Level of {sanitize(grant.team.title)} on {sanitize(self._place.title)}"
        level = await choose_level(self._screen, title, grant.level)
        if level is None or level == grant.level:
            return
        call: dict[str, Any] = {"collection_id": self._place.id, "team_id": grant.team.id, "role": level}
        await send(self._screen, UpdateCollectionTeamPermission(**call))
        self._screen.notify(f"{sanitize(grant.team.title)}: {level} (z undoes it)")
        self._screen.reload()

    async def _remove(self, grant: Grant, access: Access) -> None:
        """Remove the level of a team, after a question with who loses what."""
        members = [member for member in access.members if member.id in grant.people]
        after = access.without(grant.team.id, self._place.id)
        lost = changes_in_words(access, after, members, [self._place]) if members else []
        lines: list[Line] = [(Span("Its members keep what roles, default levels and other teams allow."),)]
        lines += [(Span(sentence, "waiting"),) for sentence in lost]
        title = f"Remove {sanitize(grant.team.title)} from {sanitize(self._place.title)}?"
        if not await self._screen.ask(ConfirmDialog(title, lines, "Remove")):
            return
        await send(self._screen, RemoveCollectionTeamPermission(collection_id=self._place.id, team_id=grant.team.id))
        self._screen.notify(f"removed {sanitize(grant.team.title)} (z undoes it)")
        self._screen.reload()

    async def _change_default(self) -> None:
        """Change the default level of the collection or the space."""
        present = self._place.default_level or "none"
        choices = [Choice(level, level, words) for level, words in DEFAULT_LEVELS.items()]
        title = f"Default level of {sanitize(self._place.title)}"
        chosen = await self._screen.ask(Picker(title, choices, ranked=False, current=present))
        if chosen is None or chosen[0] == present:
            return
        level: Any = None if chosen[0] == "none" else chosen[0]
        if isinstance(self._place, Space):
            await send(self._screen, UpdateSpace(space_id=self._place.id, default_level=level))
        else:
            await send(self._screen, UpdateCollection(collection_id=self._place.id, default_level=level))
        self._screen.notify(f"default level: {chosen[0]} (z undoes it)")
        self._screen.reload()


def _row(key: str, cells: tuple[str, ...], thing: Any) -> AccessRow:
    return AccessRow(key, tuple(sanitize(cell) for cell in cells), thing)
