"""Muted and followed change requests, threads and spaces; stored next to the outbox, never evicted.

What is muted makes no events and no *new* marks, and leaves the views of what concerns the user. What is followed makes
events as if the user took part. The nearest setting counts: that of a thread, else of its change request, else of its
space. A review request to the user, or a mention of the user, ends the mute of a change request or of a thread; a space
stays muted.
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
"""`neither` differs from no setting where the space is muted or followed."""
STORED = "notify "
"""Prefix of the stored keys; kind and id follow."""
_STATES = ("muted", "followed", "neither")


@dataclass(frozen=True)
class NotificationTarget:
    """Something that can be muted or followed.

    Attributes:
        space: the id of its space.
        request: the id of its change request; empty for a space.
        thread: the id of the first comment of a thread; empty for others.
        seen: when the change request was last updated, as far as the user knows.
    """

    space: str
    request: str = ""
    thread: str = ""
    seen: str = ""

    @property
    def kind(self) -> Kind:
        """What it is."""
        return "thread" if self.thread else "request" if self.request else "space"

    @property
    def key(self) -> str:
        """The key of its setting."""
        return f"{self.kind} {' '.join(filter(None, (self.request, self.thread))) or self.space}"


@dataclass(frozen=True)
class Setting:
    """The own setting of a target."""

    state: State
    target: NotificationTarget


@dataclass(frozen=True)
class Change:
    """A change of settings that can be undone: the settings before, None where there was none."""

    state: State
    is_on: bool
    targets: tuple[NotificationTarget, ...]
    before: tuple[Setting | None, ...]


def request_target(request: ChangeRequest) -> NotificationTarget:
    """A change request as a target."""
    return NotificationTarget(request.space, request.id, seen=request.updated_at)


class NotificationSettings:
    """The settings of all targets.

    Args:
        outbox: the file that stores them; other processes may write it, too.
        changed: called after each change here.
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
        """Whether a target is muted or followed, by its own setting or that of what contains it; empty for neither."""
        for container in (target, replace(target, thread=""), NotificationTarget(target.space)):
            setting = self._settings.get(container.key)
            if setting:
                return "" if setting.state == "neither" else setting.state
        return ""

    def set(self, target: NotificationTarget, state: State) -> None:
        """Mute or follow a target; an empty state removes its setting."""
        setting = Setting(state, target) if state else None
        self._store(target, setting)

    def toggle(self, targets: Sequence[NotificationTarget], state: State) -> Change:
        """Mute or follow all targets, or end that if all of them are in this state."""
        is_on = any(self.state(target) != state for target in targets)
        return self.change(targets, state, is_on=is_on)

    def change(self, targets: Sequence[NotificationTarget], state: State, *, is_on: bool) -> Change:
        """Mute or follow targets, or end it; those that are not in this state then stay as they are."""
        changed = tuple(target for target in targets if is_on or self.state(target) == state)
        before = tuple(self._settings.get(target.key) for target in changed)
        for target in changed:
            self.set(target, state if is_on else "")
            if not is_on and self.state(target) == state:  # what contains it is in this state
                self.set(target, "neither")
        return Change(state, is_on, changed, before)

    def undo(self, change: Change) -> None:
        """Restore the settings before a change."""
        for target, setting in zip(change.targets, change.before, strict=True):
            self._store(target, setting)

    def followed(self, kind: Kind) -> tuple[NotificationTarget, ...]:
        """The followed targets of a kind."""
        settings = self._settings.values()
        return tuple(one.target for one in settings if one.state == "followed" and one.target.kind == kind)

    def has_muted_part(self, target: NotificationTarget) -> bool:
        """Whether a change request or a thread in it has a mute that a mention can end."""
        return any(
            setting.state == "muted" and setting.target.request == target.request
            for setting in self._settings.values()
            if setting.target.request
        )

    def by_id(self) -> dict[str, Mapping[str, State]]:
        """The states of change requests and of spaces by id, for queries; empty if nothing is muted or followed."""
        states: dict[str, dict[str, State]] = {"requests": {}, "spaces": {}}
        for setting in self._settings.values():
            target = setting.target
            if target.kind == "request":
                states["requests"][target.request] = setting.state
            elif target.kind == "space":
                states["spaces"][target.space] = setting.state
        return dict(states) if states["requests"] or states["spaces"] else {}

    def filter_events(self, events: Iterable[Event], followed_in_part: Iterable[str] = ()) -> tuple[Event, ...]:
        """The events that are reported; a review request or a mention ends a mute first.

        Args:
            events: the events, oldest first.
            followed_in_part: ids of change requests that concern the user only by threads that are followed.
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
        """End the own mutes of a thread and of its change request, if they began before this time."""
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
    """A stored setting; None if this version cannot read it."""
    try:
        stored = json.loads(text)
        state = stored.pop("state")
        return Setting(state, NotificationTarget(**stored)) if state in _STATES else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
