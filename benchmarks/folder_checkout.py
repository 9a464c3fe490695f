"""Times `presscheck checkout` of a space, compared with httpx loops that send the same requests and write nothing.

Usage: python -m benchmarks.folder_checkout [--pages N] [--rounds N] [--wait MS] [--kept]. Serves a generated repository
in a process of its own. Checkout and loops take turns, each in a process of its own, with the same requests: the plain
loop sends one after the other, the other loop as many at once as the checkout. Before each turn, something is written
elsewhere in the service, so that it keeps no answers of the turn before; with `--kept`, nothing is written. With
`--wait`, each request waits so many milliseconds, as on the way to a service on the web. Prints the seconds by the
clock and in processor time of the process, and the ratios.
"""

import argparse
import asyncio
import gc
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import NamedTuple

import httpx
from tests.generated_docs.repositories import handbook

from presscheck.config.profile import Profile
from presscheck.engine.checkout.pull import prepare_folder, pull
from presscheck.engine.checkout.state import Checkout, CheckoutState
from presscheck.engine.reads.scheduler import AT_ONCE, REQUESTED
from presscheck.paths import Places
from presscheck.service.server.server import ServeOptions, serve
from presscheck.wiring import open_engine

ADDRESSES = "addresses.txt"
TURNS = ("checkout", "loop", "plain")


def serve_pages(home: Path, pages: int) -> None:
    docs = handbook("benchmark", pages).write(home / "docs")
    database = f"sqlite:///{home / 'service.sqlite'}"
    socket = home / "service.sock"
    serve(ServeOptions(database=database, data=home, uds=socket, token_file=home / "token", docs=(docs,)))


def plain_client(home: Path) -> httpx.AsyncClient:
    headers = {"authorization": f"Bearer {(home / 'token').read_text().strip()}"}
    transport = httpx.AsyncHTTPTransport(uds=str(home / "service.sock"))
    return httpx.AsyncClient(transport=transport, headers=headers, base_url="http://service/v1", timeout=60)


async def space_id(home: Path) -> str:
    async with plain_client(home) as client:
        organization = (await client.get("/orgs")).json()["items"][0]["id"]
        return str((await client.get(f"/orgs/{organization}/spaces")).json()["items"][0]["id"])


class Seconds(NamedTuple):
    clock: float
    processor: float


def now() -> Seconds:
    return Seconds(time.perf_counter(), time.process_time())


def since(start_time: Seconds) -> Seconds:
    return Seconds(*(end - start for end, start in zip(now(), start_time, strict=True)))


def note_and_wait(seconds: float) -> list[str]:
    """Delay all requests by `seconds`. Returns a list that is filled with their addresses."""
    send, addresses = httpx.AsyncHTTPTransport.handle_async_request, list[str]()

    async def wait_and_send(self, request):
        addresses.append(str(request.url))
        if seconds:
            await asyncio.sleep(seconds)
        return await send(self, request)

    httpx.AsyncHTTPTransport.handle_async_request = wait_and_send
    return addresses


async def check_out(home: Path, wait: float) -> Seconds:
    """Check out the space, and write the addresses of all requests to a file. Returns the time."""
    gc.set_threshold(100_000)  # as the command does
    state = CheckoutState(service="", space=await space_id(home))
    addresses = note_and_wait(wait)
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        profile = Profile(base_url=f"unix:{home / 'service.sock'}", token=(home / "token").read_text().strip())
        engine = open_engine(profile, Places(*(here / part for part in ("config", "cache", "state", "data"))))
        start = now()
        await engine.start()
        prepare_folder(here / "space")
        pulled = await pull(engine, Checkout(here / "space", state))
        seconds = since(start)
        await engine.close()
    assert pulled.written
    (home / ADDRESSES).write_text("\n".join(addresses))
    return seconds


async def fetch_all(home: Path, wait: float, at_once: int) -> Seconds:
    """Fetch the addresses of the checkout, `at_once` requests at a time. Returns the time."""
    note_and_wait(wait)
    addresses = iter((home / ADDRESSES).read_text().splitlines())
    async with plain_client(home) as client:

        async def work() -> None:
            for address in addresses:
                (await client.get(address)).raise_for_status()

        start = now()
        await asyncio.gather(*(work() for _ in range(at_once)))
        return since(start)


def turn(home: Path, which: str, *, pages: int = 0, wait: float = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.folder_checkout", "--home", str(home), "--turn", which]
    options = ["--pages", str(pages), "--wait", str(wait)]
    return subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)


def seconds_of(home: Path, which: str, wait: float) -> Seconds:
    return Seconds(*map(float, turn(home, which, wait=wait).communicate()[0].split()[-2:]))


def write_elsewhere(home: Path) -> None:
    """Change a setting that nothing reads: any write makes the service drop its cached responses."""
    with closing(sqlite3.connect(home / "service.sqlite", isolation_level=None)) as database:
        database.execute("INSERT OR REPLACE INTO settings (name, value) VALUES ('benchmark', '1')")


def compare(home: Path, pages: int, rounds: int, wait: float, *, are_kept: bool) -> None:
    def measured(which: str) -> Seconds:
        if not are_kept:
            write_elsewhere(home)
        return seconds_of(home, which, wait)

    with turn(home, "serve", pages=pages) as service:
        try:
            while not (home / "service.sock").exists():
                time.sleep(0.2)
            seconds_of(home, "checkout", wait)  # writes the addresses, and warms up the service
            rounds_of = [{which: measured(which) for which in TURNS} for _ in range(rounds)]
        finally:
            service.terminate()
    print(f"{len((home / ADDRESSES).read_text().splitlines())} requests; load {os.getloadavg()[0]:.1f}")
    for name in Seconds._fields:
        for which in TURNS:
            times = sorted(getattr(results[which], name) for results in rounds_of)
            ratio = median(getattr(results["checkout"], name) / getattr(results[which], name) for results in rounds_of)
            print(
                f"{name}: {which} {median(times):.2f} s ({times[0]:.2f} to {times[-1]:.2f}); checkout {ratio:.2f} times"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--wait", type=float, default=0, help="milliseconds that each request waits")
    parser.add_argument("--kept", action="store_true", help="the service may keep answers from one turn to the next")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--turn", choices=("serve", *TURNS))
    options = parser.parse_args()
    if options.turn == "serve":
        serve_pages(options.home, options.pages)
    elif options.turn:
        wait, at_once = options.wait / 1000, 1 if options.turn == "plain" else AT_ONCE[REQUESTED]
        is_checkout = options.turn == "checkout"
        print(*asyncio.run(check_out(options.home, wait) if is_checkout else fetch_all(options.home, wait, at_once)))
    else:
        with tempfile.TemporaryDirectory() as home:
            compare(Path(home), options.pages, options.rounds, options.wait, are_kept=options.kept)


if __name__ == "__main__":
    main()
