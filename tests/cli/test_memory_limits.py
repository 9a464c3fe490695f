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
from presscheck.client.client import TooLarge, check_values

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
    """Run a service that answers every request with the same body. Yields its URL."""

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
    """Run a command in a separate process. Returns its exit code, its stderr and its peak memory in MB."""
    shell = Shell(home, {"PRESSCHECK_BASE_URL": base_url, "PRESSCHECK_TOKEN": "token"})
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], env=shell.environment, capture_output=True, text=True, timeout=100
    )
    peak = re.search(r"peak (\d+)", ran.stderr)
    assert peak, ran.stderr
    return ran.returncode, ran.stderr, int(peak[1]) / 1024


@pytest.mark.slow
def test_response_with_too_many_small_items_is_rejected(tmp_path: Path) -> None:
    body = b'{"items":[' + b",".join([b'{"object":"space","id":"x"}'] * (8 * MB // 28)) + b"]}"
    with answering(body) as base_url:
        code, printed, peak = run(tmp_path, base_url, "api", "list-spaces", "--organization-id", "x", "--all")
    assert code == 1
    assert "Invalid response from the service: it has more than 150,000 objects or 3,000,000 values" in printed
    assert peak < 250


@pytest.mark.slow
def test_compressed_gigabyte_is_rejected(tmp_path: Path) -> None:
    packer = zlib.compressobj(9, wbits=31)
    start = packer.compress(b" " * MB) + packer.flush(zlib.Z_FULL_FLUSH)
    body = start + 1023 * (packer.compress(b" " * MB) + packer.flush(zlib.Z_FULL_FLUSH))  # no end of stream
    with answering(body, encoding="gzip") as base_url:
        code, printed, peak = run(tmp_path, base_url, "whoami")
    assert code == 1
    assert "Invalid response from the service: it is larger than 32 MiB" in printed
    assert peak < 250


def test_json_printed_in_parts_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"items": [{"id": str(number), "title": "Ä\x1b[31m"} for number in range(5_000)]}
    output.print_json(value)
    assert capsys.readouterr().out == json.dumps(value, indent=2) + "\n"


def test_brackets_and_commas_in_texts_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presscheck.client.client.MAX_OBJECTS", 1_000)
    monkeypatch.setattr("presscheck.client.client.MAX_VALUES", 10_000)
    check_values(b'{"markdown": "' + b'[{,\\"' * 20_000 + b'"}')
    check_values(b'["' + b'\\"[' * 20_000 + b"\\")  # a string without an end takes linear time
    with pytest.raises(TooLarge):
        check_values(b'["",' * 1_001)
    with pytest.raises(TooLarge):
        check_values(b"[" + b"0," * 10_000)


def test_page_of_a_list_with_too_many_items_is_rejected(tmp_path: Path) -> None:
    body = b'{"items":[' + b",".join(b'{"id":"%d"}' % number for number in range(10_001)) + b"]}"
    with answering(body) as base_url:
        shell = Shell(tmp_path, {"PRESSCHECK_BASE_URL": base_url, "PRESSCHECK_TOKEN": "token"})
        ran = shell.run("org", "list")
    assert ran.exit_code == 1
    assert "should have at most 10000 items" in ran.stderr


@pytest.mark.parametrize("limit", ["MAX_HELD", "MAX_PRINTED"])
def test_list_that_is_too_large_for_memory_is_incomplete(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, limit, 1)
    with HostileService("well-formed").running() as service:
        shell = Shell(tmp_path, {"PRESSCHECK_BASE_URL": service.base_url, "PRESSCHECK_TOKEN": "token"})
        for words in (("cr", "list"), ("cr", "list", "--json")):
            ran = shell.run(*words)
            assert ran.exit_code == 1
            assert "The list is incomplete: only the first 1 item were loaded" in ran.stderr
            assert "x" in ran.stdout
