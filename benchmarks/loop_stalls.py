"""A worker of the service that notes stalls of its event loop, and an idle loop that notes those of the machine.

Usage: python -m benchmarks.loop_stalls FILE [presscheck arguments …]. A task of the loop sleeps for five milliseconds,
again and again. If it wakes up late, a line of JSON is written to the file: a `Stall`. Without arguments the loop has
nothing else to do, so it is late only if the machine is busy.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from starlette.types import ASGIApp, Receive, Scope, Send

TICK = 0.005
"""Seconds that the task sleeps."""
SMALLEST = 0.005
"""Seconds of the shortest stall that is noted."""
_SCHEDULE = Path("/proc/thread-self/schedstat")
"""Where Linux says how long a thread waited for a processor."""


@dataclass(frozen=True)
class Stall:
    """A time in which the loop ran nothing else; all times in seconds.

    Attributes:
        begun: when the task was to wake up, by the monotonic clock, which all processes of a machine share.
        late: how much later it did.
        waited: of this, how long the thread of the loop waited for a processor.
        loop: processor time of this thread meanwhile.
        process: processor time of all threads meanwhile.
        requests: method, path and milliseconds so far of the requests that were running.
    """

    begun: float
    late: float
    waited: float = 0.0
    loop: float = 0.0
    process: float = 0.0
    requests: tuple[str, ...] = ()

    def own(self, idle: Iterable[Stall]) -> float:
        """The seconds that the machine did not take: an idle loop ran, and a processor was there for this one."""
        end = self.begun + self.late
        shared = sum(max(0.0, min(end, one.begun + one.late) - max(self.begun, one.begun)) for one in idle)
        return self.late - max(shared, self.waited)


def read_stalls(file: Path) -> list[Stall]:
    """The stalls that a process noted so far."""
    lines = file.read_text().splitlines() if file.exists() else []
    return [Stall(**json.loads(line)) for line in lines if line.endswith("}")]


def _state() -> tuple[float, float, float]:
    """Seconds that this thread waited for a processor, and processor time of this thread and of the process."""
    waited = 0.0
    with suppress(OSError, ValueError, IndexError):
        waited = int(_SCHEDULE.read_text().split()[1]) / 1e9
    return waited, time.thread_time(), time.process_time()


async def watch(file: IO[str], running: Callable[[], Sequence[str]] = tuple) -> None:
    """Notes the stalls of the loop until it is cancelled."""
    woken, before = time.monotonic(), _state()
    while True:
        await asyncio.sleep(TICK)
        # from one waking up to the next: other threads may run at any line of this function
        due, woken, now = woken + TICK, time.monotonic(), _state()
        late = woken - due
        if late > SMALLEST:
            spent = [after - earlier for earlier, after in zip(before, now, strict=True)]
            file.write(json.dumps(asdict(Stall(due, late, *spent, tuple(running())))) + "\n")
            file.flush()
        before = now


class WatchedApp:
    """An ASGI application whose loop is watched, with the requests that are running."""

    def __init__(self, app: ASGIApp, file: IO[str]) -> None:
        self._app, self._file = app, file
        self._running: dict[int, tuple[str, float]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles a request, or the life of the application."""
        if scope["type"] == "lifespan":
            task = asyncio.create_task(watch(self._file, self._requests))
            try:
                await self._app(scope, receive, send)
            finally:
                task.cancel()
            return
        self._running[id(scope)] = f"{scope['method']} {scope['path']}", time.monotonic()
        try:
            await self._app(scope, receive, send)
        finally:
            del self._running[id(scope)]

    def _requests(self) -> list[str]:
        now = time.monotonic()
        return [f"{what} {(now - begun) * 1e3:.0f} ms" for what, begun in self._running.values()]


def main() -> None:
    """Watches an idle loop, or a worker of the service."""
    file_name, *arguments = sys.argv[1:]
    with Path(file_name).open("a") as file:
        if not arguments:
            asyncio.run(watch(file))
        from presscheck.cli.main import command
        from presscheck.service.server import server

        build = server.build

        def build_watched(*args: Any, **options: Any) -> Any:
            return WatchedApp(build(*args, **options), file)

        server.build = build_watched
        command(arguments, prog_name="presscheck")


if __name__ == "__main__":
    main()
