"""The redirects of a site: their targets, the trails of paths through redirects, and the import and export of tables.

A redirect table is a CSV file with the columns `source` and `destination`. A destination is a path of the site, a web
address, or the `reference` of a target without a path. An import is planned completely before the first change is sent,
and each problem names its line.
"""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from presscheck.api.content import ListPages, RevisionPage
from presscheck.api.operation import Operation
from presscheck.api.site_settings import (
    BulkUpsertRedirects,
    CreateRedirect,
    DeleteRedirect,
    Redirect,
    RedirectChange,
    RedirectDestination,
    RedirectInputDestination,
    RedirectTarget,
    UpdateRedirect,
)
from presscheck.api.site_structure import GetSiteStructure
from presscheck.api.sites import Site
from presscheck.engine.connection import Status
from presscheck.engine.protocols import Reader
from presscheck.engine.publish.site_structure import SitePaths, plain_path, site_spaces, ways, wire_path
from presscheck.engine.shared_calls import at
from presscheck.engine.writes.pending_writes import PendingWrite
from presscheck.errors import NotNow, NotSupported, PresscheckError

COLUMNS = ("source", "destination")
SOURCE_NAMES = frozenset(("source", "from", "old", "path"))
DESTINATION_NAMES = frozenset(("destination", "to", "target", "new"))
MAX_ROWS = 10_000
"""Maximum number of rows of an imported table."""
MAX_FILE = 20 << 20
"""Maximum size of an imported table in bytes."""
LONGEST_SOURCE = 512
LONGEST_URL = 2048
MAX_OFFLINE = 100
"""Maximum number of changes that an import may queue in the outbox while offline."""
AT_ONCE = 20
"""Number of changes that an import sends at a time through the outbox, where each can be undone."""
POLL_SECONDS = 0.2
"""Seconds between two checks of the connection while a change is sent."""
MOST_IN_LIST = 500
"""Maximum number of changes in one request; see `BulkUpsertRedirects`."""
_SOURCE = re.compile(r"(?:/(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+)+")
_REFERENCE = re.compile(r"(section|space|page):([^/\s]+)(?:/([^/\s]+))?")

End = Literal["page", "address", "nothing", "loop", "unknown"]


class Trail(NamedTuple):
    """The trail of a path through redirects.

    Attributes:
        steps: the path, followed by the target of each redirect.
        end: the kind of the last step: `page` of the site, web `address`, `nothing` (visitors get an error), `loop`
            (an earlier step), or `unknown` (a page in a space whose pages could not be read).
        title: the title of the page at the end; empty for other ends.
    """

    steps: tuple[str, ...]
    end: End
    title: str = ""

    @property
    def redirects(self) -> int:
        """The number of redirects in the trail."""
        return len(self.steps) - 1


class RedirectMap:
    """The redirects of a site and their targets.

    Args:
        redirects: the redirects.
        paths: the places of the site.
    """

    def __init__(self, redirects: Iterable[Redirect], paths: SitePaths) -> None:
        self.paths = paths
        self.by_source = {plain_path(redirect.source): redirect for redirect in redirects}

    def destination(self, redirect: Redirect) -> str:
        """Return the path or address of a redirect's target, or its `reference` if the target is gone."""
        return self.paths.path_of(redirect.destination) or reference(redirect.destination)

    def trail(self, path: str) -> Trail:
        """Follow the redirects from a path."""
        steps, seen = [wire_path(path) or "/"], {plain_path(path)}
        while redirect := self.by_source.get(plain_path(steps[-1])):
            target = self.paths.path_of(redirect.destination)
            if target is None:
                end: End = "unknown" if self.paths.is_unread(redirect.destination) else "nothing"
                return Trail((*steps, reference(redirect.destination)), end)
            steps.append(target)
            if not target.startswith("/"):
                return Trail(tuple(steps), "address")
            if plain_path(target) in seen:
                return Trail(tuple(steps), "loop")
            seen.add(plain_path(target))
        place = self.paths.at(steps[-1])
        return Trail(tuple(steps), "page" if place else "nothing", place.title if place else "")

    def problem(self, redirect: Redirect) -> str:
        """Describe the problem of a redirect in a few words; empty if there is none."""
        trail = self.trail(redirect.source)
        if trail.end == "loop":
            return "redirect loop"
        if trail.end == "nothing":
            return "page not found"
        return f"chain of {trail.redirects}" if trail.redirects > 1 else ""


