"""Execution of the scripts of integrations: one event per run, in a separate process (`script_process.py`)."""

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
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from presscheck.extras import missing_modules
from presscheck.service.integrations import script_process
from presscheck.service.integrations.in_process_api import InProcessApi
from presscheck.service.integrations.outbound_http import Fetched, Outgoing, OutgoingError

MOST_AT_ONCE, MOST_FOR_VISITORS = 4, 3
"""Maximum number of scripts that a process of the service runs at the same time, and maximum number of these that
visitors caused. Further scripts wait.
"""
LARGEST_OUTPUT = 32 * 1024 * 1024
"""Maximum number of bytes that a script process may send, including the requests of the script."""
MOST_FETCHES = 20
"""Maximum number of requests per run."""
TIME_TO_RESPOND = 0.5
"""Requests time out this many seconds before the end of a run, so that the script can still respond."""
LARGEST_FETCHED = 4 * 1024 * 1024
"""Maximum size of a response that a script receives, in bytes."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
OWN_HEADERS = ("host", "connection", "content-length", "transfer-encoding", "accept-encoding", "user-agent", "upgrade")
"""Headers that scripts cannot set, because the client for outgoing requests sets them."""
ENGINE_MISSING = (
    "This service cannot run the scripts of integrations: its JavaScript engine is not installed (the extra"
    " `integrations`). Set up a development tunnel for this integration, or ask the operator of the service."
)
FETCH_IS_OFF = "requests of integration scripts are turned off on this service"
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Environment variables that the interpreter may need to start."""

_running = threading.BoundedSemaphore(MOST_AT_ONCE)
_running_for_visitors = threading.BoundedSemaphore(MOST_FOR_VISITORS)
_log = logging.getLogger("presscheck.service")


@dataclass(frozen=True)
class ScriptConfig:
    """Settings of the operator for scripts.

    Args:
        hosts: the hosts that scripts may send requests to, through the client for outgoing requests: names,
            `*.example.org`, or `*` for all.
        service: handles requests of scripts to the API of this service, which do not depend on `hosts`.
        memory: maximum memory of a script, in bytes.
        processor_seconds: maximum processor time of a run.
        seconds: maximum duration of a run, including waiting for other servers.
        is_for_visitors: whether visitors can cause the run; at most `MOST_FOR_VISITORS` such runs take place at a time.
    """

    hosts: tuple[str, ...] = ()
    service: InProcessApi | None = None
    memory: int = 128 * 1024 * 1024
    processor_seconds: int = 4
    seconds: float = 15.0
    is_for_visitors: bool = False


@dataclass
class ScriptRun:
    """The response of a script, and its error; a script has both if it fails after responding."""

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    text: str = ""
    error: str | None = None
    is_over_time: bool = False

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class EngineMissing(Exception):
    """The JavaScript engine is not installed."""


class EngineBusy(Exception):
    """Too many scripts are running."""


class _BrokenOutput(Exception):
    """The process sent invalid output."""


