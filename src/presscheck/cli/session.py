"""The session of a command: the engine of the profile, opened before the command and closed after it.

Offline, reads return cached data and print a message. Writes go through the outbox, as in the app.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sized
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar, cast

import click
from pydantic import BaseModel

from presscheck.api.operation import Operation, Page, Paged
from presscheck.cli.exit_codes import report_errors
from presscheck.cli.json_filter import json_option
from presscheck.cli.output import (
    json_item,
    print_cells,
    print_details,
    print_json,
    print_json_items,
    print_message,
    print_rows,
    row_of,
)
from presscheck.cli.profile_completion import complete_profile
from presscheck.cli.project import project_of
from presscheck.client.request_priority import Priority
from presscheck.config.browser_tab import is_in_browser
from presscheck.config.profile import Profile, load
from presscheck.engine.engine import REQUESTED, Engine, PendingWrite
from presscheck.engine.reads.listing_guard import ListingGuard
from presscheck.engine.writes.pending_writes import ME
from presscheck.errors import IncompleteList, InvalidArgument, NetworkError, NotNow, PresscheckError
from presscheck.paths import places
from presscheck.store.outbox import FAILED
from presscheck.text.phrases import count, long_ago
from presscheck.wiring import open_engine

T = TypeVar("T")
M = TypeVar("M")
OUTBOX_POLL_SECONDS = 0.5
"""Seconds between two checks whether another process sent a write."""
WRITE_TIMEOUT = 300.0
"""Maximum seconds to wait for a write, which may wait for an earlier write with unknown delivery."""
SILENT_SECONDS = 5.0
"""Seconds to wait for an earlier write before printing a message."""
OTHER_PROCESS_TIMEOUT = 10.0
"""Maximum seconds to wait for another process to send a write."""
MAX_HELD = 64 << 20
"""The maximum size of a list in memory, as bytes of JSON; the objects take five times as much."""
MAX_PRINTED = 256 << 20
"""The maximum number of characters of a printed list."""


class Session:
    """The context of a command.

    Args:
        engine: the engine.
        profile: the profile.
        json: whether to print JSON.
        report: prints a message about the work, by default on stderr.
    """

    def __init__(
        self, engine: Engine, profile: Profile, *, json: bool, report: Callable[[str], None] = print_message
    ) -> None:
        self.engine, self.profile, self.json, self._report = engine, profile, json, report
        self.on_close: Callable[[], int] | None = None
        """Called after the engine was closed; returns the exit code."""
        self._said_offline = False
        self._incomplete: IncompleteList | None = None
        self._has_written = False

    def add_incomplete(self, error: IncompleteList) -> None:
        """Record that a list is incomplete."""
        self._incomplete = self._incomplete or error

    def next_command(self) -> None:
        """Begin a further command, which prints again that its data is cached, unless the user chose to be offline."""
        self._said_offline = self.profile.offline and self._said_offline

    async def run(self, work: Awaitable[None]) -> None:
        """Run a command, and report an incomplete list after its output.

        Raises:
            IncompleteList: a list is incomplete, and the command changed nothing, or it did not find an argument that
                may be missing in the list.
        """
        try:
            await work
        except InvalidArgument:
            if self._incomplete:
                raise self._incomplete from None
            raise
        if self._incomplete and not self._has_written:
            raise self._incomplete
        if self._incomplete:
            self._report(self._incomplete.message)

    async def read(self, call: Operation[T], *, priority: Priority = REQUESTED) -> T:
        """Return the response of the service, or offline the cached response, with a single message per session.

        Raises:
            NetworkError: there was no response, and the response is not stored for offline reading.
            PresscheckError: the service returned an error.
        """
        try:
            answer = await self.engine.read(call, priority=priority)
        except NetworkError as error:
            if self.engine.outbox.recall(ME) is None:  # nothing was ever read: the URL may be wrong
                raise
            raise NetworkError(f"Not stored for offline reading. {error.message}", request=error.request) from error
        if not self.engine.status.online and not self._said_offline:
            self._said_offline = True
            known = self.engine.known(call)
            self.print_offline(f"showing cached data from {long_ago(known.age) if known else 'earlier'}")
        return answer

    async def every(self, listing: Operation[Page[M]], limit: int = 0) -> AsyncIterator[M]:
        """Yield the items of a list, page by page; at most `limit` items, 0 for all.

        A list that does not end is cut off, and the command fails after its output.
        """
        most = listing.max_page_size() if isinstance(listing, Paged) else None
        guard, left = ListingGuard(listing), limit
        while True:
            size = {"limit": min(left or most, most)} if most else {}
            page = await self.read(listing.model_copy(update=size))
            items = guard.new_items(page.items)
            for item in items[: left or None]:
                yield item
            left -= len(items) if limit else 0
            if not most or page.next is None or (limit and left <= 0):
                return
            problem = guard.problem(page.next.page)
            if problem:
                self.add_incomplete(problem)
                return
            listing = listing.model_copy(update={"page": page.next.page})

    async def all(self, listing: Operation[Page[M]], limit: int = 0) -> list[M]:
        """Return the items of all pages; at most `limit` items, 0 for all.

        A list of more than `MAX_HELD` bytes is cut off.
        """
        items, size = list[M](), 0
        async for item in self.every(listing, limit):
            items.append(item)
            size += len(item.model_dump_json()) if isinstance(item, BaseModel) else 0
            if size > MAX_HELD:
                self._cut_off(listing, len(items))
                break
        return items

    async def show_all(
        self,
        listing: Operation[Page[Any]],
        columns: tuple[str, ...] = (),
        limit: int = 0,
        *,
        json: bool = False,
        shown: Callable[[Any], Any] = lambda item: item,
    ) -> None:
        """Print the items of all pages, as rows or (`json`, or the option) as JSON; at most `limit` items, 0 for all.

        Only the text is kept in memory, because a list can be long. `shown` converts an item for its row.
        """
        is_json, size = json or self.json, 0
        rows, items = list[list[str]](), list[str]()
        async for item in self.every(listing, limit):
            if is_json:
                items.append(json_item(item))
                size += len(items[-1])
            else:
                rows.append(row_of(shown(item), columns))
                size += sum(map(len, rows[-1]))
            if size > MAX_PRINTED:
                self._cut_off(listing, len(items) + len(rows))
                break
        if is_json:
            print_json_items(items)
        else:
            print_cells(rows, columns)
            _report_empty(rows)

    def _cut_off(self, listing: Operation[Any], number: int) -> None:
        reason = f"only the first {count(number, 'item')} were loaded, because the rest is too large"
        self.add_incomplete(IncompleteList(f"The list is incomplete: {reason}", request=str(listing)))

    async def write(self, call: Operation[T], done: str) -> T | None:
        """Send a write. Return None if it was queued in the outbox: offline, or behind a blocked write.

        Raises:
            PresscheckError: the service returned an error, the profile is read-only, or the write cannot be queued.
        """
        return await self.settled(self.engine.write(call), done)

    async def settled(self, ticket: PendingWrite[T], done: str) -> T | None:
        """Wait for an accepted write. Return its response, or None if it stays queued.

        Raises:
            PresscheckError: the service returned an error.
        """
        landed = asyncio.ensure_future(ticket.landed())
        try:
            if ticket.id and not await self._is_settled(ticket.id, landed):
                return None
            answer = await landed
        except NotNow:
            self._print_held_up(ticket.id)
            return None
        except PresscheckError:
            if ticket.id:
                self._print_choices(ticket.id)
            raise
        finally:
            landed.cancel()
        self._has_written = True
        if done:
            self._report(done)
        return answer

    async def sent(self, number: int) -> bool:
        """Wait until a change of the outbox is sent. Return False if it stays queued, such as offline.

        Raises:
            PresscheckError: the service returned an error.
        """
        try:
            is_sent = await self._is_settled(number, None)
        except PresscheckError:
            self._print_choices(number)
            raise
        self._has_written = self._has_written or is_sent
        return is_sent

    async def _is_settled(self, number: int, landed: asyncio.Future[Any] | None) -> bool:
        """Wait for the response to a write. Return False if it stays queued, or if another process sent it.

        Args:
            number: the outbox row of the write.
            landed: the response; None to wait until the row is gone.

        Raises:
            PresscheckError: another process sent the write, and the service returned an error.
        """
        changed, began, is_said = asyncio.Event(), time.monotonic(), False
        ends = self.engine.on_status(lambda _: changed.set())
        try:
            while True:
                changed.clear()
                row = self.engine.outbox.row(number)
                waiting = asyncio.ensure_future(changed.wait())
                futures = (landed, waiting) if landed else (waiting,)
                await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED, timeout=OUTBOX_POLL_SECONDS)
                waiting.cancel()
                if landed.done() if landed else row is None:
                    return True
                if row is None:
                    self._report("Sent by another presscheck process.")
                    return False
                if row.state in FAILED:
                    raise PresscheckError(row.error or "the service rejected the change")
                seconds, ahead = time.monotonic() - began, self.engine.outbox.ahead().get(number)
                if ahead and (ahead.state in FAILED or (ahead.error and ahead.not_before > time.time())):
                    self._print_held_up(number)
                    return False
                if ahead and not is_said and seconds > SILENT_SECONDS:
                    is_said = True
                    self._report(f"Waiting for change {ahead.id}, which is sent first.")
                is_late = not self.engine.outbox.may_send() and seconds > OTHER_PROCESS_TIMEOUT
                is_stuck = seconds > WRITE_TIMEOUT
                if is_late or is_stuck or row.error or not self.engine.status.online:
                    what = f"queued in the outbox as number {number}, to be sent later"
                    late = "Another presscheck process is sending" if is_late else ""
                    why = row.error or ("An earlier change is not sent yet" if is_stuck else late)
                    if why:
                        self._report(f"{why}: {what}.")
                    else:
                        self.print_offline(what)
                    return False
        finally:
            ends()

    def print_offline(self, what: str) -> None:
        """Print that presscheck is offline and why. `what` is the effect on the command."""
        reason = "" if self.profile.offline else self.engine.offline_reason
        self._report(f"Offline: {what}. {reason}".strip())

    def _print_held_up(self, number: int) -> None:
        """Print that a change stays in the outbox behind another change, and the possible commands."""
        self._report(f"An earlier change is not sent yet: queued as number {number}.")
        ahead = self.engine.outbox.ahead().get(number)
        if ahead and ahead.state in FAILED:
            self._report(f"Change {ahead.id} failed: {ahead.error}")
            retry, drop, send = (
                f"`presscheck outbox {words}`" for words in (f"retry {ahead.id}", f"drop {ahead.id}", f"send {number}")
            )
            self._report(f"Run {retry} or {drop}; {send} sends the later change first.")
        elif ahead and ahead.error:
            self._report(f"Change {ahead.id} is tried again later: {ahead.error}")

    def _print_choices(self, number: int) -> None:
        row = self.engine.outbox.row(number)
        if row and row.is_edit:
            print_edit_choices(number)
            return
        retry, drop = (f"`presscheck outbox {name} {number}`" for name in ("retry", "drop"))
        self._report(f"The change stays in the outbox. Run {retry} or {drop}.")

    def show(self, value: Any, columns: tuple[str, ...] = (), hidden: tuple[str, ...] = ()) -> None:
        """Print a value as JSON, as rows (with `columns`), or as details without `hidden` fields."""
        if self.json:
            print_json(value)
        elif columns and isinstance(value, list):
            print_rows(cast("list[Any]", value), columns)
            _report_empty(value)
        elif value is not None:
            print_details(value, hidden)

    def show_id(self, value: Any) -> None:
        """Print the id of a created object, for the next command; with --json, the object."""
        if self.json:
            print_json(value)
        elif getattr(value, "id", None):
            click.echo(value.id)


def print_edit_choices(number: int) -> None:
    """Print what to do about a page edit that failed, such as with a conflict."""
    print_message(
        f"The edit stays in the outbox. `presscheck outbox drop {number}` prints and discards it: then edit the page "
        "again, with the changes of others."
    )


def _report_empty(rows: Sized) -> None:
    """Print on a terminal that a list has no rows. Scripts get no output."""
    if not rows and sys.stdout.isatty():
        print_message("No results.")


def load_profile(context: click.Context, *, with_token: bool = True) -> Profile:
    """Load the profile of a command; its token is only read if `with_token` is true."""
    project = project_of(context)
    profile = load(places().config_file, chosen_profile(context), with_token=with_token, project=project)
    return replace(profile, offline=is_offline(context))


def is_offline(context: click.Context) -> bool:
    """Return whether the command runs with --offline."""
    return bool((context.find_root().obj or ())[2:3] == (True,))


def has_terminal() -> bool:
    """Return whether the app can be opened: in a browser, or in a terminal that is not dumb.

    Stderr must be the terminal, too, because the app is drawn on it.
    """
    return is_in_browser() or (_is_terminal() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb")


def is_dumb_terminal() -> bool:
    """Return whether stdin and stdout are a terminal that cannot move its cursor, such as the shell of an editor."""
    return _is_terminal() and os.environ.get("TERM") == "dumb"


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def chosen_profile(context: click.Context) -> str | None:
    """Return the value of --profile, or None."""
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
    shell_complete=complete_profile,
    help="Profile to use: [profiles.NAME] in config.toml.",
)
org_option = click.option("--org", metavar="ORG", help="Organization, by title or id.")
request_argument = click.argument("which", metavar="SPACE#NUMBER")
site_argument = click.argument("site", default=".")
"""A site; by default the site of the project."""
space_argument = click.argument("space", default=".")
"""A space; by default the space of the project."""
yes_option = click.option("--yes", "-y", is_flag=True, help="Skip the confirmation.")
limit_option = click.option(
    "--limit", type=click.IntRange(0), metavar="NUMBER", default=0, help="Maximum number of results; 0 for all."
)


def with_session(function: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Decorate a coroutine whose first argument is a `Session`, and add the options `--json` and `--profile`."""
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
    async with open_session(profile, as_json=as_json) as session:
        await session.run(function(session, **given))
        await session.engine.noted()
    return session.on_close


@contextlib.asynccontextmanager
async def open_session(
    profile: Profile, *, as_json: bool, report: Callable[[str], None] = print_message
) -> AsyncGenerator[Session]:
    """Yield a session with an engine that is open for the duration of the block, and print the notices of its files.

    Args:
        profile: the profile.
        as_json: whether to print JSON.
        report: prints a message about the work, by default on stderr.

    Raises:
        PresscheckError: the files of the profile cannot be opened.
    """
    engine = open_engine(profile)
    await engine.start()
    try:
        yield Session(engine, profile, json=as_json, report=report)
    finally:
        await engine.close()
        for notice in engine.notices:
            report(notice)


def confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation unless `--yes` was given.

    Raises:
        InvalidArgument: there is no terminal for the question.
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
