"""The owners of the pages that a change request changes: the users and teams that the owners file names.

Teams are found by id or title, if the service lists teams; ``@company/writers`` is the team `writers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from presscheck.api.operation import ALL
from presscheck.api.teams import ListTeamMembers, ListTeams
from presscheck.engine.protocols import Reader
from presscheck.engine.review.changes import NOT_COMPARED
from presscheck.engine.shared_calls import changes_in
from presscheck.errors import PresscheckError

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.content_changes import SemanticChanges
    from presscheck.api.spaces import Space
    from presscheck.api.teams import Team
    from presscheck.api.users import User
    from presscheck.config.owners_file import OwnerRule, Owners
    from presscheck.engine.review.changes import ChangedItem
    from presscheck.engine.review.merge_readiness import Reviewer

OwnerReview = Literal["", "asked", "stale", "approved", "changes-requested", "author"]
NOT_REVIEWED: tuple[OwnerReview, ...] = ("", "asked", "stale")
"""The states of an owner who has not reviewed the newest revision."""
_PRECEDENCE: tuple[OwnerReview, ...] = ("changes-requested", "approved", "stale", "asked")
"""The order in which reviews count: of several reviews, the first in this order."""


class HasUser(Protocol):
    """An object with a user, such as an entry in a list of people."""

    @property
    def user(self) -> User:
        """The user."""
        ...


@dataclass(frozen=True)
class OwnedPage:
    """A changed page and the last owner rule that matches the page; `rule` is None if no rule matches."""

    item: ChangedItem
    rule: OwnerRule | None


@dataclass(frozen=True)
class PageOwner:
    """An owner of changed pages.

    Attributes:
        name: the name in the owners file; not sanitized.
        page_ids: the ids of the changed pages with this owner.
        total: the number of all changed pages.
        users: the user, or the members of the team; empty if the name was not found.
        team: the title of the team; empty for a user.
    """

    name: str
    page_ids: frozenset[str]
    total: int
    users: tuple[User, ...] = ()
    team: str = ""

    @property
    def pages(self) -> int:
        """The number of changed pages with this owner."""
        return len(self.page_ids)

    @property
    def title(self) -> str:
        """The name of the user or team; the name in the owners file if neither was found."""
        return self.team or (self.users[0].display_name if self.users else "") or self.name

    @property
    def share(self) -> str:
        """The share of the changed pages in words, such as `owns 3 of 5 pages`."""
        return f"owns {self.pages:,} of {self.total:,} {'page' if self.total == 1 else 'pages'}"


def owned_pages(owners: Owners, space: Space, items: Iterable[ChangedItem]) -> tuple[OwnedPage, ...]:
    """Return the changed pages with their owner rules, without pages whose changes are unknown."""
    names = (space.id, space.title)
    pages = [item for item in items if item.noun == "page" and NOT_COMPARED not in item.kinds]
    return tuple(OwnedPage(page, owners.rule_for(names, page.path or "")) for page in pages)


def named_owners(pages: Sequence[OwnedPage]) -> tuple[PageOwner, ...]:
    """Return the owners that the rules name, before `find_owners` looks up their users and teams."""
    ids: dict[str, set[str]] = {}
    for page in pages:
        for name in page.rule.owners if page.rule else ():
            ids.setdefault(name, set()).add(page.item.id)
    return tuple(PageOwner(name, frozenset(own), len(pages)) for name, own in ids.items())


async def find_owners(
    engine: Reader, organization: str, owners: Sequence[PageOwner], people: Iterable[HasUser]
) -> tuple[PageOwner, ...]:
    """Look up the users and teams of owners.

    Args:
        engine: lists the teams if a name is not a user's; teams that cannot be listed count as not found.
        organization: the id of the organization.
        owners: from `named_owners`.
        people: the users who can be owners.

    Returns:
        The owners, with names for the same user or team combined; owners of the most pages first.
    """
    users = [person.user for person in people]
    found = {owner.name: _users_called(owner.name, users) for owner in owners}
    teams = await _teams(engine, organization) if any(not matches for matches in found.values()) else {}
    result: dict[tuple[str, ...], PageOwner] = {}
    for owner in owners:
        members, title = found[owner.name], ""
        key = ("user", *(user.id for user in members)) if members else ("unknown", owner.name.casefold())
        if not members and (team := _team_called(owner.name, teams)):
            key, title = ("team", team.id), team.title or team.id
            members = result[key].users if key in result else await _members(engine, organization, team)
        page_ids = owner.page_ids | (result[key].page_ids if key in result else frozenset[str]())
        result[key] = PageOwner(owner.name, page_ids, owner.total, members, title)
    return tuple(sorted(result.values(), key=lambda owner: -owner.pages))


def owner_review(owner: PageOwner, reviewers: Iterable[Reviewer], author: str | None) -> OwnerReview:
    """Return the state of an owner's review.

    If the owner is a team or several users, this is the first of their states in `_PRECEDENCE`. Returns `author` if one
    of these users is the author of the change request, and an empty text if none of them is a reviewer.
    """
    ids = {user.id for user in owner.users}
    if author in ids:
        return "author"
    reviews = {_review(reviewer) for reviewer in reviewers if reviewer.id in ids}
    for review in _PRECEDENCE:
        if review in reviews:
            return review
    return ""


def shares_by_user(owners: Iterable[PageOwner]) -> dict[str, str]:
    """Describe each user's share of the pages, by user id; personal ownership takes precedence over a team's."""
    shares: dict[str, str] = {}
    for owner in sorted(owners, key=lambda owner: bool(owner.team)):
        for user in owner.users:
            shares.setdefault(user.id, f"{owner.share} with {owner.team}" if owner.team else owner.share)
    return shares


async def read_changes(engine: Reader, request: ChangeRequest) -> SemanticChanges:
    """Read all changes of a change request.

    Raises:
        PresscheckError: the changes cannot be read.
    """
    changes = await engine.read(changes_in(request))
    if changes.more:
        changes = await engine.read(changes_in(request, len(changes.changes) + changes.more + ALL))
    return changes


def _review(reviewer: Reviewer) -> OwnerReview:
    return "stale" if reviewer.stale and reviewer.status == "approved" else reviewer.status


def _users_called(name: str, users: Sequence[User]) -> tuple[User, ...]:
    """Return the users whose id is `name`; if there are none, the users with this e-mail address, or else this name."""
    folded = name.casefold()
    for matches in (
        [user for user in users if user.id == name],
        [user for user in users if (user.email or "").casefold() == folded],
        [user for user in users if user.display_name.casefold() == folded],
    ):
        if matches:
            return tuple(matches)
    return ()


def _team_called(name: str, teams: Mapping[str, Team]) -> Team | None:
    """Return the team with this id or title, or None. A company name and a slash before the title are ignored."""
    return teams.get(name.casefold()) or teams.get(name.rpartition("/")[2].casefold())


async def _teams(engine: Reader, organization: str) -> dict[str, Team]:
    try:
        teams = (await engine.read(ListTeams(organization_id=organization, limit=ALL))).items
    except PresscheckError:
        return {}
    return {name.casefold(): team for team in reversed(teams) for name in (team.title, team.id) if name}


async def _members(engine: Reader, organization: str, team: Team) -> tuple[User, ...]:
    try:
        members = await engine.read(ListTeamMembers(organization_id=organization, team_id=team.id, limit=ALL))
    except PresscheckError:
        return ()
    return tuple(member.organization.user for member in members.items)
