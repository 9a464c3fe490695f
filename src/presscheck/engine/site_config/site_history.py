"""The history of a site: publishes, merges and changes, each with its time and, if known, the user.

The service reports the creation of the site and merged change requests. This machine adds its own writes and the
snapshots before them. Changes by others in the web app are not rows; they are visible only as differences between
snapshots.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests
from presscheck.api.site_structure import GetSiteStructure
from presscheck.api.sites import GetSite, Site
from presscheck.engine.protocols import Reader
from presscheck.engine.publish.published_state import PublishedStates
from presscheck.engine.publish.site_structure import site_spaces
from presscheck.engine.site_config.comparison import Difference, compare
from presscheck.engine.site_config.document import Entry, Part, SiteConfig, place_name
from presscheck.engine.site_config.snapshots import (
    BURST,
    KIND_OF,
    PART_OF,
    RESTORABLE,
    Kind,
    Snapshot,
    SnapshotRecorder,
)
from presscheck.engine.site_config.validation import parse
from presscheck.engine.writes.history import HistoryEntry
from presscheck.errors import InvalidArgument, PresscheckError
from presscheck.store.outbox import Outbox
from presscheck.text.phrases import count, parse_time

MOST_MERGES = 200
"""Maximum number of merged change requests to read, latest first."""
Source = Literal["service", "this machine"]
RowKind = Kind | Literal["created", "merged", "seen live"]
WHAT: dict[RowKind, str] = {
    "created": "created",
    "merged": "merged",
    "seen live": "live",
    "published": "published",
    "unpublished": "unpublished",
    "structure": "structure changed",
    "customization": "customization changed",
    "schema": "schema changed",
    "redirects": "redirects changed",
    "configuration": "configuration changed",
}
"""The label of each kind of row."""


class HistoryReader(Reader, Protocol):
    """The parts of the engine that the history of a site needs."""

    @property
    def site_snapshots(self) -> SnapshotRecorder:
        """The recorder of site snapshots."""
        ...

    @property
    def outbox(self) -> Outbox:
        """The store of the published states of sites."""
        ...

    def history(self) -> tuple[HistoryEntry, ...]:
        """Return the writes of this machine."""
        ...

    async def noted(self, site_id: str | None = None) -> None:
        """Wait until the states of sites that this program published are stored."""
        ...


@dataclass(frozen=True)
class HistoryRow:
    """An event in the history of a site.

    Attributes:
        at: the time in seconds since the epoch.
        kind: the kind of event.
        who: the name of the user; empty if unknown.
        detail: details in a few words; not sanitized.
        source: the source of the information.
        snapshot: the snapshot for the event, taken before a change or after a publish; None if there is none.
    """

    at: float
    kind: RowKind
    who: str = ""
    detail: str = ""
    source: Source = "this machine"
    snapshot: Snapshot | None = None

    @property
    def what(self) -> str:
        """The event in words, such as *structure changed*."""
        return WHAT[self.kind]


@dataclass(frozen=True)
class SiteHistory:
    """The rows, newest first, and the errors that made rows unavailable."""

    rows: tuple[HistoryRow, ...]
    unread: tuple[str, ...] = ()


async def read_history(engine: HistoryReader, organization_id: str, site_id: str) -> SiteHistory:
    """Read the history of a site.

    Raises:
        StoreError: the local history cannot be read.
    """
    await engine.noted(site_id)
    rows = own_rows(engine.history(), engine.site_snapshots.of(site_id).every(), site_id)
    seen = PublishedStates(engine.outbox).of(site_id)
    if seen and not seen.is_own:
        rows.append(HistoryRow(seen.at, "seen live", detail="it was live already when this machine first saw it"))
    path = {"organization_id": organization_id, "site_id": site_id}
    unread = list[str]()
    try:
        site = await engine.read(GetSite(**path))
        rows += _created(site)
        items = (await engine.read(GetSiteStructure(**path))).structure
        spaces = {item.space.id: item.title or item.space.title for item, _ in site_spaces(items)}
        listing = ListOrganizationChangeRequests(organization_id=organization_id, status="merged", limit=MOST_MERGES)
        merged = (await engine.read(listing)).items
        rows += [_merge(request, spaces[request.space]) for request in merged if request.space in spaces]
    except PresscheckError as error:
        unread.append(error.message)
    return SiteHistory(tuple(sorted(rows, key=lambda row: row.at, reverse=True)), tuple(unread))


def own_rows(entries: Iterable[HistoryEntry], snapshots: Sequence[Snapshot], site_id: str) -> list[HistoryRow]:
    """Return the rows for the writes of this machine; writes that share a snapshot share a row.

    Args:
        entries: the writes of this machine.
        snapshots: the snapshots of the site, newest first.
        site_id: the id of the site.
    """
    rows = {shot.name: HistoryRow(shot.at, shot.kind, shot.who, shot.what, snapshot=shot) for shot in snapshots}
    numbers, last, others = dict[str, int](), dict[str, float](), list[HistoryRow]()
    writes: list[tuple[Kind, HistoryEntry]] = [(kind, entry) for entry in entries if (kind := _kind_of(entry, site_id))]
    for kind, entry in sorted(writes, key=lambda write: write[1].ended_at):
        snapshot = next((snapshot for snapshot in snapshots if _covers(snapshot, kind, entry)), None)
        is_first = snapshot is not None and snapshot.write in (0, entry.id)
        if snapshot and (is_first or entry.ended_at - last.get(snapshot.name, snapshot.at) <= 2 * BURST):
            last[snapshot.name] = entry.ended_at
            numbers[snapshot.name] = numbers.get(snapshot.name, 0) + 1
        else:
            others.append(HistoryRow(entry.ended_at, kind, "", entry.description))
    for snapshot in snapshots:
        more = numbers.get(snapshot.name, 0) - 1
        if more > 0 and snapshot.write:  # the description of a push covers all its writes already
            rows[snapshot.name] = replace(
                rows[snapshot.name], detail=f"{snapshot.what} and {count(more, 'more change')}"
            )
    return [*rows.values(), *others]


def _kind_of(entry: HistoryEntry, site_id: str) -> Kind | None:
    """Return the kind of a sent write to this site, or None for all other writes."""
    if entry.call is None or entry.state not in ("sent", "undone") or getattr(entry.call, "site_id", "") != site_id:
        return None
    return KIND_OF.get(type(entry.call))


def _covers(snapshot: Snapshot, kind: Kind, entry: HistoryEntry) -> bool:
    if kind in ("published", "unpublished"):
        return snapshot.write == entry.id
    is_before = snapshot.at <= entry.ended_at
    return is_before and snapshot.kind in (kind, "configuration") and PART_OF[kind] in snapshot.parts


def _created(site: Site) -> list[HistoryRow]:
    at = parse_time(site.created_at)
    return [HistoryRow(at.timestamp(), "created", source="service")] if at else []


def _merge(request: ChangeRequest, space: str) -> HistoryRow:
    at = parse_time(request.merged_at or request.updated_at)
    who = request.merged_by.display_name if request.merged_by else ""
    detail = f"#{request.number} {request.subject or '(no subject)'} into {space}"
    return HistoryRow(at.timestamp() if at else 0.0, "merged", who, detail, "service")


def part_of_config(config: SiteConfig, part: Part) -> SiteConfig:
    """Return a configuration with only one of its parts.

    Raises:
        InvalidArgument: the configuration does not have the part.
    """
    value: Any = getattr(config, part)
    if value is None:
        has = ", ".join(config.parts) or "nothing"
        raise InvalidArgument("--part", f"the snapshot does not have the {part}: it has {has}")
    return replace(SiteConfig(), **{part: value})


def changes_between(before: SiteConfig, after: SiteConfig) -> list[Difference]:
    """Return the fields that differ between two configurations, in restorable parts that both have."""
    both: list[Part] = [part for part in RESTORABLE if part in before.parts and part in after.parts]
    return compare(_comparable(before, both), _comparable(after, both))


def _comparable(config: SiteConfig, parts: Sequence[Part]) -> SiteConfig:
    """Return some parts of a configuration, with places and keys for its items, which `compare` needs."""
    only = replace(SiteConfig(), **{part: getattr(config, part) for part in parts})
    placed = parse(only.plain)[0]
    structure = None if placed.structure is None else tuple(_keyed(entry) for entry in placed.structure)
    return replace(placed, structure=structure)


def _keyed(entry: Entry) -> Entry:
    return replace(entry, key=place_name(entry.place), entries=tuple(map(_keyed, entry.entries)))
