"""The service is killed during many writes: acknowledged writes survive, and none is incomplete.

`PRESSCHECK_CASES` is the number of kills on each engine; `make kills` does a hundred.
"""

from __future__ import annotations

import base64
import os
import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session
from tests.service.factories import plant_world
from tests.service.invariants import require_comments_counted, require_complete
from tests.service.server import line, serving

from presscheck.service.db.engine import Database
from presscheck.service.models.content import ChangeRequestRow, CommentRow, RevisionRow

pytestmark = pytest.mark.engines

KILLS = int(os.environ.get("PRESSCHECK_CASES", "2"))
WRITERS = 4
MOST_WRITES = 40
"""Maximum number of acknowledged writes before a kill; a few more may happen."""
STEPS = ("comment", "edit", "file", "merge")
Said = tuple[str, str]


class Writer(threading.Thread):
    """A thread that sends writes until the service is gone, and records the acknowledged ones."""

    def __init__(self, base_url: str, token: str, space: str, chance: random.Random) -> None:
        super().__init__()
        self.address, self.chance = f"{base_url}/v1/spaces/{space}", chance
        self.headers = {"authorization": f"Bearer {token}"}
        self.acknowledged: set[Said] = set()
        self.statuses: Counter[int] = Counter()
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            with httpx.Client(headers=self.headers, timeout=60) as http:
                while True:
                    self._round(http)
        except httpx.TransportError:
            return
        except BaseException as error:
            self.failure = error

    def _round(self, http: httpx.Client) -> None:
        begun = self._post(http, "/change-requests", {"subject": "x"})
        branch = f"/change-requests/{begun['id']}"
        self.acknowledged.add(("begun", begun["id"]))
        for step in ("comment", "edit", *self.chance.sample(STEPS, self.chance.randrange(1, 5))):
            if step == "merge":
                made = self._post(http, f"{branch}/merge", None)
                self.acknowledged |= {("revision", made["revision"]), ("merged", begun["id"])}
                return
            if step == "comment":
                made = self._post(http, f"{branch}/comments", {"body": {"markdown": "Hm"}})
                self.acknowledged.add(("comment", made["id"]))
            else:
                change = self._text() if step == "edit" else self._file()
                made = self._post(http, f"{branch}/content?compat=false", {"changes": [change]})
                self.acknowledged.add(("revision", made["changeRequest"]["revision"]))

    def _text(self) -> dict[str, Any]:
        said = f"{self.chance.random()}\n\n" * self.chance.randrange(1, 200)
        page = self.chance.choice(("start", "guide"))
        return {"operation": "update_page", "page": page, "document": {"markdown": said}}

    def _file(self) -> dict[str, Any]:
        content = base64.b64encode(self.chance.randbytes(self.chance.randrange(1, 100_000))).decode()
        return {
            "operation": "insert_files",
            "files": [{"name": "a.bin", "base64": content, "contentType": "application/octet-stream"}],
        }

    def _post(self, http: httpx.Client, path: str, body: Any) -> dict[str, Any]:
        response = http.post(self.address + path, json=body)
        self.statuses[response.status_code] += 1
        return response.raise_for_status().json()


@pytest.mark.slow
@pytest.mark.timeout(180 + 20 * KILLS)
def test_acknowledged_writes_survive_a_kill_and_are_complete(tmp_path: Path, database_url: str) -> None:
    chance = random.Random(2026)
    world = plant_world(database_url, "http://127.0.0.1:1")  # the actual port differs each time
    acknowledged: set[Said] = set()
    for number in range(KILLS):
        with serving(tmp_path, "--port", "0", "--database", database_url) as process:
            address = line(process)
            assert address.startswith("http"), f"the service must restart: {process.stderr and process.stderr.read()}"
            writers = [
                Writer(address, world.tokens["admin"], world.space, random.Random(chance.random()))
                for _ in range(WRITERS)
            ]
            for writer in writers:
                writer.start()
            until = time.monotonic() + 60
            # some are killed early; the last one runs every kind of write
            wanted = MOST_WRITES if number == KILLS - 1 else chance.randrange(1, MOST_WRITES)
            while sum(len(writer.acknowledged) for writer in writers) < wanted and time.monotonic() < until:
                time.sleep(0.001)
            time.sleep(chance.uniform(0, 0.02))  # at any point between two responses
            process.kill()
            for writer in writers:
                writer.join()
        assert not [writer.failure for writer in writers if writer.failure]
        acknowledged = acknowledged.union(*(writer.acknowledged for writer in writers))
        examine(database_url, tmp_path, world.space, acknowledged)
    assert {kind for kind, _ in acknowledged} == {"begun", "comment", "revision", "merged"}


def examine(database_url: str, data: Path, space: str, acknowledged: set[Said]) -> None:
    """Fail unless the database passes its integrity checks and has all acknowledged and no incomplete writes."""
    database = Database(database_url)
    try:
        with database.snapshot() as session:
            if not database.is_postgresql:
                assert session.execute(text("PRAGMA integrity_check")).fetchall() == [("ok",)]
                assert session.execute(text("PRAGMA foreign_key_check")).fetchall() == []
            require_kept(session, acknowledged)
            require_complete(session, data, space)
            require_comments_counted(session)
    finally:
        database.close()


def require_kept(session: Session, acknowledged: set[Said]) -> None:
    there = {
        "begun": set(session.scalars(select(ChangeRequestRow.id))),
        "comment": set(session.scalars(select(CommentRow.id))),
        "revision": set(session.scalars(select(RevisionRow.id))),
        "merged": set(session.scalars(select(ChangeRequestRow.id).where(ChangeRequestRow.status == "merged"))),
    }
    assert not [said for said in acknowledged if said[1] not in there[said[0]]], "acknowledged writes were lost"
