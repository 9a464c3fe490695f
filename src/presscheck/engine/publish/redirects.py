"""The redirects of a site: where each leads, what a path ends at, and the import of many from a table.

A redirect table is a CSV file with the columns `source` and `destination`. A destination is a path of the site, a web
address, or what `reference` returns for something that has no path. An import is planned completely before anything is
sent: what is wrong is named by its line.
"""

from __future__ import annotations

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
    CreateRedirect,
    DeleteRedirect,
    Redirect,
    RedirectDestination,
    RedirectTarget,
    UpdateRedirect,
)
from presscheck.api.site_structure import GetSiteStructure
from presscheck.api.sites import Site
from presscheck.engine.connection import Status
from presscheck.engine.protocols import Reader
from presscheck.engine.publish.site_structure import SitePaths, plain_path, site_spaces, ways, wire_path
from presscheck.engine.writes.pending_writes import PendingWrite
from presscheck.errors import NotNow, PresscheckError

COLUMNS = ("source", "destination")
SOURCE_NAMES = frozenset(("source", "from", "old", "path"))
DESTINATION_NAMES = frozenset(("destination", "to", "target", "new"))
MAX_ROWS = 10_000
"""The most rows of a table that is imported."""
MAX_FILE = 20 << 20
"""The most bytes of such a table."""
LONGEST_SOURCE = 512
LONGEST_URL = 2048
MAX_OFFLINE = 100
"""The most changes that an import leaves in the outbox while the service cannot be reached."""
AT_ONCE = 20
"""Changes of an import that are in the outbox at a time."""
_SOURCE = re.compile(r"(?:/(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+)+")
_REFERENCE = re.compile(r"(section|space|page):([^/\s]+)(?:/([^/\s]+))?")

End = Literal["page", "address", "nothing", "loop", "unknown"]


class Trail(NamedTuple):
    """Where a path leads.

    Attributes:
        steps: the path, and what it leads to through each redirect.
        end: what the last step is: a page of the site, a web address, nothing (visitors see that there is no page), a
            step that was there before, or a page of which it is not known whether it is still there.
        title: the title of the page.
    """

    steps: tuple[str, ...]
    end: End
    title: str = ""

    @property
    def redirects(self) -> int:
        """Through how many redirects it leads."""
        return len(self.steps) - 1


class RedirectMap:
    """The redirects of a site and the places to which they lead.

    Args:
        redirects: the redirects.
        paths: the places of the site.
    """

    def __init__(self, redirects: Iterable[Redirect], paths: SitePaths) -> None:
        self.paths = paths
        self.by_source = {plain_path(redirect.source): redirect for redirect in redirects}

    def destination(self, redirect: Redirect) -> str:
        """The path or address to which a redirect leads; a reference if it leads to something that is gone."""
        return self.paths.path_of(redirect.destination) or reference(redirect.destination)

    def trail(self, path: str) -> Trail:
        """Where visitors come who open a path."""
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
        """What is wrong with a redirect, in a few words; empty if nothing is."""
        trail = self.trail(redirect.source)
        if trail.end == "loop":
            return "redirect loop"
        if trail.end == "nothing":
            return "page not found"
        return f"chain of {trail.redirects}" if trail.redirects > 1 else ""


@dataclass(frozen=True)
class Problem:
    """Something wrong in a table.

    Attributes:
        line: the line in the file, from 1.
        message: what is wrong.
    """

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line:,}: {self.message}"


@dataclass(frozen=True)
class Row:
    """A row of a table, and the line in which it begins."""

    line: int
    source: str
    destination: str


@dataclass(frozen=True)
class PlannedChange:
    """One change of an import, and the line that asks for it; 0 for a redirect that is not in the table."""

    line: int
    source: str
    call: Operation[Any]


@dataclass(frozen=True)
class ImportPlan:
    """What an import would do.

    Attributes:
        changes: what is sent, in this order.
        unchanged: the number of rows that are redirects of the site already.
        shortened: the number of rows that lead through other rows, and are stored with the end.
        problems: what is wrong; nothing is sent then.
    """

    changes: tuple[PlannedChange, ...] = ()
    unchanged: int = 0
    shortened: int = 0
    problems: tuple[Problem, ...] = ()

    def number(self, kind: type[Operation[Any]]) -> int:
        """How many changes are of one kind."""
        return sum(isinstance(change.call, kind) for change in self.changes)

    @property
    def summary(self) -> str:
        """What it does, in words."""
        parts = [
            f"{self.number(CreateRedirect):,} new",
            f"{self.number(UpdateRedirect):,} changed",
            f"{self.unchanged:,} unchanged",
        ]
        deleted = self.number(DeleteRedirect)
        return ", ".join([*parts, f"{deleted:,} deleted"] if deleted else parts)


def reference(target: RedirectTarget | RedirectDestination) -> str:
    """What a redirect leads to, by its ids: for what has no path of its own."""
    if target.kind == "site-section":
        return f"section:{target.site_section_id}"
    if target.kind == "site-space":
        return f"space:{target.site_space_id}"
    return f"page:{target.site_space_id}/{target.page_id}" if target.kind == "site-page" else target.url or target.kind


def source_problem(source: str) -> str | None:
    """Why a path cannot be the source of a redirect; None if it can."""
    path = wire_path(source)
    if not source.startswith("/") or "?" in source or "#" in source:
        return "a path such as /old/page, without a query"
    if not path:
        return "the root of the site cannot be redirected"
    if len(path) > LONGEST_SOURCE:
        return f"at most {LONGEST_SOURCE} characters"
    return None if _SOURCE.fullmatch(path) else "a path such as /old/page: no empty parts, no blanks"


