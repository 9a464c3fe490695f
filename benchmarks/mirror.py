"""Times the sync of 10,000 resources, compared with a plain httpx loop that sends the same requests.

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
    """Return the resident memory of this process in megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


async def mirror(home: Path, addresses: list[str]) -> tuple[float, int]:
    """Sync everything. Returns the seconds and the number of requests; fills `addresses` if it is empty."""
    fetch = Client.fetch

    async def fetch_and_note(self, call, *arguments):
        addresses.append(f"{call.wire_path()}?{urlencode(call.wire_query())}")
        return await fetch(self, call, *arguments)

    if not addresses:
        Client.fetch = fetch_and_note
    mirrored = home / "mirrored"
    engine = open_engine(profile(home), Places(*(mirrored / name for name in ("config", "cache", "state", "data"))))
    await engine.start()
    start = time.perf_counter()
    *_, last = [progress async for progress in engine.sync()]
    seconds = time.perf_counter() - start
    await engine.close()
    Client.fetch = fetch
    assert not last.failed, last
    return seconds, last.requests


async def plain(home: Path, addresses: list[str]) -> float:
    """Send the same requests with the same concurrency and store nothing. Returns the seconds."""
    transport = httpx.AsyncHTTPTransport(uds=str(home / "service.sock"))
    headers = {"authorization": f"Bearer {profile(home).token}"}
    queue = iter(addresses)
    async with httpx.AsyncClient(transport=transport, headers=headers, base_url="http://service/v1") as client:

        async def work() -> None:
            for address in queue:
                (await client.get(address)).raise_for_status()

        start = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(AT_ONCE[BACKGROUND])))
        return time.perf_counter() - start


def profile(home: Path) -> Profile:
    return Profile(base_url=f"unix:{home / 'service.sock'}", token=(home / "token").read_text().strip())


async def record(home: Path, addresses: list[str]) -> None:
    """Write the responses of the service to a file for the stub."""
    transport = httpx.AsyncHTTPTransport(uds=str(home / "service.sock"))
    headers = {"authorization": f"Bearer {profile(home).token}"}
    async with httpx.AsyncClient(transport=transport, headers=headers, base_url="http://service/v1") as client:
        responses: dict[str, tuple[int, str]] = {}
        for address in addresses:
            reply = await client.get(address)
            responses[plain_path(reply.request.url.raw_path)] = (reply.status_code, reply.text)
    (home / ANSWERS).write_text(json.dumps(responses))


def plain_path(raw: bytes) -> str:
    """Return a path and its query without escapes."""
    return unquote_plus(raw.decode()).rstrip("?")


async def stub(home: Path, wait: float) -> None:
    """Serve the recorded responses, each after `wait` seconds."""
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


def turn(home: Path, kind: str) -> list[str]:
    """Run a turn in another process. Returns its output."""
    command = [sys.executable, "-m", "benchmarks.mirror", str(home), "--turn", kind]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def one_turn(home: Path, kind: str) -> None:
    """Run a turn in this process and print its results."""
    addresses = home / KEPT
    if kind == "plain":
        print(asyncio.run(plain(home, addresses.read_text().splitlines())))
        return
    before, requested = memory(), addresses.read_text().splitlines() if addresses.exists() else []
    is_first = not requested
    seconds, requests = asyncio.run(mirror(home, requested))
    if is_first:
        addresses.write_text("\n".join(requested))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(seconds, requests, memory(), memory() - before, peak)


def compare(home: Path, turns: int) -> None:
    mirrored, looped, repeated, facts = list[float](), list[float](), list[float](), list[list[str]]()
    for number in range(turns + 1):
        shutil.rmtree(home / "mirrored", ignore_errors=True)
        first, second = turn(home, "mirror"), turn(home, "mirror")
        loop = turn(home, "plain")
        if number:  # the first turn records the addresses and warms up the service
            mirrored.append(float(first[0]))
            repeated.append(float(second[0]))
            looped.append(float(loop[0]))
            facts.append([*first[1:], second[1]])
            print(f"mirror {first[0]} s, loop {loop[0]} s, again {second[0]} s; load {os.getloadavg()[0]:.1f}")
    requests, now, growth, peak, listings = facts[-1]
    ratio = statistics.median(mirror_time / loop_time for mirror_time, loop_time in zip(mirrored, looped, strict=True))
    loop_requests = len((home / KEPT).read_text().splitlines())
    print(f"{requests} requests, of the loop {loop_requests}")
    print(f"mirror {statistics.median(mirrored):.1f} s, loop {statistics.median(looped):.1f} s")
    print(f"ratio {ratio:.2f}; a second time {statistics.median(repeated):.2f} s with {listings} requests")
    print(f"memory after it {float(now):.0f} MB, {float(growth):.0f} MB more than before; at most {float(peak):.0f} MB")


def main() -> None:
    """Serve a workspace and print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--requests", type=int, default=1_700)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--wait", type=float, help="milliseconds in which a stub answers, in place of the service")
    parser.add_argument("--turn", choices=("mirror", "plain", "stub"))
    options = parser.parse_args()
    home: Path = options.home.absolute()
    if options.turn == "stub":
        asyncio.run(stub(home, options.wait / 1000))
        return
    if options.turn:
        one_turn(home, options.turn)
        return
    command = [sys.executable, "-m", "benchmarks.workspace", str(home), "--requests", str(options.requests)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as service:
        try:
            while not (home / "service.sock").exists():
                time.sleep(0.1)
            time.sleep(1)
            if options.wait is None:
                compare(home, options.turns)
                return
            shutil.rmtree(home / "mirrored", ignore_errors=True)
            turn(home, "mirror")
            asyncio.run(record(home, (home / KEPT).read_text().splitlines()))
        finally:
            service.terminate()
    (home / "service.sock").unlink(missing_ok=True)
    command = [sys.executable, "-m", "benchmarks.mirror", str(home), "--turn", "stub", "--wait", str(options.wait)]
    with subprocess.Popen(command) as service:
        try:
            while not (home / "service.sock").exists():
                time.sleep(0.1)
            compare(home, options.turns)
        finally:
            service.terminate()


if __name__ == "__main__":
    main()
