"""`presscheck doctor`, `log` and `completion`: what is here, whether it works, and what went wrong before."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import time
from collections import deque
from importlib.metadata import version
from typing import Any

import click
from click.shell_completion import get_completion_class

from presscheck import __version__
from presscheck.api.users import GetCurrentUser
from presscheck.cli.exit_codes import says_what_failed
from presscheck.cli.output import has_colour, print_details, print_json, print_text, talk
from presscheck.cli.session import json_option, load_profile, profile_option
from presscheck.config.profile import Profile
from presscheck.errors import ChecksFailed, PresscheckError
from presscheck.paths import places
from presscheck.wiring import connect, open_engine


@click.command()
@json_option
@profile_option
@click.pass_context
@says_what_failed
def doctor(context: click.Context, *, as_json: bool) -> None:
    """Print what presscheck finds here: versions, terminal, profile, service, stores; exit code 6 where one is ill."""
    ill: list[str] = []
    found: dict[str, Any] = {"versions": _versions(), "terminal": _terminal()}
    try:
        profile = load_profile(context)
    except PresscheckError as error:
        found["profile"] = {"error": error.message}
        ill.append("profile")
    else:
        found["profile"] = {
            "name": profile.name,
            "baseUrl": profile.base_url,
            "tokenFrom": profile.token_from or "none",
            "readOnly": profile.read_only,
        }
        found["service"] = asyncio.run(_service(profile))
        found["stores"] = _stores(profile)
        ill += [name for name in ("service", "stores") if "error" in found[name]]
    log = places().log_file()
    found["log"] = {"file": str(log), "bytes": log.stat().st_size if log.exists() else 0}
    (print_json if as_json else print_details)(found)
    if ill:
        raise ChecksFailed(f"problems: {', '.join(ill)}")


@click.command()
@click.option("--lines", type=click.IntRange(1), default=50, show_default=True, help="Number of lines to print.")
@says_what_failed
def log(lines: int) -> None:
    """Print the end of the log, where tracebacks go."""
    file = places().log_file()
    if not file.exists():
        talk(f"{file} does not exist: nothing was logged yet.")
        return
    with file.open("r", encoding="utf-8", errors="replace") as opened:
        print_text("".join(deque(opened, lines)).rstrip("\n"))


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what makes a shell complete our commands, such as `eval "$(presscheck completion bash)"`."""
    found = get_completion_class(shell)
    if found:
        root = context.find_root()
        click.echo(found(root.command, {}, "presscheck", "_PRESSCHECK_COMPLETE").source())


def _versions() -> dict[str, str]:
    libraries = ("textual", "rich", "pydantic", "httpx", "click", "keyring")
    return {
        "presscheck": __version__,
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        **{name: version(name) for name in libraries},
    }


def _terminal() -> dict[str, Any]:
    return {
        "isTerminal": sys.stdout.isatty(),
        "TERM": os.environ.get("TERM"),
        "COLORTERM": os.environ.get("COLORTERM"),
        "NO_COLOR": bool(os.environ.get("NO_COLOR")),
        "colour": has_colour(),
        "encoding": sys.stdout.encoding,
        "overSsh": "SSH_CONNECTION" in os.environ,
    }


async def _service(profile: Profile) -> dict[str, Any]:
    try:
        async with connect(profile) as client:
            await client.send(GetCurrentUser())
            began = time.perf_counter()  # the first one also opened the connection
            await client.send(GetCurrentUser())
            spent = (time.perf_counter() - began) * 1000
            skew = client.clock_skew
    except PresscheckError as error:
        return {"error": error.message}
    # the service tells whole seconds, so less than two say nothing
    ahead = None if skew is None else 0 if abs(skew) < 2 else round(skew)
    return {"reached": True, "milliseconds": round(spent, 1), "clockAheadSeconds": ahead}


def _stores(profile: Profile) -> dict[str, Any]:
    try:
        engine = open_engine(profile)
    except (PresscheckError, OSError) as error:
        return {"error": str(error)}
    states = [row.state for row in engine.outbox.rows()]
    notices = list(engine.notices)
    engine.outbox.close()
    return {"waiting": states.count("waiting"), "refused": states.count("refused"), "notices": notices}
