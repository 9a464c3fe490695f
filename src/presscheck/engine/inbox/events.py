"""Inbox events: the differences between two snapshots of the user's change requests and sites.

The functions are pure. The user's own actions are not events, and the first snapshot has no events. Actions have ids,
so that each action is reported once, independent of clocks.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

REVIEW_ASKED, REPLY, APPROVED, CHANGES_REQUESTED = "review-asked", "reply", "approved", "changes-requested"
OUTDATED, CONFLICT, MERGED, PUBLISHED = "outdated", "conflict", "merged", "published"
EVENT_TEXTS: Mapping[str, str] = {
    REVIEW_ASKED: "{name} requested your review of {what}",
    REPLY: "{name} commented on {what}",
    APPROVED: "{name} approved {what}",
    CHANGES_REQUESTED: "{name} requested changes to {what}",
    OUTDATED: "{what} is outdated: main has new changes",
    CONFLICT: "{what} conflicts with main",
    MERGED: "{name} merged {what}",
    PUBLISHED: "{what} is live",
}
"""The text of each kind of event. `what` is the title of the change request or site."""
FORMER_FIELDS = {"mark": "version", "deeds": "actions", "basis": "compared"}
"""Fields of `RequestState` by their stored names in version 0.1.0."""
FINAL = ("merged", "archived")
"""Statuses of change requests that new changes in main no longer affect."""


@dataclass(frozen=True)
class UserAction:
    """An action of a user: the kind of event, the user's id and name, and the time from the service.

    Attributes:
        thread: the id of the first comment of the thread of a message; empty for other actions.
        mentions_me: whether a message is known to mention the signed-in user.
    """

    kind: str
    who: str = ""
    name: str = ""
    at: str = ""
    thread: str = ""
    mentions_me: bool = False


@dataclass(frozen=True)
class RequestState:
    """The state of a change request in a snapshot.

    Attributes:
        version: changes with every action; a new version means that the actions must be fetched again.
        actions: the actions by a stable id; None if they were not fetched.
        conflict: whether the change request conflicts with main; None if unknown.
        compared: the two revisions that were compared for `conflict`.
        has_left: whether the change request is no longer in the user's views; it is kept so that it is not new when it
            returns.
    """

    number: int
    subject: str
    space: str
    status: str = "open"
    updated_at: str = ""
    version: str = ""
    outdated: bool = False
    actions: Mapping[str, UserAction] | None = None
    merged: UserAction | None = None
    conflict: bool | None = None
    compared: str = ""
    has_left: bool = False


@dataclass(frozen=True)
class SiteState:
    """The state of a site in a snapshot."""

    title: str
    published: bool


@dataclass(frozen=True)
class Snapshot:
    """The user's change requests and sites at a point in time, by id.

    Attributes:
        complete: whether no view was truncated.
    """

    requests: Mapping[str, RequestState] = field(default_factory=dict[str, RequestState])
    sites: Mapping[str, SiteState] = field(default_factory=dict[str, SiteState])
    complete: bool = True

    @property
    def newest(self) -> str:
        """The time of the latest update of any change request; empty without change requests."""
        return max((request.updated_at for request in self.requests.values()), default="")


@dataclass(frozen=True)
class Event:
    """An event of a change request or site; texts are not sanitized.

    `who` is the id of a user and `at` a time of the service; both are empty if unknown. `thread` and `mentions_me` are
    copied from the `UserAction`.
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
    thread: str = ""
    mentions_me: bool = False


def diff_snapshots(
    before: Snapshot | None, after: Snapshot, me: str, own: Collection[str] = frozenset()
) -> tuple[Event, ...]:
    """Return the events between two snapshots, oldest first.

    Args:
        before: the previous snapshot; None if there is none, in which case there are no events.
        after: the current snapshot.
        me: the id of the user, whose own actions are not events.
        own: own actions whose author the service does not name: `space ID` for a merge, `site ID` for publishing.
    """
    if before is None:
        return ()
    states = after.requests.values()
    merged_into = {state.space for state in states if state.merged and state.merged.who == me}
    events: list[Event] = []
    for key, now in after.requests.items():
        was, is_own_merge = before.requests.get(key), now.space in merged_into or f"space {now.space}" in own
        actions = [*(_review_requests(before, now) if was is None else _new_actions(was, now))]
        actions += _main_changes(was, now) if was and not is_own_merge else ()
        events += [
            Event(
                action.kind,
                action.who,
                action.name,
                action.at,
                key,
                now.space,
                now.number,
                now.subject,
                thread=action.thread,
                mentions_me=action.mentions_me,
            )
            for action in actions
            if action.who != me
        ]
    for key, site in after.sites.items():
        former = before.sites.get(key)
        if site.published and former and not former.published and f"site {key}" not in own:
            events.append(Event(PUBLISHED, subject=site.title, site=key))
    # events without a time come last: they are consequences of the others
    return tuple(sorted(events, key=lambda event: event.at or "~"))