def run_script(
    script: str,
    event: dict[str, Any],
    environment: dict[str, Any],
    *,
    outgoing: Outgoing,
    config: ScriptConfig,
    log: Callable[[str, str], None],
) -> ScriptRun:
    """Run a script on an event, within the limits of `config`.

    Args:
        script: the source of a module or a classic script.
        event: the event, as JSON.
        environment: the data of the integration and its installation, as JSON.
        outgoing: the client for the requests of the script.
        config: the limits.
        log: receives the level and the text of each line that the script writes to its console.

    Raises:
        EngineMissing: the JavaScript engine is not installed.
        EngineBusy: too many scripts are running.
    """
    if any(missing_modules("integrations")):
        raise EngineMissing(ENGINE_MISSING)
    with ExitStack() as held:
        for limit in (_running_for_visitors, _running) if config.is_for_visitors else (_running,):
            if not limit.acquire(timeout=config.seconds):
                raise EngineBusy("Too many scripts of integrations run already; try again later.")
            held.callback(limit.release)
        return _run(script, event, environment, outgoing, config, log)


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
    deadline = time.monotonic() + config.seconds
    is_ended, code = False, 0
    try:
        with _process(config.seconds) as process:
            try:
                is_ended = _converse(process, job, run, _Requests(outgoing, config, environment, deadline), log)
            except BrokenPipeError:
                process.wait()  # the process ended before it read everything
        code = process.returncode
    except OSError as error:
        _log.warning("could not run an integration script: %s", error)
        run.error = "The service could not start the process of the script."
    except (_BrokenOutput, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        _log.warning("the process of an integration script sent invalid output: %s", error)
        run.status, run.error = None, "The script ended the JavaScript engine."
    if not is_ended and run.error is None:
        _record_early_end(run, code, config, is_over_time=time.monotonic() >= deadline)
    return run


def process_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables for a script process: only variables that its interpreter may need to start."""
    return {name: environment[name] for name in _KEPT if name in environment}


@contextmanager
def _process(seconds: float) -> Generator[subprocess.Popen[bytes], None, None]:
    """Start the process, and kill it at the end of the block or after `seconds`."""
    process = subprocess.Popen(  # noqa: S603  # the interpreter of this process, and a file of this package
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
    except OSError:  # the process ended before it read its input
        return


def _converse(
    process: subprocess.Popen[bytes],
    job: dict[str, Any],
    run: ScriptRun,
    requests: _Requests,
    log: Callable[[str, str], None],
) -> bool:
    """Send the job and process the output. Return False if the process ended without an end frame."""
    if process.stdin is None or process.stdout is None:
        raise TypeError("the process has no pipes")
    _send(process.stdin, job)
    bytes_left = LARGEST_OUTPUT
    while True:
        head = process.stdout.read(4)
        if len(head) < 4:
            process.wait()
            return False
        length = int.from_bytes(head, "big")
        bytes_left -= length
        if bytes_left < 0:
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
                run.status, run.text = int(frame["status"]), str(frame["text"])
                run.headers = {str(name).lower(): str(value) for name, value in frame["headers"].items()}
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


def _record_early_end(run: ScriptRun, code: int, config: ScriptConfig, *, is_over_time: bool) -> None:
    if code == -signal.SIGXCPU:
        run.error = f"The script used more than {config.processor_seconds} s of processor time."
        run.is_over_time = True
    elif is_over_time or code == -signal.SIGALRM:
        run.error = f"The script did not finish within {config.seconds:.0f} s."
        run.is_over_time = True
    else:
        run.error = "The script ended the JavaScript engine, for example by using too much memory."


class _Requests:
    """The client for the requests of one run."""

    def __init__(self, outgoing: Outgoing, config: ScriptConfig, environment: dict[str, Any], until: float) -> None:
        self._outgoing, self._config, self._deadline = outgoing, config, until
        self._api = f"{environment.get('apiEndpoint')}/v1/"
        self._authorizations = {f"Bearer {token}" for token in environment.get("apiTokens", {}).values() if token}
        self._count = 0

    def reply(self, method: str, url: str, headers: list[list[str]], body: str, redirect: str) -> dict[str, Any]:
        """Send a request of the script. Return the response in JSON values, or an object with `error`."""
        self._count += 1
        if self._count > MOST_FETCHES:
            return {"error": f"a script may send at most {MOST_FETCHES} requests"}
        if method not in METHODS:
            return {"error": f"the method {method} is not supported"}
        sent = {str(name).lower(): str(value) for name, value in headers if str(name).lower() not in OWN_HEADERS}
        seconds = max(0.1, self._deadline - time.monotonic() - TIME_TO_RESPOND)
        try:
            response = self._response(method, url, sent, base64.b64decode(body), redirect != "manual", seconds)
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

    def _response(
        self, method: str, url: str, headers: dict[str, str], body: bytes, follows: bool, seconds: float
    ) -> Fetched:
        """Send a request to the API of this service, or to another allowed host.

        Calls to the API must have a token of this run, so that a script cannot try other tokens.
        """
        if self._config.service is not None and url.startswith(self._api):
            if headers.get("authorization") not in self._authorizations:
                raise OutgoingError(f"{self._api} takes the tokens of the environment only")
            return self._config.service.request(method, url, headers, body, seconds)
        if not self._config.hosts:
            raise OutgoingError(FETCH_IS_OFF)
        return self._outgoing.request(
            method,
            url,
            headers=headers,
            body=body or None,
            follows=follows,
            seconds=seconds,
            hosts=self._config.hosts,
        )
