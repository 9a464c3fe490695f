"""Muted and followed change requests, threads and spaces; stored next to the outbox, never evicted.

A muted target has no events and no *new* marks, and is left out of the views of change requests that concern the user.
A followed target has events as if the user took part. The most specific setting applies: of the thread, else of the
change request, else of the space. A review request to the user or a mention of the user ends the mute of a change
request or thread, but not of a space.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

from presscheck.engine.inbox.events import REVIEW_ASKED

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.engine.inbox.events import Event
    from presscheck.store.outbox import Outbox

Kind = Literal["request", "thread", "space"]
State = Literal["", "muted", "followed", "neither"]
"""The state of a target. `neither` overrides an inherited state; an empty state means that nothing is set."""
STORED = "notify "
"""Prefix of the storage keys. Kind and id follow."""
_STATES = ("muted", "followed", "neither")


@dataclass(frozen=True)
class NotificationTarget:
    """A change request, thread or space that can be muted or followed.

    Attributes:
        space: the id of the space.
        request: the id of the change request; empty for a space.
        thread: the id of the first comment of the thread; empty for other kinds.
        seen: when the change request was last updated before the setting; older events do not end a mute.
    """

    space: str
    request: str = ""
    thread: str = ""
    seen: str = ""

    @property
    def kind(self) -> Kind:
        """The kind of the target."""
        return "thread" if self.thread else "request" if self.request else "space"

    @property
    def key(self) -> str:
        """The storage key of the setting, without the prefix."""
        return f"{self.kind} {' '.join(filter(None, (self.request, self.thread))) or self.space}"


@dataclass(frozen=True)
class Setting:
    """The state that is set for a target itself, not inherited from its change request or space."""

    state: State
    target: NotificationTarget


@dataclass(frozen=True)
class Change:
    """A change of settings that can be undone.

    Attributes:
        before: the settings before the change, in the order of `targets`; None for a target without a setting.
    """

    state: State
    is_on: bool
    targets: tuple[NotificationTarget, ...]
    before: tuple[Setting | None, ...]


def request_target(request: ChangeRequest) -> NotificationTarget:
    """Return a change request as a target."""
    return NotificationTarget(request.space, request.id, seen=request.updated_at)


class NotificationSettings:
    """The settings of all targets.

    Args:
        outbox: the file that stores the settings; other processes may also write it.
        changed: called after each change by this instance.
    """

    def __init__(self, outbox: Outbox, changed: Callable[[], None] = lambda: None) -> None:
        self._outbox, self._changed = outbox, changed
        self._settings: dict[str, Setting] = {}
        self.reload()

    def reload(self) -> None:
        """Read the settings again, because another process may have changed them."""
        stored = self._outbox.recall_all(STORED)
        self._settings = {key: setting for key, text in stored.items() if (setting := _read(text))}

    def state(self, target: NotificationTarget) -> State:
        """Return whether a target is muted or followed, by its own setting or by inheritance. Empty for neither."""
        for container in (target, replace(target, thread=""), NotificationTarget(target.space)):
            setting = self._settings.get(container.key)
            if setting:
                return "" if setting.state == "neither" else setting.state
        return ""

    def set(self, target: NotificationTarget, state: State) -> None:
        """Mute or follow a target. An empty state removes the setting."""
        setting = Setting(state, target) if state else None
        self._store(target, setting)

    def toggle(self, targets: Sequence[NotificationTarget], state: State) -> Change:
        """Mute or follow all targets. If all of them already have this state, end it."""
        is_on = any(self.state(target) != state for target in targets)
        return self.change(targets, state, is_on=is_on)

    def change(self, targets: Sequence[NotificationTarget], state: State, *, is_on: bool) -> Change:
        """Mute or follow targets if `is_on`; otherwise end this state, and leave targets in another state unchanged."""
        changed = tuple(target for target in targets if is_on or self.state(target) == state)
        before = tuple(self._settings.get(target.key) for target in changed)
        for target in changed:
            self.set(target, state if is_on else "")
            if not is_on and self.state(target) == state:  # inherited: only an own setting can override it
                self.set(target, "neither")
        return Change(state, is_on, changed, before)

    def undo(self, change: Change) -> None:
        """Restore the settings before a change."""
        for target, setting in zip(change.targets, change.before, strict=True):
            self._store(target, setting)

    def followed(self, kind: Kind) -> tuple[NotificationTarget, ...]:
        """Return the followed targets of a kind."""
        settings = self._settings.values()
        return tuple(one.target for one in settings if one.state == "followed" and one.target.kind == kind)

    def has_muted_part(self, target: NotificationTarget) -> bool:
        """Return whether a change request, or a thread in it, has a mute that a mention can end."""
        return any(
            setting.state == "muted" and setting.target.request == target.request
            for setting in self._settings.values()
            if setting.target.request
        )

    def by_id(self) -> dict[str, Mapping[str, State]]:
        """Return the states of change requests and spaces by id, for queries.

        Empty if no change request or space has a setting.
        """
        states: dict[str, dict[str, State]] = {"requests": {}, "spaces": {}}
        for setting in self._settings.values():
            target = setting.target
            if target.kind == "request":
                states["requests"][target.request] = setting.state
            elif target.kind == "space":
                states["spaces"][target.space] = setting.state
        return dict(states) if states["requests"] or states["spaces"] else {}

    def filter_events(self, events: Iterable[Event], followed_in_part: Iterable[str] = ()) -> tuple[Event, ...]:
        """Return the events whose targets are not muted. A review request or a mention ends a mute first.

        Args:
            events: the events, oldest first.
            followed_in_part: the ids of change requests that concern the user only because of followed threads.
        """
        in_part = frozenset(followed_in_part)
        reported: list[Event] = []
        for event in events:
            target = NotificationTarget(event.space, event.request, event.thread)
            if not event.request:
                reported.append(event)
                continue
            if event.kind == REVIEW_ASKED or event.mentions_me:
                self._end_mute(target, event.at)
            state = self.state(target)
            if state != "muted" and (event.request not in in_part or state == "followed"):
                reported.append(event)
        return tuple(reported)

    def _end_mute(self, target: NotificationTarget, at: str) -> None:
        """End the mutes that are set for a thread or its change request, if they are older than the event."""
        for muted in {target, replace(target, thread="")}:
            setting = self._settings.get(muted.key)
            if setting and setting.state == "muted" and not (at and at <= setting.target.seen):
                self.set(muted, "")

    def _store(self, target: NotificationTarget, setting: Setting | None) -> None:
        text = json.dumps({"state": setting.state, **asdict(setting.target)}) if setting else None
        self._outbox.remember(STORED + target.key, text)
        if setting:
            self._settings[target.key] = setting
        else:
            self._settings.pop(target.key, None)
        self._changed()


def _read(text: str) -> Setting | None:
    """Parse a stored setting. Returns None if this version cannot read it."""
    try:
        stored = json.loads(text)
        state = stored.pop("state")
        return Setting(state, NotificationTarget(**stored)) if state in _STATES else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
