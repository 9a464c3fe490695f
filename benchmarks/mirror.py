"""Bringing in 10,000 resources, against a plain httpx loop that asks for the same, as many together.

Usage: python -m benchmarks.mirror HOME [--requests N] [--turns N] [--wait MS]. Runs the service of
`benchmarks.workspace` beside it; the two take turns, each in a process of its own; prints medians, the ratio, the
requests of both, and the memory of the one that mirrors. With `--wait`, a stub with the answers of that service takes
its place: it answers each request after so many milliseconds, however many there are at once.
"""

import argparse
import asyncio
import contextlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote_plus, urlencode

import httpx

from presscheck.client.client import Client
from presscheck.config.profile import Profile
from presscheck.engine.reads.scheduler import AT_ONCE, BACKGROUND
from presscheck.paths import Places
from presscheck.wiring import open_engine

KEPT, ANSWERS = "addresses.txt", "answers.json"


def memory() -> float:
    """MB of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


async def mirror(home: Path, asked: list[str]) -> tuple[float, int]:
    """Bring all of it in; seconds, and how many requests that took. Notes what was asked, unless that is known."""
    fetch = Client.fetch

    async def fetch_and_note(self, call, *more):
        asked.append(f"{call.wire_path()}?{urlencode(call.wire_query())}")
        return await fetch(self, call, *more)

    if not asked:
        Client.fetch = fetch_and_note
    kept = home / "mirrored"
    engine = open_engine(profile(home), Places(*(kept / name for name in ("config", "cache", "state", "data"))))
    await engine.start()
    began = time.perf_counter()
    *_, last = [progress async for progress in engine.sync()]
    seconds = time.perf_counter() - began
    await engine.close()
    Client.fetch = fetch
    assert not last.failed, last
    return seconds, last.requests


async def plain(home: Path, asked: list[str]) -> float:
    """Ask for the same, so many together, and keep nothing; seconds."""
    transport = httpx.AsyncHTTPTransport(uds=str(home / "service.sock"))
    headers = {"authorization": f"Bearer {profile(home).token}"}
    waiting = iter(asked)
    async with httpx.AsyncClient(transport=transport, headers=headers, base_url="http://service/v1") as client:

        async def work() -> None:
            for address in waiting:
                (await client.get(address)).raise_for_status()

        began = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(AT_ONCE[BACKGROUND])))
        return time.perf_counter() - began


def profile(home: Path) -> Profile:
    return Profile(base_url=f"unix:{home / 'service.sock'}", token=(home / "token").read_text().strip())


async def record(home: Path, asked: list[str]) -> None:
    """Keep the answers of the service, for the stub."""
    transport = httpx.AsyncHTTPTransport(uds=str(home / "service.sock"))
    headers = {"authorization": f"Bearer {profile(home).token}"}
    async with httpx.AsyncClient(transport=transport, headers=headers, base_url="http://service/v1") as client:
        kept: dict[str, tuple[int, str]] = {}
        for address in asked:
            reply = await client.get(address)
            kept[plain_path(reply.request.url.raw_path)] = (reply.status_code, reply.text)
    (home / ANSWERS).write_text(json.dumps(kept))


def plain_path(raw: bytes) -> str:
    """A path with its query, however it was escaped."""
    return unquote_plus(raw.decode()).rstrip("?")


async def stub(home: Path, wait: float) -> None:
    """Answer as the service did, each request after so many seconds."""
    answers = {path: (code, text.encode()) for path, (code, text) in json.loads((home / ANSWERS).read_text()).items()}

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                path = plain_path((await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1])
                await asyncio.sleep(wait)
                code, body = answers.get(path, (404, b'{"error": {"code": 404, "message": "unknown"}}'))
                head = f"HTTP/1.1 {code} .\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
                writer.write(head.encode() + body)

    async with await asyncio.start_unix_server(talk, home / "service.sock") as server:
        await server.serve_forever()


def turn(home: Path, which: str) -> list[str]:
    """One turn, in a process of its own; what it printed."""
    command = [sys.executable, "-m", "benchmarks.mirror", str(home), "--turn", which]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def one_turn(home: Path, which: str) -> None:
    """What a process of its own does."""
    addresses = home / KEPT
    if which == "plain":
        print(asyncio.run(plain(home, addresses.read_text().splitlines())))
        return
    before, asked = memory(), addresses.read_text().splitlines() if addresses.exists() else []
    is_first = not asked
    seconds, requests = asyncio.run(mirror(home, asked))
    if is_first:
        addresses.write_text("\n".join(asked))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(seconds, requests, memory(), memory() - before, peak)


def compare(home: Path, turns: int) -> None:
    mirrored, plainly, again, facts = list[float](), list[float](), list[float](), list[list[str]]()
    for number in range(turns + 1):
        shutil.rmtree(home / "mirrored", ignore_errors=True)
        first, second = turn(home, "mirror"), turn(home, "mirror")
        loop = turn(home, "plain")
        if number:  # the first turn learns what there is to ask for, and warms the service up
            mirrored.append(float(first[0]))
            again.append(float(second[0]))
            plainly.append(float(loop[0]))
            facts.append([*first[1:], second[1]])
            print(f"mirror {first[0]} s, loop {loop[0]} s, again {second[0]} s; load {os.getloadavg()[0]:.1f}")
    requests, now, more, peak, listings = facts[-1]
    ratio = statistics.median(one / other for one, other in zip(mirrored, plainly, strict=True))
    asked = len((home / KEPT).read_text().splitlines())
    print(f"{requests} requests, of the loop {asked}")
    print(f"mirror {statistics.median(mirrored):.1f} s, loop {statistics.median(plainly):.1f} s")
    print(f"ratio {ratio:.2f}; a second time {statistics.median(again):.2f} s with {listings} requests")
    print(f"memory after it {float(now):.0f} MB, {float(more):.0f} MB more than before; at most {float(peak):.0f} MB")


def main() -> None:
    """Serve a workspace, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--requests", type=int, default=1_700)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--wait", type=float, help="milliseconds in which a stub answers, in place of the service")
    parser.add_argument("--turn", choices=("mirror", "plain", "stub"))
    chosen = parser.parse_args()
    home: Path = chosen.home.absolute()
    if chosen.turn == "stub":
        asyncio.run(stub(home, chosen.wait / 1000))
        return
    if chosen.turn:
        one_turn(home, chosen.turn)
        return
    command = [sys.executable, "-m", "benchmarks.workspace", str(home), "--requests", str(chosen.requests)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as service:
        try:
            while not (home / "service.sock").exists():
                time.sleep(0.1)
            time.sleep(1)
            if chosen.wait is None:
                compare(home, chosen.turns)
                return
            shutil.rmtree(home / "mirrored", ignore_errors=True)
            turn(home, "mirror")
            asyncio.run(record(home, (home / KEPT).read_text().splitlines()))
        finally:
            service.terminate()
    (home / "service.sock").unlink(missing_ok=True)
    command = [sys.executable, "-m", "benchmarks.mirror", str(home), "--turn", "stub", "--wait", str(chosen.wait)]
    with subprocess.Popen(command) as service:
        try:
            while not (home / "service.sock").exists():
                time.sleep(0.1)
            compare(home, chosen.turns)
        finally:
            service.terminate()


if __name__ == "__main__":
    main()
