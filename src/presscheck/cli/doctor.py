"""`presscheck doctor` and `log`."""

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

from presscheck import __version__
from presscheck.api.organizations import ListOrganizations
from presscheck.cli.exit_codes import report_errors
from presscheck.cli.json_filter import json_option
from presscheck.cli.output import has_color, print_details, print_json, print_message, print_text
from presscheck.cli.session import load_profile, profile_option
from presscheck.config.profile import Profile
from presscheck.errors import ChecksFailed, ConfigurationError, PresscheckError
from presscheck.extras import EXTRAS, missing_modules
from presscheck.paths import places
from presscheck.wiring import connect, open_engine


@click.command()
@json_option
@profile_option
@click.pass_context
@report_errors
def doctor(context: click.Context, *, as_json: bool) -> None:
    """Check the installation, the settings and the connection.

    Prints versions, extras, terminal, keyring, profile, service, stores and log. The exit code is 6 if there is a
    problem.
    """
    problems: list[str] = []
    report: dict[str, Any] = {"versions": _versions(), "extras": _extras(), "terminal": _terminal()}
    report["keyring"] = _keyring()
    try:
        profile = load_profile(context)
    except PresscheckError as error:
        report["profile"] = {"error": error.message}
        problems.append("profile")
    else:
        report["profile"] = {
            "name": profile.name,
            "baseUrl": profile.base_url,
            "tokenFrom": profile.token_from or "none",
            "readOnly": profile.read_only,
        }
        if project := profile.project:
            report["project"] = {
                "file": str(project.path),
                "programs": len(project.programs),
                "untrusted": len(project.untrusted),
                "problem": project.refusal or next((str(error) for error in project.errors), None),
            }
        report["service"] = asyncio.run(_service(profile))
        report["stores"] = asyncio.run(_stores(profile))
        problems += [name for name in ("service", "stores") if "error" in report[name]]
    try:
        log = places().log_file()
        report["log"] = {"file": str(log), "bytes": log.stat().st_size if log.exists() else 0}
    except (PresscheckError, OSError) as error:
        report["log"] = {"error": str(error)}
        problems.append("log")
    (print_json if as_json else print_details)(report)
    if problems:
        raise ChecksFailed(f"problems: {', '.join(problems)}")


@click.command()
@click.option(
    "--lines", type=click.IntRange(1), metavar="NUMBER", default=50, show_default=True, help="Number of lines to print."
)
@report_errors
def log(lines: int) -> None:
    """Print the end of the log file."""
    file = places().log_file()
    if not file.exists():
        print_message(f"{file} does not exist: nothing has been logged yet.")
        return
    with file.open("r", encoding="utf-8", errors="replace") as opened:
        print_text("".join(deque(opened, lines)).rstrip("\n"))


def _versions() -> dict[str, str]:
    libraries = ("textual", "rich", "pydantic", "httpx", "click")
    return {
        "presscheck": __version__,
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        **{name: version(name) for name in libraries},
    }


def _extras() -> dict[str, str]:
    return {
        name: f"not installed: pip install 'presscheck[{name}]'" if next(missing_modules(name), None) else "installed"
        for name in EXTRAS
    }


def _terminal() -> dict[str, Any]:
    return {
        "isTerminal": sys.stdout.isatty(),
        "TERM": os.environ.get("TERM"),
        "COLORTERM": os.environ.get("COLORTERM"),
        "NO_COLOR": bool(os.environ.get("NO_COLOR")),
        "color": has_color(),
        "encoding": sys.stdout.encoding,
        "overSsh": "SSH_CONNECTION" in os.environ,
    }


def _keyring() -> dict[str, Any]:
    from presscheck.config.secret_store import check_keyring  # 10 ms, only here

    try:
        check_keyring()
    except ConfigurationError as error:
        return {"available": False, "reason": error.message}
    return {"available": True}


async def _service(profile: Profile) -> dict[str, Any]:
    try:
        async with connect(profile) as client:
            await client.send(ListOrganizations(limit=1))  # every service has it
            began = time.perf_counter()  # the first request also opened the connection
            await client.send(ListOrganizations(limit=1))
            spent = (time.perf_counter() - began) * 1000
            skew = client.clock_skew
    except PresscheckError as error:
        return {"error": error.message}
    # the service sends whole seconds, so a difference below two is not significant
    ahead = None if skew is None else 0 if abs(skew) < 2 else round(skew)
    return {"reached": True, "milliseconds": round(spent, 1), "clockAheadSeconds": ahead}


async def _stores(profile: Profile) -> dict[str, Any]:
    try:
        engine = open_engine(profile)
    except (PresscheckError, OSError) as error:
        return {"error": str(error)}
    states = [row.state for row in engine.outbox.rows()]
    notices = list(engine.notices)
    await engine.close()
    return {"pending": states.count("waiting"), "failed": states.count("refused"), "notices": notices}
