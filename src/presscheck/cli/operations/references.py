"""Resolves names in arguments to ids: a team by its title, a member by name or email, a page by its path.

Names are looked up in a listing of the service. If the service lacks the listing, or the caller may not read it, the
text is sent as an id.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, cast

from presscheck.api.operation import Operation
from presscheck.api.organizations import ListOrganizations
from presscheck.cli.output import as_json, row_of
from presscheck.cli.session import Session
from presscheck.engine.forms.references import MEMBER, PAGE, Reference
from presscheck.errors import Forbidden, InvalidArgument, NotFound, NotSupported

SHOWN = 12
"""Maximum number of names that an error lists."""


async def find_id(session: Session, reference: Reference, named: str, known: Mapping[str, str], what: str) -> str:
    """Return the id of an object, given its id or one of its names.

    A text that matches nothing is returned unchanged if the service cannot list all objects.

    Args:
        session: reads the listing.
        reference: the kind of object.
        named: an id or a name.
        known: path fields that are resolved already, such as the id of the organization.
        what: the argument or option, for an error.

    Raises:
        InvalidArgument: no object matches, or several match.
    """
    try:
        rows = [_row(reference, item) async for item in _items(session, reference, known)]
    except (Forbidden, NotFound, NotSupported):
        return named
    for matches in (
        {row[0] for row in rows if row[0] == named},
        {row[0] for row in rows if named in row[1:]},
        {row[0] for row in rows if named.casefold() in (name.casefold() for name in row[1:])},
    ):
        if len(matches) == 1:
            return matches.pop()
        if matches:
            ids = ", ".join(sorted(matches))
            raise InvalidArgument(what, f"{named} is ambiguous. Use one of these ids: {ids}")
    if not reference.lists_all or (reference is MEMBER and "@" in named):
        return named  # an address that is not a member's can be invited
    names = list(dict.fromkeys(next(filter(None, row[1:]), row[0]) for row in rows))
    known_names = ", ".join(names[:SHOWN]) or "none"
    raise InvalidArgument(what, f"{named} not found. Available: {known_names}{' …' if len(names) > SHOWN else ''}")


def _row(reference: Reference, item: Any) -> list[str]:
    """Return the id and the names of an item, as printed."""
    value = as_json(item)
    return [str(value.get(reference.id)), *row_of(value, reference.names)]


async def _items(session: Session, reference: Reference, known: Mapping[str, str]) -> AsyncIterator[Any]:
    listing = _listing(reference, known)
    missing = [name for name in listing.path_fields() if name not in known]
    if missing == ["organization_id"]:
        for organization in await session.all(ListOrganizations()):
            async for item in _items(session, reference, {**known, "organization_id": organization.id}):
                yield item
        return
    call = listing(**{name: known[name] for name in listing.path_fields()})
    if not reference.items:
        async for item in session.every(call):
            yield item
        return
    from presscheck.documents.pages.tree import flatten  # 10 ms, only for pages and such lists

    items = cast("Sequence[Any]", getattr(await session.read(call), reference.items))
    for item in flatten(items) if reference is PAGE else items:
        yield item


def _listing(reference: Reference, known: Mapping[str, str]) -> type[Operation[Any]]:
    """Return the first listing whose path fields are all known, or else the last listing."""
    complete = (listing for listing in reference.listings if set(listing.path_fields()) <= set(known))
    return next(complete, reference.listings[-1])
