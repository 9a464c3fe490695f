"""Delivery of events to integrations: to the development tunnel if there is one, else to the published script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from presscheck.service.integrations.outbound_http import Outgoing, OutgoingError
from presscheck.service.integrations.script_runner import EngineBusy, EngineMissing, ScriptConfig, run_script

LONGEST_MESSAGE = 2000
"""Maximum number of characters of a log line."""
MOST_LOGGED = 32_000
"""Maximum number of characters of all log lines of an event."""
LEVELS = ("debug", "info", "warn", "error")
REDACTED = "[redacted]"
SHORTEST_SECRET = 6
"""Minimum number of characters of a secret that is redacted; shorter secrets occur by chance in other texts."""

_CREDENTIALS = re.compile(r"\b(bearer|basic)\s{1,4}[\w.~+/=-]{6,}", re.IGNORECASE)
_SECRETS = re.compile(
    r"""((?:token|secret|password|passwd|api[_-]?key|private[_-]?key|authorization|cookie)["']?\s{0,4}[:=]\s{0,4}["']?)"""
    r"""(?!bearer\b|basic\b)[^\s"',;&}\])]+""",
    re.IGNORECASE,
)
_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")
"""Characters that PostgreSQL cannot store."""


@dataclass(frozen=True)
class Receiver:
    """The destination of an event.

    Args:
        title: the title of the integration, for messages.
        version: the version of the integration.
        tunnel: the URL of the development tunnel, or None if the event is for the script.
        script: the id of the stored script.
        environment: the data of the integration and its installation for the script, as JSON; empty for a tunnel.
    """

    title: str
    version: int
    tunnel: str | None
    script: str
    environment: dict[str, Any]

    @property
    def keys(self) -> list[str]:
        """The tokens and keys that the service generated for the script."""
        kinds = ("apiTokens", "signingSecrets")
        return [value for kind in kinds for value in self.environment.get(kind, {}).values()]

    @property
    def secrets(self) -> list[str]:
        """The secrets of the integration that are long enough to be recognized in a text."""
        return [text for text in self.environment.get("secrets", {}).values() if len(text) >= SHORTEST_SECRET]


@dataclass(frozen=True)
class Outcome:
    """The result of a delivery.

    Args:
        status: the HTTP status of the response, or None without a response.
        text: the body of the response.
        headers: the headers of the response, with lower-case names.
        error: the message for the user who caused the event; None if the delivery succeeded.
        reason: the message with details for the owners of the integration, if it differs.
        problem: the HTTP status of the error response to the user.
        may_retry: whether another attempt may succeed.
    """

    status: int | None = None
    text: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    error: str | None = None
    reason: str | None = None
    problem: int = 502
    may_retry: bool = False

    @property
    def is_success(self) -> bool:
        """Whether the integration handled the event."""
        return self.error is None

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class DeliveryLog:
    """The log of a delivery: request, output of the script, and response. It is limited in size and redacted."""

    def __init__(self, now: Callable[[], str]) -> None:
        self.rows: list[dict[str, str]] = []
        self.hidden: list[str] = []
        """Texts that are redacted wherever they appear."""
        self._now, self._characters_left = now, MOST_LOGGED

    def add(self, level: str, message: str) -> None:
        """Add a line, shortened and redacted, unless the log is full."""
        if self._characters_left <= 0:
            return
        text = redacted(_NOT_STORABLE.sub("\ufffd", without(self.hidden, message)[: 2 * LONGEST_MESSAGE]))
        text = text if len(text) <= LONGEST_MESSAGE else f"{text[: LONGEST_MESSAGE - 1]}…"
        self._characters_left -= len(text) + 50
        known_level = level if level in LEVELS else "info"
        self.rows.append({"message": text, "timestamp": self._now(), "level": known_level})


def redacted(text: str) -> str:
    """Replace the values of apparent credentials in a text."""
    return _SECRETS.sub(rf"\1{REDACTED}", _CREDENTIALS.sub(rf"\1 {REDACTED}", text))


def without(secrets: Iterable[str], text: str) -> str:
    """Redact secrets in a text. The text may be JSON, and may have been cut within a secret."""
    for secret in secrets:
        for form in (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]):
            text = text.replace(form, REDACTED)
            starts = (form[:length] for length in range(len(form) - 1, SHORTEST_SECRET - 1, -1))
            cut = next((start for start in starts if text.endswith(start)), "")
            text = text.removesuffix(cut) + (REDACTED if cut else "")
    return text


