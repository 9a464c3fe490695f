"""Whether requests to the service cost more as its data grows: SQL statements and processor time of each, by size.

Usage: python -m benchmarks.growth [--sizes N,N,N] [--pages N,N] [--calls N] [--merge N] [--edit N]. The application runs
in this process, without HTTP and on SQLite. Before each read something else is written, so that no answer is kept; the
write is not measured. Then change requests whose pages were changed on both sides are merged, against the three-way
merge of the same texts in memory, and many pages are edited at once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sqlalchemy import event, insert, update
from starlette.applications import Starlette
from tests.service.factories import plant_world

from presscheck.documents.merge.text import merge_text
from presscheck.service.app import build
from presscheck.service.content.revisions import add_documents, add_revision, new_page
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import hash_token
from presscheck.service.models.content import ChangeRequestRow, CommentRow, RequestedReviewerRow
from presscheck.service.models.organizations import MemberRow, TokenRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.sample import plant_many

NOW = "2026-05-20T09:30:00.000Z"
SPACES = 5
"""Spaces of the large organization."""
HOST = b"service.localhost"


class Service:
    """The application in this process, asked without HTTP."""

    def __init__(self, home: Path, url: str) -> None:
        self.database = Database(url)
        self.app: Starlette = build(self.database, data_dir=home)
        self.statements = 0
        event.listen(self.database.engine, "before_cursor_execute", self._note)

    def _note(self, *_details: Any) -> None:
        self.statements += 1

    async def send(self, method: str, path: str, body: bytes = b"") -> tuple[float, int, bytes]:
        """Seconds of processor time, SQL statements and the body of an answer."""
        where, _, query = path.partition("?")
        where = unquote(where)
        headers = [(b"host", HOST), (b"authorization", b"Bearer growth")]
        if body:
            headers += [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": where}
        scope |= {"raw_path": where.encode(), "query_string": query.encode(), "headers": headers, "scheme": "http"}
        scope |= {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "root_path": ""}
        parts: list[bytes] = []
        status = [0]

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
            else:
                parts.append(message.get("body", b""))

        self.statements = 0
        begun = time.process_time()
        await self.app(scope, receive, send)
        spent = time.process_time() - begun
        answer = b"".join(parts)
        if status[0] not in (200, 201):
            raise SystemExit(f"{method} {path}: {status[0]} {answer[:500]!r}")
        return spent, self.statements, answer


@dataclass(frozen=True)
class Read:
    """A read: what it is, and its path with query."""

    name: str
    path: str


def planted(url: str, requests: int, pages: int) -> list[Read]:
    """Fills a database: an organization with many change requests in several spaces, and a space with many pages."""
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
        for person in {admin, rare}:
            session.merge(MemberRow(organization_id="many", user_id=person, role="admin", joined_at=NOW))
        session.add(TokenRow(sha256=hash_token("growth"), user_id=admin, created_at=NOW))
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
    owner = plant_owner(url)
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
        Read("one page", f"{big}/content/page/page%20{pages // 2}?format=markdown"),
        Read("one page by path", f"{big}/content/path/page%20{pages // 2}?format=markdown"),
        Read("one page as nodes", f"{big}/content/page/page%20{pages // 2}?format=document"),
        Read("files of a space", f"{big}/content/files"),
        Read("a tree", f"{big}/content/pages"),
        Read("a revision", f"{big}/content"),
    ]


def plant_owner(url: str) -> str:
    """The person whom all change requests ask for a review."""
    with closing(Database(url)) as database, database.reading.begin() as session:
        row = session.get(RequestedReviewerRow, ("many-0000010", "many-owner"))
        if row is not None:
            return row.user_id
        from sqlalchemy import select

        asked = select(RequestedReviewerRow.user_id).where(RequestedReviewerRow.change_request_id == "many-0000010")
        return session.scalars(asked).one()


@contextmanager
def running(url: str, home: Path) -> Generator[Service]:
    """The application on a database."""
    service = Service(home, url)
    try:
        yield service
    finally:
        service.database.close()


async def cost(service: Service, path: str, calls: int, disturb: Any) -> tuple[float, int]:
    """Median seconds of processor time and the SQL statements of a read that is not kept."""
    await service.send("GET", path)
    found: list[float] = []
    statements = 0
    for _ in range(calls):
        disturb()
        spent, statements, _ = await service.send("GET", path)
        found.append(spent)
        if sum(found) > 3:
            break
    return statistics.median(found), statements


async def grown(sizes: Sequence[tuple[int, int]], calls: int) -> None:
    """Prints a line for each read: milliseconds and statements by size."""
    table: dict[str, list[tuple[float, int]]] = {}
    for requests, pages in sizes:
        with tempfile.TemporaryDirectory() as name:
            home = Path(name)
            url = f"sqlite:///{home / 'growth.sqlite'}"
            begun = time.process_time()
            reads = planted(url, requests, pages)
            print(f"{requests:,} change requests, {pages:,} pages: {time.process_time() - begun:.1f} s to write")
            other = sqlite3.connect(home / "growth.sqlite", isolation_level=None)
            other.execute("PRAGMA synchronous=OFF")

            def disturb(other: sqlite3.Connection = other) -> None:
                other.execute("INSERT OR REPLACE INTO settings (name, value) VALUES ('benchmark', '1')")

            with closing(other), running(url, home) as service:
                for read in reads:
                    table.setdefault(read.name, []).append(await cost(service, read.path, calls, disturb))
    heads = " | ".join(f"{requests:,}; {pages:,}" for requests, pages in sizes)
    print(f"| processor time, statements | {heads} | growth |")
    for read, row in table.items():
        shown = " | ".join(f"{spent * 1e3:.2f} ms, {statements}" for spent, statements in row)
        print(f"| {read} | {shown} | {row[-1][0] / row[0][0]:.2f} × |", flush=True)


async def merged(pages: int, edits: int, rounds: int) -> None:
    """Prints what a merge of pages that both sides changed costs, against that of their texts in memory."""
    ratios: list[tuple[float, float, int]] = []
    for turn in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            home = Path(name)
            url = f"sqlite:///{home / 'growth.sqlite'}"
            space, request, texts = both_changed(url, pages, turn)
            with running(url, home) as service:
                await service.send("GET", f"/v1/spaces/{space}")
                path = f"/v1/spaces/{space}/change-requests/{request}/merge"
                spent, statements, answer = await service.send("POST", path)
                assert json.loads(answer)["result"] == "merge", answer
            begun = time.process_time()
            for sides in texts:
                merge_text(*sides)
            ratios.append((spent, time.process_time() - begun, statements))
    spent, floor, statements = ratios[-1]
    ratio = statistics.median(one / other for one, other, _ in ratios)
    print(f"merge of {pages} pages: {spent * 1e3:.0f} ms, {statements} statements")
    print(f"the texts in memory: {floor * 1e3:.0f} ms: {ratio:.2f} ×")
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        url = f"sqlite:///{home / 'growth.sqlite'}"
        space, request, _ = both_changed(url, pages, 0)
        changes = [
            {"operation": "update_page", "page": f"page-{number}", "document": {"markdown": f"Text {number}, again.\n"}}
            for number in range(edits)
        ]
        with running(url, home) as service:
            body = json.dumps({"changes": changes}).encode()
            path = f"/v1/spaces/{space}/change-requests/{request}/content"
            spent, statements, _ = await service.send("POST", path, body)
        print(f"edit of {edits} pages of {pages}: {spent * 1e3:.0f} ms, {statements} statements")


def both_changed(url: str, pages: int, turn: int) -> tuple[str, str, list[tuple[str, str, str]]]:
    """A space with a change request: each page was changed in both; the space, the request, and the texts."""
    world = plant_world(url, "http://127.0.0.1:1")
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
            row = add_revision(session, world.space, tree, created_at=NOW, created_by=world.users["admin"])
            revisions.append(row.id)
        session.get_one(SpaceRow, world.space).revision_id = revisions[2]
        session.add(TokenRow(sha256=hash_token("growth"), user_id=world.users["admin"], created_at=NOW))
        session.add(
            ChangeRequestRow(
                id="both",
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
    return world.space, "both", texts


def sides_of(number: int, turn: int) -> tuple[str, str, str]:
    """A page of about 300 words, as it was, and as each side made it."""
    lines = [f"Sentence {line} of page {number}, which says a little about lamps and oil. {turn}" for line in range(25)]
    ours, theirs = [*lines], [*lines]
    ours[5] = f"Sentence 5 of page {number}, which was written again in the change request."
    theirs[15] = f"Sentence 15 of page {number}, which was written again in the live content."
    return "\n\n".join(lines) + "\n", "\n\n".join(ours) + "\n", "\n\n".join(theirs) + "\n"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10,10000,100000", help="change requests of the large organization")
    parser.add_argument("--pages", default="3,500,5000", help="pages of the large space, one for each size")
    parser.add_argument("--calls", type=int, default=30, help="reads of each kind, fewer where one takes long")
    parser.add_argument("--merge", type=int, default=500, help="pages that both sides changed")
    parser.add_argument("--edit", type=int, default=50, help="pages that are edited at once")
    parser.add_argument("--rounds", type=int, default=3, help="merges")
    chosen = parser.parse_args()
    sizes = [*map(int, chosen.sizes.split(","))]
    pages = [*map(int, chosen.pages.split(","))]
    if chosen.merge:
        asyncio.run(merged(chosen.merge, chosen.edit, chosen.rounds))
    if sizes[0]:
        asyncio.run(grown([*zip(sizes, pages, strict=True)], chosen.calls))


if __name__ == "__main__":
    main()
