"""Engines that are killed while they undo a write: nothing is lost or undone twice, and the history is complete."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.engine.live_engine import engine_on, until
from tests.root import ROOT
from tests.running_service import RunningService

from presscheck.api.comments import Document, ListComments, PostComment

pytestmark = pytest.mark.service(sample=True, shared=True)

AUTH = {"space_id": "api", "change_request_id": "5"}
PATIENCE = 0.2
"""Seconds after which requests of the killed engine can no longer arrive."""
POINTS = ("sent", "answered", "deleting")
KILLED = """
import asyncio, json, os, signal, sys
from tests.crash.killed_client import Death, arm, emptied, engine_of
async def live(job):
    engine = engine_of(job)
    arm(Death(job["point"], 1), 30)
    await engine.start()
    await engine.check_undo(job["number"])
    assert engine.undo(job["number"])
    await emptied(engine)
children = {}
for job in json.loads(sys.argv[1]):
    child = os.fork()
    if not child:
        asyncio.run(live(job))
        os._exit(0)
    children[child] = job["point"]
for child, point in children.items():
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == -signal.SIGKILL, (point, status)
"""


@pytest.mark.slow
async def test_killed_undo_is_completed_by_the_next_engine(service: RunningService, tmp_path: Path) -> None:
    jobs: list[dict[str, Any]] = []
    for point in POINTS:
        engine = engine_on(service, tmp_path / point)
        await engine.start()
        await engine.write(PostComment(**AUTH, body=Document(markdown=f"Killed: {point}"))).landed()
        [entry] = engine.history()
        await engine.close()
        jobs.append(
            {
                "home": str(tmp_path / point),
                "base_url": service.base_url,
                "token": service.token,
                "point": point,
                "number": entry.id,
            }
        )
    command = [sys.executable, "-c", KILLED, json.dumps(jobs)]
    ran = await asyncio.to_thread(subprocess.run, command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    for point in POINTS:
        await check_undone(service, tmp_path / point, point)


async def check_undone(service: RunningService, home: Path, point: str) -> None:
    """Check that the next engine completes the undo, and that the history and the service agree."""
    again = engine_on(service, home)
    again._write_queue.reconciler.timeout = PATIENCE
    await again.start()
    await until(lambda: not again.waiting())
    states = [(past.description, past.state) for past in again.history()]
    assert states == [("delete comment", "sent"), ("add comment", "undone")], point
    listing = ListComments(**AUTH, format="markdown", limit=1000)
    texts = [(comment.body.markdown or "").strip() for comment in (await again.read(listing)).items]
    assert f"Killed: {point}" not in texts
    await again.close()
