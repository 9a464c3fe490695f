"""Processor time of `presscheck space list`, against a bare httpx script that makes the same requests.

Usage: python -m benchmarks.command_start [--rounds N]. Both are started in turn; the fastest start of each counts,
because other work on the machine only slows a start down. The responses are small, so that the start is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from typing_extensions import override

GOAL = 1.5
TIME = "2026-05-20T09:30:00.000Z"
URLS = {"app": "https://example.com/app", "location": "https://example.com/location"}
ORGANIZATION = {"object": "organization", "id": "acme", "title": "Acme", "createdAt": TIME, "urls": URLS}
USER = {"object": "user", "id": "ada", "displayName": "Ada", "urls": URLS}
SPACES = [
    {
        "object": "space",
        "id": f"space{number}",
        "title": f"Space {number}",
        "visibility": "public",
        "createdAt": TIME,
        "updatedAt": TIME,
        "changeRequestsOpen": 1,
        "revision": "revision",
        "organization": "acme",
        "urls": URLS,
    }
    for number in range(10)
]
RESPONSES: dict[str, Any] = {
    "/v1/orgs": {"items": [ORGANIZATION]},
    "/v1/orgs/acme/spaces": {"items": SPACES},
    "/v1/user": USER,
}
BARE = """
import os, httpx
token, url = os.environ["PRESSCHECK_TOKEN"], os.environ["PRESSCHECK_BASE_URL"]
client = httpx.Client(headers={"authorization": f"Bearer {token}"}, base_url=url)
client.get("/user").json()
for organization in client.get("/orgs", params={"limit": 1000}).json()["items"]:
    for space in client.get(f"/orgs/{organization['id']}/spaces", params={"limit": 1000}).json()["items"]:
        print(space["id"], space["title"], space["visibility"], space["changeRequestsOpen"], sep="\\t")
"""


class Handler(BaseHTTPRequestHandler):
    """Serves `RESPONSES`."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send the response of a path, without its query."""
        body = json.dumps(RESPONSES[self.path.partition("?")[0]]).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        pass


def processor_seconds(command: Sequence[str], environment: dict[str, str]) -> float:
    """Run a command and return its processor time in seconds; it must print a line for each space."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(command, env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert result.stdout.count(b"\n") == len(SPACES), result.stdout
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure both in turn, and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as home:
        variables = {"PRESSCHECK_TOKEN": "t", "PRESSCHECK_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1"}
        environment = {**os.environ, **variables, "HOME": home, "PRESSCHECK_HOME": home}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled by the first start
        presscheck = [str(Path(sys.executable).with_name("presscheck")), "space", "list"]
        bare = [sys.executable, "-c", BARE]
        pairs = [
            tuple(processor_seconds(command_line, environment) for command_line in (presscheck, bare))
            for _ in range(rounds)
        ]
    command, script = (min(times) for times in zip(*pairs, strict=True))
    print(f"presscheck space list: {command * 1000:.0f} ms; bare httpx script: {script * 1000:.0f} ms")
    print(f"ratio {command / script:.2f}, goal {GOAL}")


if __name__ == "__main__":
    main()
