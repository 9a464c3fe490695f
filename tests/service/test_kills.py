"""The service dies at any moment while many write: what it acknowledged is there, and nothing is there by half.

`PRESSCHECK_CASES` is how often it is killed.
"""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.service.test_running import line, serving
from tests.service.world import plant_world

KILLS = int(os.environ.get("PRESSCHECK_CASES", "6"))
WRITERS = 4
Said = tuple[str, str]


class Writer(threading.Thread):
    """Says one write after the other until nobody answers; keeps what was acknowledged."""

    def __init__(self, base_url: str, token: str, space: str, chance: random.Random) -> None:
        super().__init__()
        self.address, self.chance = f"{base_url}/v1/spaces/{space}", chance
        self.headers = {"authorization": f"Bearer {token}"}
        self.acknowledged: set[Said] = set()
        self.statuses: Counter[int] = Counter()

    def run(self) -> None:
        with httpx.Client(headers=self.headers, timeout=20) as http:
            try:
                while True:
                    self._round(http)
            except httpx.TransportError:
                return

    def _round(self, http: httpx.Client) -> None:
        begun = self._post(http, "/change-requests", {"subject": "x"})
        branch = f"/change-requests/{begun['id']}"
        self.acknowledged.add(("begun", begun["id"]))
        steps = ["comment", "edit", *self.chance.sample(("comment", "edit", "merge"), self.chance.randrange(1, 4))]
        for step in steps:
            if step == "comment":
                made = self._post(http, f"{branch}/comments", {"body": {"markdown": "Hm"}})
                self.acknowledged.add(("comment", made["id"]))
            elif step == "edit":
                text = {"markdown": f"{self.chance.random()}\n\n" * self.chance.randrange(1, 200)}
                change = {"operation": "update_page", "page": self.chance.choice(("start", "guide")), "document": text}
                made = self._post(http, f"{branch}/content?compat=false", {"changes": [change]})
                self.acknowledged.add(("edit", made["changeRequest"]["revision"]))
            else:
                made = self._post(http, f"{branch}/merge", None)
                self.acknowledged.add(("merge", made["revision"]))
                self.acknowledged.add(("merged", begun["id"]))
                return

    def _post(self, http: httpx.Client, path: str, body: Any) -> dict[str, Any]:
        response = http.post(self.address + path, json=body)
        self.statuses[response.status_code] += 1
        return response.raise_for_status().json()


@pytest.mark.timeout(60 + 10 * KILLS)
def test_what_was_acknowledged_survives_and_nothing_is_there_by_half(tmp_path: Path) -> None:
    chance = random.Random(2026)
    token_file = tmp_path / "token"
    token_file.write_text("planted-before")
    database = tmp_path / "service.sqlite"
    acknowledged: set[Said] = set()
    statuses: Counter[int] = Counter()
    token = space = ""
    for _ in range(KILLS):
        with serving(tmp_path, "--port", "0", "--token-file", str(token_file)) as process:
            address = line(process)
            assert address.startswith("http"), "it does not start again"
            if not space:
                world = plant_world(f"sqlite:///{database}", address)
                token, space = world.tokens["admin"], world.space
            writers = [Writer(address, token, space, random.Random(chance.random())) for _ in range(WRITERS)]
            for writer in writers:
                writer.start()
            time.sleep(chance.uniform(0.02, 0.8))  # the moment of death is the point: nothing to wait for
            process.kill()
            for writer in writers:
                writer.join()
        for writer in writers:
            acknowledged |= writer.acknowledged
            statuses += writer.statuses
        examine(database, space, acknowledged)
    assert set(statuses) == {200, 201}
    assert {kind for kind, _ in acknowledged} == {"begun", "comment", "edit", "merge", "merged"}


def examine(database: Path, space: str, acknowledged: set[Said]) -> None:
    """The database that a dead service left: whole, complete, and nothing in it by half."""
    connection = sqlite3.connect(database)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        demand_kept(connection, acknowledged)
        demand_whole(connection, space)
    finally:
        connection.close()


def demand_kept(connection: sqlite3.Connection, acknowledged: set[Said]) -> None:
    def ids(query: str) -> set[str]:
        return {row[0] for row in connection.execute(query)}

    revisions = ids("SELECT id FROM revisions")
    there = {
        "begun": ids("SELECT id FROM change_requests"),
        "comment": ids("SELECT id FROM comments"),
        "edit": revisions,
        "merge": revisions,
        "merged": ids("SELECT id FROM change_requests WHERE status = 'merged'"),
    }
    assert not [said for said in acknowledged if said[1] not in there[said[0]]], "acknowledged, and lost"


def demand_whole(connection: sqlite3.Connection, space: str) -> None:
    ((live, numbered),) = connection.execute("SELECT revision_id, numbered FROM spaces WHERE id = ?", (space,))
    requests = connection.execute(
        "SELECT id, number, status, revision, revision_merged, merged_at, merged_by FROM change_requests"
        " WHERE space_id = ?",
        (space,),
    ).fetchall()
    revisions = {
        row[0]: row[1:] for row in connection.execute("SELECT id, json(parents), type, merged_from FROM revisions")
    }
    history = lineage(connection, live)
    assert sorted(one[1] for one in requests) == list(range(1, numbered + 1)), "a gap, or a double"
    for request, _, status, revision, merged, merged_at, merged_by in requests:
        assert revision in revisions
        is_merged = status == "merged"
        assert is_merged == (merged is not None) == (merged_at is not None) == (merged_by is not None)
        assert is_merged == (merged in history)
        if is_merged:
            assert revisions[merged][1:] == ("merge", request)
    made_by_merging = {name for name, row in revisions.items() if row[1] == "merge"}
    assert made_by_merging == {one[4] for one in requests if one[4]}
    counted = connection.execute(
        "SELECT change_request_id, sum(count) FROM contributors WHERE action = 'comment' GROUP BY 1"
    ).fetchall()
    written = connection.execute("SELECT change_request_id, count(*) FROM comments GROUP BY 1").fetchall()
    assert sorted(counted) == sorted(written)
    texts = {row[0] for row in connection.execute("SELECT id FROM documents")}
    trees = connection.execute("SELECT atom FROM revisions, json_tree(tree) WHERE key = 'documentId'").fetchall()
    assert {row[0] for row in trees} - {None} <= texts


def lineage(connection: sqlite3.Connection, live: str) -> set[str]:
    """The live revision, and each that was live before it."""
    found: set[str] = set()
    step: str | None = live
    while step:
        found.add(step)
        (row,) = connection.execute("SELECT json_extract(parents, '$[0]') FROM revisions WHERE id = ?", (step,))
        step = row[0]
    return found
