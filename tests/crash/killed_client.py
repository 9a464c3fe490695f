"""Engine processes that kill themselves at a step of sending a write.

The main process has imported everything. It reads jobs as lines of JSON from standard input and forks a process for
each job, which reports its writes over a socket. The steps are existing functions of the program, wrapped here.
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
"""The steps of sending a write, named after what is about to happen or has just happened."""
FEWEST = 3
"""Minimum number of writes of each engine in `beside`, however slow the machine is."""


class Death:
    """Kills this process when a step is reached for the n-th time."""

    def __init__(self, point: str | None, nth: int) -> None:
        self.point, self.left = point, nth

    def at(self, point: str) -> None:
        if point == self.point:
            self.left -= 1
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)


def arm(death: Death, timeout: float) -> None:
    """Wrap the functions of the program so that they report each step to `death`; limit writes to `timeout` seconds."""
    for name in {*BEFORE.values(), *AFTER.values()}:
        before = next((point for point, method in BEFORE.items() if method == name), "")
        after = next((point for point, method in AFTER.items() if method == name), "")
        setattr(Outbox, name, around(getattr(Outbox, name), death, before, after))
    progress, attempt, fetch, find = (
        Progress.__call__,
        Client._attempt,
        Client.fetch,
        DeliveryReconciler.find,
    )
    writes: list[Any] = []

    async def report(self: Any, event: str, info: dict[str, Any]) -> None:
        await progress(self, event, info)
        for point, ending in EVENTS.items():
            if event.endswith(ending) and self in writes:
                death.at(point)

    async def attempt_with_timeout(self: Any, method: str, *arguments: Any) -> Any:
        if method == "GET":
            return await attempt(self, method, *arguments)
        writes.extend(argument for argument in arguments if isinstance(argument, Progress))
        async with asyncio.timeout(timeout):  # only writes: reads may be slow on a busy machine
            return await attempt(self, method, *arguments)

    async def fetch_and_report(self: Any, call: Any, *arguments: Any) -> bytes:
        body = await fetch(self, call, *arguments)
        if not call.is_read():
            death.at("answered")
        return body

    async def find_and_report(self: Any, *arguments: Any) -> Any:
        death.at("look")
        item = await find(self, *arguments)
        death.at("look again")
        return item

    Progress.__call__, Client._attempt = report, attempt_with_timeout  # type: ignore[method-assign]
    Client.fetch, DeliveryReconciler.find = fetch_and_report, find_and_report  # type: ignore[method-assign]


def report_sending(control: socket.socket) -> None:
    """Report the time when a write is noted as being sent."""
    sending = Outbox.sending

    def report_and_send(self: Outbox, number: int, now: float) -> bool:
        control.sendall(f"sending {time.monotonic()}\n".encode())
        return sending(self, number, now)

    Outbox.sending = report_and_send  # type: ignore[method-assign]


def around(method: Any, death: Death, before: str, after: str) -> Any:
    """Wrap a method of the outbox with a step before it and a step after it."""

    def wrapped(self: Outbox, *arguments: Any, **keywords: Any) -> Any:
        death.at(before)
        if before == "delete" and death.point == "deleting":
            self._db.set_trace_callback(lambda statement: death.at("deleting") if statement == "COMMIT" else None)
        result = method(self, *arguments, **keywords)
        death.at(after)
        return result

    return wrapped


def engine_of(job: dict[str, Any]) -> Any:
    home = Path(job["home"])
    places = Places(home / "config", home / "cache", home / "state", home / "data")
    return wiring.open_engine(Profile(base_url=job["base_url"], token=job["token"]), places)


def hurry(timeout: float, settle: float) -> None:
    """Shorten the client's time-out, the settle time, and the pauses between attempts."""
    wiring.short_hash = lambda _: "x"  # all processes of a run share an outbox, although each has another proxy address
    delivery.TIMEOUT, delivery.SETTLE, delivery.ABANDONED_AFTER = timeout, settle, timeout + settle
    scheduler.FIRST_PAUSE, scheduler.LONGEST_PAUSE, delivery.POLL_INTERVAL, delivery.RETRY_AFTER_ERROR = (
        0.05,
        0.2,
        0.1,
        0.1,
    )


async def emptied(engine: Any) -> None:
    """Wait until the outbox holds only writes that need a decision of the user."""
    changed = asyncio.Event()
    engine.on_status(lambda _: changed.set())
    while any(row.state not in ("refused", "parked") for row in engine.outbox.rows()):
        changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(delivery.POLL_INTERVAL):
                await changed.wait()


async def live(job: dict[str, Any], control: socket.socket) -> None:
    engine = engine_of(job)
    await engine.start()
    for number, (name, arguments, base) in enumerate(job["writes"]):
        call = revive(name, arguments)
        ticket = engine.write(call, base=base)
        control.sendall(f"accepted {number}\n".encode())
        if base is None and not engine.may_wait(type(call)):
            try:
                await ticket.landed()
            except PresscheckError:
                control.sendall(f"failed {number}\n".encode())
    await emptied(engine)
    unsent = [[row.name, row.given, row.error] for row in engine.outbox.rows()]
    control.sendall(f"outbox {json.dumps(unsent)}\n".encode())
    control.sendall(f"history {json.dumps([row.id for row in engine.outbox.history()])}\n".encode())
    await engine.close()


async def beside(job: dict[str, Any], control: socket.socket) -> None:
    """Read, write and mark pages for a while, beside another engine on the same files; reports every exception."""
    engine, deadline = engine_of(job), time.monotonic() + job["seconds"]
    await engine.start()
    for number in itertools.count():
        if number >= FEWEST and time.monotonic() > deadline:
            break
        path, text = job["paths"][number % len(job["paths"])], f"{job['id']} number {number}"
        try:
            engine.write(PostComment(**path, body=Document(markdown=text)))
            control.sendall(f"wrote {text}\n".encode())
            engine.outbox.save_draft(text, text)
            engine.mark_viewed(path["change_request_id"], text, "r")
            for _ in range(5):
                await engine.read(ListComments(**path, order="asc", format="markdown", limit=1000))
            await asyncio.sleep(0.02)
        except Exception as error:
            control.sendall(f"error {error!r}\n".encode())
    await emptied(engine)
    await engine.close()


def run_job(job: dict[str, Any]) -> None:
    """Run a job in this process and report its end."""
    control = socket.socket(socket.AF_UNIX)
    control.connect(job["control"])
    control.sendall(f"{job['id']} {os.getpid()}\n".encode())
    hurry(job["takes"], job["settle"])
    report_sending(control)
    arm(Death(job["point"], job["nth"]), job["takes"])
    asyncio.run(beside(job, control) if "seconds" in job else live(job, control))
    control.sendall(b"end\n")


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        if os.fork() == 0:
            sys.stdin.close()
            try:
                run_job(json.loads(line))
            finally:
                os._exit(0)


if __name__ == "__main__":
    main()
