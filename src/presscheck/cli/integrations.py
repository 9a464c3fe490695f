"""`presscheck integration dev`: receives the events of an integration, and runs its script on this computer."""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

import click
from typing_extensions import override

from presscheck.api.integrations import (
    DisableDevelopmentMode,
    GetInstallation,
    GetIntegration,
    Integration,
    SetDevelopmentMode,
)
from presscheck.cli.operations.resource_commands import integration
from presscheck.cli.output import as_json, has_color, print_json_line, print_line, print_message
from presscheck.cli.session import Session, with_session
from presscheck.cli.watch import until_signal
from presscheck.engine.integrations.manifest import Manifest, file_states, read_manifest
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.text.phrases import now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.wiring import ScriptResponse, script_runner

HOST = "127.0.0.1"
LARGEST_EVENT = 16 << 20
"""Maximum bytes of an event."""
SECONDS = 30
"""Maximum seconds to receive an event."""
__all__ = ["integration"]
PORT = 8787
"""The default port, which is fixed so that a tunnel can be started first."""
PAUSE = 0.5
"""Seconds between two checks of the files."""
READING = 10.0
"""Maximum seconds to read an installation."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
PLACES = ("installation", "space", "site")
"""The kinds of objects that an event can refer to."""
LEVELS = {"error": "removed", "warn": "waiting"}
"""The styles of log lines of a script, by level."""
RunScript = Callable[[str, dict[str, Any], dict[str, Any], Callable[[str, str], None]], ScriptResponse]


class Answer(NamedTuple):
    """The response to an event."""

    status: int
    content_type: str = "text/plain"
    text: str = ""


Respond = Callable[[dict[str, Any]], Answer]
"""Returns the response to an event; called in a separate thread per event."""


@contextmanager
def listening(port: int, respond: Respond) -> Generator[tuple[int, str]]:
    """Listen for events.

    Args:
        port: the port; 0 for any free port.
        respond: responds to an event.

    Yields:
        The port, and the path for events, which is random because a tunnel is public.

    Raises:
        InvalidArgument: the port is in use.
    """
    path = f"/{secrets.token_urlsafe(18)}"

    class Handler(BaseHTTPRequestHandler):
        """A handler that receives an event per request."""

        timeout = SECONDS
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            """Respond to an event."""
            event = self._event()
            answer = Answer(404) if event is None else respond(event)
            body = answer.text.encode("utf-8", "replace")
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.content_type or "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True

        def _event(self) -> dict[str, Any] | None:
            """Return the event of the request, or None for an invalid body or another path."""
            if not hmac.compare_digest(self.path.partition("?")[0].encode(), path.encode()):
                return None
            size = self.headers.get("Content-Length", "")
            if not size.isascii() or not size.isdigit() or int(size) > LARGEST_EVENT:
                return None
            try:
                read: Any = json.loads(self.rfile.read(int(size)))
            except (ValueError, RecursionError):
                return None
            return cast("dict[str, Any]", read) if isinstance(read, dict) else None

        @override
        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing: `Development` prints each event."""

    try:
        server = ThreadingHTTPServer((HOST, port), Handler)
    except OSError as error:
        raise InvalidArgument("--port", f"cannot listen on {port}: {error.strerror}") from None
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1]), path
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@integration.command("dev")
@click.argument("integration_name", metavar="INTEGRATION")
@click.option("--manifest", metavar="PATH", help="Run the script of this folder on each event; reloads on change.")
@click.option("--tunnel", metavar="URL", help="URL of your tunnel to the port, if the service is elsewhere.")
@click.option(
    "--port", type=click.IntRange(0, 65535), metavar="NUMBER", default=PORT, show_default=True, help="0 for a free one."
)
@click.option(
    "--allow-fetch",
    "fetch_hosts",
    multiple=True,
    metavar="HOST",
    help="Host on this computer or in a private network that the script may request, such as localhost (repeatable).",
)
@click.option("--all", "is_for_all", is_flag=True, help="Also the events of installations in other organizations.")
@with_session
async def develop(
    session: Session,
    integration_name: str,
    manifest: str | None,
    tunnel: str | None,
    port: int,
    fetch_hosts: tuple[str, ...],
    *,
    is_for_all: bool,
) -> None:
    """Receive the events of an integration on this computer.

    Until ctrl+c, the service sends the events here instead of to the published script, and each event is printed. With
    a manifest, the script in its folder runs on every event and responds, so components render from this script. The
    script's log is printed. The script is reloaded when a file changes; other changes of the manifest show after
    publishing. Running scripts requires the extra `integrations`.

    A service elsewhere cannot reach this computer: start a tunnel to the port first, and pass its URL. A local service
    needs `presscheck serve --allow-network 127.0.0.0/8`.
    """
    _check_tunnel(session, tunnel)
    known = await session.read(GetIntegration(integration_name=integration_name))
    folder = await asyncio.to_thread(read_manifest, Path(manifest)) if manifest else None
    events = Development(session, known, folder, script_runner(fetch_hosts) if folder else None)
    with listening(port, events.respond) as (listens_on, path):
        address = (tunnel or f"http://{HOST}:{listens_on}").rstrip("/") + path
        call = SetDevelopmentMode(
            integration_name=known.name,
            tunnel_url=address,
            **({"all": True} if is_for_all else {}),  # pyrefly: ignore[bad-argument-type]
        )
        await session.engine.write(call).landed()
        try:
            print_message(
                f"Events of {sanitize(known.title)} come to port {listens_on}"
                f"{f', through {sanitize(tunnel)}' if tunnel else ''}. Press ctrl+c to stop."
            )
            await until_signal(session, events.reload())
        finally:
            await _stop(session, known.name)


