"""Runs the published script of an integration on one event, in a process of its own (script_process.py)."""

from __future__ import annotations

import base64
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from presscheck.extras import missing_modules
from presscheck.service.integrations import script_process
from presscheck.service.integrations.outbound_http import Outgoing, OutgoingError

MOST_AT_ONCE = 4
"""Scripts that run at once in this process of the service; others wait for their turn."""
LARGEST_OUTPUT = 32 * 1024 * 1024
"""Most bytes that one process may send, with its requests."""
MOST_FETCHES = 20
"""Most requests of one run."""
TIME_TO_RESPOND = 0.5
"""Seconds of a run in which it sends nothing, so that the script can respond to a failed request."""
LARGEST_FETCHED = 4 * 1024 * 1024
"""Most bytes of a response that a script gets."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
OWN_HEADERS = ("host", "connection", "content-length", "transfer-encoding", "accept-encoding", "user-agent", "upgrade")
"""Headers that the client for outgoing requests writes itself."""
ENGINE_MISSING = (
    "This service cannot run the scripts of integrations: its JavaScript engine is not installed (the extra"
    " `integrations`). Set up a development tunnel for this integration, or ask the operator of the service."
)
FETCH_IS_OFF = "requests of integration scripts are turned off on this service"
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Environment variables that an interpreter may need to start."""

_TURNS = threading.BoundedSemaphore(MOST_AT_ONCE)
_log = logging.getLogger("presscheck.service")


@dataclass(frozen=True)
class ScriptConfig:
    """The operator's settings for scripts.

    Args:
        may_fetch: whether scripts may send requests, through the client for outgoing requests.
        memory: bytes of memory of a script.
        processor_seconds: processor time of a run.
        seconds: time of a run; waiting for other servers counts.
    """

    may_fetch: bool = False
    memory: int = 128 * 1024 * 1024
    processor_seconds: int = 4
    seconds: float = 15.0


@dataclass
class ScriptRun:
    """What a script did: its response, and why it failed; both if it failed after it had responded."""

    status: int | None = None
    content_type: str = ""
    text: str = ""
    error: str | None = None
    is_over_time: bool = False


class EngineMissing(Exception):
    """The JavaScript engine is not installed."""


class EngineBusy(Exception):
    """Too many scripts run already."""


class _BrokenOutput(Exception):
    """The process sent what it must not."""


def run_script(
    script: str,
    event: dict[str, Any],
    environment: dict[str, Any],
    *,
    outgoing: Outgoing,
    config: ScriptConfig,
    log: Callable[[str, str], None],
) -> ScriptRun:
    """Runs a script on an event, and waits for it within the limits of `config`.

    Args:
        script: the source, as a module or as a script.
        event: the event, as JSON.
        environment: the data of the integration and its installation, as JSON.
        outgoing: the client for the requests of the script.
        config: the limits.
        log: takes the level and the text of each line that the script writes to its console.

    Raises:
        EngineMissing: the JavaScript engine is not installed.
        EngineBusy: too many scripts run already.
    """
    if any(missing_modules("integrations")):
        raise EngineMissing(ENGINE_MISSING)
    if not _TURNS.acquire(timeout=config.seconds):
        raise EngineBusy("Too many scripts of integrations run already; try again later.")
    try:
        return _run(script, event, environment, outgoing, config, log)
    finally:
        _TURNS.release()