@dataclass(frozen=True)
class Problem:
    """A problem in a redirect table.

    Attributes:
        line: the line in the file, counted from 1; 0 for a redirect that is not in the table.
        message: a description of the problem.
    """

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line:,}: {self.message}"


@dataclass(frozen=True)
class Row:
    """A row of a redirect table, with the line at which it starts."""

    line: int
    source: str
    destination: str


@dataclass(frozen=True)
class PlannedChange:
    """A change planned by an import, with its line in the table; `line` is 0 for a redirect outside of the table."""

    line: int
    source: str
    call: Operation[Any]


@dataclass(frozen=True)
class ImportPlan:
    """The plan of an import.

    Attributes:
        changes: the changes in sending order.
        unchanged: the number of rows that equal existing redirects.
        shortened: the number of rows that lead through other redirects; they are stored with the final target.
        problems: the problems of the table; if there are any, nothing is sent.
    """

    changes: tuple[PlannedChange, ...] = ()
    unchanged: int = 0
    shortened: int = 0
    problems: tuple[Problem, ...] = ()

    def number(self, kind: type[Operation[Any]]) -> int:
        """Return the number of changes of a kind."""
        return sum(isinstance(change.call, kind) for change in self.changes)

    @property
    def summary(self) -> str:
        """A summary such as `3 new, 1 changed, 12 unchanged`."""
        parts = [
            f"{self.number(CreateRedirect):,} new",
            f"{self.number(UpdateRedirect):,} changed",
            f"{self.unchanged:,} unchanged",
        ]
        deleted = self.number(DeleteRedirect)
        return ", ".join([*parts, f"{deleted:,} deleted"] if deleted else parts)


def reference(target: RedirectTarget | RedirectDestination) -> str:
    """Return a text with the ids of a redirect's target, used for targets without a path."""
    if target.kind == "site-section":
        return f"section:{target.site_section_id}"
    if target.kind == "site-space":
        return f"space:{target.site_space_id}"
    return f"page:{target.site_space_id}/{target.page_id}" if target.kind == "site-page" else target.url or target.kind


def source_problem(source: str) -> str | None:
    """Return why a path cannot be the source of a redirect, or None if it can."""
    path = wire_path(source)
    if not source.startswith("/") or "?" in source or "#" in source:
        return "a path such as /old/page, without a query"
    if not path:
        return "the root of the site cannot be redirected"
    if len(path) > LONGEST_SOURCE:
        return f"at most {LONGEST_SOURCE} characters"
    return None if _SOURCE.fullmatch(path) else "a path such as /old/page: no empty parts, no blanks"


def destination_at(text: str, paths: SitePaths) -> RedirectDestination | str:
    """Convert a typed destination to a redirect destination. Return the reason as a text if it is invalid."""
    text = text.strip()
    if match := _REFERENCE.fullmatch(text):
        return _referenced(match, paths)
    if text.startswith(("https://", "http://")):
        if any(character.isspace() for character in text) or not text.partition("://")[2]:
            return "not a web address"
        if len(text) > LONGEST_URL:
            return f"an address of more than {LONGEST_URL:,} characters"
        place = paths.at(inside) if (inside := paths.inside(text)) else None
        return place.destination if place else RedirectDestination(kind="external", url=text)
    if not text.startswith("/"):
        return "neither a path of the site, such as /guides, nor a web address"
    place = paths.at(text)
    return place.destination if place else "no page of the site has this path"


