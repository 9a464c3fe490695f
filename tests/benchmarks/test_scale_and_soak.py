"""The logic of the programs that measure the service: what is subtracted, and what counts as growth."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks.loop_stalls import Stall, WatchedApp, read_stalls
from benchmarks.processes import children, family_seconds, open_files, processor_seconds, resident_bytes, threads
from benchmarks.scale import Run
from benchmarks.soak import Load, Look, grown, percentile, soak, stalled, stalls_file

from benchmarks import scale

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

MB = 2**20


@pytest.mark.parametrize(
    ("workers", "database", "idle", "seconds"),
    [
        pytest.param((10.0,), 0.0, 7.0, 10.0, id="the generator had idle time enough"),
        pytest.param((8.0, 8.0), 0.0, 0.0, 8.0, id="two workers had what the generator left"),
        pytest.param((6.0, 6.0), 0.0, 4.0, 10.0, id="two workers waited for a lock, not for the generator"),
        pytest.param((6.0,), 0.0, 0.0, 6.0, id="other programs had more than half of the machine"),
        pytest.param((9.0, 1.0), 0.0, 0.0, 9.0, id="one of two workers did nearly everything"),
        pytest.param((6.0, 6.0), 4.0, 0.0, 8.0, id="the database is a part of the service"),
    ],
)
def test_what_others_took_from_the_service_is_subtracted(
    workers: tuple[float, ...], database: float, idle: float, seconds: float
) -> None:
    run = Run(1000, 0, 1.0, 2.0, 10.0, workers, database, idle)
    assert run.rate(2) == pytest.approx(1000 / seconds)


def test_a_database_of_another_machine_is_subtracted_too() -> None:
    run = Run(1000, 0, 1.0, 2.0, 10.0, (6.0, 6.0), 4.0, 0.0)
    assert run.rate(2, database_apart=True) == pytest.approx(1000 / 6)
    assert run.cost() == pytest.approx(16.0)


def test_a_missing_generator_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "argv", ["scale"])
    with pytest.raises(SystemExit) as raised:
        scale.main()
    assert str(raised.value) == scale.INSTALL and "install the package wrk" in scale.INSTALL


def looks(*memory: float, files: tuple[int, ...] = ()) -> list[Look]:
    """A look each minute: the megabytes of one worker, which has these files open."""
    counts = files or (50,) * len(memory)
    return [
        Look(60.0 * minute, (int(size * MB),), (count,))
        for minute, (size, count) in enumerate(zip(memory, counts, strict=True))
    ]


def test_growth_is_what_goes_on_after_the_warm_up() -> None:
    warm_up = [100.0 + 10 * minute for minute in range(4)]
    assert grown(looks(*warm_up, *[140.0, 142, 139, 141, 140, 143, 140, 141, 142]), 720) == []
    assert grown(looks(*warm_up, *[140.0] * 8, 400.0), 720) == [], "a single peak is no growth"
    [leak] = grown(looks(*warm_up, *[140.0 + 3 * minute for minute in range(9)]), 720)
    assert leak.startswith("worker 1 grew by 18.0 MB after the warm-up; the limit is 8.0 MB")
    [files] = grown(looks(*[100.0] * 13, files=tuple(range(50, 102, 4))), 720)
    assert files == "worker 1 has 24 more open files; the limit is 20"


def test_percentiles() -> None:
    assert (percentile([], 0.5), percentile([1.0, 2.0, 3.0], 0.5), percentile([1.0, 2.0], 0.99)) == (0.0, 2.0, 2.0)


def test_what_linux_counts_of_another_process() -> None:
    script = "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    script += "import subprocess, sys; held = bytearray(64 << 20); files = [open('/dev/null') for _ in range(30)]\n"
    script += "end = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n"
    script += "subprocess.Popen(['sleep', '60']); print('ready', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline()
        [child] = children(process.pid)
        until = time.monotonic() + 10
        while "sleep" not in (line := Path(f"/proc/{child}/cmdline").read_text()) and time.monotonic() < until:
            time.sleep(0.01)  # empty while the program is being started
        assert "sleep" in line
        assert 0.25 <= processor_seconds(process.pid) <= family_seconds(process.pid) < 5
        assert resident_bytes(process.pid) > 64 * MB
        assert open_files(process.pid) >= 33 and threads(process.pid) == 2
        subprocess.run(["kill", str(child)], check=True)
        assert process.stdin
        process.stdin.close()


def test_a_failed_call_and_an_ended_worker_fail_the_soak(capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen(["sleep", "60"]) as worker:
        load = Load()
        load.times.put(12.0)
        assert soak([worker.pid], load, 0.05, look=0.01) == []
        load.errors.put("AssertionError: stale")
        assert soak([worker.pid], load, 0.05, look=0.01) == ["1 error"]
        printed = capsys.readouterr().out
        assert "12 ms | 12 ms | 0 |" in printed and "AssertionError: stale" in printed
        worker.terminate()
        worker.wait()
        assert soak([worker.pid], load, 30, look=0.01) == ["a worker ended"]


def test_what_the_machine_took_is_no_stall_of_a_worker() -> None:
    stall = Stall(10.0, 0.2)
    assert stall.own([]) == pytest.approx(0.2)
    assert stall.own([Stall(9.9, 0.15), Stall(10.1, 0.03), Stall(10.3, 0.1)]) == pytest.approx(0.12)
    assert Stall(10.0, 0.2, waited=0.18).own([Stall(10.1, 0.03)]) == pytest.approx(0.02)


async def test_a_stall_of_the_loop_is_noted_with_its_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def app(scope: Scope, receive: Receive, _send: Send) -> None:
        if scope["type"] == "http":
            time.sleep(0.2)  # noqa: ASYNC251  # the fault that is to be noted
        await receive()

    async def nothing_more() -> Message:
        await asyncio.sleep(0.1)
        return {}

    async def never() -> Message:
        await asyncio.Event().wait()
        return {}

    async def send(_message: Message) -> None:
        pass

    begun = time.monotonic()
    with stalls_file(tmp_path, 1).open("a") as file:
        watched = WatchedApp(app, file)
        life = asyncio.create_task(watched({"type": "lifespan"}, never, send))
        await asyncio.sleep(0.05)
        await watched({"type": "http", "method": "GET", "path": "/slow"}, nothing_more, send)
        life.cancel()
    longest = max(read_stalls(stalls_file(tmp_path, 1)), key=lambda stall: stall.late)
    assert 0.15 < longest.late < 2 and longest.requests[0].startswith("GET /slow ")
    reasons = stalled(tmp_path, begun)
    assert any(reason.startswith("the loop of worker 1 stalled ") for reason in reasons)
    assert "GET /slow" in capsys.readouterr().out
    assert stalled(tmp_path, time.monotonic()) == []
