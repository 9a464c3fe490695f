"""`presscheck cr owners`: lists the owners of the changed pages, from the owners file."""

from __future__ import annotations

from typing import Any

import click

from presscheck.api.spaces import GetSpace
from presscheck.cli import lookup
from presscheck.cli.output import print_message, print_rows
from presscheck.cli.session import Session, request_argument, with_session
from presscheck.config.owners_file import Owners, OwnersFile
from presscheck.engine.members import people_in, user_id
from presscheck.engine.review.changes import changed_items
from presscheck.engine.review.merge_readiness import reviewers
from presscheck.engine.review.owners import (
    OwnedPage,
    PageOwner,
    find_owners,
    named_owners,
    owned_pages,
    owner_review,
    read_changes,
)
from presscheck.engine.shared_calls import reviewers_of, reviews_of
from presscheck.errors import ConfigurationError
from presscheck.paths import places

COLUMNS = ("owner", "pages", "of", "review", "users")


@click.command()
@request_argument
@with_session
async def owners(session: Session, which: str) -> None:
    """List the owners of the changed pages.

    Prints each owner, the number of changed pages that they own, the number of all changed pages, their review, and the
    ids of the users. The owners file has the syntax of CODEOWNERS. It is the file `owners` next to the settings file,
    or the file in the setting `owners`.
    """
    rules = read_owners(session)
    request = await lookup.change_request(session, which)
    space = await session.read(GetSpace(space_id=request.space))
    pages = owned_pages(rules, space, changed_items((await read_changes(session.engine, request)).changes))
    found = named_owners(pages)
    if found:
        organization = space.organization or ""
        people = await people_in(session.engine, organization, [request.created_by])
        found = await find_owners(session.engine, organization, found, people)
    asked, reviews = await session.all(reviewers_of(request)), await session.all(reviews_of(request))
    states = reviewers(request, asked, reviews, await user_id(session.engine))
    author = request.created_by.id if request.created_by else None
    rows = [_as_json(owner, owner_review(owner, states, author)) for owner in found]
    if session.json:
        session.show({"file": str(rules.file), "owners": rows, "pages": [_page(page) for page in pages]})
        return
    if not rules.rules:
        print_message(f"No owners in {rules.file}.")
    print_rows([{**row, "users": " ".join(user["id"] for user in row["users"])} for row in rows], COLUMNS)


def read_owners(session: Session) -> Owners:
    """Return the rules in the owners file of the profile. Lines with errors are reported and skipped.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    rules = OwnersFile(places().config_file, session.profile.owners).read()
    if not rules.is_readable:
        raise ConfigurationError(str(rules.errors[0]))
    for error in rules.errors:
        print_message(f"Line skipped: {error}")
    return rules


def _as_json(owner: PageOwner, review: str) -> dict[str, Any]:
    return {
        "owner": owner.title,
        "pages": owner.pages,
        "of": owner.total,
        "review": review or None,
        "team": owner.team or None,
        "users": [{"id": user.id, "displayName": user.display_name} for user in owner.users],
    }


def _page(page: OwnedPage) -> dict[str, Any]:
    item, rule = page.item, page.rule
    return {
        "id": item.id,
        "title": item.title,
        "path": item.path,
        "owners": list(rule.owners) if rule else [],
        "line": rule.line if rule else None,
    }
