"""The process that runs the script of an integration on one event, isolated from the system.

It is started by its path in an isolated interpreter, so it imports nothing from this package. Standard input and output
carry frames: four bytes of length, then JSON. The first frame from the service is the job. The process sends log lines,
at most one response, and an end frame; after each request of the script, it waits for a reply.

The engine is QuickJS, which starts in milliseconds and limits its memory and stack. Before the process loads the
script, it gives up the ability to open files and sockets, to start processes, and to use more memory and processor time
than the job allows. On Linux, the kernel also refuses all system calls that a computation does not need.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import hashlib
import hmac
import importlib
import json
import os
import platform
import resource
import signal
import struct
import sys
import time
import uuid
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit

LARGEST_RESPONSE = 1024 * 1024
"""Maximum number of characters of the body of a response."""
LARGEST_FRAME = 192 * 1024 * 1024
"""Maximum size of a frame in bytes; a job contains a script."""
MOST_LOG_LINES = 250
"""Maximum number of log lines that are sent; the web APIs stop earlier."""
INTERPRETER_MEMORY = 512 * 1024 * 1024
"""Address space for the interpreter and for copies of the script, in bytes, in addition to the memory of the script."""
WITHOUT_ERROR = "The script threw null, or it is out of memory."
"""Error of a script for which the engine reports no error, perhaps because it had no memory for one."""
LONGEST_SLEEP = 3600.0
HASHES = {"SHA-1": "sha1", "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512"}

# read, write, close, fstat, lseek, memory, signals, sleep, clocks, futex, random bytes, exit
_SYSTEM_CALLS = {
    "x86_64": (
        0xC000003E,
        (0, 1, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 28, 35, 39, 60, 96, 98, 131, 186, 201, 202, 219, 228, 229,
         230, 231, 318, 334),
    ),
    "aarch64": (
        0xC00000B7,
        (57, 62, 63, 64, 80, 93, 94, 98, 101, 113, 114, 115, 124, 128, 132, 134, 135, 139, 165, 169, 172, 178, 214,
         215, 216, 222, 226, 233, 278, 293),
    ),
}  # fmt: skip
"""For each machine type, its number in the kernel's audit interface and the allowed system calls."""
# openat; then calls for reading files and folders, starting threads and querying their processors
_READING = {
    "x86_64": (257, (16, 17, 21, 56, 72, 79, 89, 204, 217, 262, 267, 273, 332, 435, 439)),
    "aarch64": (56, (17, 25, 29, 48, 61, 67, 78, 79, 99, 123, 220, 291, 435, 439)),
}
"""For each machine type, the system call that opens files, and further calls for processes that read files."""
_WRITES = 0o1 | 0o2 | 0o100 | 0o1000
"""Flags of openat: write, read and write, create, truncate."""


class ChannelClosed(Exception):
    """The service has closed the connection, or sent a frame that is too large."""