def _referenced(match: re.Match[str], paths: SitePaths) -> RedirectDestination | str:
    kind, identity, page = match.groups()
    if (kind == "page") != bool(page):
        return "ids are section:ID, space:ID or page:SPACE/ID"
    place = {
        "section": RedirectDestination(kind="site-section", site_section_id=identity),
        "space": RedirectDestination(kind="site-space", site_space_id=identity),
        "page": RedirectDestination(kind="site-page", site_space_id=identity, page_id=page),
    }[kind]
    is_known = paths.path_of(place) is not None or paths.is_unread(place)
    return place if is_known else "nothing in the site has this id"


def read_table(content: bytes) -> tuple[list[Row], list[Problem]]:
    """Parse a CSV table with an optional heading. Return the rows and the problems of the format.

    The table is UTF-8, or UTF-16 with a byte order mark. Its columns are separated by commas, semicolons or tabs.
    """
    if len(content) > MAX_FILE:
        return [], [Problem(1, f"the file has more than {MAX_FILE >> 20} MB")]
    try:
        is_wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
        text = content.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        return [], [Problem(line, "not UTF-8: save the table as “CSV UTF-8”")]
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, problems, columns, begins = list[Row](), list[Problem](), (0, 1), 1
    try:
        for cells in reader:
            line, begins = begins, reader.line_num + 1
            values = [cell.strip() for cell in cells]
            if not any(values):
                continue
            if not rows and not problems and (named := _named_columns(values)):
                columns = named
                continue
            if len(values) <= max(columns):
                problems.append(Problem(line, "a source and a destination are needed"))
                continue
            rows.append(Row(line, values[columns[0]], values[columns[1]]))
            if len(rows) > MAX_ROWS:
                problems.append(Problem(line, f"more than {MAX_ROWS:,} redirects: split the table"))
                break
    except csv.Error as error:
        problems.append(Problem(begins, f"cannot be read: {error}"))
    if not rows and not problems:
        problems.append(Problem(1, "no redirects in this file"))
    return rows, problems


def _named_columns(values: Sequence[str]) -> tuple[int, int] | None:
    names = [value.lower() for value in values]
    sources = [at for at, name in enumerate(names) if name in SOURCE_NAMES]
    destinations = [at for at, name in enumerate(names) if name in DESTINATION_NAMES]
    return (sources[0], destinations[0]) if sources and destinations else None


