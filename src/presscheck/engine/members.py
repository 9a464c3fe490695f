"""The people who can be mentioned or asked for a review, and the detection of mentions in a text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from presscheck.api.operation import ALL
from presscheck.api.organizations import ListMembers
from presscheck.api.users import GetCurrentUser
from presscheck.engine.protocols import Reader
from presscheck.errors import Forbidden, NotSupported

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.users import User


class PeopleReader(Reader, Protocol):
    """The parts of the engine that list people."""

    def missing_reason(self, operation: type[Operation[Any]]) -> str | None:
        """Return why the service cannot do an operation, or None if it may be available."""
        ...

    async def people(self, organization: str) -> list[User]:
        """Return the people of an organization that the service lists."""
        ...


class Person(NamedTuple):
    """A user who can be chosen; `role` is empty if unknown."""

    user: User
    role: str


async def people_in(engine: PeopleReader, organization: str, known: Iterable[User | None]) -> list[Person]:
    """Return the members of an organization, or the known users if the caller may not list members.

    If the service lists only the members of teams, the known users and other people in the organization are added.

    Args:
        engine: reads the members.
        organization: the id of the organization.
        known: the users that the caller sees anyway, such as the author of a change request.

    Raises:
        PresscheckError: the members cannot be read for another reason than missing permission.
    """
    try:
        members = await engine.read(ListMembers(organization_id=organization, limit=ALL))
    except Forbidden:
        return [Person(user, "") for user in {user.id: user for user in known if user}.values()]
    people = {member.user.id: Person(member.user, member.role or "guest") for member in members.items}
    if engine.missing_reason(ListMembers):  # only members of teams are listed
        for user in (*known, *await engine.people(organization)):
            if user:
                people.setdefault(user.id, Person(user, ""))
    return list(people.values())


async def user_id(reader: Reader) -> str:
    """Return the id of the signed-in user, or an empty string if neither the service nor the settings have it.

    Raises:
        PresscheckError: the user cannot be read for another reason.
    """
    try:
        return (await reader.read(GetCurrentUser())).id
    except NotSupported:
        return ""


def mentions(text: str, user: User) -> bool:
    """Return whether a Markdown text mentions a user, as `@` with the name or as a mention with the id."""
    folded = text.casefold()
    for name in (f"@{user.display_name.casefold()}", f"/~/users/{user.id.casefold()}"):
        at = folded.find(name) if len(name) > 1 else -1
        while at >= 0:
            if not folded[at + len(name) : at + len(name) + 1].isalnum():
                return True
            at = folded.find(name, at + 1)
    return False