async def _stop(session: Session, name: str) -> None:
    try:
        await session.engine.write(DisableDevelopmentMode(integration_name=name)).landed()
    except PresscheckError as error:
        print_message(f"{error.message}: `presscheck integration tunnel remove {name}` stops sending events here.")
    else:
        print_message("Stopped: its published script gets the events.")


def _check_tunnel(session: Session, tunnel: str | None) -> None:
    """Check that the service can reach this computer.

    Raises:
        InvalidArgument: the address of a tunnel is missing or invalid.
    """
    if tunnel is None:
        service = urlsplit(session.profile.base_url)
        if service.scheme != "unix" and service.hostname not in LOOPBACK:
            reason = f"is required: {service.hostname} cannot reach this computer. Start a tunnel to port {PORT} first"
            raise InvalidArgument("--tunnel", reason)
        return
    try:
        parts = urlsplit(tunnel)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.fragment)
    except ValueError:
        is_address = False
    if not is_address:
        raise InvalidArgument("--tunnel", "must be a URL such as https://dev.example.org")


class Development:
    """A handler for the events of an integration, which prints each event and runs the script.

    Args:
        session: the session.
        known: the published integration.
        manifest: the folder of the integration; None to only print events.
        run_script: runs the script; None without a folder.
    """

    def __init__(
        self, session: Session, known: Integration, manifest: Manifest | None, run_script: RunScript | None
    ) -> None:
        self._session, self._integration = session, known
        self._manifest, self._run_script = manifest, run_script
        self._loop, self._turn = asyncio.get_running_loop(), threading.Lock()
        self._output_error: OSError | None = None

    def respond(self, event: dict[str, Any]) -> Answer:
        """Print an event. Return the response of the script, or a default response if no script runs."""
        manifest, run_script = self._manifest, self._run_script
        kind = str(event.get("type") or "event without a type")
        about = [
            f"{name.removesuffix('Id')} {event[name]}"
            for name in ("installationId", "spaceId", "siteId")
            if name in event
        ]
        self._print(kind, event, ("strong", kind), ("quiet", ", ".join(about)))
        if manifest is None or run_script is None:
            if kind == "ui_render":
                return Answer(501, text="nothing renders it: start `presscheck integration dev` with --manifest")
            return Answer(200)
        start = time.monotonic()
        answer = run_script(str(manifest.values["script"]), event, self._environment(manifest, event), self._log)
        if answer.status is None:
            self._print("failed", {"error": answer.error}, ("removed", f"  failed: {answer.error}"))
            return Answer(502, text=answer.error or "")
        took = round((time.monotonic() - start) * 1000)
        style = "quiet" if answer.status < 400 else "removed"
        self._print("responded", {"status": answer.status}, (style, f"  responded {answer.status} after {took:,} ms"))
        if answer.error:
            self._log("warn", f"after the response: {answer.error}")
        return Answer(answer.status, answer.content_type, answer.text)

    def _log(self, level: str, text: str) -> None:
        self._print("log", {"level": level, "message": text}, (LEVELS.get(level, ""), f"  {text}"))

    def _environment(self, manifest: Manifest, event: dict[str, Any]) -> dict[str, Any]:
        """Return the environment of the script: the integration, its installation and its secrets, without tokens."""
        known, values = self._integration, manifest.values
        about = {"target": values.get("target") or known.target, "scopes": list(values["scopes"])}
        environment: dict[str, Any] = {
            "integration": as_json(known) | about,
            "apiEndpoint": "",
            "apiTokens": {"integration": ""},
            "secrets": dict(values.get("secrets") or {}),
            "signingSecrets": {"integration": ""},
        }
        if isinstance(identity := event.get("installationId"), str):
            call = GetInstallation(integration_name=known.name, installation_id=identity)
            try:
                reading = asyncio.run_coroutine_threadsafe(self._session.engine.read(call), self._loop)
                environment["installation"] = as_json(reading.result(READING))
            except (PresscheckError, TimeoutError) as error:
                self._log("warn", f"the installation could not be read: {error}")
        return environment

    async def reload(self) -> None:
        """Read the manifest again whenever it, its script or one of its pictures changes, until canceled.

        Raises:
            OSError: standard output cannot be written.
        """
        seen = self._manifest.seen if self._manifest else ()
        while True:
            await asyncio.sleep(PAUSE)
            if self._output_error:
                raise self._output_error
            manifest = self._manifest
            state = await asyncio.to_thread(file_states, manifest.files) if manifest else ()
            if manifest is None or state == seen:
                continue
            seen = state  # also after an error, so that the error is printed once
            try:
                self._manifest = await asyncio.to_thread(read_manifest, manifest.file)
            except InvalidArgument as error:
                print_message(f"Not reloaded: {error.reason}")
                continue
            seen = self._manifest.seen
            print_message(f"Reloaded {sanitize(manifest.name)}.{_unpublished(manifest, self._manifest)}")

    def _print(self, kind: str, details: dict[str, Any], *spans: tuple[str, str]) -> None:
        """Print a line: as JSON, or as the time and styled words."""
        with self._turn:
            try:
                if self._session.json:
                    print_json_line({"kind": kind, **details})
                else:
                    clock = f"{now().astimezone():%H:%M:%S}  "
                    style_of = partial(_style, has_color())
                    words = [Span(f"{sanitize(text)}  ", style_of(style)) for style, text in spans if text]
                    print_line((Span(clock, style_of("quiet")), *words))
                sys.stdout.flush()  # so that the output can be followed
            except OSError as error:
                self._output_error = error  # this is a thread of the server; `reload` raises it


def _style(is_colored: bool, style: str) -> str:
    return style if is_colored else ""


def _unpublished(before: Manifest, after: Manifest) -> str:
    """Return a hint if the manifest changed (except script and secrets), or an empty string."""
    own = ("script", "secrets")
    old, new = (
        {name: value for name, value in manifest.values.items() if name not in own} for manifest in (before, after)
    )
    return "" if old == new else " The manifest changed, too: `presscheck integration publish` shows it to others."
