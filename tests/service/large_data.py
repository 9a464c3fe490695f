"""Large data, inserted in bulk: many change requests, many pages, and many pages that both sides changed."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from sqlalchemy import insert, select, update
from tests.service.factories import plant_world

from presscheck.service.content.revisions import add_documents, add_revision, new_page
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import hash_token
from presscheck.service.models.content import ChangeRequestRow, CommentRow, RequestedReviewerRow
from presscheck.service.models.organizations import MemberRow, TokenRow
from presscheck.service.models.sites import SiteRow, SiteSpaceRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.sample import plant_many

TOKEN = "growth"
"""The token of the administrator."""
NOW = "2026-05-20T09:30:00.000Z"
SPACES = 5
"""Number of spaces of the large organization."""


@dataclass(frozen=True)
class Read:
    """A read: a description, and the path with its query."""

    name: str
    path: str


def planted(url: str, requests: int, pages: int) -> list[Read]:
    """Add an organization with many change requests in several spaces, and a space with many pages. Returns reads."""
    texts = [(f"Page {number}", f"Text {number}.\n\n" + "Some more of it.\n" * 20) for number in range(pages)]
    world = plant_world(url, "http://127.0.0.1:1", texts)
    admin, rare = world.users["admin"], world.users["edit"]
    made = Database(url)
    with made.writing.begin() as session:
        plant_many(session, requests)
        live = session.get_one(SpaceRow, "many-space")
        for number in range(1, SPACES):
            session.add(
                SpaceRow(
                    id=f"many-space-{number}",
                    organization_id="many",
                    revision_id=live.revision_id,
                    numbered=requests,
                    created_at=NOW,
                    updated_at=NOW,
                )
            )
        session.flush()
        for number in range(1, SPACES):  # half of the requests stay in the first space
            of_space = ChangeRequestRow.number % (2 * SPACES) == number
            session.execute(update(ChangeRequestRow).where(of_space).values(space_id=f"many-space-{number}"))
        session.add(SiteRow(id="many-site", organization_id="many", title="Docs", created_at=NOW))
        session.flush()
        for number in range(1, SPACES):
            space = f"many-space-{number}"
            session.add(SiteSpaceRow(id=space, site_id="many-site", space_id=space, path=str(number), position=number))
        for person in {admin, rare}:
            session.merge(MemberRow(organization_id="many", user_id=person, role="admin", joined_at=NOW))
        session.add(TokenRow(sha256=hash_token(TOKEN), user_id=admin, created_at=NOW))
        session.execute(
            insert(RequestedReviewerRow),
            [
                {
                    "change_request_id": f"many-{number:07}",
                    "user_id": rare,
                    "requested_by": admin,
                    "revision": live.revision_id,
                    "created_at": NOW,
                }
                for number in range(1, 4)
            ],
        )
        session.execute(
            insert(CommentRow),
            [
                {
                    "id": f"live-{number}",
                    "space_id": "many-space",
                    "revision": live.revision_id,
                    "body": {"markdown": "Hm"},
                    "posted_by": admin,
                    "posted_at": NOW,
                }
                for number in range(3)
            ],
        )
    with made.engine.connect() as connection:
        connection.exec_driver_sql("ANALYZE" if made.is_postgresql else "PRAGMA wal_checkpoint(TRUNCATE)")
    made.close()
    inbox, many, big = "/v1/orgs/many/change-requests", "/v1/spaces/many-space", f"/v1/spaces/{world.space}"
    owner = reviewer_of_all(url)
    return [
        Read("the caller", "/v1/user"),
        Read("a space with change requests", many),
        Read("the spaces of an organization", "/v1/orgs/many/spaces"),
        Read("change requests of a space", f"{many}/change-requests?limit=50"),
        Read("change requests, none merged", f"{many}/change-requests?status=merged&limit=50"),
        Read("a change request", f"{many}/change-requests/many-0000010"),
        Read("an inbox", f"{inbox}?limit=50"),
        Read("an inbox, one row", f"{inbox}?limit=1"),
        Read("an inbox, of a reviewer of all", f"{inbox}?limit=50&requestedReviewer={owner}"),
        Read("an inbox, of a reviewer of three", f"{inbox}?limit=50&requestedReviewer={rare}"),
        Read("an inbox, of a contributor", f"{inbox}?limit=50&contributor=many-1"),
        Read("an inbox, of an author", f"{inbox}?limit=50&creator=many-1"),
        Read("an inbox, of an author and a reviewer", f"{inbox}?limit=50&creator=many-1&requestedReviewer={owner}"),
        Read("comments of a live space", f"{many}/comments?limit=50"),
        Read("a site", "/v1/orgs/many/sites/many-site"),
        Read("the structure of a site", "/v1/orgs/many/sites/many-site/structure"),
        Read("one page", f"{big}/content/page/page%20{pages // 2}?format=markdown"),
        Read("one page by path", f"{big}/content/path/page%20{pages // 2}?format=markdown"),
        Read("one page as nodes", f"{big}/content/page/page%20{pages // 2}?format=document"),
        Read("files of a space", f"{big}/content/files"),
        Read("a tree", f"{big}/content/pages"),
        Read("a revision", f"{big}/content"),
    ]


def reviewer_of_all(url: str) -> str:
    """Return the id of the user that is a requested reviewer of all change requests."""
    with closing(Database(url)) as database, database.snapshot() as session:
        asked = select(RequestedReviewerRow.user_id).where(RequestedReviewerRow.change_request_id == "many-0000010")
        return session.scalars(asked).one()


@dataclass(frozen=True)
class BothChanged:
    """Ids of a space, its administrator and a change request; `texts` are base, request and live text of pages."""

    space: str
    admin: str
    request: str
    texts: list[tuple[str, str, str]]


def both_changed(url: str, pages: int, turn: int) -> BothChanged:
    """Add a space with a change request; both sides changed each page. TOKEN becomes the token of its administrator."""
    world = plant_world(url, "http://127.0.0.1:1")
    request = f"both-{turn}"
    texts = [sides_of(number, turn) for number in range(pages)]
    made = Database(url)
    with made.writing.begin() as session:
        revisions: list[str] = []
        for side in range(3):
            ids = add_documents(session, (text[side] for text in texts))
            tree = [
                new_page(f"Page {number}", slug=f"page-{number}", document=document, page_id=f"page-{number}")
                for number, document in enumerate(ids)
            ]
            revision = add_revision(session, world.space, tree, created_at=NOW, created_by=world.users["admin"])
            revisions.append(revision)
        session.get_one(SpaceRow, world.space).revision_id = revisions[2]
        session.merge(TokenRow(sha256=hash_token(TOKEN), user_id=world.users["admin"], created_at=NOW))
        session.add(
            ChangeRequestRow(
                id=request,
                space_id=world.space,
                number=1,
                status="open",
                created_by=world.users["admin"],
                created_at=NOW,
                updated_at=NOW,
                revision=revisions[1],
                revision_initial=revisions[0],
            )
        )
    made.close()
    return BothChanged(world.space, world.users["admin"], request, texts)


def sides_of(number: int, turn: int) -> tuple[str, str, str]:
    """Return the base text of a page, about 300 words, and its text in the change request and in the live content."""
    lines = [f"Sentence {line} of page {number}, which says a little about lamps and oil. {turn}" for line in range(25)]
    ours, theirs = [*lines], [*lines]
    ours[5] = f"Sentence 5 of page {number}, which was written again in the change request."
    theirs[15] = f"Sentence 15 of page {number}, which was written again in the live content."
    return "\n\n".join(lines) + "\n", "\n\n".join(ours) + "\n", "\n\n".join(theirs) + "\n"
