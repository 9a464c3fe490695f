"""The number of SQL statements does not grow with the data, and derived rows of change requests are correct."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session
from tests.counts import compare
from tests.service.counted_service import CountedService
from tests.service.factories import World, plant_world
from tests.service.large_data import NOW, TOKEN, both_changed, planted

from presscheck.service.db.engine import Database
from presscheck.service.db.ids import hash_token
from presscheck.service.http.pagination import MOST_COUNTED
from presscheck.service.models.content import (
    ChangeRequestCountRow,
    ChangeRequestPersonRow,
    ChangeRequestRow,
    CommentRow,
    ContributorRow,
    RequestedReviewerRow,
)
from presscheck.service.models.organizations import TokenRow
from presscheck.service.models.spaces import SpaceRow

STATES = ("open", "draft", "merged")
PEOPLE = ("requestedReviewer", "contributor", "creator")


async def asked(url: str, home: Path, requests: int, pages: int) -> dict[str, int]:
    """Return the number of SQL statements of each read when it is sent for the first time, by name."""
    reads = planted(url, requests, pages)
    with closing(Service(home, url)) as service:
        return {read.name: (await service.send("GET", read.path))[1] for read in reads}


class Service(CountedService):
    """A counted service that can be closed."""

    def __init__(self, home: Path, url: str) -> None:
        super().__init__(home, url, TOKEN)

    def close(self) -> None:
        self.database.close()

    async def get(self, path: str) -> Any:
        return json.loads((await self.send("GET", path))[2])


def test_statements_of_reads_do_not_grow_with_the_data(tmp_path: Path) -> None:
    small = asyncio.run(asked(f"sqlite:///{tmp_path / 'small.sqlite'}", tmp_path, 12, 3))
    large = asyncio.run(asked(f"sqlite:///{tmp_path / 'large.sqlite'}", tmp_path, 300, 300))
    # a listing that fits on one page needs no statement for its total
    assert {name: count - small[name] for name, count in large.items() if count != small[name]} == {
        "an inbox, of an author and a reviewer": 1
    }
    # without BEGIN; later reads use pages that earlier reads have cached
    compare("SQL statements of a request", large)


@pytest.mark.slow
def test_statements_of_merges_and_edits_do_not_grow_with_the_pages(database_url: str, tmp_path: Path) -> None:
    counts = [asyncio.run(written(database_url, tmp_path, number, pages)) for number, pages in enumerate((3, 60))]
    (few_merge, few_edit), (many_merge, many_edit) = counts
    assert many_merge == few_merge
    # the caller of a large request is also looked up before the body is read
    assert many_edit in (few_edit, few_edit + 1)
    # PostgreSQL takes up to three more
    compare(
        "SQL statements of a write of many pages",
        dict(zip(("a merge", "an edit"), counts[1], strict=True)),
        tolerance=0.2,
    )


async def written(url: str, home: Path, number: int, pages: int) -> tuple[int, int]:
    """Edit and merge a change request whose pages both sides changed. Returns the SQL statements of merge and edit."""
    place = both_changed(url, pages, number)
    path = f"/v1/spaces/{place.space}/change-requests/{place.request}"
    again = [
        {
            "operation": "update_page",
            "page": f"page-{page}",
            "document": {"markdown": text[1] + "\nMore.\n"},
        }
        for page, text in enumerate(place.texts[:50])  # the most that a request may change
    ]
    with closing(Service(home, url)) as service:
        edit = await service.send("POST", f"{path}/content", json.dumps({"changes": again}).encode())
        merge = await service.send("POST", f"{path}/merge")
        assert json.loads(merge[2])["result"] == "merge"
        page = await service.get(f"/v1/spaces/{place.space}/content/page/page-2?format=markdown")
        assert (
            "change request" in page["markdown"] and "live content" in page["markdown"] and "More." in page["markdown"]
        )
    return merge[1], edit[1]


@pytest.mark.engines
@pytest.mark.slow
def test_derived_rows_of_change_requests_match_a_scan(database_url: str, tmp_path: Path) -> None:
    """Rows are added, changed and deleted at random; then listings are read in pages of random sizes."""
    world = plant_world(database_url, "http://127.0.0.1:1")
    chance = random.Random(20)
    people = [*world.users.values()]
    with closing(Service(tmp_path, database_url)) as service:
        made = service.database
        made.write(lambda session: planted_at_random(session, world, chance))
        assert_kept(made)
        asyncio.run(compare_listings(service, world, chance))
        for _ in range(12):
            made.write(lambda session: change_at_random(session, chance, people))
        assert_kept(made)
        made.write(lambda session: session.execute(delete(ChangeRequestRow).where(ChangeRequestRow.number % 5 == 0)))
        made.write(lambda session: session.delete(session.get_one(SpaceRow, "kept-1")))
        assert_kept(made)
        asyncio.run(compare_listings(service, world, chance))


def planted_at_random(session: Session, world: World, chance: random.Random) -> None:
    session.add(TokenRow(sha256=hash_token(TOKEN), user_id=world.users["admin"], created_at=NOW))
    live = session.get_one(SpaceRow, world.space).revision_id
    for number in range(4):
        session.add(
            SpaceRow(
                id=f"kept-{number}",
                organization_id=world.organization,
                revision_id=live,
                created_at=NOW,
                updated_at=NOW,
            )
        )
    session.flush()
    people = [*world.users.values()]
    requests = [
        {
            "id": f"kept-{number:03}",
            "space_id": f"kept-{chance.randrange(3)}",  # the last space has none
            "number": number,
            "status": chance.choice(STATES),
            "created_by": chance.choice(people),
            "created_at": NOW,
            "updated_at": f"2026-05-20T09:{chance.randrange(10, 20)}:00.000Z",
            "revision": live,
            "revision_initial": live,
        }
        for number in range(80)
    ]
    asked_of = [
        {"change_request_id": row["id"], "user_id": person, "requested_by": people[0], "revision": live}
        for row in requests
        for person in chance.sample(people, chance.randrange(3))
    ]
    parts = [
        {"change_request_id": row["id"], "user_id": chance.choice(people), "action": action, "count": 1}
        for row in requests
        for action in ("edit", "comment")
    ]
    half = len(asked_of) // 2
    session.execute(insert(RequestedReviewerRow), [row | {"created_at": NOW} for row in asked_of[:half]])
    session.execute(insert(ChangeRequestRow), requests)
    session.execute(insert(RequestedReviewerRow), [row | {"created_at": NOW} for row in asked_of[half:]])
    session.execute(insert(ContributorRow), [row | {"updated_at": NOW} for row in parts])


def change_at_random(session: Session, chance: random.Random, people: list[str]) -> None:
    number = chance.randrange(80)
    row = session.scalars(select(ChangeRequestRow).where(ChangeRequestRow.number == number)).one()
    row.status, row.updated_at = chance.choice(STATES), f"2026-05-20T09:{chance.randrange(10, 20)}:30.000Z"
    session.execute(
        update(ChangeRequestRow)
        .where(ChangeRequestRow.number == chance.randrange(80))
        .values(space_id=f"kept-{chance.randrange(4)}")
    )
    session.execute(delete(RequestedReviewerRow).where(RequestedReviewerRow.user_id == chance.choice(people)))
    gone = ContributorRow.user_id == chance.choice(people), ContributorRow.action == "edit"
    session.execute(delete(ContributorRow).where(*gone))


def assert_kept(database: Database) -> None:
    with database.snapshot() as session:
        requests = {row.id: row for row in session.scalars(select(ChangeRequestRow))}
        parts = {(row.id, row.created_by, "author") for row in requests.values()}
        parts |= {
            (row.change_request_id, row.user_id, "reviewer") for row in session.scalars(select(RequestedReviewerRow))
        }
        parts |= {
            (row.change_request_id, row.user_id, "contributor") for row in session.scalars(select(ContributorRow))
        }
        kept = [*session.scalars(select(ChangeRequestPersonRow))]
        assert {(row.change_request_id, row.user_id, row.role) for row in kept} == parts
        for row in kept:
            request = requests[row.change_request_id]
            assert (row.space_id, row.status, row.updated_at) == (request.space_id, request.status, request.updated_at)
        counted = Counter((row.space_id, "", "", row.status) for row in requests.values())
        counted.update((row.space_id, row.role, row.user_id, row.status) for row in kept)
        numbers = {
            (row.space_id, row.role, row.user_id, row.status): row.number
            for row in session.scalars(select(ChangeRequestCountRow))
        }
        assert {key: number for key, number in numbers.items() if number} == counted


async def compare_listings(service: Service, world: World, chance: random.Random) -> None:
    with service.database.snapshot() as session:
        requests = [*session.scalars(select(ChangeRequestRow))]
        kept = [*session.scalars(select(ChangeRequestPersonRow))]
    roles = {"requestedReviewer": "reviewer", "contributor": "contributor", "creator": "author"}
    parts = {(row.change_request_id, row.user_id, row.role) for row in kept}
    for names in ((), *((name,) for name in PEOPLE), PEOPLE[:2], PEOPLE):
        for where in (f"orgs/{world.organization}", "spaces/kept-2"):
            status, limit = chance.choice(STATES), chance.choice((1, 4, 7, 100))
            people = {name: chance.choice([*world.users.values()]) for name in names}
            wanted = sorted(
                (
                    row
                    for row in requests
                    if row.status == status
                    and (row.space_id == "kept-2" or where.startswith("orgs"))
                    and all((row.id, user, roles[name]) in parts for name, user in people.items())
                ),
                key=lambda row: (row.updated_at, row.id),
                reverse=True,
            )
            query = "".join(f"&{name}={user}" for name, user in people.items())
            path = f"/v1/{where}/change-requests?status={status}&limit={limit}{query}"
            found: list[str] = []
            page = await service.get(path)
            assert page["total"] == len(wanted)
            found += [item["id"] for item in page["items"]]
            while "next" in page:
                page = await service.get(f"{path}&page={page['next']['page']}")
                found += [item["id"] for item in page["items"]]
            assert found == [row.id for row in wanted], path


@pytest.mark.slow
def test_long_listing_has_no_total(database_url: str, tmp_path: Path) -> None:
    world = plant_world(database_url, "http://127.0.0.1:1")
    comment = {"space_id": world.space, "revision": "r", "body": {"markdown": "Hm"}, "posted_at": NOW}

    def add(session: Session, first: int, count: int) -> None:
        rows = [{"id": str(number), "posted_by": world.users["admin"]} for number in range(first, first + count)]
        session.execute(insert(CommentRow), [comment | row for row in rows])

    with closing(Service(tmp_path, database_url)) as service:
        made = service.database
        made.write(
            lambda session: session.add(
                TokenRow(sha256=hash_token(TOKEN), user_id=world.users["admin"], created_at=NOW)
            )
        )
        made.write(lambda session: add(session, 0, MOST_COUNTED))
        path = f"/v1/spaces/{world.space}/comments?limit=1"
        assert asyncio.run(service.get(path))["total"] == MOST_COUNTED
        made.write(lambda session: add(session, MOST_COUNTED, 1))
        assert "total" not in asyncio.run(service.get(path))
        space = asyncio.run(service.get(f"/v1/spaces/{world.space}"))
        assert space["comments"] == MOST_COUNTED + 1


@pytest.mark.slow
def test_reads_use_indexes(tmp_path: Path) -> None:
    """No step of a query plan scans a whole table, or reads all comments without a review."""
    url = f"sqlite:///{tmp_path / 'plan.sqlite'}"
    reads = planted(url, 40, 3)
    said: list[tuple[str, Any]] = []
    with closing(Service(tmp_path, url)) as service:
        service.note = lambda statement, values: said.append((statement, values))
        for read in reads:
            asyncio.run(service.send("GET", read.path))
        service.note = lambda statement, values: None
        assert len(said) > 2 * len(reads)
        with service.database.engine.connect() as connection:
            for statement, values in said:
                plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
                steps = [row.detail for row in plan]
                given = "json_each", "CONSTANT ROW"  # lists of parameters
                scans = [step for step in steps if step.startswith("SCAN") and not any(one in step for one in given)]
                assert not scans, (statement, steps)
                assert not [step for step in steps if "review_id=?" in step], (statement, steps)
