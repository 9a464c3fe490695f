"""The tab of the outbox with the drafts, newest first."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.engine.drafts import Draft
from presscheck.text.phrases import now, span
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.outbox.drafts import FATES, label_of, size_of
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message

if TYPE_CHECKING:
    from presscheck.tui.screens.outbox.draft_actions import DraftActions
    from presscheck.tui.screens.outbox.drafts import Drafts


class DraftList(List[Draft]):
    """The drafts of the profile.

    Args:
        drafts: the drafts, and the states of their places.
        actions: the actions on a draft.
    """

    name, nouns = "Drafts", "drafts"
    footer = ("open", "delete", "copy_text", "find_here", "next_pane", "close")

    def __init__(self, drafts: Drafts, actions: DraftActions) -> None:
        self._drafts, self._actions = drafts, actions
        label = Column[Draft]("draft", lambda draft: (Span("✎ ", "accent"), Span(label_of(draft))))
        where = Column[Draft]("where", lambda draft: (Span(drafts.where(draft), "quiet"),))
        super().__init__((label, where, Column("age", _age, 6)), second_line=self._state)

    @override
    @property
    def loaded(self) -> Loaded[Sequence[Draft]]:
        return Loaded(self._drafts.drafts)

    @override
    def key_of(self, item: Draft) -> str:
        return item.stored.key

    @override
    def empty(self) -> Message:
        return Message("No drafts.", "What you type and do not send is listed here until it is sent.")

    def reason_delete(self) -> str | None:
        """Return why no draft can be discarded or continued: there is none."""
        return None if self.current else "there are no drafts"

    reason_edit = reason_delete

    def reason_unsend(self) -> str:
        """Return why a draft cannot be undone."""
        return f"a draft was not sent: {key_for('delete')} discards it"

    def command_open(self) -> Awaitable[None] | None:
        """Continue the draft where it belongs."""
        return self._actions.open(self.current) if self.current else None

    command_edit = command_open

    def command_delete(self) -> Awaitable[None] | None:
        """Discard the draft, after a confirmation."""
        return self._actions.discard(self.current) if self.current else None

    def command_copy_text(self) -> None:
        """Copy the text of the draft."""
        if self.current:
            self._actions.copy(self.current)

    command_copy = command_copy_text

    def _state(self, draft: Draft) -> Line:
        fate = self._drafts.fate(draft)
        return (
            Span(f"  {size_of(draft)}", "quiet"),
            Span(f" · {FATES[fate]}" if fate else "", "waiting"),
            Span(f" · {' '.join(sanitize(draft.readable[:400]).split())}", "quiet"),
        )


def _age(draft: Draft) -> Line:
    changed_at = draft.stored.changed_at
    age = span(now().timestamp() - changed_at) if changed_at else "–"
    return (Span(age, "quiet"),)
