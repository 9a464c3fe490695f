"""A service cannot make a command use much memory: responses and lists have limits, and the error names them."""

import json
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from tests.cli.hostile_service import HostileService
from tests.cli.shell import Shell

from presscheck.cli import output, session
from presscheck.client.client import MAX_OBJECTS, MAX_VALUES, TooLarge, check_values
from presscheck.engine.reads import listing_guard

MB = 1 << 20
PROGRAM = """
import atexit, pathlib, resource, sys

def print_peak():
    status = pathlib.Path("/proc/self/status")  # unlike `ru_maxrss`, without the memory of the parent process
    found = status.read_text().partition("VmHWM:")[2].split()[:1] if status.exists() else []
    print("peak", *found or [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss], file=sys.stderr)

atexit.register(print_peak)
from presscheck.__main__ import main
main()
"""


@contextmanager
def answering(body: bytes, *, encoding: str = "identity") -> Iterator[str]:
    """A service that answers everything with the same body; its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            for name, value in (("type", "application/json"), ("encoding", encoding), ("length", str(len(body)))):
                self.send_header(f"content-{name}", value)
            self.end_headers()
            try:
                self.wfile.write(body)
            except ConnectionError:
                self.close_connection = True

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def run(home: Path, base_url: str, *words: str) -> tuple[int, str, float]:
    """Run a command as a process; returns its exit code, stderr, and the peak of its memory in MB."""
    shell = Shell(home, {"PRESSCHECK_BASE_URL": base_url, "PRESSCHECK_TOKEN": "token"})
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], env=shell.environment, capture_output=True, text=True, timeout=100
    )
    peak = re.search(r"peak (\d+)", ran.stderr)
    assert peak, ran.stderr
    return ran.returncode, ran.stderr, int(peak[1]) / 1024


@pytest.mark.slow
def test_many_small_items(tmp_path: Path) -> None:
    body = b'{"items":[' + b",".join([b'{"object":"space","id":"x"}'] * (24 * MB // 28)) + b"]}"
    with answering(body) as base_url:
        code, printed, peak = run(tmp_path, base_url, "api", "list-spaces", "--organization-id", "x", "--all")
    assert code == 1
    assert "Invalid response from the service: it has more than 150,000 objects or 3,000,000 values" in printed
    assert peak < 250


@pytest.mark.slow
def test_a_compressed_gigabyte(tmp_path: Path) -> None:
    packer = zlib.compressobj(9, wbits=31)
    start = packer.compress(b" " * MB) + packer.flush(zlib.Z_FULL_FLUSH)
    body = start + 1023 * (packer.compress(b" " * MB) + packer.flush(zlib.Z_FULL_FLUSH))  # without an end
    with answering(body, encoding="gzip") as base_url:
        code, printed, peak = run(tmp_path, base_url, "whoami")
    assert code == 1
    assert "Invalid response from the service: it is larger than 32 MiB" in printed
    assert peak < 250


@pytest.mark.slow
def test_a_large_page_tree_that_is_accepted(tmp_path: Path) -> None:
    body = b'{"pages":[' + b",".join([b'{"id":"x"}'] * (MAX_OBJECTS // 10)) + b"]}"
    with answering(body) as base_url:
        code, _, peak = run(tmp_path, base_url, "api", "list-pages", "--space-id", "x")
    assert code == 0
    assert peak < 250


def test_json_that_is_printed_in_parts_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"items": [{"id": str(number), "title": "Ä\x1b[31m"} for number in range(5_000)]}
    output.print_json(value)
    assert capsys.readouterr().out == json.dumps(value, indent=2) + "\n"


@pytest.mark.slow
def test_brackets_and_commas_in_texts_are_not_counted() -> None:
    check_values(b'{"markdown": "' + b'[{,\\"' * 4_000_000 + b'"}')
    check_values(b'"' + b'\\"' * 4_000_000)  # a string without an end takes linear time
    check_values(b'["' + b'\\"[' * 1_000_000 + b"\\")
    with pytest.raises(TooLarge):
        check_values(b'["",' * 200_000)
    with pytest.raises(TooLarge):
        check_values(b"[" + b"0," * MAX_VALUES)


@pytest.mark.slow
def test_a_page_of_a_list_with_too_many_items(tmp_path: Path) -> None:
    body = b'{"items":[' + b",".join(b'{"id":"%d"}' % number for number in range(10_001)) + b"]}"
    with answering(body) as base_url:
        shell = Shell(tmp_path, {"PRESSCHECK_BASE_URL": base_url, "PRESSCHECK_TOKEN": "token"})
        ran = shell.run("org", "list")
    assert ran.exit_code == 1
    assert "should have at most 10000 items" in ran.stderr


@pytest.mark.parametrize("limit", ["MAX_HELD", "MAX_PRINTED"])
def test_a_list_that_is_too_large_for_memory(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, limit, 1)
    with HostileService("well-formed").running() as service:
        shell = Shell(tmp_path, {"PRESSCHECK_BASE_URL": service.base_url, "PRESSCHECK_TOKEN": "token"})
        for words in (("cr", "list"), ("cr", "list", "--json")):
            ran = shell.run(*words)
            assert ran.exit_code == 1
            assert "The list is incomplete: only the first 1 item were loaded" in ran.stderr
            assert "x" in ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["MAX_ITEMS", "MAX_PAGES", "MAX_SECONDS"])
def test_a_list_without_an_end(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing_guard, limit, 0 if limit == "MAX_SECONDS" else 20)
    with HostileService("a new item on each page").running() as service:
        shell = Shell(tmp_path, {"PRESSCHECK_BASE_URL": service.base_url, "PRESSCHECK_TOKEN": "token"})
        inbox, listed = shell.run("inbox"), shell.run("org", "list")
    number = 1 if limit == "MAX_SECONDS" else 20
    reason = {
        "MAX_ITEMS": "only the first 20 items were loaded",
        "MAX_PAGES": "only the first 20 pages were loaded",
        "MAX_SECONDS": "loading it took longer than 0 minutes",
    }
    assert f"All open {number}" in inbox.stdout
    assert listed.stdout.count("\n") == number
    for ran in (inbox, listed):
        assert ran.exit_code == 1
        assert f"The list is incomplete: {reason[limit]}" in ran.stderr
