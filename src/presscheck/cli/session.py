"""The session of a command: the engine of the profile, opened before the command and closed after it.

Offline, reads return cached data and print a message. Writes go through the outbox, as in the app.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar, cast

import click

from presscheck.api.operation import Operation, Page
from presscheck.cli.exit_codes import report_errors
from presscheck.cli.output import print_details, print_json, print_message, print_rows
from presscheck.config.profile import Profile, load
from presscheck.engine.engine import Engine
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.paths import places
from presscheck.text.phrases import long_ago
from presscheck.wiring import open_engine

T = TypeVar("T")
M = TypeVar("M")
OUTBOX_POLL_SECONDS = 0.5
"""Seconds between two checks of a write that another process may send."""
OTHER_PROCESS_TIMEOUT = 10.0
"""Seconds to wait for another process to send a write."""
MAX_PAGE_SIZE = 1000
"""The maximum page size of the service."""


class Session:
    """What a command uses: the engine, the profile, and whether to print JSON."""

    def __init__(self, engine: Engine, profile: Profile, *, json: bool) -> None:
        self.engine, self.profile, self.json = engine, profile, json
        self.on_close: Callable[[], int] | None = None
        """Called when the engine is closed; returns the exit code."""
        self._said_offline = False

    async def read(self, call: Operation[T]) -> T:
        """The response of the service; offline, the cached response, with one message per session.

        Raises:
            PresscheckError: the service returned an error, or nothing is cached.
        """
        answer = await self.engine.read(call)
        if not self.engine.status.online and not self._said_offline:
            self._said_offline = True
            known = self.engine.known(call)
            print_message(f"Offline: showing cached data from {long_ago(known.age) if known else 'earlier'}.")
        return answer

    async def every(self, listing: Operation[Page[M]], limit: int = 0) -> AsyncIterator[M]:
        """Iterate over a list, page by page; at most `limit` items, 0 for all."""
        is_paged, seen, left = "page" in type(listing).model_fields, set[str](), limit
        while True:
            size = {"limit": min(left or MAX_PAGE_SIZE, MAX_PAGE_SIZE)} if is_paged else {}
            page = await self.read(listing.model_copy(update=size))
            for item in page.items[: left or None]:
                yield item
            left -= len(page.items) if limit else 0
            if not is_paged or page.next is None or page.next.page in seen or (limit and left <= 0):
                return
            seen.add(page.next.page)
            listing = listing.model_copy(update={"page": page.next.page})

    async def all(self, listing: Operation[Page[M]], limit: int = 0) -> list[M]:
        """The items of all pages; at most `limit` items, 0 for all."""
        return [item async for item in self.every(listing, limit)]

    async def write(self, call: Operation[T], done: str) -> T | None:
        """Send a write; returns None if it was queued in the outbox because there is no connection.

        Raises:
            PresscheckError: the service returned an error, the profile is read-only, or the write cannot be queued.
        """
        ticket = self.engine.write(call)
        landed = asyncio.ensure_future(ticket.landed())
        try:
            if ticket.id and not await self._is_settled(ticket.id, landed):
                return None
            answer = await landed
        except PresscheckError:
            if ticket.id:
                retry, drop = (f"`presscheck outbox {name} {ticket.id}`" for name in ("retry", "drop"))
                print_message(f"The change stays in the outbox. Run {retry} or {drop}.")
            raise
        finally:
            landed.cancel()
        if done:
            print_message(done)
        return answer

    async def _is_settled(self, number: int, landed: asyncio.Future[Any]) -> bool:
        """Wait for the response to a write; False if it was queued, or if another process sent it.

        Raises:
            PresscheckError: another process sent it, and the service returned an error.
        """
        changed, began = asyncio.Event(), time.monotonic()
        ends = self.engine.on_status(lambda _: changed.set())
        try:
            while True:
                changed.clear()
                row = self.engine.outbox.row(number)
                waiting = asyncio.ensure_future(changed.wait())
                await asyncio.wait((landed, waiting), return_when=asyncio.FIRST_COMPLETED, timeout=OUTBOX_POLL_SECONDS)
                waiting.cancel()
                if landed.done():
                    return True
                if row is None:
                    print_message("Sent by another presscheck process.")
                    return False
                if row.state in ("refused", "parked"):
                    raise PresscheckError(row.error or "the service rejected the change")
                is_late = not self.engine.outbox.may_send() and time.monotonic() - began > OTHER_PROCESS_TIMEOUT
                if is_late or row.error or not self.engine.status.online:
                    why = row.error or ("Another presscheck process is sending" if is_late else "Offline")
                    print_message(f"{why}: queued in the outbox as number {number}, to be sent later.")
                    return False
        finally:
            ends()

    def show(self, value: Any, columns: tuple[str, ...] = ()) -> None:
        """Print a value as JSON, as rows (with `columns`), or as details."""
        if self.json:
            print_json(value)
        elif columns and isinstance(value, list):
            print_rows(cast("list[Any]", value), columns)
        elif value is not None:
            print_details(value)

    def show_id(self, value: Any) -> None:
        """Print the id of a created object, for the next command; with --json, the object."""
        if self.json:
            print_json(value)
        elif getattr(value, "id", None):
            click.echo(value.id)


def load_profile(context: click.Context, *, with_token: bool = True) -> Profile:
    """Load the profile of a command."""
    profile = load(places().config_file, chosen_profile(context), with_token=with_token)
    return replace(profile, offline=bool((context.find_root().obj or ())[2:3] == (True,)))


def has_terminal() -> bool:
    """Whether the app can be opened: stdin and stdout are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def chosen_profile(context: click.Context) -> str | None:
    """The value of --profile, or None."""
    return (context.find_root().obj or (None,))[0]


def _remember_profile(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value:
        root = context.find_root()
        root.obj = (value, *(root.obj or (None, None))[1:])


profile_option = click.option(
    "--profile",
    metavar="NAME",
    expose_value=False,
    is_eager=True,
    callback=_remember_profile,
    help="Profile to use: [profiles.NAME] in config.toml.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def with_session(function: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Decorate a coroutine whose first argument is a `Session`; adds `--json` and `--profile`."""
    return json_option(profile_option(run_with_session(function)))


def run_with_session(function: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Decorate a coroutine: run it with a session and report errors."""

    @wraps(function)
    @click.pass_context
    @report_errors
    def run(context: click.Context, /, *, as_json: bool, **given: Any) -> None:
        on_close = asyncio.run(_run(load_profile(context), function, as_json=as_json, given=given))
        if on_close:
            context.exit(on_close())

    return cast("Callable[..., None]", run)


def run_with_profile(profile: Profile, function: Callable[..., Awaitable[None]]) -> None:
    """Run a coroutine with a session for a profile.

    Raises:
        PresscheckError: the coroutine failed.
    """
    asyncio.run(_run(profile, function, as_json=False, given={}))


async def _run(
    profile: Profile, function: Callable[..., Awaitable[None]], *, as_json: bool, given: dict[str, Any]
) -> Callable[[], int] | None:
    engine = open_engine(profile)
    await engine.start()
    session = Session(engine, profile, json=as_json)
    try:
        await function(session, **given)
    finally:
        await engine.close()
        for notice in engine.notices:
            print_message(notice)
    return session.on_close


def confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation unless `--yes` was given.

    Raises:
        InvalidArgument: there is no terminal to ask in.
        Exit: the user declined.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidArgument("--yes", f"{question} Without a terminal, pass --yes to confirm")
    with contextlib.suppress(click.Abort):
        if click.confirm(question, err=True):
            return
    print_message("Cancelled.")
    raise click.exceptions.Exit(2)
