"""An engine that is killed while it undoes a write: nothing is lost, nothing is undone twice, the history is whole."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.engine.live_engine import engine_on, until
from tests.root import ROOT
from tests.running_service import RunningService

from presscheck.api.comments import Document, ListComments, PostComment

pytestmark = pytest.mark.service(sample=True, shared=True)

AUTH = {"space_id": "api", "change_request_id": "5"}
PATIENCE = 0.2
"""Seconds after which a request of the killed engine cannot arrive any more."""
KILLED = """
import asyncio, json, sys
from tests.crash.killed_client import Death, arm, emptied, engine_of
job = json.loads(sys.argv[1])
async def live():
    engine = engine_of(job)
    arm(Death(job["point"], 1), 30)
    await engine.start()
    await engine.check_undo(job["number"])
    assert engine.undo(job["number"])
    await emptied(engine)
asyncio.run(live())
"""


@pytest.mark.slow
@pytest.mark.parametrize("point", ["left", "sent", "answered", "delete", "deleting", "deleted"])
async def test_a_kill_while_undoing(service: RunningService, tmp_path: Path, point: str) -> None:
    engine = engine_on(service, tmp_path)
    await engine.start()
    await engine.write(PostComment(**AUTH, body=Document(markdown=f"Killed: {point}"))).landed()
    [entry] = engine.history()
    await engine.close()
    job = {
        "home": str(tmp_path),
        "base_url": service.base_url,
        "token": service.token,
        "point": point,
        "number": entry.id,
    }
    command = [sys.executable, "-c", KILLED, json.dumps(job)]
    ran = await asyncio.to_thread(subprocess.run, command, cwd=ROOT, check=False)
    assert ran.returncode == -signal.SIGKILL
    again = engine_on(service, tmp_path)
    again._write_queue.reconciler.timeout = PATIENCE
    await again.start()
    await until(lambda: not again.waiting())
    states = [(past.description, past.state) for past in again.history()]
    assert states == [("delete comment", "sent"), ("add comment", "undone")]
    listing = ListComments(**AUTH, format="markdown", limit=1000)
    texts = [(comment.body.markdown or "").strip() for comment in (await again.read(listing)).items]
    assert f"Killed: {point}" not in texts
    await again.close()
