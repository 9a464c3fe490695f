"""Spaces and collections in the tree."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.orm import Session
from tests.running_service import RunningService
from tests.tui.operation_keys.driver import HERE, Cursor, Family, Pick, Shows, Text, row
from tests.tui.operation_keys.places import closed, space, typed_title, yes

from presscheck.api.change_requests import CreateChangeRequest, ListChangeRequests
from presscheck.api.collections import (
    CreateCollection,
    DeleteCollection,
    GetCollection,
    ListCollections,
    ListSpacesInCollection,
    MoveCollection,
    TransferCollection,
    UpdateCollection,
)
from presscheck.api.content import GetPageByPath, ListRevisionFiles
from presscheck.api.links import ListSpaceLinks
from presscheck.api.spaces import (
    DeleteSpace,
    DuplicateSpace,
    GetSpace,
    GetSpaceGitInfo,
    MoveSpace,
    RestoreSpace,
    TransferSpace,
    UpdateSpace,
)
from presscheck.client.client import Client
from presscheck.service.db.engine import Database
from presscheck.service.models.organizations import MemberRow, OrganizationRow

RUNBOOK, HANDBOOK = space("Runbook"), space("Handbook")
TREE = ("g o", Shows("Runbook"), "g g j")
"""Keys to the first collection of the tree, which follows the folded recent places."""


@asynccontextmanager
async def other_organization(service: RunningService, client: Client) -> AsyncIterator[None]:
    """Make the user an admin of a second organization, which no operation creates."""
    database, moment = Database(service.database_url), "2026-05-20T09:30:00.000Z"

    def add(session: Session) -> None:
        session.add(OrganizationRow(id="elsewhere", title="Elsewhere", created_at=moment))
        session.flush()
        session.add(MemberRow(organization_id="elsewhere", user_id="robin", role="admin", joined_at=moment))

    try:
        database.write(add)
    finally:
        database.close()
    yield


FAMILY = Family(
    around=other_organization,
    profile={"organization": "tallowick"},
    without_keys={
        GetSpaceGitInfo: "the home of a space with Git sync sends it; the local service has no Git sync",
    },
    rows=(
        row((ListCollections, ListSpaceLinks), RUNBOOK),
        row(
            ListRevisionFiles, RUNBOOK, "g h", Shows("Revisions of"), Shows("merged"), "g l", Shows(" file"), "escape q"
        ),
        row(
            (CreateChangeRequest, ListChangeRequests),
            HERE,
            *("O", Pick("New change request"), Text("Phones"), "enter", Shows("editing #")),
        ),
        row(
            CreateCollection, HANDBOOK, "a", Pick("Collection in Internal"), Text("Rules"), "enter", Shows("▸ ▤ Rules")
        ),
        row(
            TransferCollection,
            HERE,
            *(". t", Pick("Elsewhere"), *typed_title("Transfer Rules to", "Rules"), closed()),
        ),
        row(
            ListSpacesInCollection,
            HANDBOOK,
            *("a", Pick("Collection in Internal"), Text("Ideas"), "enter", Shows("▸ ▤ Ideas")),
            *("z", *yes("Undo"), closed()),
        ),
        row((GetSpace, UpdateSpace), HANDBOOK, "E", Pick("Title"), Text("Book"), "enter", Shows("› Book")),
        row(MoveSpace, HERE, "J"),
        row(DuplicateSpace, HERE, ". c", Shows("› Copy of Book")),
        row(DeleteSpace, HERE, "-", *typed_title("Delete the space", "Copy of Book"), closed()),
        row(RestoreSpace, HERE, "g d", Shows("days left"), "enter", closed()),
        row(
            TransferSpace,
            space("Copy of Book"),
            *(". t", Pick("Elsewhere"), *typed_title("Transfer Copy of Book to", "Copy of Book")),
            closed(),
        ),
        row((GetCollection, UpdateCollection), TREE, "E", Pick("Title"), Text("Goods"), "enter", Shows("▾ ▤ Goods")),
        row(MoveCollection, TREE, "J"),
        row(DeleteCollection, TREE, Cursor("Developers"), "-", *typed_title("Delete the collection", "Developers")),
        row(GetPageByPath, HERE, ":", Shows("Commands"), Text("space guides /ship/batches"), "enter", Shows("› Many")),
    ),
)