def deliver_event(
    receiver: Receiver,
    event: dict[str, Any],
    log: DeliveryLog,
    *,
    outgoing: Outgoing,
    scripts: ScriptConfig,
    read: Callable[[str], bytes | None],
) -> Outcome:
    """Send an event and wait for the response.

    Args:
        receiver: the destination.
        event: the event, as JSON.
        log: receives a line for the request, for each line of output of the script, and for the response.
        outgoing: the client for outgoing requests.
        scripts: the limits of scripts.
        read: returns the bytes of a stored file by its id.
    """
    log.hidden = [*receiver.keys, *receiver.secrets]
    if receiver.tunnel is not None:
        outcome = _through_tunnel(receiver, receiver.tunnel, event, log, outgoing)
    else:
        outcome = _to_script(receiver, event, log, outgoing, scripts, read)
    if outcome.status is not None:
        level = "error" if outcome.error is not None else "info"
        kind = outcome.content_type
        log.add(level, f"Response: {outcome.status}, {kind or 'no content type'}: {outcome.text or '(empty)'}")
    elif outcome.error is not None:
        log.add("error", outcome.reason or outcome.error)
    return outcome


def _through_tunnel(
    receiver: Receiver, tunnel: str, event: dict[str, Any], log: DeliveryLog, outgoing: Outgoing
) -> Outcome:
    body = json.dumps(event).encode()
    parts = urlsplit(tunnel)
    origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"  # the path may be a secret
    log.add("info", f"Sent {event['type']} to the tunnel {origin} ({len(body)} bytes).")
    try:
        answer = outgoing.post_json(tunnel, body)
    except OutgoingError as error:
        message = f"Could not reach the tunnel of {receiver.title}: {str(error).replace(tunnel, origin)}"
        return Outcome(error=message, may_retry=True)
    text = answer.body.decode("utf-8", "replace")
    error = None
    if not 200 <= answer.status < 300:
        error = f"The tunnel of {receiver.title} responded with {answer.status}."
    return Outcome(answer.status, text, answer.headers, error, may_retry=answer.status >= 500)


def _to_script(
    receiver: Receiver,
    event: dict[str, Any],
    log: DeliveryLog,
    outgoing: Outgoing,
    scripts: ScriptConfig,
    read: Callable[[str], bytes | None],
) -> Outcome:
    stored = read(receiver.script)
    if stored is None:
        return Outcome(error=f"The script of {receiver.title} is missing: publish the integration again.")
    script = stored.decode("utf-8", "replace")
    log.add("info", f"Sent {event['type']} to the script of version {receiver.version}.")
    try:
        run = run_script(script, event, receiver.environment, outgoing=outgoing, config=scripts, log=log.add)
    except EngineMissing as error:
        return Outcome(error=str(error), problem=501)
    except EngineBusy as error:
        return Outcome(error=str(error), problem=503, may_retry=True)
    if run.status is None:
        message = f"The script of {receiver.title} failed; its owners find the reason in the log of the event."
        return Outcome(error=message, reason=run.error, problem=504 if run.is_over_time else 502)
    if run.error is not None:
        log.add("warn", f"After the response: {run.error}")
    # the response to a request may contain secrets on purpose, such as a client id in the URL of a sign-in page
    is_request = event["type"] == "fetch"
    hidden = receiver.keys if is_request else log.hidden
    # the platform's runtime responds with 406 to events that the integration has no handler for
    has_no_handler = run.status == 406 and event["type"] != "ui_render"
    is_success = run.status < (500 if is_request else 300) or has_no_handler
    error = None if is_success else f"The script of {receiver.title} responded with {run.status}."
    text = without(hidden, run.text.encode("utf-8", "replace").decode())
    return Outcome(run.status, text, {name: without(hidden, value) for name, value in run.headers.items()}, error)