class Channel:
    """A channel to the service, which carries frames on standard input and output."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self._source, self._target = source, target

    def receive(self) -> Any:
        """Read one frame.

        Raises:
            ChannelClosed: the input has ended, or the frame is too large.
        """
        length = int.from_bytes(self._exactly(4), "big")
        if length > LARGEST_FRAME:
            raise ChannelClosed("frame too large")
        return json.loads(self._exactly(length))

    def send(self, kind: str, **values: Any) -> None:
        """Write one frame."""
        data = json.dumps({"kind": kind, **values}).encode()
        self._target.write(len(data).to_bytes(4, "big") + data)
        self._target.flush()

    def _exactly(self, count: int) -> bytes:
        data = self._source.read(count)
        if len(data) < count:
            raise ChannelClosed("end of input")
        return data


def restrict(memory: int, processor_seconds: int, seconds: float, *, reads_files: bool = False) -> None:
    """Irrevocably give up access to files, network and other programs, and limit memory and time.

    Args:
        memory: maximum address space, in bytes.
        processor_seconds: processor time after which the kernel kills the process.
        seconds: time after which the kernel kills the process.
        reads_files: whether the process may still read files and start threads.
    """
    with contextlib.suppress(OSError):
        os.nice(5)
    for kind, soft, hard in (
        (resource.RLIMIT_AS, memory, memory),
        # exceeding the soft limit sends its own signal
        (resource.RLIMIT_CPU, processor_seconds, processor_seconds + 1),
        *(() if reads_files else ((resource.RLIMIT_NOFILE, 0, 0),)),  # no new descriptors: neither files nor sockets
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        # a stricter limit is set already, or the system lacks this limit
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (soft, hard))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    machine = platform.machine()
    if sys.platform == "linux" and machine in _SYSTEM_CALLS:
        architecture, allowed = _SYSTEM_CALLS[machine]
        opens, others = _READING[machine] if reads_files else (None, ())
        _filter_system_calls(architecture, (*allowed, *others), opens)


def _filter_system_calls(architecture: int, allowed: tuple[int, ...], opens: int | None) -> None:
    """Make the kernel refuse all system calls except `allowed` (seccomp).

    Without kernel support, only the resource limits apply.

    The filter is a BPF program: it kills the process on a foreign architecture, allows the listed calls, allows `opens`
    unless a flag of `_WRITES` is set, and refuses everything else.
    """

    def step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
        return struct.pack("HBBI", code, if_true, if_false, value)

    load, equals, has_any, answer = 0x20, 0x15, 0x45, 0x06
    allow, refuse, kill = 0x7FFF0000, 0x00050000 | 1, 0x80000000
    program = [step(load, 4), step(equals, architecture, 1), step(answer, kill), step(load, 0)]
    flags = 32  # offset of the third argument in `struct seccomp_data`
    reading = [] if opens is None else [step(equals, opens, 0, 2), step(load, flags), step(has_any, _WRITES, 0, 1)]
    after = len(allowed) + len(reading)
    program += [step(equals, number, after - index) for index, number in enumerate(allowed)]
    program += [*reading, step(answer, refuse), step(answer, allow)]
    code = ctypes.create_string_buffer(b"".join(program))
    filter_program = ctypes.create_string_buffer(struct.pack("@HP", len(program), ctypes.addressof(code)))
    no_new_privileges, set_filter, filter_mode = 38, 22, 2
    process, none = ctypes.CDLL(None), ctypes.c_ulong(0)
    process.prctl(no_new_privileges, ctypes.c_ulong(1), none, none, none)
    process.prctl(set_filter, ctypes.c_ulong(filter_mode), filter_program, none, none)


class Host:
    """The functions that `web_apis.js` calls in this process. `outcome` is set when the script has finished."""

    def __init__(self, channel: Channel) -> None:
        self.outcome: dict[str, Any] | None = None
        self._channel = channel
        self._lines = 0
        self._has_response = False

    def call(self, operation: str, text: str) -> str:
        """Run an operation; its arguments and its result are JSON objects.

        An exception is returned as JSON, because the engine cannot propagate Python exceptions; the script throws it.
        """
        try:
            values: dict[str, Any] = json.loads(text)
            return json.dumps(getattr(self, f"on_{operation}")(**values) or {})
        except ChannelClosed:
            self.outcome = {"error": "the service ended the connection"}
            return '{"exception": "the service ended the connection"}'
        except Exception as error:
            return json.dumps({"exception": f"{operation}: {error}"})

    def on_log(self, level: str, message: str) -> None:
        """Send a line of the console."""
        self._lines += 1
        if self._lines <= MOST_LOG_LINES:
            self._channel.send("log", level=str(level), message=str(message))

    def on_respond(self, status: int, headers: dict[str, str], text: str) -> None:
        """Send the response of the script, unless it has responded already."""
        if len(text) > LARGEST_RESPONSE:
            self.on_fail(f"The response is longer than {LARGEST_RESPONSE} characters.")
        elif not self._has_response:
            self._has_response = True
            self._channel.send("response", status=int(status), headers=headers, text=str(text))

    def on_end(self) -> None:
        """Record that the script and everything that it waits for have finished."""
        self.outcome = self.outcome or {}

    def on_fail(self, message: str) -> None:
        """Record that the script has failed."""
        self.outcome = self.outcome or {"error": str(message)}

    def on_fetch(self, **request: Any) -> dict[str, Any]:
        """Send a request of the script to the service, and wait for the reply."""
        self._channel.send("fetch", **request)
        reply: dict[str, Any] = self._channel.receive()
        return reply

    def on_random(self, count: int) -> dict[str, Any]:
        """Return random bytes."""
        return {"bytes": base64.b64encode(os.urandom(int(count))).decode()}

    def on_uuid(self) -> dict[str, Any]:
        """Return a random UUID."""
        return {"text": str(uuid.uuid4())}

    def on_digest(self, hash: str, data: str) -> dict[str, Any]:  # noqa: A002  # the name in the web API
        """Return the hash of bytes."""
        if hash not in HASHES:
            return {"error": f"the hash {hash} is not supported"}
        return {"bytes": base64.b64encode(hashlib.new(HASHES[hash], base64.b64decode(data)).digest()).decode()}

    def on_hmac(self, hash: str, key: str, data: str) -> dict[str, Any]:  # noqa: A002
        """Return the HMAC of bytes."""
        if hash not in HASHES:
            return {"error": f"the hash {hash} is not supported"}
        signature = hmac.digest(base64.b64decode(key), base64.b64decode(data), HASHES[hash])
        return {"bytes": base64.b64encode(signature).decode()}

    def on_decode(self, bytes: str, fatal: bool) -> dict[str, Any]:  # noqa: A002
        """Decode UTF-8."""
        try:
            return {"text": base64.b64decode(bytes).decode("utf-8", "strict" if fatal else "replace")}
        except UnicodeDecodeError:
            return {"error": "the bytes are not UTF-8"}

    def on_parse_query(self, text: str) -> dict[str, Any]:
        """Return the parameters of a query string."""
        return {"pairs": parse_qsl(text, keep_blank_values=True, errors="replace")}

    def on_format_query(self, pairs: list[tuple[str, str]]) -> dict[str, Any]:
        """Return the query string for parameters."""
        return {"text": urlencode([(name, value) for name, value in pairs], errors="replace")}

    def on_parse_url(self, url: str, base: str | None) -> dict[str, Any]:
        """Return the parts of a URL."""
        try:
            parts = urlsplit(urljoin(base, url.strip()) if base else url.strip())
            port, host = parts.port, parts.hostname or ""
        except ValueError:
            return {"error": "invalid"}
        is_web = parts.scheme in ("http", "https")
        if not parts.scheme or (is_web and not host):
            return {"error": "invalid"}
        default = {"http": 80, "https": 443}.get(parts.scheme)
        safe = "!$%&'()*+,-./:;=@_~[]|"
        return {
            "protocol": f"{parts.scheme}:",
            "username": parts.username or "",
            "password": parts.password or "",
            "hostname": f"[{host}]" if ":" in host else host,
            "port": str(port) if port is not None and port != default else "",
            "pathname": quote(parts.path, safe=safe, errors="replace") or ("/" if is_web else ""),
            "search": f"?{quote(parts.query, safe=safe + '?/', errors='replace')}" if parts.query else "",
            "hash": f"#{quote(parts.fragment, safe=safe + '?/', errors='replace')}" if parts.fragment else "",
        }


def run_script(engine: Any, apis: str, job: dict[str, Any], host: Host) -> None:
    """Load the script and pass it the event; the outcome is in `host`.

    Raises:
        engine.JSException: the script could not be loaded.
    """
    script: str = job["script"]
    # if `export` is only in a string, the text either fails to compile as a module or runs as well as one
    kinds = ("module", "eval") if "export" in script else ("eval",)
    for kind in kinds:
        context = engine.Context()
        context.set_memory_limit(job["memory"])
        context.add_callable("__host", host.call)
        functions = context.eval(apis)
        dispatch, tick, load = (functions_of(context, functions, name) for name in ("dispatch", "tick", "load"))
        try:
            getattr(context, kind)(script)
        except engine.JSException as error:
            if kind != kinds[-1] and str(error).startswith("SyntaxError"):
                continue
            raise
        values = json.dumps({"event": job["event"], "environment": job["environment"]})
        dispatch(values, *([load()] if kind == "module" else []))
        _finish(context, tick, host)
        return


def functions_of(context: Any, holder: Any, name: str) -> Any:
    """Return one function of a JavaScript object."""
    return context.eval(f"(holder) => holder.{name}")(holder)


def _finish(context: Any, tick: Any, host: Host) -> None:
    """Run pending jobs and timers until there is an outcome."""
    while host.outcome is None:
        if context.execute_pending_job():
            continue
        pause = tick()
        if pause < 0:
            host.on_fail("The script never responded: it waits for something that does not happen.")
        elif pause > 0:
            time.sleep(min(pause / 1000, LONGEST_SLEEP))


def main() -> None:
    """Run the job that the service sends on standard input."""
    channel = Channel(sys.stdin.buffer, sys.stdout.buffer)
    job = channel.receive()
    host = Host(channel)
    try:
        apis = Path(__file__).with_name("web_apis.js").read_text("utf-8")
        engine = importlib.import_module("_quickjs")  # the public module starts a thread
        # makes libraries load their files before files are inaccessible
        hmac.digest(b"", hashlib.new("sha512", b"").digest(), "sha384")
        restrict(job["memory"] + INTERPRETER_MEMORY, job["processorSeconds"], job["seconds"])
        run_script(engine, apis, job, host)
    except MemoryError:
        host.on_fail("out of memory")
    except Exception as error:  # the script may make the engine raise anything; its log gets the error
        message = str(error).strip()
        first, _, rest = message.partition("\n")  # an error, then its stack, which may repeat the error
        message = rest if rest.startswith(first) else message
        host.on_fail(WITHOUT_ERROR if message in ("", "null") else message)
    channel.send("end", **(host.outcome or {}))


if __name__ == "__main__":
    main()