def _review_requests(before: Snapshot, now: RequestState) -> Iterator[UserAction]:
    """Yield the review requests of a change request that is not in the previous snapshot.

    Its other actions are not reported as events.
    """
    for action in (now.actions or {}).values():
        # an older request may only have been beyond the limit of a truncated snapshot
        if action.kind == REVIEW_ASKED and (before.complete or action.at > before.newest):
            yield action


def _new_actions(was: RequestState, now: RequestState) -> Iterator[UserAction]:
    if was.actions is not None and now.actions is not None:
        yield from (action for key, action in now.actions.items() if key not in was.actions)
    if now.merged and not was.merged:
        yield now.merged


def _main_changes(was: RequestState, now: RequestState) -> Iterator[UserAction]:
    if now.status in FINAL:
        return
    if now.outdated and not was.outdated:
        yield UserAction(OUTDATED)
    if now.conflict and was.conflict is False:
        yield UserAction(CONFLICT)


def sentence(event: Event) -> str:
    """Return the text of an event, not sanitized."""
    name = event.name.partition(" ")[0] or event.name or "somebody"
    what = event.subject or "(no subject)"
    return EVENT_TEXTS[event.kind].format(name=name, what=f"#{event.number} {what}" if event.request else what)


def summarize(events: Collection[Event]) -> str:
    """Summarize events in a line: the text of a single event, or the number of events and the latest event."""
    *others, last = events
    return f"{len(others) + 1} events, latest: {sentence(last)}" if others else sentence(last)


def event_record(event: Event) -> dict[str, Any]:
    """Return an event with stable field names, for other programs; unknown values are None."""
    request = {"id": event.request, "number": event.number, "subject": event.subject, "space": event.space}
    return {
        "event": event.kind,
        "at": event.at or None,
        "by": {"id": event.who, "displayName": event.name} if event.who else None,
        "changeRequest": request if event.request else None,
        "site": {"id": event.site, "title": event.subject} if event.site else None,
        "text": sentence(event),
    }


def write_snapshot(snapshot: Snapshot) -> str:
    """Return a snapshot as JSON."""
    return json.dumps(asdict(snapshot), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def read_snapshot(text: str | None) -> Snapshot | None:
    """Parse a snapshot, also of version 0.1.0. Returns None if the text is missing or invalid."""
    try:
        stored: dict[str, Any] = json.loads(text or "null")
        return Snapshot(
            {key: _read_request_state(state) for key, state in stored["requests"].items()},
            {key: SiteState(**state) for key, state in stored["sites"].items()},
            stored["complete"] if "complete" in stored else stored["whole"],
        )
    except (ValueError, TypeError, KeyError):
        return None


def write_event(event: Event) -> str:
    """Return an event as JSON."""
    return json.dumps(asdict(event), ensure_ascii=False, separators=(",", ":"))


def read_event(text: str) -> Event | None:
    """Parse an event. Returns None if the text is invalid or the kind of event is unknown."""
    try:
        event = Event(**json.loads(text))
    except (ValueError, TypeError):
        return None
    return event if event.kind in EVENT_TEXTS else None


def _read_request_state(stored: dict[str, Any]) -> RequestState:
    state = {FORMER_FIELDS.get(name, name): value for name, value in stored.items()}
    actions, merged = state.pop("actions"), state.pop("merged")
    return RequestState(
        **state,
        actions=None if actions is None else {key: UserAction(**action) for key, action in actions.items()},
        merged=UserAction(**merged) if merged else None,
    )