def write_table(redirects: RedirectMap) -> str:
    """Write all redirects as a CSV table, sorted by source."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for _, redirect in sorted(redirects.by_source.items()):
        writer.writerow((redirect.source, redirects.destination(redirect)))
    return stream.getvalue()


@dataclass
class _Import:
    """An import that is being planned: the rows of its table, the existing redirects of the site, and the problems."""

    rows: Sequence[Row]
    redirects: RedirectMap
    problems: list[Problem] = field(default_factory=list[Problem])

    def __post_init__(self) -> None:
        self.first: dict[str, Row] = {}
        for row in self.rows:
            reason = source_problem(row.source)
            path = plain_path(row.source)
            if reason:
                self._add(row, f"“{row.source}” cannot be a source: {reason}")
            elif path in self.first:
                self._add(row, f"{row.source} is a source at line {self.first[path].line:,} already")
            else:
                self.first[path] = row
        inside = {path: self._inside(row.destination) for path, row in self.first.items()}
        self.targets = {path: target for path, target in inside.items() if target is not None}
        """The targets within the site by source, as plain paths."""
        present = {
            path: plain_path(target)
            for path, redirect in self.redirects.by_source.items()
            if path not in self.first and (target := self.redirects.paths.path_of(redirect.destination))
        }
        self.all_targets = present | self.targets

    def _inside(self, destination: str) -> str | None:
        path = self.redirects.paths.inside(destination) if "://" in destination else destination
        return plain_path(path) if path.startswith("/") else None

    def _add(self, row: Row, message: str) -> None:
        self.problems.append(Problem(row.line, message))

    def destination(self, path: str, row: Row) -> tuple[RedirectDestination | None, bool]:
        """Determine the destination of a row.

        Returns:
            The destination and whether the row leads to it through other redirects. The destination is None if the row
            has a problem, which is added to `problems`.
        """
        way = [*ways(self.all_targets, path)]
        if way and way[-1] in (path, *way[:-1]):
            self._add(row, f"redirect loop: {' → '.join(step or '/' for step in (path, *way))}")
            return None, False
        place = destination_at(row.destination, self.redirects.paths)
        known = self.redirects.by_source
        last = next((step for step in reversed(way) if step in self.first or step in known), None)
        if isinstance(place, str) and last is not None:
            # the row leads through other redirects: store the destination of the last redirect
            text = self.first[last].destination if last in self.first else self.redirects.destination(known[last])
            end = destination_at(text, self.redirects.paths)
            return (None, False) if isinstance(end, str) else (end, True)  # the problem is reported for the last row
        if isinstance(place, str):
            self._add(row, f"{row.destination or 'an empty destination'}: {place}")
            return None, False
        return place, False


def plan_import(
    site: Mapping[str, Any], rows: Sequence[Row], redirects: RedirectMap, *, replace: bool = False
) -> ImportPlan:
    """Plan the changes that give a site the redirects of a table.

    Args:
        site: the path parameters of calls about the site.
        rows: the rows of the table.
        redirects: the existing redirects of the site.
        replace: whether redirects that are not in the table are deleted.
    """
    table = _Import(rows, redirects)
    changes, unchanged, shortened = list[PlannedChange](), 0, 0
    for path, row in table.first.items():
        present, source = redirects.by_source.get(path), wire_path(row.source)
        if present and row.destination == redirects.destination(present):
            # unchanged since an export, even if the target is gone
            unchanged += 1
            continue
        destination, is_shortened = table.destination(path, row)
        if destination is None:
            continue
        shortened += is_shortened
        if present is None:
            call: Operation[Any] = CreateRedirect(**site, source=source, destination=destination)
        elif _is_same(present.destination, destination, redirects.paths):
            unchanged += 1
            continue
        else:
            call = UpdateRedirect(**site, site_redirect_id=present.id, source=present.source, destination=destination)
        changes.append(PlannedChange(row.line, source, call))
    if table.problems:
        return ImportPlan(problems=tuple(sorted(table.problems, key=lambda problem: problem.line)))
    gone = [redirect for path, redirect in redirects.by_source.items() if path not in table.first] if replace else []
    deletions = [
        PlannedChange(0, redirect.source, DeleteRedirect(**site, site_redirect_id=redirect.id)) for redirect in gone
    ]
    return ImportPlan((*deletions, *changes), unchanged, shortened)


def _is_same(present: RedirectTarget, planned: RedirectDestination, paths: SitePaths) -> bool:
    path = paths.path_of(present)
    return reference(present) == reference(planned) or (path is not None and path == paths.path_of(planned))


class Writer(Protocol):
    """The parts of the engine that an import needs."""

    @property
    def status(self) -> Status:
        """The state of the connection."""
        ...

    def write(self, call: Operation[Any]) -> PendingWrite[Any]:
        """Queue a write."""
        ...

    def unsend(self, number: int) -> Operation[Any] | None:
        """Undo an unsent write."""
        ...

    def waiting(self) -> Sequence[Any]:
        """Return the writes in the outbox."""
        ...


@dataclass
class Receipt:
    """The progress of an import.

    Attributes:
        done: the number of changes that were sent.
        queued: the number of changes that wait in the outbox.
        failed: the changes that the service refused, which are removed from the outbox.
    """

    done: int = 0
    queued: int = 0
    failed: list[Problem] = field(default_factory=list[Problem])

    @property
    def summary(self) -> str:
        """A summary such as `12 sent, 1 failed`."""
        parts = [f"{self.done:,} sent"] if self.done or not self.queued else []
        parts += [f"{self.queued:,} pending in the outbox"] if self.queued else []
        return ", ".join([*parts, f"{len(self.failed):,} failed"] if self.failed else parts)


def offline_problem(changes: int) -> str | None:
    """Return why a number of changes cannot be queued offline, or None if they can."""
    if changes <= MAX_OFFLINE:
        return None
    return f"you are offline, and at most {MAX_OFFLINE} changes can wait in the outbox: import {changes:,} when online"


async def send_changes(
    engine: Writer, changes: Sequence[PlannedChange], progress: Callable[[Receipt], None]
) -> Receipt:
    """Send the changes of an import. A refused change does not stop the others.

    More than `AT_ONCE` changes are sent as lists, if the service supports that. Otherwise the changes go through the
    outbox in batches: if the import is cancelled, changes that are in the outbox are still sent. Importing the table
    again sends the rest.

    Args:
        engine: sends the changes.
        changes: the changes of the plan.
        progress: called after each batch that was sent, not after batches that were only queued.

    Raises:
        NotNow: an earlier failed write in the outbox holds up all changes.
        PresscheckError: a list of changes could not be sent.
    """
    # a list does not wait in the outbox, so it must not overtake earlier changes
    if len(changes) > AT_ONCE and engine.status.online and not engine.waiting():
        with contextlib.suppress(NotSupported):
            return await _send_lists(engine, changes, progress)
    receipt = Receipt()
    for start in range(0, len(changes), AT_ONCE):
        batch = [(change, engine.write(change.call)) for change in changes[start : start + AT_ONCE]]
        if not engine.status.online:
            receipt.queued += len(batch)
            continue
        for change, ticket in batch:
            try:
                is_sent = await _is_sent(engine, ticket)
                receipt.done += is_sent
                receipt.queued += not is_sent
            except NotNow:
                for _, unsent in batch:
                    engine.unsend(unsent.id)
                raise
            except PresscheckError as error:
                engine.unsend(ticket.id)  # a failed change would hold up later changes; the receipt has its line
                receipt.failed.append(Problem(change.line, f"{change.source}: {error.message}"))
        progress(receipt)
    return receipt


async def _is_sent(engine: Writer, ticket: PendingWrite[Any]) -> bool:
    """Wait until a change is sent. Returns False if it stays in the outbox, because the connection was lost."""
    landed = asyncio.ensure_future(ticket.landed())
    try:
        while not landed.done() and engine.status.online:
            await asyncio.wait((landed,), timeout=POLL_SECONDS)
        if landed.done():
            landed.result()
        return landed.done()
    finally:
        landed.cancel()


async def _send_lists(engine: Writer, changes: Sequence[PlannedChange], progress: Callable[[Receipt], None]) -> Receipt:
    receipt = Receipt()
    for start in range(0, len(changes), MOST_IN_LIST):
        part = changes[start : start + MOST_IN_LIST]
        items = tuple(_list_item(change) for change in part)
        answer = await engine.write(at(BulkUpsertRedirects, part[0].call, redirects=items)).landed()
        failed = [
            Problem(change.line, f"{change.source}: {result.error or result.status}")
            for change, result in zip(part, answer.results if answer else (), strict=True)
            if result.status == "error"
        ]
        receipt.failed += failed
        receipt.done += len(part) - len(failed)
        progress(receipt)
    return receipt


def _list_item(change: PlannedChange) -> RedirectChange:
    """Convert a planned change to an item of a list of changes, in which the source identifies the redirect."""
    call: Any = change.call
    if isinstance(call, DeleteRedirect):
        return RedirectChange(source=change.source)
    destination = RedirectInputDestination(**call.destination.model_dump(exclude_none=True))
    return RedirectChange(source=call.source, destination=destination)


async def read_paths(engine: Reader, organization_id: str, site: Site) -> SitePaths:
    """Read the places of a site; pages of spaces that cannot be read are unknown.

    Raises:
        PresscheckError: the structure of the site cannot be read.
    """
    structure = await engine.read(GetSiteStructure(organization_id=organization_id, site_id=site.id))
    trees: dict[str, Sequence[RevisionPage]] = {}
    for item, _ in site_spaces(structure.structure):
        if item.space.id not in trees:
            with contextlib.suppress(PresscheckError):
                trees[item.space.id] = (await engine.read(ListPages(space_id=item.space.id))).pages
    return SitePaths(site, structure, trees)
