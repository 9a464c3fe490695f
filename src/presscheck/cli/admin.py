"""`presscheck admin`: reports on an organization."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import click

from presscheck.api.collections import Collection, ListCollections
from presscheck.api.organizations import ListMembers, Organization, OrganizationMember
from presscheck.api.permissions import ListCollectionTeamPermissions, ListSpaceUserPermissions
from presscheck.api.spaces import ListSpaces, Space
from presscheck.api.teams import ListTeamMembers, Team
from presscheck.cli import lookup
from presscheck.cli.output import print_message
from presscheck.cli.session import Session, with_session
from presscheck.errors import Forbidden, InvalidArgument, NotSupported
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize

Row = dict[str, str]
"""The level of a person in a place, and how they have it; `personId` and `placeId` are ids."""
COLUMNS = ("person", "email", "kind", "place", "level", "path", "personId", "placeId")
CHANGE_COLUMNS = ("change", "person", "place", "before", "after", "path")
LEVELS = ("read", "comment", "review", "edit", "create", "admin")
"""The levels, lowest first."""
ELSEWHERE = "not told by the API: perhaps invited to it"
"""The path to a level that the service reports, and that neither roles, default levels nor teams explain."""
FORMULA = ("=", "+", "-", "@")
"""A cell that begins with one of these would be run by a spreadsheet."""


@dataclass
class Access:
    """What the levels in an organization follow from.

    Attributes:
        organization: the organization.
        members: its people.
        collections: its collections by id.
        spaces: its spaces.
        grants: the teams with a role in a collection, by its id: their title, role and the ids of their members.
        reported: the levels that the service reports, by space and user.
    """

    organization: Organization
    members: Sequence[OrganizationMember] = ()
    collections: Mapping[str, Collection] = field(default_factory=dict[str, Collection])
    spaces: Sequence[Space] = ()
    grants: Mapping[str, Sequence[tuple[str, str, frozenset[str]]]] = field(
        default_factory=dict[str, Sequence[tuple[str, str, frozenset[str]]]]
    )
    reported: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    def around(self, place: Collection | Space) -> list[Collection | Space]:
        """A place and the collections around it, innermost first."""
        found: list[Collection | Space] = [place]
        while (outer := self.collections.get(found[-1].parent or "")) and outer not in found:
            found.append(outer)
        return found

    def reasons(self, member: OrganizationMember, place: Collection | Space) -> Iterator[tuple[str, str]]:
        """The levels of a person in a place, each with its path from where it is given down to the place."""
        around = self.around(place)
        titles = [item.title or item.id for item in around]
        if member.role:
            at = next((at for at, item in enumerate(around) if item.default_level != "inherit"), None)
            if member.role == "admin" or at is None:
                path = " › ".join([self.organization.title, *reversed(titles)])
                yield member.role, f"role in the organization: {path}"
            elif level := around[at].default_level:
                yield level, f"default level: {' › '.join(reversed(titles[: at + 1]))}"
        for at, item in enumerate(around):
            for team, role, people in self.grants.get(item.id, ()):
                if member.id in people:
                    yield role, f"team {team}: {' › '.join(reversed(titles[: at + 1]))}"

    def rows(self) -> Iterator[Row]:
        """A row for each person and each place that they have access to."""
        for member in sorted(self.members, key=lambda one: one.user.display_name.casefold()):
            for place in () if member.disabled else (*self.collections.values(), *self.spaces):
                level, path = max(self.reasons(member, place), key=lambda one: _rank(one[0]), default=("", ""))
                if place.id in self.reported and self.reported[place.id].get(member.id, "") != level:
                    level, path = self.reported[place.id].get(member.id, ""), ELSEWHERE
                if level:
                    yield {
                        "person": member.user.display_name or member.id,
                        "email": member.user.email or "",
                        "kind": "collection" if isinstance(place, Collection) else "space",
                        "place": " › ".join(item.title or item.id for item in reversed(self.around(place))),
                        "level": level,
                        "path": path,
                        "personId": member.id,
                        "placeId": place.id,
                    }


@click.group()
def admin() -> None:
    """Report on an organization."""


@admin.command()
@click.option("--org", metavar="ORG", help="Organization, by title or id.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option("--diff", "old", metavar="FILE", help="Print what changed since this report (JSON or CSV).")
@with_session
async def report(session: Session, org: str | None, *, as_csv: bool, old: str | None) -> None:
    """List who has which level where, and why.

    A path begins where the level is given, and goes down to the space or collection. Teams, default levels and roles
    in the organization are compared with what the service reports for each space.
    """
    before = _read(old) if old else None
    access = await read_access(session, await lookup.organization(session, org))
    rows, columns = list(access.rows()), COLUMNS
    if before is not None:
        rows, columns = list(differences(before, rows)), CHANGE_COLUMNS
        print_message(f"{count(len(rows), 'change')} since {old}.")
    if as_csv and not session.json:
        _print_csv(rows, columns)
    else:
        session.show(rows, columns)


async def read_access(session: Session, organization: Organization) -> Access:
    """Read what the levels in an organization follow from.

    Raises:
        PresscheckError: the service has no list of members, teams or spaces, or the caller may not read it.
    """
    path: dict[str, Any] = {"organization_id": organization.id}
    collections = {one.id: one for one in await session.all(ListCollections(**path))}
    spaces = await session.all(ListSpaces(**path))
    people: dict[str, frozenset[str]] = {}
    grants: dict[str, list[tuple[str, str, frozenset[str]]]] = {}
    for identity in collections:
        for grant in await session.all(ListCollectionTeamPermissions(collection_id=identity)):
            team: Team = grant.team
            if team.id not in people:
                listing = ListTeamMembers(**path, team_id=team.id)
                people[team.id] = frozenset([one.organization.id for one in await session.all(listing)])
            grants.setdefault(identity, []).append((team.title or team.id, grant.permission, people[team.id]))
    reported: dict[str, dict[str, str]] = {}
    for space in spaces:
        try:
            users = await session.all(ListSpaceUserPermissions(space_id=space.id))
        except (Forbidden, NotSupported):
            continue  # the levels are then those that follow from roles, default levels and teams
        reported[space.id] = {one.user.id: one.permission for one in users}
    members = await session.all(ListMembers(**path))
    return Access(organization, members, collections, spaces, grants, reported)


def differences(before: Sequence[Row], after: Sequence[Row]) -> Iterator[Row]:
    """What changed between two reports, in the order of people and places."""
    old, new = ({(row["personId"], row["placeId"]): row for row in rows} for rows in (before, after))
    for key in (*new, *(key for key in old if key not in new)):
        row, levels = new.get(key) or old[key], [rows[key]["level"] if key in rows else "" for rows in (old, new)]
        if levels[0] != levels[1]:
            change = "changed" if all(levels) else "added" if levels[1] else "removed"
            yield {**row, "change": change, "before": levels[0], "after": levels[1]}


def _rank(level: str) -> int:
    return LEVELS.index(level) if level in LEVELS else -1


def _print_csv(rows: Sequence[Row], columns: Sequence[str]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        cells = [sanitize(row[name]) for name in columns]
        writer.writerow([f"'{cell}" if cell.startswith(FORMULA) else cell for cell in cells])


def _read(file: str) -> list[Row]:
    """A report from a file, as JSON or CSV.

    Raises:
        InvalidArgument: it cannot be read, or it is no report.
    """
    try:
        text = Path(file).read_text("utf-8-sig")
        rows: Any = json.loads(text) if text.lstrip().startswith("[") else list(csv.DictReader(io.StringIO(text)))
        report = [{name: str(row[name]) for name in COLUMNS} for row in cast("list[dict[str, Any]]", rows)]
    except OSError as error:
        raise InvalidArgument("--diff", f"could not read {file}: {error.strerror}") from None
    except (KeyError, TypeError, ValueError):
        raise InvalidArgument("--diff", f"{file} is no report. Make one with `admin report --json`") from None
    return report
