"""The commands for the thread under the cursor of a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from presscheck.engine.review.threads import Message, Thread
    from presscheck.tui.comments.actions import ThreadActions


class ThreadCommands:
    """The commands for the thread under the cursor.

    Args:
        actions: the actions on threads.
        at_cursor: returns the thread under the cursor, and the message if the cursor is on one.
    """

    def __init__(self, actions: ThreadActions, at_cursor: Callable[[], tuple[Thread | None, Message | None]]) -> None:
        self._actions, self._at_cursor = actions, at_cursor

    @property
    def _thread(self) -> Thread | None:
        return self._at_cursor()[0]

    def reason_reply(self) -> str | None:
        """Return why the user cannot reply: there is no thread, the thread is unsent, or writing is disabled."""
        return self._actions.reply_reason(self._thread)

    def command_reply(self) -> None:
        """Reply to the thread."""
        if thread := self._thread:
            self._actions.reply(thread)

    def reason_resolve(self) -> str | None:
        """Return why the thread can neither be resolved nor reopened."""
        return self._actions.resolve_reason(self._thread)

    def command_resolve(self) -> None:
        """Resolve the thread, or reopen it."""
        if thread := self._thread:
            self._actions.toggle_resolved(thread)

    def reason_react(self) -> str | None:
        """Return why the user cannot react."""
        return self._actions.react_reason(self._thread)

    def command_react(self) -> Awaitable[None] | None:
        """Add a reaction to a message of the thread, or remove it."""
        thread, message = self._at_cursor()
        return self._actions.react(thread, message) if thread else None

    def reason_edit(self) -> str | None:
        """Return why no message of the thread can be edited."""
        return self._actions.edit_reason(self._thread)

    def command_edit(self) -> Awaitable[None] | None:
        """Edit a message of the thread."""
        thread, message = self._at_cursor()
        return self._actions.edit(thread, message) if thread else None

    def reason_delete(self) -> str | None:
        """Return why no message of the thread can be deleted."""
        return self._actions.delete_reason(*self._at_cursor())

    def command_delete(self) -> Awaitable[None] | None:
        """Delete a message of the thread, or discard it if it is unsent."""
        thread, message = self._at_cursor()
        return self._actions.delete(thread, message) if thread else None