def _run(
    script: str,
    event: dict[str, Any],
    environment: dict[str, Any],
    outgoing: Outgoing,
    config: ScriptConfig,
    log: Callable[[str, str], None],
) -> ScriptRun:
    job = {
        "script": script,
        "event": event,
        "environment": environment,
        "memory": config.memory,
        "processorSeconds": config.processor_seconds,
        "seconds": config.seconds + 1,
    }
    run = ScriptRun()
    until = time.monotonic() + config.seconds
    is_ended, code = False, 0
    try:
        with _process(config.seconds) as process:
            try:
                is_ended = _converse(process, job, run, _Requests(outgoing, config, until), log)
            except BrokenPipeError:
                process.wait()  # it ended before it read all
        code = process.returncode
    except OSError as error:
        _log.warning("could not run an integration script: %s", error)
        run.error = "The service could not start the process of the script."
    except (_BrokenOutput, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        _log.warning("the process of an integration script sent invalid output: %s", error)
        run.status, run.error = None, "The script ended the JavaScript engine."
    if not is_ended and run.error is None:
        _note_end(run, code, config, is_over_time=time.monotonic() >= until)
    return run


def process_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What the process inherits of an environment: nothing but what its interpreter may need to start."""
    return {name: environment[name] for name in _KEPT if name in environment}


@contextmanager
def _process(seconds: float) -> Generator[subprocess.Popen[bytes], None, None]:
    """The process, which ends with the block, and at the latest after `seconds`."""
    process = subprocess.Popen(  # noqa: S603  # our own interpreter and file
        [sys.executable, "-I", "-B", script_process.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=process_environment(os.environ),
        start_new_session=True,
    )
    timer = threading.Timer(seconds, process.kill)
    timer.daemon = True
    timer.start()
    try:
        yield process
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                _close(pipe)


def _close(pipe: BinaryIO | Any) -> None:
    try:
        pipe.close()
    except OSError:  # unsent input of a process that has ended
        return


def _converse(
    process: subprocess.Popen[bytes],
    job: dict[str, Any],
    run: ScriptRun,
    requests: _Requests,
    log: Callable[[str, str], None],
) -> bool:
    """Sends the job and takes the output until the end; False if the process ended without one."""
    if process.stdin is None or process.stdout is None:
        raise TypeError("the process has no pipes")
    _send(process.stdin, job)
    left = LARGEST_OUTPUT
    while True:
        head = process.stdout.read(4)
        if len(head) < 4:
            process.wait()
            return False
        length = int.from_bytes(head, "big")
        left -= length
        if left < 0:
            raise _BrokenOutput("too much")
        data = process.stdout.read(length)
        if len(data) < length:
            process.wait()
            return False
        frame: dict[str, Any] = json.loads(data)
        match frame.pop("kind"):
            case "log":
                log(str(frame["level"]), str(frame["message"]))
            case "response":
                run.status, run.content_type, run.text = (
                    int(frame["status"]),
                    str(frame["content_type"]),
                    str(frame["text"]),
                )
                if not 200 <= run.status <= 599:
                    raise _BrokenOutput("the status")
            case "fetch":
                _send(process.stdin, requests.reply(**frame))
            case "end":
                run.error = str(frame["error"]) if "error" in frame else None
                process.wait()
                return True
            case kind:
                raise _BrokenOutput(f"the frame {kind}")


def _send(pipe: BinaryIO | Any, value: dict[str, Any]) -> None:
    data = json.dumps(value).encode()
    pipe.write(len(data).to_bytes(4, "big") + data)
    pipe.flush()


def _note_end(run: ScriptRun, code: int, config: ScriptConfig, *, is_over_time: bool) -> None:
    """Notes why a process ended early; a script that has responded only did not finish what it began."""
    if code == -signal.SIGXCPU:
        run.error = f"The script used more than {config.processor_seconds} s of processor time."
        run.is_over_time = True
    elif is_over_time or code == -signal.SIGALRM:
        run.error = f"The script did not finish within {config.seconds:.0f} s."
        run.is_over_time = True
    else:
        run.error = "The script ended the JavaScript engine, for example by using too much memory."


class _Requests:
    """Sends the requests of one run."""

    def __init__(self, outgoing: Outgoing, config: ScriptConfig, until: float) -> None:
        self._outgoing, self._config, self._until = outgoing, config, until
        self._count = 0

    def reply(self, method: str, url: str, headers: list[list[str]], body: str, redirect: str) -> dict[str, Any]:
        """The response as JSON, or an error."""
        self._count += 1
        if not self._config.may_fetch:
            return {"error": FETCH_IS_OFF}
        if self._count > MOST_FETCHES:
            return {"error": f"a script may send at most {MOST_FETCHES} requests"}
        if method not in METHODS:
            return {"error": f"the method {method} is not supported"}
        sent = {str(name): str(value) for name, value in headers if str(name).lower() not in OWN_HEADERS}
        try:
            response = self._outgoing.request(
                method,
                url,
                headers=sent,
                body=base64.b64decode(body) or None,
                follows=redirect != "manual",
                seconds=max(0.1, self._until - time.monotonic() - TIME_TO_RESPOND),
            )
        except OutgoingError as error:
            return {"error": str(error)}
        if len(response.body) > LARGEST_FETCHED:
            return {"error": f"{url}: the response is larger than {LARGEST_FETCHED // 1024 // 1024} MB"}
        return {
            "url": response.url,
            "status": response.status,
            "headers": dict(response.headers),
            "body": base64.b64encode(response.body).decode(),
        }