def destination_at(text: str, paths: SitePaths) -> RedirectDestination | str:
    """What a typed destination means in a site: a place, or why it is none."""
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
    kind, one, page = match.groups()
    if (kind == "page") != bool(page):
        return "ids are section:ID, space:ID or page:SPACE/ID"
    place = {
        "section": RedirectDestination(kind="site-section", site_section_id=one),
        "space": RedirectDestination(kind="site-space", site_space_id=one),
        "page": RedirectDestination(kind="site-page", site_space_id=one, page_id=page),
    }[kind]
    is_known = paths.path_of(place) is not None or paths.is_unread(place)
    return place if is_known else "nothing in the site has this id"


def read_table(content: bytes) -> tuple[list[Row], list[Problem]]:
    """The rows of a CSV table and what is wrong with its form; a heading is optional.

    UTF-8 and UTF-16 with a byte order mark are read; commas, semicolons and tabs separate columns.
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
    """All redirects as a CSV table, by their sources."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for _, redirect in sorted(redirects.by_source.items()):
        writer.writerow((redirect.source, redirects.destination(redirect)))
    return stream.getvalue()


@dataclass
class _Import:
    """The rows of a table while their import is planned."""

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
        """Where each row leads within the site, as plain paths."""
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
        """Where a row leads, and whether it is through other redirects; notes why it leads to nothing."""
        way = [*ways(self.all_targets, path)]
        if way and way[-1] in (path, *way[:-1]):
            self._add(row, f"redirect loop: {' → '.join(one or '/' for one in (path, *way))}")
            return None, False
        place = destination_at(row.destination, self.redirects.paths)
        known = self.redirects.by_source
        last = next((one for one in reversed(way) if one in self.first or one in known), None)
        if isinstance(place, str) and last is not None:  # it leads through others: the end of the last one is stored
            text = self.first[last].destination if last in self.first else self.redirects.destination(known[last])
            end = destination_at(text, self.redirects.paths)
            return (None, False) if isinstance(end, str) else (end, True)  # the last row names its own problem
        if isinstance(place, str):
            self._add(row, f"{row.destination or 'an empty destination'}: {place}")
            return None, False
        return place, False


def plan_import(
    site: Mapping[str, Any], rows: Sequence[Row], redirects: RedirectMap, *, replace: bool = False
) -> ImportPlan:
    """What it takes that a site has the redirects of a table, or what is wrong with the table.

    Args:
        site: the arguments that name the site in a call.
        rows: the table.
        redirects: those of the site.
        replace: whether redirects that are not in the table are deleted.
    """
    table = _Import(rows, redirects)
    changes, unchanged, shortened = list[PlannedChange](), 0, 0
    for path, row in table.first.items():
        present, source = redirects.by_source.get(path), wire_path(row.source)
        if present and row.destination == redirects.destination(present):  # as an export wrote it, also if it is gone
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


def _is_same(one: RedirectTarget, other: RedirectDestination, paths: SitePaths) -> bool:
    first, second = paths.path_of(one), paths.path_of(other)
    return reference(one) == reference(other) or (first is not None and first == second)


class Writer(Protocol):
    """What an import needs of the engine."""

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


@dataclass
class Receipt:
    """What an import did so far.

    Attributes:
        done: the number of changes that were sent.
        queued: the number of changes that wait in the outbox.
        failed: what the service refused, by line; these are not in the outbox any more.
    """

    done: int = 0
    queued: int = 0
    failed: list[Problem] = field(default_factory=list[Problem])

    @property
    def summary(self) -> str:
        """What it did, in words."""
        parts = [f"{self.done:,} sent"] if self.done or not self.queued else []
        parts += [f"{self.queued:,} pending in the outbox"] if self.queued else []
        return ", ".join([*parts, f"{len(self.failed):,} failed"] if self.failed else parts)


def offline_problem(changes: int) -> str | None:
    """Why so many changes cannot be queued while the service cannot be reached; None if they can."""
    if changes <= MAX_OFFLINE:
        return None
    return f"you are offline, and at most {MAX_OFFLINE} changes can wait in the outbox: import {changes:,} when online"


async def send_changes(
    engine: Writer, changes: Sequence[PlannedChange], progress: Callable[[Receipt], None]
) -> Receipt:
    """Send the changes of an import through the outbox, a few at a time; a refused one stops no other.

    If it is cancelled, those that are in the outbox are still sent; the next import of the table sends the rest.

    Args:
        engine: sends them.
        changes: what is sent.
        progress: called after each batch.

    Raises:
        NotNow: a failed change of the outbox holds up all of them.
    """
    receipt = Receipt()
    for start in range(0, len(changes), AT_ONCE):
        batch = [(change, engine.write(change.call)) for change in changes[start : start + AT_ONCE]]
        if not engine.status.online:
            receipt.queued += len(batch)
            continue
        for change, ticket in batch:
            try:
                await ticket.landed()
                receipt.done += 1
            except NotNow:
                for _, unsent in batch:
                    engine.unsend(unsent.id)
                raise
            except PresscheckError as error:
                engine.unsend(ticket.id)  # it would hold up the rest; its line is in the receipt
                receipt.failed.append(Problem(change.line, f"{change.source}: {error.message}"))
        progress(receipt)
    return receipt


async def read_paths(engine: Reader, organization_id: str, site: Site) -> SitePaths:
    """The places of a site; pages of spaces that cannot be read are not known.

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
