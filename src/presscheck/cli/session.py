"""One command's way to the service: the engine of the profile, opened for it and closed after it.

Reads fall back on what is known and say so; writes go through the outbox exactly as in the app.
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
from presscheck.cli.exit_codes import says_what_failed
from presscheck.cli.output import print_details, print_json, print_rows, talk
from presscheck.config.profile import Profile, load
from presscheck.engine.engine import Engine
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.paths import places
from presscheck.text.relative_time import long_ago
from presscheck.wiring import open_engine

T = TypeVar("T")
M = TypeVar("M")
LOOK_AGAIN = 0.5
"""Seconds between two looks at a write that another window may be sending."""
PATIENCE = 10.0
"""Seconds that another window has to send a write before it is left to it."""
MOST = 1000
"""The longest page that the service gives."""


class Session:
    """What a command works with: the engine, the profile, and whether it prints JSON."""

    def __init__(self, engine: Engine, profile: Profile, *, json: bool) -> None:
        self.engine, self.profile, self.json = engine, profile, json
        self.then: Callable[[], int] | None = None
        """What follows when the engine is closed again; its answer is the exit code."""
        self._said_offline = False

    async def read(self, call: Operation[T]) -> T:
        """The service's answer; what is known where it cannot be reached, and then that is said once.

        Raises:
            PresscheckError: there is neither.
        """
        answer = await self.engine.read(call)
        if not self.engine.status.online and not self._said_offline:
            self._said_offline = True
            known = self.engine.known(call)
            talk(f"Offline: showing cached data from {long_ago(known.age) if known else 'earlier'}.")
        return answer

    async def every(self, listing: Operation[Page[M]], most: int = 0) -> AsyncIterator[M]:
        """The items of a listing, page after page; at most so many where that is not 0."""
        is_paged, seen, left = "page" in type(listing).model_fields, set[str](), most
        while True:
            size = {"limit": min(left or MOST, MOST)} if is_paged else {}
            page = await self.read(listing.model_copy(update=size))
            for item in page.items[: left or None]:
                yield item
            left -= len(page.items) if most else 0
            if not is_paged or page.next is None or page.next.page in seen or (most and left <= 0):
                return
            seen.add(page.next.page)
            listing = listing.model_copy(update={"page": page.next.page})

    async def all(self, listing: Operation[Page[M]], most: int = 0) -> list[M]:
        """The items of a listing as a list."""
        return [item async for item in self.every(listing, most)]

    async def write(self, call: Operation[T], done: str) -> T | None:
        """Write; None where it waits in the outbox, because there is no connection and it may wait.

        Raises:
            PresscheckError: the service said no; the profile is read-only; or it may not wait, and must.
        """
        ticket = self.engine.write(call)
        landed = asyncio.ensure_future(ticket.landed())
        try:
            if ticket.id and not await self._is_settled(ticket.id, landed):
                return None
            answer = await landed
        except PresscheckError:
            if ticket.id:
                talk(f"It stays in the outbox: `presscheck outbox retry {ticket.id}` or `drop {ticket.id}`.")
            raise
        finally:
            landed.cancel()
        if done:
            talk(done)
        return answer

    async def _is_settled(self, number: int, landed: asyncio.Future[Any]) -> bool:
        """Wait until the service has answered a write; False where it waits, or another window has sent it.

        Raises:
            PresscheckError: another window was told no.
        """
        changed, began = asyncio.Event(), time.monotonic()
        ends = self.engine.on_status(lambda _: changed.set())
        try:
            while True:
                changed.clear()
                row = self.engine.outbox.row(number)
                waiting = asyncio.ensure_future(changed.wait())
                await asyncio.wait((landed, waiting), return_when=asyncio.FIRST_COMPLETED, timeout=LOOK_AGAIN)
                waiting.cancel()
                if landed.done():
                    return True
                if row is None:
                    talk("Sent by another running presscheck.")
                    return False
                if row.state in ("refused", "parked"):
                    raise PresscheckError(row.error or "the service rejected it")
                is_late = not self.engine.outbox.may_send() and time.monotonic() - began > PATIENCE
                if is_late or row.error or not self.engine.status.online:
                    why = row.error or ("Another presscheck is sending" if is_late else "Offline")
                    talk(f"{why}: queued in the outbox as number {number}, sent later.")
                    return False
        finally:
            ends()

    def show(self, value: Any, columns: tuple[str, ...] = ()) -> None:
        """Print data: as JSON where that was asked for, else in rows, or in detail."""
        if self.json:
            print_json(value)
        elif columns and isinstance(value, list):
            print_rows(cast("list[Any]", value), columns)
        elif value is not None:
            print_details(value)

    def show_new(self, value: Any) -> None:
        """Print what a write came to: its id alone, for the next command."""
        if self.json:
            print_json(value)
        elif getattr(value, "id", None):
            click.echo(value.id)


def load_profile(context: click.Context, *, with_token: bool = True) -> Profile:
    """The profile that a command was given."""
    found = load(places().config_file, chosen_profile(context), with_token=with_token)
    return replace(found, offline=bool((context.find_root().obj or ())[2:3] == (True,)))


def has_screen() -> bool:
    """Whether there is a terminal to open the app in."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def chosen_profile(context: click.Context) -> str | None:
    """The name of the profile, where one was given."""
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


def asking(function: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Make a command of a coroutine that takes a `Session` first; it gets `--json` and `--profile`."""
    return json_option(profile_option(run_on_an_engine(function)))


def run_on_an_engine(function: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run a coroutine with a session of its own; what fails is said."""

    @wraps(function)
    @click.pass_context
    @says_what_failed
    def run(context: click.Context, /, *, as_json: bool, **given: Any) -> None:
        then = asyncio.run(_run(load_profile(context), function, as_json=as_json, given=given))
        if then:
            context.exit(then())

    return cast("Callable[..., None]", run)


def run_with(profile: Profile, function: Callable[..., Awaitable[None]]) -> None:
    """Run a coroutine with a session of its own.

    Raises:
        PresscheckError: what failed.
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
            talk(notice)
    return session.then


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be undone; without a terminal only `--yes` says so.

    Raises:
        InvalidArgument: there is nobody to ask.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidArgument("--yes", f"{question} Pass --yes to confirm without a terminal")
    with contextlib.suppress(click.Abort):
        if click.confirm(question, err=True):
            return
    talk("Cancelled.")
    raise click.exceptions.Exit(2)
