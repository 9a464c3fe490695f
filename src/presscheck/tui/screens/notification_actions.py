"""The commands mute and follow for the selection of a screen.

Muted targets cause no notifications; followed targets cause notifications as if the user took part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from presscheck.text.phrases import count
from presscheck.tui.commands import key_for

if TYPE_CHECKING:
    from presscheck.engine.inbox.notification_settings import Change, NotificationTarget, State
    from presscheck.tui.ui.screen import BaseScreen

SIGNS: dict[State, tuple[str, str]] = {"muted": ("⊘", "quiet"), "followed": ("◉", "accent")}
"""The sign and the style of each state."""
_ENDED: dict[State, str] = {"muted": "no longer muted", "followed": "no longer followed"}


class Selection(NamedTuple):
    """The selected targets, the name of a single target as display text, and the noun for several."""

    targets: Sequence[NotificationTarget]
    name: str
    noun: str = "change request"


class NotificationActions:
    """The commands mute and follow of a screen, and the undo of the last change.

    Args:
        screen: the screen.
        selection: returns the current selection, or why nothing can be muted or followed.
        changed: draws the screen again after each change.
    """

    def __init__(
        self, screen: BaseScreen, selection: Callable[[], Selection | str], changed: Callable[[], None]
    ) -> None:
        self._screen, self._engine = screen, screen.engine
        self._selection, self._changed = selection, changed
        self._last: tuple[Change, Selection, int] | None = None

    def reason_mute(self) -> str | None:
        """Return why nothing can be muted or followed."""
        selection = self._selection()
        return selection if isinstance(selection, str) else None

    reason_follow = reason_mute

    def command_mute(self) -> None:
        """Mute the selection, or unmute it if all of it is muted."""
        self._toggle("muted")

    def command_follow(self) -> None:
        """Follow the selection, or unfollow it if all of it is followed."""
        self._toggle("followed")

    @property
    def can_undo(self) -> bool:
        """Whether the last mute or follow can be undone: no write was made after it."""
        return self._last is not None and self._newest_write() <= self._last[2]

    def undo(self) -> None:
        """Undo the last change."""
        if self._last is None:
            return
        change, selection, _ = self._last
        self._last = None
        self._engine.notification_settings.undo(change)
        self._changed()
        self._screen.notify(f"undone: {_described(selection)} {_ENDED[change.state] if change.is_on else change.state}")

    def forget(self) -> None:
        """Forget the last change, which can then no longer be undone."""
        self._last = None

    def _toggle(self, state: State) -> None:
        selection = self._selection()
        if isinstance(selection, str):
            return
        change = self._engine.notification_settings.toggle(selection.targets, state)
        for target in selection.targets if change.is_on and state == "muted" else ():
            if not target.thread:
                self._engine.events.unread.discard(target.request)
        self._last = change, selection, self._newest_write()
        self._changed()
        self._screen.notify(
            f"{_described(selection)} {state if change.is_on else _ENDED[state]} ({key_for('unsend')} to undo)"
        )

    def _newest_write(self) -> int:
        """Return the number of the newest write, sent or unsent; 0 without writes."""
        unsent = (entry.id for entry in self._engine.waiting())
        sent = (row.id for row in self._engine.outbox.history())
        return max((*unsent, *sent), default=0)


def _described(selection: Selection) -> str:
    number = len(selection.targets)
    return selection.name if number == 1 else count(number, selection.noun)
