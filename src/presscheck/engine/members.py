"""The people who can be mentioned or asked for a review, also for callers who may not list the members."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from presscheck.api.organizations import ListMembers
from presscheck.api.users import GetCurrentUser
from presscheck.engine.protocols import Reader
from presscheck.engine.shared_calls import ALL
from presscheck.errors import Forbidden, NotSupported

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.users import User


class PeopleReader(Reader, Protocol):
    """The parts of the engine that list people."""

    def missing_reason(self, operation: type[Operation[Any]]) -> str | None:
        """Why the service cannot do an operation; None if it may have it."""
        ...

    async def people(self, organization: str) -> list[User]:
        """The people of an organization, as far as the service lists them."""
        ...


class Person(NamedTuple):
    """A user who can be chosen; `role` is empty if it is not known."""

    user: User
    role: str


async def people_in(engine: PeopleReader, organization: str, known: Iterable[User | None]) -> list[Person]:
    """Lists the members of an organization; if the caller may not list them, as guests may not, the known users.

    Args:
        engine: reads the members.
        organization: the id of the organization.
        known: the users that the caller sees anyway, such as the author of a change request.

    Raises:
        PresscheckError: the members cannot be read, for another reason than missing permission.
    """
    try:
        members = await engine.read(ListMembers(organization_id=organization, limit=ALL))
    except Forbidden:
        return [Person(user, "") for user in {user.id: user for user in known if user}.values()]
    people = {member.user.id: Person(member.user, member.role or "guest") for member in members.items}
    if engine.missing_reason(ListMembers):  # the members are then those of teams only
        for user in (*known, *await engine.people(organization)):
            if user:
                people.setdefault(user.id, Person(user, ""))
    return list(people.values())


async def user_id(reader: Reader) -> str:
    """The id of the signed-in user; empty if the service does not tell, and the settings do not either.

    Raises:
        PresscheckError: the user cannot be read for another reason.
    """
    try:
        return (await reader.read(GetCurrentUser())).id
    except NotSupported:
        return ""
