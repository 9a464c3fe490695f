"""Engines that kill themselves at a step of sending: each is a process, forked from one that has loaded everything.

Reads jobs as lines of JSON; the process of each job reports its writes over a socket. The steps are existing functions
of the program, which are wrapped here.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from presscheck import wiring
from presscheck.api.comments import Document, ListComments, PostComment
from presscheck.api.operation import revive
from presscheck.client.client import Client, Progress
from presscheck.config.profile import Profile
from presscheck.engine.reads import scheduler
from presscheck.engine.writes import delivery
from presscheck.engine.writes.delivery import DeliveryReconciler
from presscheck.errors import PresscheckError
from presscheck.paths import Places
from presscheck.store.outbox import Outbox

BEFORE = {"commit": "put", "note": "note_existing", "leave": "sending", "delete": "delivered", "fail": "reschedule"}
AFTER = {
    "committed": "put",
    "noted": "note_existing",
    "left": "sending",
    "deleted": "delivered",
    "failed": "reschedule",
}
EVENTS = {"sent": "send_request_body.complete", "answering": "receive_response_headers.complete"}
POINTS = (*BEFORE, *AFTER, *EVENTS, "answered", "deleting", "look", "look again")
"""The steps of sending, named by what is about to happen or has just happened."""
FEWEST = 3
"""Writes of an engine beside another, however slow the machine."""


class Death:
    """Kills this process when a step is reached for the n-th time."""

    def __init__(self, point: str | None, nth: int) -> None:
        self.point, self.left = point, nth

    def at(self, point: str) -> None:
        if point == self.point:
            self.left -= 1
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)


def arm(death: Death, takes: float) -> None:
    """Lay the steps around what production calls."""
    for name in {*BEFORE.values(), *AFTER.values()}:
        before = next((point for point, method in BEFORE.items() if method == name), "")
        after = next((point for point, method in AFTER.items() if method == name), "")
        setattr(Outbox, name, around(getattr(Outbox, name), death, before, after))
    tells, attempt, fetch, found = (
        Progress.__call__,
        Client._attempt,
        Client.fetch,
        DeliveryReconciler.find,
    )
    writes: list[Any] = []

    async def told(self: Any, event: str, info: dict[str, Any]) -> None:
        await tells(self, event, info)
        for point, ending in EVENTS.items():
            if event.endswith(ending) and self in writes:
                death.at(point)

    async def attempted(self: Any, method: str, *given: Any) -> Any:
        if method == "GET":
            return await attempt(self, method, *given)
        writes.extend(one for one in given if isinstance(one, Progress))
        async with asyncio.timeout(takes):  # writes alone: a busy machine may take its time with reads
            return await attempt(self, method, *given)

    async def fetched(self: Any, call: Any, *given: Any) -> bytes:
        body = await fetch(self, call, *given)
        if not call.is_read():
            death.at("answered")
        return body

    async def looked(self: Any, *given: Any) -> Any:
        death.at("look")
        item = await found(self, *given)
        death.at("look again")
        return item

    Progress.__call__, Client._attempt = told, attempted  # type: ignore[method-assign]
    Client.fetch, DeliveryReconciler.find = fetched, looked  # type: ignore[method-assign]


def report_sending(told: socket.socket) -> None:
    """Report the time when a write is noted as being sent."""
    sending = Outbox.sending

    def reported(self: Outbox, number: int, now: float) -> bool:
        told.sendall(f"sending {time.monotonic()}\n".encode())
        return sending(self, number, now)

    Outbox.sending = reported  # type: ignore[method-assign]


def around(method: Any, death: Death, before: str, after: str) -> Any:
    def wrapped(self: Outbox, *given: Any, **more: Any) -> Any:
        death.at(before)
        if before == "delete" and death.point == "deleting":
            self._db.set_trace_callback(lambda said: death.at("deleting") if said == "COMMIT" else None)
        came = method(self, *given, **more)
        death.at(after)
        return came

    return wrapped


def engine_of(job: dict[str, Any]) -> Any:
    home = Path(job["home"])
    places = Places(home / "config", home / "cache", home / "state", home / "data")
    return wiring.open_engine(Profile(base_url=job["base_url"], token=job["token"]), places)


def hurry(takes: float, settle: float) -> None:
    """The same code with shorter times: how long the client waits for an answer, and the settle time."""
    wiring.short_hash = lambda _: "x"  # every start of a run has its own proxy, and the same outbox
    delivery.TIMEOUT, delivery.SETTLE, delivery.ABANDONED_AFTER = takes, settle, takes + settle
    scheduler.FIRST_PAUSE, scheduler.LONGEST_PAUSE, delivery.POLL_INTERVAL, delivery.RETRY_AFTER_ERROR = (
        0.05,
        0.2,
        0.1,
        0.1,
    )


async def emptied(engine: Any) -> None:
    """Wait until nothing is left but what somebody must decide over."""
    changed = asyncio.Event()
    engine.on_status(lambda _: changed.set())
    while any(row.state not in ("refused", "parked") for row in engine.outbox.rows()):
        changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(delivery.POLL_INTERVAL):
                await changed.wait()


async def live(job: dict[str, Any], told: socket.socket) -> None:
    engine = engine_of(job)
    await engine.start()
    for number, (name, given, base) in enumerate(job["writes"]):
        call = revive(name, given)
        ticket = engine.write(call, base=base)
        told.sendall(f"took {number}\n".encode())
        if base is None and not engine.may_wait(type(call)):
            try:
                await ticket.landed()
            except PresscheckError:
                told.sendall(f"told {number}\n".encode())
    await emptied(engine)
    kept = [[row.name, row.given, row.error] for row in engine.outbox.rows()]
    told.sendall(f"kept {json.dumps(kept)}\n".encode())
    told.sendall(f"past {json.dumps([row.id for row in engine.outbox.history()])}\n".encode())
    await engine.close()


async def beside(job: dict[str, Any], told: socket.socket) -> None:
    """Read, write and mark for a while, beside another engine on the same files; whatever goes wrong is told."""
    engine, ends = engine_of(job), time.monotonic() + job["seconds"]
    await engine.start()
    for number in itertools.count():
        if number >= FEWEST and time.monotonic() > ends:
            break
        path, text = job["paths"][number % len(job["paths"])], f"{job['id']} number {number}"
        try:
            engine.write(PostComment(**path, body=Document(markdown=text)))
            told.sendall(f"wrote {text}\n".encode())
            engine.outbox.save_draft(text, text)
            engine.mark_viewed(path["change_request_id"], text, "r")
            for _ in range(5):
                await engine.read(ListComments(**path, order="asc", format="markdown", limit=1000))
            await asyncio.sleep(0.02)
        except Exception as error:
            told.sendall(f"error {error!r}\n".encode())
    await emptied(engine)
    await engine.close()


def one(job: dict[str, Any]) -> None:
    """A whole life, in a process of its own."""
    told = socket.socket(socket.AF_UNIX)
    told.connect(job["control"])
    told.sendall(f"{job['id']} {os.getpid()}\n".encode())
    hurry(job["takes"], job["settle"])
    report_sending(told)
    arm(Death(job["point"], job["nth"]), job["takes"])
    asyncio.run(beside(job, told) if "seconds" in job else live(job, told))
    told.sendall(b"end\n")


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        if os.fork() == 0:
            sys.stdin.close()
            try:
                one(json.loads(line))
            finally:
                os._exit(0)


if __name__ == "__main__":
    main()
