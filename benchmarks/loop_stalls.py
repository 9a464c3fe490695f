"""Records stalls of the event loop: in a worker of the service, or in an idle loop to detect stalls of the machine.

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
"""Sleep of the task in seconds."""
SMALLEST = 0.005
"""Minimum duration of a recorded stall, in seconds."""
_SCHEDULE = Path("/proc/thread-self/schedstat")
"""Linux's file with the time that a thread waited for a processor."""


@dataclass(frozen=True)
class Stall:
    """A period in which the event loop was blocked; all times are in seconds.

    Attributes:
        begun: time at which the task should have woken up, on the monotonic clock, which all processes share.
        late: delay of the task.
        waited: part of the delay in which the loop's thread waited for a processor.
        loop: processor time of the loop's thread during the stall.
        process: processor time of all threads during the stall.
        requests: method, path and elapsed milliseconds of the running requests.
    """

    begun: float
    late: float
    waited: float = 0.0
    loop: float = 0.0
    process: float = 0.0
    requests: tuple[str, ...] = ()

    def own(self, idle: Iterable[Stall]) -> float:
        """Return the part of the delay in which neither an idle loop was late nor the thread waited for a processor."""
        end = self.begun + self.late
        shared = sum(max(0.0, min(end, stall.begun + stall.late) - max(self.begun, stall.begun)) for stall in idle)
        return self.late - max(shared, self.waited)


def read_stalls(file: Path) -> list[Stall]:
    """Return the stalls that a process has recorded so far."""
    lines = file.read_text().splitlines() if file.exists() else []
    return [Stall(**json.loads(line)) for line in lines if line.endswith("}")]


def _state() -> tuple[float, float, float]:
    """Return the time that this thread waited for a processor, and the processor times of thread and process."""
    waited = 0.0
    with suppress(OSError, ValueError, IndexError):
        waited = int(_SCHEDULE.read_text().split()[1]) / 1e9
    return waited, time.thread_time(), time.process_time()


async def watch(file: IO[str], running: Callable[[], Sequence[str]] = tuple) -> None:
    """Record the stalls of the event loop until cancelled."""
    wake_time, before = time.monotonic(), _state()
    while True:
        await asyncio.sleep(TICK)
        # measured from wake-up to wake-up: other threads may run at any line of this function
        due, wake_time, now = wake_time + TICK, time.monotonic(), _state()
        late = wake_time - due
        if late > SMALLEST:
            changes = [after - earlier for earlier, after in zip(before, now, strict=True)]
            file.write(json.dumps(asdict(Stall(due, late, *changes, tuple(running())))) + "\n")
            file.flush()
        before = now


class WatchedApp:
    """Wraps an ASGI application, records stalls of its event loop, and tracks the running requests."""

    def __init__(self, app: ASGIApp, file: IO[str]) -> None:
        self._app, self._file = app, file
        self._running: dict[int, tuple[str, float]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or watch the loop during the application's lifespan."""
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
        return [f"{request} {(now - start) * 1e3:.0f} ms" for request, start in self._running.values()]


def main() -> None:
    """Watch an idle loop, or run `presscheck` with a watched service."""
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
