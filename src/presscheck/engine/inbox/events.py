"""Events: the differences between two snapshots of what concerns a person.

Pure functions of (before, after). One's own acts are no events, and nothing that was there at the first look is one.
The service gives acts ids, so that an act is told once whatever any clock says.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

REVIEW_ASKED, REPLY, APPROVED, CHANGES_REQUESTED = "review-asked", "reply", "approved", "changes-requested"
OUTDATED, CONFLICT, MERGED, PUBLISHED = "outdated", "conflict", "merged", "published"
SAYS: Mapping[str, str] = {
    REVIEW_ASKED: "{name} requested your review of {what}",
    REPLY: "{name} commented on {what}",
    APPROVED: "{name} approved {what}",
    CHANGES_REQUESTED: "{name} requested changes to {what}",
    OUTDATED: "{what} is outdated: main has new changes",
    CONFLICT: "{what} conflicts with main",
    MERGED: "{name} merged {what}",
    PUBLISHED: "{what} is live",
}
"""The sentence of each kind of event."""
FINAL = ("merged", "archived")
"""States in which main may move on as it likes."""


@dataclass(frozen=True)
class PersonAction:
    """Something that somebody did: a kind of event, the person's id and name, and when, as the service says it."""

    kind: str
    who: str = ""
    name: str = ""
    at: str = ""


@dataclass(frozen=True)
class Standing:
    """How a change request stands.

    Attributes:
        mark: differs when anything was done to it, and the deeds must be asked for again.
        deeds: what was done, by an id that stays; None where nobody has looked.
        conflict: whether it conflicts with main; None where that is not known.
        basis: the two revisions that `conflict` is about.
        has_left: whether it concerns the person no more; it is kept so that it is not news when it comes back.
    """

    number: int
    subject: str
    space: str
    status: str = "open"
    updated_at: str = ""
    mark: str = ""
    outdated: bool = False
    deeds: Mapping[str, PersonAction] | None = None
    merged: PersonAction | None = None
    conflict: bool | None = None
    basis: str = ""
    has_left: bool = False


@dataclass(frozen=True)
class SiteStanding:
    """Whether a site is live."""

    title: str
    published: bool


@dataclass(frozen=True)
class Snapshot:
    """What concerns a person at one moment, by ids; `whole` where no view was so long that its end was left out."""

    requests: Mapping[str, Standing] = field(default_factory=dict[str, Standing])
    sites: Mapping[str, SiteStanding] = field(default_factory=dict[str, SiteStanding])
    whole: bool = True

    @property
    def newest(self) -> str:
        """When the service last did something, as far as this tells."""
        return max((one.updated_at for one in self.requests.values()), default="")


@dataclass(frozen=True)
class Event:
    """Something that happened, to the change request or the site of this id; texts are as the service gave them.

    `who` is the id of a person and `at` a time of the service; both are empty where it does not tell them.
    """

    kind: str
    who: str = ""
    name: str = ""
    at: str = ""
    request: str = ""
    space: str = ""
    number: int = 0
    subject: str = ""
    site: str = ""


def diff_snapshots(
    before: Snapshot | None, after: Snapshot, me: str, own: Collection[str] = frozenset()
) -> tuple[Event, ...]:
    """What happened between two looks, the oldest first.

    Args:
        before: the look before; None at the first one, which finds no events.
        after: the look now.
        me: the id of the person whose acts are no events.
        own: what this person did that no answer tells the author of: `space ID` merged into, `site ID` published.
    """
    if before is None:
        return ()
    merged_into = {one.space for one in after.requests.values() if one.merged and one.merged.who == me}
    found: list[Event] = []
    for key, now in after.requests.items():
        was, moved_by_me = before.requests.get(key), now.space in merged_into or f"space {now.space}" in own
        deeds = [*(_asked(before, now) if was is None else _done(was, now))]
        deeds += _moved(was, now) if was and not moved_by_me else ()
        found += [
            Event(one.kind, one.who, one.name, one.at, key, now.space, now.number, now.subject)
            for one in deeds
            if one.who != me
        ]
    for key, site in after.sites.items():
        known = before.sites.get(key)
        if site.published and known and not known.published and f"site {key}" not in own:
            found.append(Event(PUBLISHED, subject=site.title, site=key))
    # what has no time has come about by what has one
    return tuple(sorted(found, key=lambda event: event.at or "~"))


def _asked(before: Snapshot, now: Standing) -> Iterator[PersonAction]:
    """What is news of a change request that is seen for the first time: that one is asked."""
    for deed in (now.deeds or {}).values():
        # one that was only too far down to be seen was asked for before
        if deed.kind == REVIEW_ASKED and (before.whole or deed.at > before.newest):
            yield deed


def _done(was: Standing, now: Standing) -> Iterator[PersonAction]:
    if was.deeds is not None and now.deeds is not None:
        yield from (deed for key, deed in now.deeds.items() if key not in was.deeds)
    if now.merged and not was.merged:
        yield now.merged


def _moved(was: Standing, now: Standing) -> Iterator[PersonAction]:
    if now.status in FINAL:
        return
    if now.outdated and not was.outdated:
        yield PersonAction(OUTDATED)
    if now.conflict and was.conflict is False:
        yield PersonAction(CONFLICT)


def sentence(event: Event) -> str:
    """An event in words, as they came from the service: the choke point of what is shown must follow."""
    name = event.name.partition(" ")[0] or event.name or "somebody"
    what = event.subject or "(no subject)"
    return SAYS[event.kind].format(name=name, what=f"{event.number} {what}" if event.request else what)


def summarize(events: Collection[Event]) -> str:
    """Events in one sentence: the only one, or how many and the last."""
    *others, last = events
    return f"{len(others) + 1} events, latest: {sentence(last)}" if others else sentence(last)


def write_snapshot(snapshot: Snapshot) -> str:
    """A snapshot as JSON."""
    return json.dumps(asdict(snapshot), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def read_snapshot(text: str | None) -> Snapshot | None:
    """A snapshot that was written; None where it was not, or by a version that wrote it otherwise."""
    try:
        found: dict[str, Any] = json.loads(text or "null")
        return Snapshot(
            {key: _standing(one) for key, one in found["requests"].items()},
            {key: SiteStanding(**one) for key, one in found["sites"].items()},
            found["whole"],
        )
    except (ValueError, TypeError, KeyError):
        return None


def write_event(event: Event) -> str:
    """An event as JSON."""
    return json.dumps(asdict(event), ensure_ascii=False, separators=(",", ":"))


def read_event(text: str) -> Event | None:
    """An event that was written; None where another version wrote what this one cannot read."""
    try:
        event = Event(**json.loads(text))
    except (ValueError, TypeError):
        return None
    return event if event.kind in SAYS else None


def _standing(found: dict[str, Any]) -> Standing:
    deeds, merged = found.pop("deeds"), found.pop("merged")
    return Standing(
        **found,
        deeds=None if deeds is None else {key: PersonAction(**one) for key, one in deeds.items()},
        merged=PersonAction(**merged) if merged else None,
    )
